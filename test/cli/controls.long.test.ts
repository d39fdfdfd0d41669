import { describe, expect, it } from 'vitest'
import { clonedProject, FILES, offer, project, proven, SHORT, SPEC } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

describe('a person at the controls', () => {
  it('pauses, resumes and stops, each once', async () => {
    const person = project()
    await person.winnow('run')
    expect((await person.winnow('pause', '-m', 'release week')).out).toBe(
      'Campaign size is paused. winnow resume continues it.\n',
    )
    expect((await person.winnow('pause')).out).toBe('Campaign size was already paused: release week\n')
    const paused = await person.winnow('run')
    expect([paused.code, paused.out]).toEqual([
      14,
      expect.stringContaining('the campaign is paused: release week'),
    ])
    expect((await person.winnow('resume')).out).toBe('Campaign size continues. winnow run measures.\n')
    const resumed = person.refs()
    expect((await person.winnow('resume')).out).toBe('Campaign size is running already.\n')
    // No event: the ledger's branch is where it was.
    expect(person.refs()).toBe(resumed)
    expect((await person.winnow('stop', '-m', 'enough')).out).toBe(
      'Campaign size is stopped. Its result is on optimize/size.\n',
    )
    expect((await person.winnow('stop')).out).toBe('Campaign size was already stopped: enough\n')
    expect((await person.winnow('pause')).err).toContain('is stopped, enough, so it cannot be paused')
    const stopped = await person.winnow('run')
    expect([stopped.code, stopped.out]).toEqual([10, expect.stringContaining('Stopped: enough')])
    expect(await person.json('status')).toMatchObject({ state: 'stopped' })
  })

  it('leaves notes, on the campaign or on one experiment', async () => {
    const person = project()
    await person.winnow('run')
    await person.winnow('note', 'cold cache')
    expect((await person.winnow('log')).out).toContain('note: cold cache')
    expect((await person.winnow('note', '-e', '4', 'x')).err).toContain('there is no experiment 4')
    for (const nothing of ['', '  \n']) expect((await person.winnow('note', nothing)).code).toBe(2)
    expect((await person.winnow('note', ' ')).err).toContain('It is empty')
  })

  releaseTest("are signed with git's name for the person where the machine has none", async () => {
    const person = project()
    person.git('config', 'user.name', 'Ada Lovelace')
    await person.winnowWith({ env: { USER: '' } }, 'run')
    await person.winnow('note', 'x')
    const actors = (await person.winnow('log', '--json')).out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).by.actor)
    expect([actors[0], actors.at(-1)]).toEqual(['Ada Lovelace', 'ada'])
  })

  it('cannot resume while the rule that stopped the campaign still holds, and is told how to go on', async () => {
    const one = `${SPEC}stopping: { max_iterations: 1 }\n`
    const person = project({ ...FILES, '.winnow/size.yaml': one })
    await person.winnow('run')
    await offer(person, SHORT)
    const stopped = await person.winnow('run')
    expect([stopped.code, stopped.out]).toEqual([0, expect.stringContaining('Stopped: 1 experiment ended')])
    const before = person.refs()
    const { code, err } = await person.winnow('resume')
    expect([code, err]).toEqual([
      2,
      'error: .winnow/size.yaml stopping: campaign size would stop again at once: 1 experiment ended (stopping.max_iterations)\n' +
        '  fix: raise stopping.max_iterations in .winnow/size.yaml on main: the next winnow run then continues; or winnow amend -m "…", then winnow resume\n',
    ])
    expect(person.refs()).toBe(before)
    person.write('.winnow/size.yaml', SPEC)
    expect((await person.winnow('amend', '-m', 'more')).code).toBe(0)
    expect((await person.winnow('resume')).out).toBe('Campaign size continues. winnow run measures.\n')
    expect((await person.winnow('run')).code).toBe(14)
    await proven(person)
  })

  releaseTest('goes on with a campaign whose limit was raised on the default branch', async () => {
    const person = project({ ...FILES, '.winnow/size.yaml': `${SPEC}stopping: { max_iterations: 1 }\n` })
    await person.winnow('run')
    await offer(person, SHORT)
    const stopped = await person.winnow('run')
    expect(stopped.out).toContain(
      'raise stopping.max_iterations in .winnow/size.yaml on main: the next winnow run',
    )
    person.write('.winnow/size.yaml', `${SPEC}stopping: { max_iterations: 2 }\n`)
    person.commit('more')
    expect((await person.winnow('resume', '--dry-run')).code).toBe(0)
    expect((await person.winnow('run')).code).toBe(14)
    expect((await person.winnow('log')).out).toContain(
      'main has a spec whose limits no longer stop the campaign',
    )
    expect((await person.winnow('resume')).out).toBe('Campaign size is running already.\n')
    await proven(person)
  })

  releaseTest(
    'names the conflict that keeps a raised limit from being read, in run, status and resume',
    async () => {
      const person = project({ ...FILES, '.winnow/size.yaml': `${SPEC}stopping: { max_iterations: 1 }\n` })
      await person.winnow('run')
      await offer(person, SHORT)
      await person.winnow('run')
      person.write('src/value', 'something else\n')
      person.write('.winnow/size.yaml', `${SPEC}stopping: { max_iterations: 2 }\n`)
      person.commit('more, in conflict')
      const way =
        /then continues\. Fix this first: the default branch at \w+ conflicts with the incumbent in /
      expect((await person.winnow('run')).out).toMatch(way)
      expect((await person.winnow('status')).out).toMatch(way)
      expect((await person.winnow('resume')).err).toMatch(way)
      person.git('merge', '-q', '-s', 'ours', '-m', 'resolved', 'optimize/size')
      expect((await person.winnow('run')).code).toBe(14)
      expect((await person.winnow('status')).out).not.toContain('Not before')
      await proven(person)
    },
  )

  releaseTest(
    'resumes for what is to be taken back, though the rule that stopped the campaign still holds',
    async () => {
      const person = project({ ...FILES, '.winnow/size.yaml': `${SPEC}stopping: { max_iterations: 1 }\n` })
      await person.winnow('run')
      await offer(person, SHORT)
      await person.winnow('run')
      await person.winnow('revert', '1', '-m', 'breaks Windows')
      expect((await person.winnow('resume')).out).toBe('Campaign size continues. winnow run measures.\n')
      const { code, err } = await person.winnow('run')
      expect([code, err]).toEqual([10, expect.stringContaining('exp-001 reverted by')])
      await proven(person)
    },
  )

  it('amends the spec with a reason, from the work tree', async () => {
    const person = project()
    await person.winnow('run')
    expect((await person.winnow('amend')).err).toContain('an amendment needs a reason')
    expect((await person.winnow('amend', '-m', 'same')).err).toContain('this spec is already in force')
    person.write('.winnow/size.yaml', `${SPEC}limits: { max_files: 3 }\n`)
    expect((await person.winnow('amend', '-m', 'small steps')).out).toBe('The spec is amended.\n')
    person.write('.winnow/size.yaml', SPEC.replace('test -s src/value', 'test -s src/value; true'))
    expect((await person.winnow('amend', '-m', 'more')).out).toContain('measures the baseline')
    expect((await person.winnow('log')).out).toContain('spec amended by a person: small steps')
    person.write('.winnow/size.yaml', 'winnow: 1\nscop: 1\n')
    expect((await person.winnow('amend', '-m', 'broken')).err).toContain('.winnow/size.yaml:2:1')
  })

  releaseTest('puts a campaign aside, and starts another whose numbers go on', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    await person.winnow('run')
    const fresh = await person.winnow('run', '--fresh')
    expect(fresh.code).toBe(14)
    expect(fresh.err).toContain('a fresh start was requested')
    expect(person.refs()).toMatch(/optimize-archive\/size\/\S+\/state/)
    expect(await person.json('status')).toMatchObject({
      experiments: [],
      incumbent: { metrics: { bytes: 100 } },
    })
    await offer(person, `${'a'.repeat(39)}\n`)
    await person.winnow('run')
    expect(await person.json('status')).toMatchObject({ experiments: [{ id: 'exp-002', verdict: 'kept' }] })
    await proven(person)

    expect((await person.winnow('archive')).out).toMatch(/is below optimize-archive\/size\/\S+\/ now\.$/m)
    expect((await person.winnow('status')).err).toContain('no campaign size was started')
  })

  it.each(
    selectCases([
      ['branches: { prefix: search }', 'branches.prefix', ['run', '--fresh']],
      ['branches: { prefix: search }', 'branches.prefix', ['amend', '-m', 'other']],
      ['name: other', 'name', ['amend', '-m', 'other']],
    ]),
  )('keeps the names of its branches: %s (%s), %j', async (line, key, argv) => {
    const person = project()
    await person.winnow('run')
    person.write('.winnow/size.yaml', `${SPEC}${line}\n`)
    person.commit('other branches')
    const refs = person.refs()
    const { code, err } = await person.winnow(...argv, '--campaign', 'size')
    expect([code, err]).toEqual([2, expect.stringContaining(`.winnow/size.yaml ${key}: the branches of`)])
    expect(person.refs()).toBe(refs)
    expect(await person.json('status', '--campaign', 'size')).toMatchObject({ state: 'running' })

    await person.winnow('archive', '--campaign', 'size')
    expect((await person.winnow('run', '.winnow/size.yaml')).code).toBe(14)
    expect(person.refs()).toContain(key === 'name' ? 'optimize-state/other' : 'search-state/size')
  })

  releaseTest('goes on from any branch with a campaign that has no remote', async () => {
    const person = project()
    await person.winnow('run')
    person.git('checkout', '-q', '-b', 'elsewhere')
    expect((await person.winnow('run')).code).toBe(14)
    person.git('checkout', '-q', '--detach')
    expect((await person.winnow('status')).code).toBe(0)
    expect((await person.winnow('run')).code).toBe(14)
  })

  it('is told what of the work tree is not used', async () => {
    const person = clonedProject()
    person.commit('local', { 'src/value': 'b\n' })
    person.write('.winnow/size.yaml', `${SPEC}# later\n`)
    const { err } = await person.winnow('run')
    expect(err).toContain('note: .winnow/size.yaml in the work tree differs from main of the remote')
    expect(err).toContain('note: 1 local commit not on main of the remote')
  })
})
