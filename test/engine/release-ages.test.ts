import { expect, it } from 'vitest'
import { publicRegistries } from '../../src/dependencies/registries.ts'
import { type PackageRegistry, packageRegistry } from '../servers/package-registry.ts'
import { packageFiles } from './package-files.ts'
import { letters, sizeYard } from './size-yard.ts'
import { patchOf, type Yard } from './yard.ts'

const LEFT_PAD = { 'left-pad': { version: '1.3.0' } }
const DAY = 86_400_000

function publishedBefore(days: number): Record<string, unknown> {
  return { '/left-pad': { time: { '1.3.0': new Date(Date.now() - days * DAY).toISOString() } } }
}

/** One idea that adds a package which the spec approves by its name, with a registry that has these answers. */
async function adding(answers: Record<string, unknown>): Promise<{ yard: Yard; registry: PackageRegistry }> {
  const registry = await packageRegistry(answers)
  const before = packageFiles({})
  const change = Object.entries(packageFiles(LEFT_PAD)).map(
    ([path, text]) => [path, [before[path] ?? '', text]] as const,
  )
  const idea: Record<string, [string, string]> = { 'src/a.txt': [letters('a', 15), letters('a', 3)] }
  for (const [path, [from, to]] of change) idea[path] = [from ?? '', to ?? '']
  const yard = await sizeYard([patchOf(idea, { hypothesis: 'pads' })], {
    files: before,
    spec: text =>
      `${text.replace('[src/]', '[src/, package.json, package-lock.json]')}dependencies: { approved: [left-pad] }\nstopping: { max_hours: 1000 }\n`,
    registries: publicRegistries({ version: '0.0.0', bases: { npm: registry.url } }),
  })
  await yard.start()
  return { yard, registry }
}

it('what the spec approves is measured where its registry says that it is old enough, asked once, and proven without', async () => {
  const { yard, registry } = await adding(publishedBefore(8))
  await yard.run()
  expect(await yard.outcomes()).toEqual({ pads: 'kept' })
  expect(registry.asked).toEqual(['/left-pad'])
  const asked = (await yard.events()).filter(event => event.kind === 'approval-requested')
  expect(asked).toMatchObject([{ packages: [], min_age_days: 7 }])
  expect(asked[0]?.additions?.map(({ released }) => released)).toEqual([
    expect.stringMatching(/^\d{4}-.*Z$/),
    expect.stringMatching(/^\d{4}-.*Z$/),
  ])

  registry.answers = {}
  await yard.reopen()
  await yard.proven()
  expect(registry.asked).toEqual(['/left-pad'])
})

it('what is younger, or of unknown age, waits for a person, who sees that', async () => {
  for (const answers of [publishedBefore(2), {}]) {
    const { yard, registry } = await adding(answers)
    await yard.run()
    expect(await yard.experiment('pads')).toMatchObject({ status: 'deferred' })
    await yard.reopen()
    await yard.run()
    expect(registry.asked).toEqual(['/left-pad'])
    const { id: experiment, approval } = await yard.experiment('pads')
    if (approval === null) throw new Error('nobody was asked')
    const { digest, packages } = approval
    await yard.person({ kind: 'approved', experiment, digest, packages })
    await yard.run()
    expect(await yard.outcomes()).toEqual({ pads: 'kept' })
    await yard.proven()
  }
})

it('what waited goes on by itself once it is old enough', async () => {
  const { yard } = await adding(publishedBefore(2))
  await yard.run()
  expect(await yard.experiment('pads')).toMatchObject({ status: 'deferred' })
  await yard.reopen({ ahead: () => 6 * DAY })
  await yard.run()
  expect(await yard.outcomes()).toEqual({ pads: 'kept' })
  await yard.proven()
})
