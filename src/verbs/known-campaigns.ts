import { UserError } from '../errors.ts'
import type { Workshop } from '../engine/open.ts'
import { campaignNames } from '../engine/session.ts'
import { parseSpec } from '../spec/parse.ts'
import type { Spec } from '../spec/schema.ts'

export const DEFAULT_PREFIX = 'optimize'
const SPEC_FILE = /^[^/]+\.ya?ml$/

/** A campaign there is, or could be: a spec on the default branch, a ledger, or both. */
export interface KnownCampaign {
  name: string
  /** In the repository; null where only the ledger is left. */
  specPath: string | null
  spec: Spec | null
  prefix: string
  started: boolean
  /** Why its committed spec cannot be used. */
  problem: UserError | null
}

export async function knownCampaigns(workshop: Workshop): Promise<KnownCampaign[]> {
  const specs = await committedSpecs(workshop)
  const prefixes = new Set([DEFAULT_PREFIX, ...specs.map(({ prefix }) => prefix)])
  const known = new Map(specs.map(each => [each.name, each]))
  for (const prefix of prefixes) {
    for (const name of await campaignNames({ repository: workshop.repository, prefix })) {
      const there = known.get(name)
      known.set(name, there ? { ...there, prefix, started: true } : bare(name, prefix))
    }
  }
  return [...known.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function bare(name: string, prefix: string): KnownCampaign {
  return { name, specPath: null, spec: null, prefix, started: true, problem: null }
}

/** Every spec as the default branch has it; a broken one is known by its file's name, with what is wrong. */
async function committedSpecs({ repository, defaultBranch }: Workshop): Promise<KnownCampaign[]> {
  if (defaultBranch === null) return []
  const oid = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch)
  if (oid === undefined) return []
  await repository.fetch([{ ref: defaultBranch, oid }])
  const { tree } = await repository.commit(oid)
  const directory = await repository.entryAt(tree, '.winnow')
  if (directory?.type !== 'tree') return []
  const files = (await repository.tree(directory.oid)).filter(
    ({ type, name }) => type === 'blob' && SPEC_FILE.test(name),
  )
  return Promise.all(
    files.map(async file => {
      const yaml = (await repository.blob(file.oid)).toString('utf8')
      return candidate(`.winnow/${file.name}`, yaml)
    }),
  )
}

function candidate(specPath: string, yaml: string): KnownCampaign {
  const none = { specPath, prefix: DEFAULT_PREFIX, started: false, problem: null }
  try {
    const { spec } = parseSpec(yaml, { file: specPath })
    return { ...none, name: spec.name, spec, prefix: spec.branches.prefix }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { ...none, name: nameOfFile(specPath), spec: null, problem: error }
  }
}

export function nameOfFile(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.ya?ml$/, '')
}
