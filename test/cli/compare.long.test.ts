import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { appears, everyEnvironment } from '../action/a-job.ts'
import { untouched } from '../git/untouched.ts'
import { noisyProject } from './noisy-project.ts'
import { FILES, type Project, project } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

/** `main`, and a branch beside it with these files. */
function branched(person: Project, files: Record<string, string>): Project {
  person.git('checkout', '-qb', 'shorter')
  person.commit('shorter', files)
  person.git('checkout', '-q', 'main')
  return person
}

const SIZE = ['--metric', 'bytes', '--', 'sh', 'bench/size.sh']
const MS = ['--metric', 'ms', '--', 'sh bench/ms.sh']

const line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('comparison'), rule: z.object({ scale: z.string(), min_effect: z.number() }) }),
  z.object({ kind: z.literal('job'), runner: z.string() }),
  z.object({
    kind: z.literal('pair'),
    first: z.enum(['base', 'candidate']),
    base: z.object({ ms: z.number() }),
    candidate: z.object({ ms: z.number() }),
  }),
])

describe('winnow compare of a noisy metric', () => {
  it('answers in one sentence, says what that rests on, and writes nothing', async () => {
    const person = branched(noisyProject(), { 'src/ms': '800000\n' })
    const checkout = untouched(person.dir, 'no-prefix')
    const { code, out, err } = await person.winnow(
      'compare',
      'main',
      'shorter',
      '--raw',
      '../raw.jsonl',
      ...MS,
    )
    const [sentence, ...rest] = out.trimEnd().split('\n')
    expect(sentence).toMatch(/^shorter has \d+\.\d % lower ms than main \(between \d+\.\d and \d+\.\d %\)\.$/)
    expect(rest).toEqual([
      expect.stringMatching(
        /^ {2}evidence \d+ \(needed to be sure: 100\) ▕█+▏ \d+ pairs in [2-8] jobs on this machine$/,
      ),
      expect.stringMatching(/^ {2}Noise: the base differs from itself by \d+\.\d % \((16|32) pairs in/),
      expect.stringMatching(/^ {2}one machine: .*effects specific to this machine are not averaged out$/),
      expect.stringMatching(/^ {2}unprotected: .*the files that the command names are identical$/),
      expect.stringMatching(
        /^ {2}cost: \d+ executions, (39|75) of them of main with itself \(\d+ fewer: runs of main served both comparisons\), .* of this machine$/,
      ),
    ])
    expect(code).toBe(0)
    expect(err).toMatch(/^main \([0-9a-f]{12}\) and shorter differ in 1 file: src\/ms$/m)
    expect(err).toMatch(/^fair: main did not differ from itself; a gain of \S+ % would be seen/m)
    expect(err).toMatch(/^job 2 of at most 8: ms probably \d+\.\d % lower/m)
    checkout.check()

    const raw = readFileSync(join(person.dir, '../raw.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map(text => line.parse(JSON.parse(text)))
    const pairs = raw.filter(({ kind }) => kind === 'pair')
    expect(rest[0]).toContain(`▏ ${pairs.length} pairs in `)
    expect(raw[0]).toMatchObject({ rule: { scale: 'log', min_effect: 0.02 } })
  })

  it('calls no head better or worse where a place on the disk makes the difference', async () => {
    const slow = '[ -e "$HOME/slower" ] || ls -di . > "$HOME/slower"\n'
    const noise = 'random=$(od -An -N2 -tu2 /dev/urandom | tr -d " ")\n'
    const ms = 'if [ "$(ls -di .)" = "$(cat "$HOME/slower")" ]; then ms=1100000; else ms=1000000; fi\n'
    const harness = `${slow}${noise}${ms}echo "{\\"ms\\": $((ms + random / 8))}"\n`
    const person = branched(noisyProject({ files: { 'bench/ms.sh': harness } }), {
      'README.md': 'no change\n',
    })
    const { code, err } = await person.winnow('compare', 'main', 'shorter', ...MS)
    // A place that only the copy had is told apart first, and only then is the head measured, elsewhere.
    expect([2, 10, 11]).toContain(code)
    if (code === 2)
      expect(err).toContain('the harness is not fair: ms tells two identical copies of the base')
  })

  releaseTest('says worse where harm is shown, and exits for scripts', async () => {
    const person = branched(noisyProject(), { 'src/ms': '1500000\n' })
    const options = ['--json', '--max-jobs', '2', '--pairs', '12']
    const { code, out } = await person.winnow('compare', 'main', 'shorter', ...options, ...MS)
    const view = z.record(z.string(), z.unknown()).parse(JSON.parse(out))
    expect(code).toBe(15)
    expect(view).toMatchObject({ compared: 'pairs', base: { name: 'main' }, head: { name: 'shorter' } })
    expect(view['verdict']).toBe('worse')
    expect(String(view['sentence'])).toMatch(/shorter has \S+ % higher ms than main/)
  })

  it('says what was known when it is interrupted, and leaves nothing behind', async () => {
    const waits = '[ "$(grep -c 990000 "$HOME/runs")" != 3 ] || { touch "$HOME/third"; exec sleep 1000; }'
    const person = branched(
      noisyProject({
        files: { 'bench/ms.sh': `cat src/ms >> "$HOME/runs"\n${waits}\necho "{\\"ms\\": $(cat src/ms)}"\n` },
      }),
      { 'src/ms': '990000\n' },
    )
    const stop = new AbortController()
    const third = join(person.cache, 'third')
    const timed = ['compare', 'main', 'shorter', '--env', 'HOME', '--', 'sh bench/ms.sh']
    const answer = person.winnowWith({ signal: stop.signal }, ...timed)
    expect(await Promise.race([appears(third), answer])).toBe(undefined)
    stop.abort()
    const { code, out } = await answer
    expect(code).toBe(130)
    expect(out).toMatch(
      /^(Interrupted, and not proven: shorter is probably|Interrupted before shorter and main were)/,
    )
    expect(everyEnvironment()).not.toContain(`HOME=${person.cache}`)
    const runs = readFileSync(join(person.cache, 'runs'), 'utf8')
    await person.winnow('compare', 'main', 'main', '--', 'true')
    expect(readFileSync(join(person.cache, 'runs'), 'utf8')).toBe(runs)
  })

  releaseTest('stops when the time is up', async () => {
    const person = branched(noisyProject(), { 'src/ms': '800000\n' })
    const { code, out } = await person.winnow('compare', 'main', 'shorter', '--max-minutes', '0.0001', ...MS)
    expect([code, out]).toEqual([
      11,
      expect.stringMatching(/^The time ran out before shorter and main were compared/),
    ])
  })
})

describe('winnow compare of a metric that repeats exactly', () => {
  it.each(
    selectCases(
      [
        [49, 0, /^shorter is better than main: bytes 100 -> 50 \(-50\.0 %\); it repeats exactly\.$/m],
        [149, 15, /^shorter is worse than main: bytes 100 -> 150 \(\+50\.0 %\); it repeats exactly\.$/m],
      ],
      2,
    ),
  )('needs one execution of each: %d letters', async (letters, exit, sentence) => {
    const person = branched(project(), { 'src/value': `${'a'.repeat(letters)}\n`, 'bench/notes.txt': 'x\n' })
    const { code, out } = await person.winnow('compare', 'main', 'shorter', ...SIZE)
    expect([code, out]).toEqual([exit, expect.stringMatching(sentence)])
    expect(out).toContain('unprotected: each side ran its own copy of the benchmark; the files')
    expect(out).not.toContain('one machine')
  })

  it('names what the command names and what differs', async () => {
    const person = branched(project(), { 'src/value': 'a\n', 'bench/size.sh': 'echo "{\\"bytes\\": 1}"\n' })
    const { out } = await person.winnow('compare', 'main', 'shorter', ...SIZE)
    expect(out).toContain('and bench/size.sh differs: make sure that shorter did not change what is measured')
  })

  it('takes the work tree as it stands, without what is ignored', async () => {
    const person = project({
      ...FILES,
      '.gitignore': 'notes\n',
      'bench/size.sh':
        'echo "{\\"bytes\\": $(cat src/* | wc -c), \\"files\\": $(ls -A src notes 2>/dev/null | wc -l)}"\n',
    })
    person.write('src/value', 'aaaa\n')
    person.write('src/added', 'bbbb\n')
    person.write('notes/mine', 'not measured\n')
    const checkout = untouched(person.dir, 'no-prefix')
    const { code, out, err } = await person.winnow('compare', 'main', ...SIZE)
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^Your work tree is better than main: bytes 100 -> 10 /),
    ])
    expect(err).toContain(
      'note: measures your working tree, with 2 uncommitted changes: src/value, src/added',
    )
    checkout.check()
    const committed = await person.winnow('compare', 'main', 'HEAD', ...SIZE)
    expect(committed.err).toContain(
      'note: HEAD is measured as committed: 2 uncommitted changes of your work tree are not in it',
    )
    expect([committed.code, committed.out]).toEqual([
      10,
      'HEAD and main have the same files: there is nothing to compare, and nothing was run.\n',
    ])
  })

  releaseTest(
    'takes a sparse work tree with what it leaves out, and none with an unfinished merge',
    async () => {
      const person = branched(project({ ...FILES, 'src/value': 'aaaa\n' }), { 'src/value': 'aa\n' })
      person.git('sparse-checkout', 'set', 'src')
      person.write('src/value', 'a\n')
      const checkout = untouched(person.dir, 'no-prefix')
      const { code, out } = await person.winnow('compare', 'main', ...SIZE)
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/^Your work tree is better than main: bytes 5 -> 2 /),
      ])
      checkout.check()

      person.commit('other', { 'src/value': 'bbbb\n' })
      expect(() => person.git('merge', '-q', 'shorter')).toThrow()
      const merging = await person.winnow('compare', 'main', ...SIZE)
      expect([merging.code, merging.err]).toEqual([
        2,
        expect.stringContaining('a merge is not finished: conflict in src/value'),
      ])
    },
  )

  releaseTest('runs in the directory the person is in, on both sides', async () => {
    const person = branched(
      project({
        ...FILES,
        'pkg/size.sh': 'cat value | wc -c | sed s/^/METRIC\\ bytes=/\n',
        'pkg/value': 'aaaa\n',
      }),
      {
        'pkg/value': 'a\n',
        'pkg/size.sh': 'echo METRIC bytes=1\n',
      },
    )
    const directory = join(person.dir, 'pkg')
    const { code, out } = await person.winnowWith(
      { directory },
      'compare',
      'main',
      'shorter',
      '--metric',
      'bytes',
      '--',
      'sh',
      'size.sh',
    )
    expect([code, out]).toEqual([0, expect.stringContaining('bytes 5 -> 1')])
    expect(out).toContain('and pkg/size.sh differs')
  })

  releaseTest(
    'compares what winnow protects elsewhere too: workflows and specs are only files here',
    async () => {
      const person = branched(project(), { 'src/value': 'a\n', '.github/workflows/ci.yml': 'on: push\n' })
      expect((await person.winnow('compare', 'main', 'shorter', ...SIZE)).code).toBe(0)
    },
  )

  it('has gates, set-up, shared files and variables', async () => {
    const person = branched(project({ ...FILES, '.gitignore': 'data\nbuilt\n' }), { 'src/value': 'a\n' })
    person.write('data', 'here\n')
    const argv = [
      'compare',
      'main',
      'shorter',
      '--share',
      'data',
      '--setup',
      'cp data built',
      '--env',
      'WANTED',
    ]
    const ruler = 'test "$WANTED" = yes && test -s built && sh bench/size.sh'
    const all = [...argv, '--gate', 'test -s data', '--metric', 'bytes', '--', ruler]
    expect((await person.winnowWith({ env: { WANTED: 'yes' } }, ...all)).code).toBe(0)
    const failing = [
      ...argv,
      '--gate',
      'test $(wc -c < src/value) -gt 50',
      '--metric',
      'bytes',
      '--',
      'sh bench/size.sh',
    ]
    const { code, out } = await person.winnow(...failing)
    expect([code, out]).toEqual([
      13,
      expect.stringMatching(/^shorter is broken: gate test .* failed \(exit 1\)/),
    ])
  })
})

