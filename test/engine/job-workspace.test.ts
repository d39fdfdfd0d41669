import { describe, expect, it } from 'vitest'
import { chooseJobWorkspace } from '../../src/engine/jobs/measure-job.ts'
import type { MissingUsers, SideUsers } from '../../src/measure/isolation/side-users.ts'
import { aSpec } from '../decide/a-spec.ts'

const USERS: SideUsers = { dir: '/var/lib/winnow', owners: [{ uid: 901, gid: 901 }] }
const NOBODY: MissingUsers = { what: 'there is no user winnow-1', fix: 'make them' }

interface Case {
  isolation: 'auto' | 'uid' | 'none'
  users?: SideUsers | MissingUsers
  before?: boolean | null
  fails?: string
}

async function lodging({ isolation, users = USERS, before = null, fails }: Case) {
  const tried: string[] = []
  const answer = await chooseJobWorkspace('/work', {
    users,
    before,
    spec: aSpec({ measurement: { command: 'x', isolation } }),
    runDryRun: async ({ workDir }) => {
      tried.push(workDir)
      return fails ?? null
    },
  })
  return {
    tried: tried.length,
    ...('users' in answer ? { users: true } : { because: answer.unisolatedBecause }),
  }
}

describe('the user of a measuring job', () => {
  it.each<[string, Case, unknown]>([
    ['auto tries it, and takes it where it works', { isolation: 'auto' }, { tried: 1, users: true }],
    [
      'auto does without where it does not work, and says why',
      { isolation: 'auto', fails: 'the set-up fails: no cargo' },
      { tried: 1, because: 'the set-up fails: no cargo' },
    ],
    [
      'auto does without where there are no users',
      { isolation: 'auto', users: NOBODY },
      { tried: 0, because: NOBODY.what },
    ],
    [
      'auto goes on with users, and tries nothing',
      { isolation: 'auto', before: true },
      { tried: 0, users: true },
    ],
    [
      'auto goes on without, also where there are users now',
      { isolation: 'auto', before: false },
      { tried: 0, because: 'the earlier measurements were made without isolation' },
    ],
    ['uid is taken at its word', { isolation: 'uid', fails: 'x' }, { tried: 0, users: true }],
    ['none is, too', { isolation: 'none' }, { tried: 0, because: 'the spec says isolation: none' }],
  ])('%s', async (_what, given, expected) => {
    expect(await lodging(given)).toEqual(expected)
  })

  it.each<[string, Case]>([
    ['uid', { isolation: 'uid', users: NOBODY }],
    ['what was measured with users before', { isolation: 'auto', users: NOBODY, before: true }],
  ])(
    '%s is required: without users the job is refused, and the error says what makes them',
    async (_what, given) => {
      await expect(lodging(given)).rejects.toMatchObject({
        message: 'measurement.isolation uid: there is no user winnow-1',
        fix: 'make them',
        place: { path: 'measurement.isolation' },
      })
    },
  )
})
