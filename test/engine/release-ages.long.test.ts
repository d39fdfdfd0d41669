import { expect, it } from 'vitest'
import { createPublicRegistries } from '../../src/dependencies/registries.ts'
import { type PackageRegistry, packageRegistry } from '../servers/package-registry.ts'
import { integrityOf, packageFiles } from '../support/package-files.ts'
import { letters, createSizeRepository } from '../support/size-repository.ts'
import { patchOf, type TestRepository } from '../support/repository.ts'
import { releaseTest } from '../support/cases.ts'

const LEFT_PAD = { 'left-pad': { version: '1.3.0' } }
const DAY = 86_400_000
const INTEGRITY = integrityOf('left-pad', '1.3.0')

/** What npm's registry says of a version that was published so long ago, as these files. */
function publishedBefore(days: number, integrity = INTEGRITY): Record<string, unknown> {
  const at = new Date(Date.now() - days * DAY).toISOString()
  return { '/left-pad': { time: { '1.3.0': at }, versions: { '1.3.0': { dist: { integrity } } } } }
}

/** One idea that adds a package which the spec approves by its name, with a registry that has these answers. */
async function adding(
  answers: Record<string, unknown>,
  rules = ', min_release_age_days: 7',
): Promise<{ repository: TestRepository; registry: PackageRegistry }> {
  const registry = await packageRegistry(answers)
  const before = packageFiles({})
  const change = Object.entries(packageFiles(LEFT_PAD)).map(
    ([path, text]) => [path, [before[path] ?? '', text]] as const,
  )
  const idea: Record<string, [string, string]> = { 'src/a.txt': [letters('a', 15), letters('a', 3)] }
  for (const [path, [from, to]] of change) idea[path] = [from ?? '', to ?? '']
  const repository = await createSizeRepository([patchOf(idea, { hypothesis: 'pads' })], {
    files: before,
    spec: text =>
      `${text.replace('[src/]', '[src/, package.json, package-lock.json]')}dependencies: { approved: [left-pad]${rules} }\nstopping: { max_hours: 1000 }\n`,
    registries: createPublicRegistries({ bases: { npm: registry.url } }),
  })
  await repository.start()
  return { repository, registry }
}

it('measures an approved package that its registry says is old enough, with one lookup, and audits it', async () => {
  const { repository, registry } = await adding(publishedBefore(8))
  await repository.run()
  expect(await repository.outcomes()).toEqual({ pads: 'kept' })
  expect(registry.asked).toEqual(['/left-pad'])
  const asked = (await repository.events()).filter(event => event.kind === 'approval-requested')
  expect(asked).toMatchObject([{ packages: [], min_age_days: 7 }])
  expect(asked[0]?.additions?.map(({ released }) => released)).toEqual([
    expect.stringMatching(/^\d{4}-.*Z$/),
    expect.stringMatching(/^\d{4}-.*Z$/),
  ])

  registry.answers = {}
  await repository.reopen()
  await repository.proven()
  expect(registry.asked).toEqual(['/left-pad'])
})

it('asks a person about younger releases, unknown ages and similar names, and shows the reason', async () => {
  for (const answers of [publishedBefore(2), {}, publishedBefore(99, integrityOf('left-pad', 'namesake'))]) {
    const { repository, registry } = await adding(answers)
    await repository.run()
    expect(await repository.experiment('pads')).toMatchObject({ status: 'deferred' })
    await repository.reopen()
    await repository.run()
    expect(registry.asked).toEqual(['/left-pad'])
    const { id: experiment, approval } = await repository.experiment('pads')
    if (approval === null) throw new Error('nobody was asked')
    const { digest, packages } = approval
    await repository.person({ kind: 'approved', experiment, digest, packages })
    await repository.run()
    expect(await repository.outcomes()).toEqual({ pads: 'kept' })
    await repository.proven()
  }
})

releaseTest('continues alone once a waiting release is old enough', async () => {
  const { repository } = await adding(publishedBefore(2))
  await repository.run()
  expect(await repository.experiment('pads')).toMatchObject({ status: 'deferred' })
  await repository.reopen({ ahead: () => 6 * DAY })
  await repository.run()
  expect(await repository.outcomes()).toEqual({ pads: 'kept' })
  await repository.proven()
})

releaseTest('asks about the packages of a pick like about those of an experiment', async () => {
  const { repository, registry } = await adding(publishedBefore(8), ', min_release_age_days: 0')
  await repository.run()
  expect(await repository.outcomes()).toEqual({ pads: 'kept' })
  const before = (await repository.campaign()).experiments['exp-001']?.approval
  expect(before).toBeNull()
  repository.write(
    '.winnow/size.yaml',
    repository.bare('show', 'main:.winnow/size.yaml').replace('days: 0', 'days: 7'),
  )
  repository.commit('packages have to be out for a week')
  await repository.reopen()
  await repository.person({ kind: 'steered', action: 'pick', experiment: 'exp-001', reason: 'alone, please' })
  await repository.run()
  expect(registry.asked).toEqual(['/left-pad'])
  const [pick] = Object.values((await repository.campaign()).picks)
  expect(pick).toMatchObject({ outcome: 'kept', approval: { packages: [], min_age_days: 7 } })
  await repository.proven()
})

releaseTest('uses the youngest of several files of a release, and shows one hash of all', async () => {
  const [one, two] = ['1'.repeat(64), '2'.repeat(64)]
  const tail = '[metadata]\nlock-version = "2.1"\n'
  const lock = `[[package]]\nname = "tiny"\nversion = "0.1.2"\nfiles = [\n  {file = "tiny-0.1.2-py3-none-any.whl", hash = "sha256:${one}"},\n  {file = "tiny-0.1.2.tar.gz", hash = "sha256:${two}"},\n]\n\n${tail}`
  const at = (days: number) => new Date(Date.now() - days * DAY).toISOString()
  for (const [days, outcome] of [
    [8, 'kept'],
    [2, undefined],
  ] as const) {
    const urls = [
      { upload_time_iso_8601: at(90), digests: { sha256: one } },
      { upload_time_iso_8601: at(days), digests: { sha256: two } },
      { upload_time_iso_8601: at(1), digests: { sha256: '3'.repeat(64) } },
    ]
    const registry = await packageRegistry({ '/pypi/tiny/0.1.2/json': { urls } })
    const change: Record<string, [string, string]> = {
      'src/a.txt': [letters('a', 15), letters('a', 3)],
      'poetry.lock': [tail, lock],
    }
    const repository = await createSizeRepository([patchOf(change, { hypothesis: 'tiny' })], {
      files: { 'poetry.lock': tail },
      spec: text =>
        `${text.replace('[src/]', '[src/, poetry.lock]')}dependencies: { approved: [tiny], min_release_age_days: 7 }\n`,
      registries: createPublicRegistries({ bases: { pypi: registry.url } }),
    })
    await repository.start()
    await repository.run()
    const { outcome: found, approval } = await repository.experiment('tiny')
    expect(found ?? undefined).toBe(outcome)
    expect(approval?.additions).toMatchObject([
      { integrity: expect.stringMatching(/^2 files, sha256:/), released: expect.any(String) },
    ])
    expect(approval?.additions[0]).not.toHaveProperty('files')
    await repository.proven()
  }
})
