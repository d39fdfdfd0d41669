import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gitIn, scratch, at } from '../git/scratch.ts'
import { packageFiles } from '../support/package-files.ts'
import { untouched } from '../git/untouched.ts'
import { clonedProject, FILES, offer, project, projectIn, proven, SHORT, SPEC } from './project.ts'
import { releaseTest } from '../support/cases.ts'

const LONG = `${'a'.repeat(149)}\n`
const SHORTER = `${'a'.repeat(29)}\n`

async function tried(person: ReturnType<typeof project>, ...options: string[]) {
  const { code, out } = await person.winnow('try', ...options, '--json')
  return { code, ...JSON.parse(out) }
}

describe('winnow try', () => {
  it('begins the campaign, measures what is not committed, and touches nothing of the person', async () => {
    const person = project()
    person.write('src/value', SHORT)
    person.write('notes.txt', 'mine\n')
    const same = untouched(person.dir)
    const { code, out, err } = await person.winnow('try', '-m', 'half as long')
    same.check()
    expect(code).toBe(0)
    const [sentence, harness, where, next] = out.trimEnd().split('\n')
    expect(sentence).toMatch(
      /^Kept: bytes 100 -> 50 \(-50\.0 %\)[^.]*; it is merged into optimize\/size as [0-9a-f]{12}\.$/,
    )
    expect([harness, where]).toEqual(['  the harness is not probed', '  exp-001'])
    expect(next).toBe('Next: git stash push --include-untracked -- src/value && git merge optimize/size')
    expect(err).toContain('note: winnow ignores notes.txt, which is outside the scope\n')
    expect(await person.json('status')).toMatchObject({ experiments: [{ hypothesis: 'half as long' }] })

    const again = await tried(person, '-m', 'said otherwise')
    expect(again).toMatchObject({ code: 0, id: 'exp-001', verdict: 'kept', tried_before: true })
    expect(again.sentence).toMatch(/^Kept \(tried before, as exp-001\): bytes 100 -> 50/)

    const below = await person.winnowWith({ directory: join(person.dir, 'src') }, 'try', '-m', 'from below')
    expect(below.out).toContain('Next: git stash push --include-untracked -- value && git merge')
    person.git('-C', 'src', 'stash', 'push', '--include-untracked', '--', 'value')
    person.git('merge', '-q', 'optimize/size')
    expect(await tried(person)).toMatchObject({
      code: 12,
      sentence: expect.stringMatching(/^Refused: nothing to try/),
    })
    await proven(person)
  })

  it('answers every verdict with its word, its exit code and what to do', async () => {
    const person = project()
    expect(await tried(person)).toMatchObject({
      code: 12,
      id: null,
      verdict: 'refused',
      sentence: 'Refused: nothing to try: no file in scope differs from the incumbent of campaign size.',
      next: 'edit a file in scope, then repeat the command',
    })
    expect(person.refs()).not.toContain('optimize')

    person.write('src/value', LONG)
    expect(await tried(person, '-m', 'longer')).toMatchObject({
      code: 15,
      id: 'exp-001',
      verdict: 'worse',
      outcome: 'dropped',
      evidence_line: null,
      evidence: null,
      effect: -50,
      base_metrics: { bytes: 100 },
      warnings: [expect.stringContaining('not isolated: ')],
      guard: 'not probed',
      failed: null,
      metrics: { bytes: 150 },
      tried_before: false,
      next: 'undo the change; it is harmful',
    })
    expect(await tried(person, '-m', 'longer')).toMatchObject({ code: 15, id: 'exp-001', tried_before: true })
    person.write('src/value', '')
    expect(await tried(person, '-m', 'nothing')).toMatchObject({
      code: 13,
      verdict: 'broken',
      sentence: expect.stringMatching(/^Broken: gate tests failed/),
      failed: { what: 'gate tests', output: null },
      next: 'fix the failure, then try again',
    })
    expect((await person.winnow('show', 'exp-002')).out).toContain('Gate tests failed')

    person.write('src/value', SHORT)
    person.write('bench/size.sh', 'echo 1\n')
    expect(await tried(person)).toMatchObject({
      code: 12,
      id: null,
      sentence: 'Refused: 1 changed file outside scope.mutable: bench/size.sh.',
    })
    const left = await tried(person, '--only-in-scope')
    expect(left).toMatchObject({ code: 0, verdict: 'kept', left_out: ['bench/size.sh'] })
    expect(left.hypothesis).toBe('change src/value')

    person.git('checkout', '-q', 'bench/size.sh')
    person.write('src/value', SHORTER)
    const on = await person.winnow('try', '-m', 'and on from what was kept')
    expect([on.code, on.out]).toEqual([0, expect.stringMatching(/^Kept: /)])
    expect(on.err).toContain('HEAD does not contain your kept change')
    person.git('stash', '-q')
    person.commit('on main', { 'src/other': 'x\n' })
    person.write('src/value', LONG.replaceAll('a', 'b'))
    expect(await tried(person)).toMatchObject({
      code: 12,
      sentence: 'Refused: does not merge with the incumbent: conflict in src/value.',
      next: 'commit it to a branch, merge optimize/size there, resolve, then repeat the command',
    })
    await proven(person)
  })

  it('tries the commits of a branch, from any folder, and takes none of another idea before it', async () => {
    const person = project()
    person.git('checkout', '-q', '-b', 'idea')
    person.commit('one step', { 'src/value': LONG, 'src/more/file': 'x\n' })
    person.commit('and another', { 'src/value': SHORT })
    const { code, out } = await person.winnowWith({ directory: join(person.dir, 'src/more') }, 'try')
    expect([code, out]).toEqual([0, expect.stringMatching(/^Kept: /)])
    expect(out).toContain('Next: git merge optimize/size\n')
    const { experiments, baseline } = (await person.json('status')) as Record<string, unknown>
    expect(experiments).toMatchObject([{ id: 'exp-001', hypothesis: 'and another' }])
    expect(baseline).toMatchObject({ commit: person.git('rev-parse', 'main') })

    await offer(person, `${'c'.repeat(19)}\n`, ['--priority', 'high'], 'main')
    person.git('checkout', '-q', '--detach', 'optimize/size')
    person.write('src/value', SHORTER)
    const third = await tried(person, '-m', 'shorter still')
    expect(third).toMatchObject({ code: 0, verdict: 'kept', hypothesis: 'shorter still' })
    expect(await person.json('status')).toMatchObject({ verdicts: { kept: 2, 'no gain': 0, refused: 0 } })
    await proven(person)
  })

  releaseTest(
    'says why nothing is measured: a pause, a stop, a rule of the spec, a checked-out branch',
    async () => {
      const spec = `${SPEC}stopping: { max_iterations: 1 }\n`
      const person = project({ ...FILES, '.winnow/size.yaml': spec })
      person.write('src/value', LONG)
      expect((await tried(person)).code).toBe(15)
      person.write('src/value', SHORT)
      const over = await tried(person)
      expect(over).toMatchObject({ code: 14, verdict: 'waiting for a person', id: null })
      expect(over.sentence).toBe(
        'Waiting for a person: the campaign is over: 1 experiment ended (stopping.max_iterations); raise stopping.max_iterations in .winnow/size.yaml on main: the next winnow run then continues.',
      )
      expect((await person.winnow('status')).out).toContain(
        '  note: its limit is reached: 1 experiment ended (stopping.max_iterations). Nothing new is tried, and the next winnow run stops it. To continue: raise stopping.max_iterations in .winnow/size.yaml on main: the next winnow run then continues\n',
      )
      await person.winnow('pause', '-m', 'release week')
      expect((await tried(person)).sentence).toBe(
        'Waiting for a person: the campaign is paused (release week); winnow resume continues it.',
      )
      await person.winnow('stop', '-m', 'enough')
      expect((await tried(person)).sentence).toBe(
        'Waiting for a person: the campaign was stopped (enough); winnow resume continues it.',
      )
    },
  )

  releaseTest('says that the base itself fails, now and again, and goes on once it is mended', async () => {
    const person = project({ ...FILES, 'bench/size.sh': 'exit 3\n' })
    person.write('src/value', SHORT)
    const first = await tried(person)
    expect(first).toMatchObject({
      code: 13,
      id: null,
      sentence:
        'Broken: the base itself fails, also without your change: the base fails: the harness crashed: ended with exit code 3.',
    })
    expect(await tried(person)).toEqual(first)
    person.git('stash', '-q')
    person.commit('mended', { 'bench/size.sh': FILES['bench/size.sh'] })
    person.git('stash', 'pop', '-q')
    await person.winnow('run', '--fresh')
    expect(await tried(person)).toMatchObject({
      code: 12,
      sentence: 'Refused: nothing to try: optimize/size already contains this change.',
      next: 'start the next idea from optimize/size',
    })
    person.write('src/value', SHORTER)
    expect(await tried(person)).toMatchObject({
      code: 12,
      next: expect.stringContaining('merge optimize/size'),
    })
    person.git('checkout', '-q', '--', '.')
    person.git('switch', '-q', '--detach', 'optimize/size')
    person.write('src/value', SHORTER)
    expect(await tried(person)).toMatchObject({ code: 0, verdict: 'kept' })
  })

  releaseTest('leaves a branch alone that somebody is on, and says how to go on', async () => {
    const person = project()
    person.write('src/value', SHORT)
    expect((await tried(person)).code).toBe(0)
    person.git('checkout', '-q', '--', '.')
    person.git('checkout', '-q', 'optimize/size')
    person.write('src/value', SHORTER)
    const held = await tried(person)
    expect(held.code).toBe(14)
    expect(held.sentence).toContain('optimize/size is checked out in ')
    person.git('switch', '-q', '-c', 'my-idea')
    expect((await tried(person)).code).toBe(0)
  })

  it('goes on with the same experiment after it was interrupted, and with a campaign that had nothing left', async () => {
    const spec = `${SPEC}propose: [{ use: patch, dir: ideas }]\n`
    const person = project({ ...FILES, '.winnow/size.yaml': spec })
    expect((await person.winnow('run')).out).toContain('Stopped: no idea is left')
    person.write('src/value', SHORT)
    const abort = new AbortController()
    abort.abort()
    const first = await person.winnowWith({ signal: abort.signal }, 'try', '-m', 'half')
    expect(first.code).toBe(130)
    const second = await tried(person, '-m', 'half')
    expect(second).toMatchObject({ code: 0, id: 'exp-001', tried_before: false })
    expect(await person.json('status')).toMatchObject({ experiments: [{ id: 'exp-001' }] })
    await proven(person)
  })

  releaseTest(
    'says how ideas may bring packages, and how a scope that was widened comes into force',
    async () => {
      const person = project({ ...FILES, ...packageFiles({}) })
      person.write('src/value', SHORT)
      for (const [file, text] of Object.entries(packageFiles({ 'left-pad': { version: '1.3.0' } })))
        person.write(file, text)
      expect(await tried(person, '-m', 'padded')).toMatchObject({
        code: 12,
        sentence: 'Refused: 2 changed files outside scope.mutable: package-lock.json, package.json.',
        next: 'leave it out (winnow try --only-in-scope), or a person lets ideas bring packages: add package-lock.json, package.json to scope.mutable and commit that',
      })
      person.git('stash', '-q')
      await person.winnow('run')
      const wider = SPEC.replace('[src/]', '[src/, package.json, package-lock.json]')
      person.commit('packages', { '.winnow/size.yaml': wider })
      person.git('stash', 'pop', '-q')
      expect(await tried(person, '-m', 'padded')).toMatchObject({
        code: 12,
        sentence: expect.stringMatching(/, by the spec in force\.$/),
        next: 'run winnow run, which adopts the spec on main; then repeat the command',
      })
      await person.winnow('run')
      expect(await tried(person, '-m', 'padded')).toMatchObject({
        code: 14,
        id: 'exp-001',
        sentence: 'Waiting for approval of left-pad 1.3.0 (npm).',
        next: 'ask a person to approve the new packages: winnow approve exp-001',
      })
      await person.winnow('approve', 'exp-001')
      expect(await tried(person, '-m', 'padded')).toMatchObject({ code: 0, id: 'exp-001', verdict: 'kept' })
      await proven(person)
    },
  )

  it('is rehearsed without writing anything', async () => {
    const person = project()
    person.write('src/value', SHORT)
    const before = person.refs()
    const { code, out } = await person.winnow('try', '-m', 'half', '--dry-run')
    expect([code, person.refs()]).toEqual([0, before])
    expect(out).toContain('refs/heads/optimize-exp/size/try-')
    expect(out).toContain('event 1 order-issued')
  })
})

