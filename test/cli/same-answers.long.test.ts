import { describe, expect, it } from 'vitest'
import { type Project, project } from './project.ts'

/** Prints the bytes of the program as its cost, and what the program answers, once as a number and once as text. */
const FILES = {
  'bench/size.sh': `bytes=$(wc -c < src/program)
answer=$(sh src/program)
printf '{"bytes": %s, "sum": %s, "digest": "%s"}\\n' "$bytes" "$answer" "sha-$answer"
`,
  'src/program': '# adds up\necho $((40 + 2))\n',
}
const NUMBERS = `printf '{"bytes": %s, "sum": %s}' "$(wc -c < src/program)" "$(sh src/program)"\n`
const SHORTER = 'echo $((40 + 2))\n'
const WRONG = 'echo 41\n'

const SPEC = `winnow: 1
metric:
  primary: { name: bytes, direction: minimize }
  degenerate_gates: [{ name: GATE, check: == base }]
measurement: { command: sh bench/size.sh }
scope: { mutable: [src/] }
`

function branched(program: string, files: Record<string, string> = FILES): Project {
  const person = project(files)
  person.git('checkout', '-qb', 'shorter')
  person.commit('shorter', { 'src/program': program })
  person.git('checkout', '-q', 'main')
  return person
}

const COMMAND = ['--metric', 'bytes', '--', 'sh bench/size.sh']

describe('winnow compare --same', () => {
  it.each([
    ['sum', 'sum is 41, the base prints 42'],
    ['digest', 'digest is "sha-41", the base prints "sha-42"'],
  ])('%s: another answer is broken, however much better', async (name, text) => {
    const { code, out } = await branched(
      WRONG,
      name === 'sum' ? { ...FILES, 'bench/size.sh': NUMBERS } : FILES,
    ).winnow('compare', 'main', 'shorter', '--same', name, ...COMMAND)
    expect([code, out]).toEqual([13, expect.stringContaining(`shorter is broken: answers differ: ${text}\n`)])
  })

  it('the same answer is a gain', async () => {
    const { code, out } = await branched(SHORTER).winnow(
      'compare',
      'main',
      'shorter',
      '--same',
      'sum',
      '--same',
      'digest',
      ...COMMAND,
    )
    expect([code, out]).toEqual([0, expect.stringMatching(/^shorter is better than main: bytes /)])
  })

  it('without it, the wrong answer is the better one, and a text is no metric', async () => {
    const person = branched(WRONG)
    const text = await person.winnow('compare', 'main', 'shorter', ...COMMAND)
    expect([text.code, text.err]).toEqual([
      13,
      expect.stringContaining(
        '"digest" is neither a number nor a boolean; only a metric gate "== base" compares text',
      ),
    ])
    const numbers = branched(WRONG, { ...FILES, 'bench/size.sh': NUMBERS })
    expect((await numbers.winnow('compare', 'main', 'shorter', ...COMMAND)).code).toBe(0)
  })

  it('beside a time, in pairs: it ends at once', async () => {
    const person = branched(WRONG)
    const same = ['--same', 'sum', '--same', 'digest']
    const { code, out } = await person.winnow('compare', 'main', 'shorter', ...same, '--', 'sh bench/size.sh')
    expect(code).toBe(13)
    expect(out).toContain(
      'shorter is broken: answers differ: sum is 41, the base prints 42; digest is "sha-41"',
    )
  })

  it('of a time, of an answer that varies, and of one that is not printed, is an error of the base', async () => {
    const person = branched(SHORTER)
    const timed = await person.winnow('compare', 'main', 'shorter', '--same', 'wall_seconds', ...COMMAND)
    expect([timed.code, timed.err]).toEqual([2, expect.stringContaining('--same: ')])
    const varies = `printf '{"sum": %s}' "$(od -An -N4 -tu4 /dev/urandom)"\n`
    const random = branched(SHORTER, { ...FILES, 'bench/size.sh': varies })
    const unsteady = await random.winnow(
      'compare',
      'main',
      'shorter',
      '--same',
      'sum',
      '--',
      'sh bench/size.sh',
    )
    expect(unsteady.err).toMatch(
      /main does not pass: sum differs between two runs of the base \(\d+ and \d+\)/,
    )
  })
})

describe('check: == base', () => {
  it.each([['sum'], ['digest']])(
    '%s: an idea with another answer is broken, and replay agrees',
    async name => {
      const person = project({ ...FILES, '.winnow/size.yaml': SPEC.replace('GATE', name) })
      if (name === 'sum') person.commit('numbers', { 'bench/size.sh': NUMBERS })
      person.write('src/program', WRONG)
      const wrong = await person.winnow('try', '-m', 'Answer at once')
      expect([wrong.code, wrong.out]).toEqual([
        13,
        expect.stringMatching(/^Broken: answers differ: \w+ is \S*41"?, the base prints \S*42"?\./),
      ])
      person.write('src/program', SHORTER)
      const right = await person.winnow('try', '-m', 'No comment')
      expect([right.code, right.out]).toEqual([0, expect.stringMatching(/^Kept: bytes /)])
      const replay = await person.winnow('replay')
      expect([replay.code, replay.out]).toEqual([0, expect.not.stringContaining('differs')])
    },
  )

  it('a spec that asks it of the optimised metric names the line', async () => {
    const person = project({ ...FILES, '.winnow/size.yaml': SPEC.replace('GATE', 'bytes') })
    const { code, err } = await person.winnow('check')
    expect([code, err]).toEqual([2, expect.stringMatching(/\.winnow\/size\.yaml:4:.*bytes is an objective/s)])
  })
})