describe('a command that does not work', () => {
  it('on the first side is an error, on the second the answer', async () => {
    const broken = 'echo "cannot open the ruler" >&2; exit 3\n'
    const person = branched(project(), { 'bench/size.sh': broken })
    const { code, out } = await person.winnow('compare', 'main', 'shorter', ...SIZE)
    expect([code, out]).toEqual([
      13,
      expect.stringMatching(
        /^shorter is broken: the harness crashed: ended with exit code 3\n {2}ran: sh bench\/size.sh\n {2}last lines of stderr:\n {4}cannot open the ruler\n/,
      ),
    ])
    const first = await person.winnow('compare', 'shorter', 'main', ...SIZE)
    expect([first.code, first.out]).toEqual([13, ''])
    expect(first.err).toContain('error: shorter does not pass: the harness crashed: ended with exit code 3')
    expect(first.err).toContain('    cannot open the ruler')
  })

  releaseTest('names what the option is called that would help', async () => {
    const person = branched(
      project({ ...FILES, 'package-lock.json': '{}\n', 'package.json': '{"devDependencies":{"x":"1"}}\n' }),
      { 'src/value': 'a\n' },
    )
    const missing = await person.winnow('compare', 'main', 'shorter', '--', 'nosuchtool')
    expect(missing.err).toContain(
      'error: main does not pass: the execution crashed: ended with exit code 127',
    )
    expect(missing.err).toContain('give --setup "npm ci", or install what is missing')
    const slow = await person.winnow(
      'compare',
      'main',
      'shorter',
      '--timeout',
      '0.2',
      '--metric',
      'a',
      '--',
      'sleep 9',
    )
    expect(slow.err).toContain('fix: raise --timeout if it needs longer')
  })
})

