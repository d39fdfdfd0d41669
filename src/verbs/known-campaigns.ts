import type { RepositoryContext } from '../engine/open.ts'
import type { UserError } from '../errors.ts'
import type { Spec } from '../spec/schema.ts'
import { type CampaignStart, readCampaignStart } from './beginning.ts'
import { type CommittedSpecFile, listCommittedSpecs, createDuplicateNameError } from './committed-specs.ts'

export const DEFAULT_PREFIX = 'optimize'

/** A campaign there is, or could be: a spec on the default branch, a ledger, or both. */
export interface KnownCampaign {
  name: string
  /** The committed spec of that name, in the repository; null where only the ledger is left. */
  specPath: string | null
  /** Every committed spec of that name: more than one is an error. */
  paths: readonly string[]
  /** The spec it was started from, which may have moved since. */
  ledgerPath: string | null
  spec: Spec | null
  prefix: string
  started: boolean
  /** Why its committed spec cannot be used. */
  problem: UserError | null
}

interface StartedLedger {
  name: string
  prefix: string
  beginning: CampaignStart | null
}

/** `specPath`: a spec that a person names, wherever it lies. */
export async function listKnownCampaigns(
  workshop: RepositoryContext,
  specPath?: string,
): Promise<KnownCampaign[]> {
  const ledgers = await listStartedCampaigns(workshop)
  const recorded = ledgers.flatMap(({ beginning }) => beginning?.spec_path ?? [])
  const named = specPath === undefined ? recorded : [...recorded, specPath]
  const known = collectStartable(await listCommittedSpecs(workshop, named))
  const declared = new Set([DEFAULT_PREFIX, ...[...known.values()].map(({ prefix }) => prefix)])
  for (const ledger of ledgers) {
    const { name, prefix, beginning } = ledger
    // Somebody else's branch may look like a ledger of another prefix: only its first event tells.
    if (!declared.has(prefix) && beginning?.spec !== name) continue
    const there = known.get(name)
    if (there?.started !== true || prefix === there.spec?.branches.prefix)
      known.set(name, toStartedCampaign(ledger, there))
  }
  return [...known.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** A spec that is broken may only seem to have the name of another: its file's. */
function collectStartable(specs: readonly CommittedSpecFile[]): Map<string, KnownCampaign> {
  const found = new Map<string, KnownCampaign>()
  for (const { name, path, spec, problem } of specs.toSorted((a, b) => Number(!a.spec) - Number(!b.spec))) {
    const there = found.get(name)
    if (there === undefined) {
      const prefix = spec?.branches.prefix ?? DEFAULT_PREFIX
      const alone = { specPath: path, paths: [path], ledgerPath: null, started: false }
      found.set(name, { name, ...alone, spec, prefix, problem })
    } else if (spec !== null) {
      const paths = [...there.paths, path]
      found.set(name, { ...there, paths, problem: createDuplicateNameError(name, paths) })
    }
  }
  return found
}

function toStartedCampaign(
  { name, prefix, beginning }: StartedLedger,
  there: KnownCampaign | undefined,
): KnownCampaign {
  const without = { name, specPath: null, paths: [], spec: null, problem: null }
  return { ...without, ...there, prefix, started: true, ledgerPath: beginning?.spec_path ?? null }
}

const STATE_REF = /^refs\/heads\/([^/]+)-state\/([^/]+)$/

/** Whatever prefix a spec chose: a campaign is found by its ledger, also when its spec lies anywhere. */
async function listStartedCampaigns({ repository }: RepositoryContext): Promise<StartedLedger[]> {
  const { refs } = await repository.remoteRefs(['refs/heads/*-state/*'])
  const ledgers: StartedLedger[] = []
  for (const ref of refs.keys()) {
    const [, prefix, name] = STATE_REF.exec(ref) ?? []
    if (prefix === undefined || name === undefined) continue
    ledgers.push({ name, prefix, beginning: await readCampaignStart(repository, ref) })
  }
  return ledgers
}
