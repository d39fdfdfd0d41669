import { describe, expect, it } from 'vitest'
import { clonedProject, offer, type Project, project, projectIn, proven, SHORT } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const OPTIMIZE = 'refs/heads/optimize/size'
const STATE = 'refs/heads/optimize-state/size'
type Origin = (...args: string[]) => string

/** A campaign that kept one idea, and git where its branches live. */
async function kept(how: 'remote' | 'local' = 'remote'): Promise<{ person: Project; origin: Origin }> {
  const cloned = how === 'remote' ? clonedProject() : null
  const person = cloned ?? project()
  await person.winnow('run')
  await offer(person, SHORT)
  const { out } = await person.winnow('run')
  expect(out).toContain('1 kept')
  return { person, origin: cloned?.remote ?? person.git }
}

describe.each(selectCases(['remote', 'local'] as const))('a ledger branch that was deleted (%s)', how => {
  it('is offered back from the cache, with the event it has and the command', async () => {
    const { person, origin } = await kept(how)
    const before = person.refs()
    const events = origin('ls-tree', '-r', '--name-only', STATE, 'events/').split('\n').length
    origin('update-ref', '-d', STATE)
    const where = how === 'remote' ? 'the remote' : 'this repository'
    const { code, err } = await person.winnow('run')
    expect(code).toBe(2)
    expect(err).toMatch(
      new RegExp(
        `^error: the ledger branch optimize-state/size is gone from ${where}; winnow's cache has it up to event ${events - 1} of `,
        'm',
      ),
    )
    expect(err).toContain('fix: winnow recover --campaign size puts it back.')
    expect(person.refs()).not.toContain(STATE)

    expect(await person.winnow('recover', '--dry-run', '--campaign', 'size')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${STATE} created at `),
    })
    expect(person.refs()).not.toContain(STATE)
    const put = await person.winnow('recover', '--campaign', 'size')
    expect(put).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        new RegExp(`^Put optimize-state/size back at .*: the ledger, up to event ${events - 1}\\.$`, 'm'),
      ),
    })
    expect(person.refs()).toBe(before)
    expect((await person.winnow('run')).code).toBe(14)
    await proven(person)
  })

  releaseTest('removed on purpose is forgotten, and a new campaign starts', async () => {
    const { person, origin } = await kept(how)
    for (const ref of person
      .refs()
      .split('\n')
      .flatMap(line => line.match(/^refs\/heads\/optimize\S*/) ?? []))
      origin('update-ref', '-d', ref)
    expect((await person.winnow('run')).code).toBe(2)
    expect((await person.winnow('recover', '--campaign', 'size', '--forget')).code).toBe(0)
    expect((await person.winnow('run')).code).toBe(14)
    expect(person.refs()).toContain(STATE)
  })
})

describe('a campaign that was put aside', () => {
  releaseTest('is no lost ledger, on whatever machine', async () => {
    const { person, origin } = await kept()
    const other = projectIn(person, origin)
    expect((await other.winnow('status')).code).toBe(0)
    expect((await person.winnow('archive')).code).toBe(0)
    expect((await other.winnow('run')).code).toBe(14)
  })
})

describe('a fresh machine without the ledger in its cache', () => {
  it('names the command for the machine that has it', async () => {
    const { person, origin } = await kept()
    origin('update-ref', '-d', STATE)
    const { code, err } = await projectIn(person, origin).winnow('run')
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('winnow recover, on the machine on which it ran last'),
    ])
  })
})

describe('run after a stop', () => {
  async function stopped() {
    const { person, origin } = await kept()
    expect((await person.winnow('stop')).code).toBe(0)
    const { code, out } = await person.winnow('run')
    expect([code, out]).toEqual([0, expect.stringContaining('git merge origin/optimize/size')])
    return { person, origin, incumbent: origin('rev-parse', OPTIMIZE) }
  }

  it('notices that the optimize branch was deleted, and recover puts it back', async () => {
    const { person, origin, incumbent } = await stopped()
    origin('update-ref', '-d', OPTIMIZE)
    const { code, out } = await person.winnow('run')
    expect(code).toBe(14)
    expect(out).toContain(
      'optimize/size was deleted and is not merged: winnow recover --campaign size moves it back',
    )
    expect(out).not.toContain('git merge')
    expect((await person.winnow('recover')).out).toBe(
      `Put optimize/size back at ${incumbent}: the recorded incumbent.\n`,
    )
    expect((await person.winnow('run')).code).toBe(0)
    await proven(person)
  })

  releaseTest('notices that it was moved back, and recover moves it forward', async () => {
    const { person, origin, incumbent } = await stopped()
    origin('update-ref', OPTIMIZE, origin('rev-parse', `${OPTIMIZE}~1`))
    const { code, out } = await person.winnow('run')
    expect(code).toBe(14)
    expect(out).toMatch(/optimize\/size was moved back to [0-9a-f]{10} and lacks kept changes/)
    expect(out).not.toContain('git merge')
    expect((await person.winnow('recover')).code).toBe(0)
    expect(origin('rev-parse', OPTIMIZE)).toBe(incumbent)
    await proven(person)
  })

  releaseTest('records commits of others as a foreign tip, which resume measures', async () => {
    const { person, origin, incumbent } = await stopped()
    person.git('fetch', '-q', 'origin')
    person.git('checkout', '-q', '--detach', incumbent)
    const theirs = person.commit('theirs', { 'src/value': `${'a'.repeat(9)}\n` })
    person.git('push', '-q', 'origin', `${theirs}:${OPTIMIZE}`)
    person.git('checkout', '-q', 'main')
    const { code, out } = await person.winnow('run')
    expect(code).toBe(14)
    expect(out).toContain('which winnow did not put there and has not measured: winnow resume measures it')
    expect(out).not.toContain('git merge')
    expect((await person.winnow('recover')).err).toContain('winnow resume measures those commits')
    const audit = await person.winnow('audit')
    expect([audit.code, audit.out]).toEqual([0, expect.stringContaining('it is known and not measured yet')])
    expect((await person.winnow('resume')).code).toBe(0)
    await person.winnow('run')
    expect(origin('rev-parse', OPTIMIZE)).toBe(theirs)
    expect((await person.winnow('log')).out).toMatch(/adopted/)
    await proven(person)
  })

  releaseTest('takes a branch that was deleted after it was merged as it is', async () => {
    const { person, origin, incumbent } = await stopped()
    person.git('fetch', '-q', 'origin')
    person.git('merge', '-q', '--ff-only', incumbent)
    person.git('push', '-q', 'origin', 'main')
    origin('update-ref', '-d', OPTIMIZE)
    expect((await person.winnow('run')).code).toBe(0)
  })
})

describe('run while the campaign is paused', () => {
  it('says that the optimize branch was deleted', async () => {
    const { person, origin } = await kept()
    await person.winnow('pause')
    origin('update-ref', '-d', OPTIMIZE)
    const { code, out } = await person.winnow('run')
    expect([code, out]).toEqual([
      14,
      expect.stringMatching(/is paused by \S+\. Also, optimize\/size was deleted/),
    ])
  })
})
