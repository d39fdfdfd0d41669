import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { amongUsers } from '../measure/in-namespace.ts'
import { isRoot, throwAwayUsers } from '../measure/throw-away-users.ts'
import { FILES, offer, type Project, project, proven, SHORT, SPEC } from './project.ts'
import { selectCases } from '../support/cases.ts'
import { releaseTest } from '../support/cases.ts'

const CLI = new URL('../../dist/cli.js', import.meta.url).pathname
const ASKING = SPEC.replace('sh bench/size.sh', 'sh bench/size.sh, isolation: uid')
/** Says on which side it is called by whom: a user of a side, in a folder of its own. */
const HARNESS =
  'test "$(id -u)" != 0 && test -O . && test -O "$HOME" && echo "{\\"bytes\\": $(wc -c < src/value)}"\n'
const OWN_USERS = 'Isolation: each side runs as a separate user.'
const files = { ...FILES, '.winnow/size.yaml': ASKING, 'bench/size.sh': HARNESS }

/** winnow as root runs it where the users of sides are there. */
function winnowAmong(person: Project, ...argv: string[]) {
  const [program = '', ...args] = amongUsers(throwAwayUsers(), [
    process.execPath,
    CLI,
    '--cache-dir',
    person.cache,
    ...argv,
  ])
  const env = { PATH: process.env['PATH'] ?? '', HOME: person.cache, USER: 'ada' }
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: person.dir, env, encoding: 'utf8' })
  return { code: status, out: stdout, err: stderr }
}

describe.skipIf(!isRoot)('a campaign whose sides have users of their own', () => {
  releaseTest(
    'is measured by them, from its first order to what is kept, and says nothing of a lack',
    async () => {
      const person = project(files)
      expect(winnowAmong(person, 'run').code).toBe(14)
      await offer(person, SHORT)
      const { code, out, err } = winnowAmong(person, 'run')
      expect(err + out).toMatch(/exp-001 Kept: bytes 100 -> 50/)
      expect([0, 14]).toContain(code)
      expect(err + out).not.toMatch(/unisolated|not isolated/)
      expect((await person.winnow('log', '--json')).out).not.toContain('"unisolated"')
      await proven(person)
      expect(existsSync('/var/lib/winnow')).toBe(false)
    },
  )

  it('uses the users that are there where the spec leaves the choice, and says so', async () => {
    const person = project({ ...files, '.winnow/size.yaml': SPEC })
    expect(winnowAmong(person, 'run').code).toBe(14)
    await offer(person, SHORT)
    const { out, err } = winnowAmong(person, 'run')
    expect(err + out).toMatch(/exp-001 Kept: bytes 100 -> 50/)
    expect(err + out).not.toMatch(/unisolated|not isolated/)
  })

  it('is tried by check the same way', () => {
    const person = project(files)
    const { code, out, err } = winnowAmong(person, 'check')
    expect([code, err]).toEqual([0, expect.not.stringContaining('error')])
    expect(out).toContain('isolation: uid; each side runs as its own user')
  })

  releaseTest(
    'is tried by check and by compare with the users that are there, where the choice is left',
    () => {
      const person = project({ ...files, '.winnow/size.yaml': SPEC })
      const checked = winnowAmong(person, 'check', '--no-probes')
      expect([checked.code, checked.err]).toEqual([0, expect.stringContaining(OWN_USERS)])
      expect(checked.out).toContain('isolation: uid where the commands work that way')
      // One trial tells for the whole command.
      expect(checked.err.split(OWN_USERS)).toHaveLength(2)
      person.git('commit', '--allow-empty', '-q', '-m', 'two')
      const compared = winnowAmong(person, 'compare', 'HEAD~1', '--', 'sh bench/size.sh')
      expect(compared.err + compared.out).not.toContain('error')
    },
  )
})

describe('where there are no users for sides', () => {
  it('a spec that asks for them is told what is missing and how to make it', async () => {
    const person = project(files)
    const { code, err } = await person.winnow('check')
    expect(code).toBe(2)
    expect(err).toMatch(
      /measurement\.isolation uid: (?:there is no user winnow-1|only root can|users for sides are not built)/,
    )
    expect(err).toMatch(/fix: (?:create them as root: for n in|run winnow as root|measure on Linux)/)
    expect(existsSync(join(person.cache, 'trial'))).toBe(false)
  })

  it('denying what is not isolated is said to let nothing land', async () => {
    const person = project({ ...FILES, '.winnow/size.yaml': `${SPEC}merge: { unisolated: deny }\n` })
    const { code, out } = await person.winnow('check', '--no-try')
    expect(code).toBe(0)
    expect(out).toContain(
      'merge.unisolated is deny, but without users of sides isolation: auto means none here',
    )
  })
})

describe('the doctor', () => {
  const doctor = async (files: Record<string, string>, workflow?: string) => {
    const path = '.github/workflows/winnow.yml'
    const person = project({ ...files, ...(workflow === undefined ? {} : { [path]: workflow }) })
    return (await person.winnow('doctor', '--all')).out
  }

  it('says whether a spec that asks for users of sides finds them on this machine', async () => {
    expect(await doctor(files)).toMatch(
      /size: each side needs its own user, and on this machine (?:there is no user|only root)/,
    )
    expect(await doctor(FILES)).not.toContain('its own user')
  })

  it('names a branch that only has the name of a ledger, and checks the rest', async () => {
    const person = project(FILES)
    person.git('branch', 'optimize-state/notes')
    const { code, out } = await person.winnow('doctor', '--all')
    expect([code, out]).toEqual([0, expect.stringContaining('new enough')])
    expect(out).toMatch(/optimize-state\/notes .*so winnow leaves it alone/)
  })

  it.runIf(isRoot)('finds those that are there', () => {
    expect(winnowAmong(project(files), 'doctor', '--all').out).toContain(
      'there is a user for each side of size',
    )
  })

  it.each(
    selectCases([
      [
        'makes them',
        'run: sudo sh -c "for n in 1; do useradd --system winnow-$n; done"',
        'makes a user for each side',
      ],
      ['does not', 'jobs: {}', 'each side needs its own user, and .github/workflows/winnow.yml creates none'],
    ]),
  )('says whether the workflow %s', async (_what, workflow, expected) => {
    expect(await doctor(files, `on: { workflow_dispatch: {} }\n${workflow}\n`)).toContain(expected)
  })
})
