import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { clonedProject, offer, type Project, project } from './project.ts'

/** Its gain is above merge.hold_above. */
const MUCH_SHORTER = 'a\n'

async function readDiff(person: Project): Promise<string> {
  expect((await person.winnow('run')).code).toBe(14)
  await offer(person, MUCH_SHORTER)
  await person.winnow('run')
  const { out } = await person.winnow('approve')
  expect(out).toContain('exp-001 is waiting for approval of its change')
  const command = /^ {2}read it: (.*)$/m.exec(out)?.[1] ?? 'false'
  return execFileSync('sh', ['-c', command], { cwd: person.dir, encoding: 'utf8' })
}

it.each([
  ['without a remote', () => project()],
  ['with a remote', () => clonedProject()],
])('winnow approve shows a command that prints the diff of a held change, %s', async (_, create) => {
  const person = create()
  const diff = await readDiff(person)
  expect(diff).toContain('+++ b/src/value')
  expect(diff).toMatch(/^\+a$/m)
  expect((await person.winnow('approve', '--all')).out).toMatch(
    /^exp-001 is held: read its change, then winnow approve exp-001 --digest [0-9a-f]{16}\n$/,
  )
  expect(await person.json('approve')).toMatchObject({ waiting: [{ experiment: 'exp-001' }] })
})