describe('winnow try in a clone', () => {
  releaseTest('works in a linked work tree and in a shallow clone behind the incumbent', async () => {
    const person = clonedProject({ ...FILES, 'src/other': 'x\n' })
    person.commit('second', { 'src/other': 'xx\n' })
    person.git('push', '-q', 'origin', 'main')
    const linked = join(scratch(), 'linked')
    person.git('worktree', 'add', '-q', '--detach', linked)
    at(linked).write('src/value', SHORT)
    const first = await person.winnowWith({ directory: linked }, 'try', '--json')
    expect(JSON.parse(first.out)).toMatchObject({
      verdict: 'kept',
      next: 'git stash push --include-untracked -- src/value && git fetch origin && git merge origin/optimize/size',
    })

    const root = scratch()
    mkdirSync(root, { recursive: true })
    const remote = person.git('remote', 'get-url', 'origin')
    gitIn(root)('clone', '-q', '--depth=1', `file://${remote}`, 'shallow')
    const shallow = projectIn(at(join(root, 'shallow')))
    shallow.write('src/new', 'new\n')
    const second = await tried(shallow, '-m', 'one file more')
    expect(second).toMatchObject({ code: 10, verdict: 'no gain', metrics: { bytes: 50 } })
  })

  it('names what is missing: a commit, a work tree', async () => {
    const person = project()
    rmSync(join(person.dir, '.git/logs'), { recursive: true, force: true })
    const bare = join(scratch(), 'bare.git')
    gitIn(person.dir)('clone', '-q', '--bare', '.', bare)
    const there = await person.winnowWith({ directory: bare }, 'try')
    expect([there.code, there.err]).toEqual([
      2,
      expect.stringContaining('a bare repository has no work tree to try'),
    ])
    renameSync(bare, `${bare}.moved`)
  })
})
