import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scratch } from '../git/scratch.ts'
import { clonedProject, type Project, projectIn } from './project.ts'
import { releaseTest } from '../support/cases.ts'

const STATE = 'refs/heads/optimize-state/size'
type Origin = (...args: string[]) => string

async function audited(): Promise<{ person: Project; origin: Origin }> {
  const person = clonedProject()
  await person.winnow('run')
  expect(await person.winnow('audit')).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^First audit on this machine: .*contains the ledger at [0-9a-f]{12} \(up to event \d+\)\.$/m,
    ),
  })
  return { person, origin: person.remote }
}

/** A forger runs another campaign of that name elsewhere, and puts its branches over those that were audited. */
async function forge(person: Project, origin: Origin): Promise<void> {
  const elsewhere = clonedProject()
  await elsewhere.winnow('run')
  const branches = elsewhere
    .refs()
    .split('\n')
    .flatMap(line => line.match(/^refs\/heads\/\S+/)?.[0] ?? [])
  origin(
    'fetch',
    '-q',
    elsewhere.remote('rev-parse', '--absolute-git-dir'),
    ...branches.map(ref => `+${ref}:${ref}`),
  )
  expect(person.refs()).toBe(elsewhere.refs())
}

describe('audit', () => {
  it('says that the ledger continues the one it saw last, whoever wrote into it since', async () => {
    const { person } = await audited()
    await person.winnow('note', 'a word')
    const { code, out } = await person.winnow('audit')
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^The ledger continues the ledger at .*, audited here on /m),
    ])
    expect(await person.json('audit')).toMatchObject({
      ok: true,
      continuity: expect.stringContaining('continues'),
    })
  })

  it('fails where a ledger that fits together has replaced it, until a person accepts that', async () => {
    const { person, origin } = await audited()
    const before = origin('rev-parse', STATE)
    await forge(person, origin)
    expect(origin('rev-parse', STATE)).not.toBe(before)
    for (const _ of [1, 2]) {
      const { code, out } = await person.winnow('audit')
      expect(code).toBe(1)
      expect(out).toContain('problem: optimize-state/size was replaced: the ledger at ')
      expect(out).toContain(`does not descend from the ledger at ${before.slice(0, 12)} (up to event `)
      expect(out).toContain('accept it with winnow audit --accept-replacement')
    }
    const accepted = await person.winnow('audit', '--accept-replacement')
    expect([accepted.code, accepted.out]).toEqual([
      0,
      expect.stringContaining('Accepted: optimize-state/size was replaced'),
    ])
    expect(await person.winnow('audit')).toMatchObject({
      code: 0,
      out: expect.stringContaining('The ledger continues'),
    })
  })

  it('fails where the ledger was cut short', async () => {
    const { person, origin } = await audited()
    origin('update-ref', STATE, origin('rev-parse', `${STATE}~1`))
    expect(await person.winnow('audit')).toMatchObject({
      code: 1,
      out: expect.stringContaining('was replaced'),
    })
  })

  releaseTest('takes a ledger that was put aside, and the next one, as they are', async () => {
    const { person } = await audited()
    await person.winnow('run', '--fresh', '--yes')
    const { code, out } = await person.winnow('audit')
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^This is another ledger: the ledger at .*, is archived\.$/m),
    ])
  })

  it('remembers in a file that is given, and a fresh machine compares with that', async () => {
    const { person, origin } = await audited()
    const seen = join(scratch(), 'seen.json')
    const fresh = projectIn(person, origin)
    expect((await fresh.winnow('audit', '--seen', seen)).out).toContain('First audit on this machine')
    expect(JSON.parse(readFileSync(seen, 'utf8'))).toEqual({
      [STATE]: { tip: origin('rev-parse', STATE), events: expect.any(Number), at: expect.any(String) },
    })
    await forge(person, origin)
    const other = projectIn(person, origin)
    expect((await other.winnow('audit', '--seen', seen)).code).toBe(1)
    expect((await other.winnow('audit')).out).toContain('First audit on this machine')
    writeFileSync(seen, '{')
    expect(await other.winnow('audit', '--seen', seen)).toMatchObject({
      code: 2,
      err: expect.stringContaining('the record of earlier audits cannot be read'),
    })
  })

  releaseTest('puts a damaged memory aside, saying so', async () => {
    const { person } = await audited()
    const [room = ''] = readdirSync(person.cache).filter(name => /^[0-9a-f]{20}$/.test(name))
    const file = join(person.cache, room, 'campaigns', 'size', 'audited.json')
    expect(existsSync(file)).toBe(true)
    writeFileSync(file, '')
    const { code, out, err } = await person.winnow('audit')
    expect([code, out, err]).toEqual([
      0,
      expect.stringContaining('First audit on this machine'),
      expect.stringMatching(
        /^The record of earlier audits was damaged\. winnow moved it to .*audited\.json\.damaged-/,
      ),
    ])
  })
})
