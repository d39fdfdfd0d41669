import { expect, it } from 'vitest'
import { FILES, offer, project, proven, SPEC } from './project.ts'

const FIVE = `${'a'.repeat(50)}\n`
const FOUR = `${'a'.repeat(40)}\n`
const WITH_ARTIFACT = {
  ...FILES,
  '.winnow/size.yaml': `${SPEC}artifacts: [{ name: value, path: src/value }]\n`,
}

it('versions of an artifact are listed with their differences, printed, and returned to', async () => {
  const person = project(WITH_ARTIFACT)
  await person.winnow('run')
  await offer(person, FIVE)
  await person.winnow('run')
  await offer(person, FOUR, [], 'optimize/size')
  await person.winnow('run')

  const all = await person.json('inspect')
  expect(all).toMatchObject({
    rounds: [{ round: 1 }, { round: 2 }],
    artifacts: [{ name: 'value', path: 'src/value', current: 2 }],
  })
  const history = await person.winnow('inspect', '--artifact', 'value')
  expect(history.out).toContain('value (src/value): v2 is in force')
  expect(history.out).toMatch(/v2, from v1 {2}\S+ {2}external, exp-002, round 2\n {2}41 bytes\n/)
  expect(history.out).toContain(`  -${FIVE}  +${FOUR}`)
  expect((await person.winnow('inspect', '--artifact', 'value', '--text', '1')).out).toBe(FIVE)
  const text = await person.json('inspect', '--artifact', 'value', '--text', '1')
  expect(text).toEqual({ artifact: 'value', version: 1, text: FIVE })
  expect((await person.winnow('inspect')).out).toMatch(/^value {5}src\/value {2}v2 {8}v0-v2$/m)

  expect((await person.winnow('rollback', 'value', '2')).out).toBe('v2 of value is in force already.\n')
  expect((await person.winnow('rollback', 'value', '7')).err).toContain('it has the versions 0 to 2')
  expect((await person.winnow('rollback', 'valu', '0')).err).toContain('did you mean value?')
  expect((await person.winnow('rollback', 'value', '0', '-m', 'too short')).out).toContain('Recorded. ')
  expect((await person.winnow('rollback', 'value', '1')).err).toContain('was requested already')
  await person.winnow('run')
  expect(person.git('show', 'optimize/size:src/value')).toBe('a'.repeat(99))
  expect(await person.json('inspect', '--artifact', 'value')).toMatchObject({
    current: 0,
    versions: [{ version: 0 }, { version: 1, parent: 0 }, { version: 2, parent: 1 }],
    moves: [
      { from: 0, to: 1, experiment: 'exp-001' },
      { from: 1, to: 2, experiment: 'exp-002' },
      { from: 2, to: 0, experiment: 'exp-003', rationale: 'restore value v0: too short' },
    ],
  })
  expect((await person.winnow('inspect', '--artifact', 'value')).out).toContain('v2 -> v0  ')
  await proven(person)
})