describe('what cannot be compared is said before anything runs', () => {
  it.each(
    selectCases(
      [
        [['main'], 'missing -- <command>'],
        [['main', 'npm', 'run', 'bench'], 'write the command after --'],
        [
          ['maim', '--', 'true'],
          'there is no branch, tag or commit "maim" in this repository\n  fix: did you mean main?',
        ],
        [
          ['main', 'v9', '--', 'true'],
          'it has main; run git fetch first for a branch that is only on the remote',
        ],
        [['main', '--remote', 'origin', '--', 'true'], 'compare reads this repository alone'],
        [['main', '--direction', 'up', '--', 'true'], 'Allowed choices are minimize, maximize'],
        [
          ['main', '--min-effect', '3', '--', 'true'],
          '--min-effect 3 would be 300 %\n  fix: did you mean 3%?',
        ],
        [
          ['main', '--min-effect', '5', '--metric', 'ms', '--', 'true'],
          '--min-effect 5 would be 500 %\n  fix: did you mean 5%? In metric units write "5 ms"',
        ],
        [['main', '--min-effect', 'x', '--', 'true'], '--min-effect x is not a gain'],
        [['main', '--pairs', '1.5', '--', 'true'], '--pairs 1.5 is not a whole number'],
        [['main', '--timeout', '-1', '--', 'true'], '--timeout'],
        [['main', '--output', 'metric-lines', '--', 'true'], '--output needs --metric'],
        [
          ['main', '--output', 'xml', '--metric', 'a', '--', 'true'],
          '--output: "xml" is not possible\n  fix: give json, metric-lines, ',
        ],
      ],
      2,
    ),
  )('%j', async (argv, expected) => {
    const { code, err } = await project().winnow('compare', ...argv)
    expect([code, err]).toEqual([2, expect.stringContaining(expected)])
  })

  it('outside a repository, before the first commit, and in a bare one', async () => {
    const person = project()
    expect((await person.winnowWith({ directory: '/' }, 'compare', 'a', '--', 'true')).err).toContain(
      'is not in a git repository',
    )
    const bare = join(person.dir, '../bare.git')
    person.git('clone', '-q', '--bare', '.', bare)
    expect((await person.winnowWith({ directory: bare }, 'compare', 'main', '--', 'true')).err).toContain(
      'this repository has no work tree to compare',
    )
    const empty = join(person.dir, '../empty')
    person.git('init', '-q', empty)
    expect((await person.winnowWith({ directory: empty }, 'compare', 'HEAD', '--', 'true')).err).toContain(
      'this repository has no commits yet',
    )
  })
})
