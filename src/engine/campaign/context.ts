import { type ForgeError, UserError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import type { Forge } from '../../github/port.ts'
import type { LoadedCampaign } from '../../ledger/load.ts'
import type { Pacing } from '../../ledger/retry.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { EventAuthor } from '../../model/event.ts'
import {
  type CampaignRefs,
  type Host,
  type Oid,
  type OrderId,
  type Point,
  toShortRef,
} from '../../model/ids.ts'
import type { CandidateFacts, HoldoutFacts, PickFacts } from '../../plan/world.ts'
import type {
  Clock,
  Faults,
  ProgressReporter,
  RandomSource,
  Registries,
  ReleaseDate,
  SaveUnwrittenEvents,
} from '../../ports.ts'
import type { CampaignLocation } from '../../spec/planned-features.ts'
import type { Spec } from '../../spec/schema.ts'
import type { JobIsolation } from '../jobs/measure-job.ts'

/** All dependencies of the engine for one campaign, created once at the edge. */
export interface CampaignContext {
  name: string
  prefix: string
  refs: CampaignRefs
  repository: Repository
  /** GitHub; null where the campaign runs on one machine, without pull requests. */
  forge: Forge | null
  /** For orders, work directories and proposals. */
  dataDir: string
  /** Shared by all winnow processes of this user on this machine. */
  machineDir: string
  /** Top of the user's checkout, used for shared files only; null in a bare repository. */
  checkout: string | null
  /** Full name of the default branch for a campaign that has not recorded one. */
  defaultBranch: string
  /** Without a remote, the branches live in the user's repository. */
  local: boolean
  /** In a job that holds a token; on a person's machine only the spec decides. */
  isolation?: JobIsolation
  by: EventAuthor
  /** The cause of recorded events when a person's command has a permanent id; random by default. */
  nonce?: string
  env: Readonly<Record<string, string>>
  clock: Clock
  random: RandomSource
  faults: Faults
  progress: ProgressReporter
  keepUnwritten: SaveUnwrittenEvents
  /** Without registries the age of releases is unknown. */
  registries?: Registries
  version: string
}

export function getWhereabouts(forge: Forge | null): CampaignLocation {
  if (forge === null) return 'local'
  return forge.workflows === undefined ? 'single-job' : 'github'
}

export function getHost({ forge }: Pick<CampaignContext, 'forge'>): Host {
  return forge === null ? 'local' : 'github'
}

export function requireForge({ forge }: Pick<CampaignContext, 'forge'>): Forge {
  if (forge === null) throw new Error('a campaign on one machine has no pull requests')
  return forge
}

export function createPacing({ clock, random }: Pick<CampaignContext, 'clock' | 'random'>): Pacing {
  return {
    monotonic: () => clock.monotonic(),
    sleep: ms => clock.sleep(ms),
    random: () => random.fraction(),
  }
}

/** A cache between observations. Clearing it changes no result (invariant 11). */
export interface Memory {
  loaded: LoadedCampaign | null
  candidates: Map<string, CandidateFacts>
  picks: Map<string, PickFacts>
  checks: Map<string, string>
  /** Release dates; undefined when a lookup was skipped. */
  releases: Map<string, ReleaseDate | null | undefined>
  /** Ancestry answers, which never change. */
  ancestors: Map<string, boolean>
  /** The remote's refs when last read, updated by winnow's own pushes. */
  refs: ReadonlyMap<string, Oid> | null
  holdout: HoldoutFacts | null
  refsReadAt: number
  /** Incremented for each tick and after each interrupted one. */
  turn: number
  refused: { tip: Oid | null; dispatches: Set<OrderId> }
  /** Writes to GitHub, done or refused, while the ledger was at this commit. Lists may lag behind them. */
  written: { tip: Oid | null; keys: Set<string> }
  /** Refusals of the forge, by message. */
  refusals: Map<string, ForgeError>
  /** The campaign status that the ledger's views are known to show. */
  shown: Campaign['status'] | null
}

export function createMemory(): Memory {
  return {
    loaded: null,
    candidates: new Map(),
    picks: new Map(),
    checks: new Map(),
    releases: new Map(),
    ancestors: new Map(),
    refs: null,
    holdout: null,
    refsReadAt: Number.NEGATIVE_INFINITY,
    turn: 0,
    refused: { tip: null, dispatches: new Set() },
    written: { tip: null, keys: new Set() },
    refusals: new Map(),
    shown: null,
  }
}

/** Another writer may have changed the refs. The loaded campaign stays: the remote accepted it. */
export function resetMemory(memory: Memory): void {
  memory.refs = null
  memory.turn += 1
  memory.shown = null
}

type HomeContext = Pick<CampaignContext, 'name' | 'refs' | 'forge'>
type RecordedHome = Pick<Campaign, 'host' | 'status'>

/** Returns whether the campaign runs elsewhere. An old ledger without a host was written on one machine. */
export function isAway(context: Pick<CampaignContext, 'forge'>, { host, status }: RecordedHome): boolean {
  return status !== 'none' && (host ?? 'local') !== getHost(context)
}

/** Refuses to plan: pull requests that cannot be seen from here would look like deleted ones. */
export function requireHome(homeContext: HomeContext, campaign: RecordedHome): void {
  if (!isAway(homeContext, campaign)) return
  const { name, refs } = homeContext
  if (campaign.host !== 'github') {
    throw new UserError(`campaign ${name} was started on one machine and cannot be continued on GitHub`, {
      fix: 'continue it there with winnow run; or archive it there with winnow archive, and the next run on GitHub starts a new campaign',
    })
  }
  const optimize = toShortRef(refs.optimize)
  throw new UserError(`campaign ${name} runs on GitHub and cannot be continued on this machine`, {
    fix: `its next run on GitHub continues it; to submit an idea, push a branch and open a pull request against ${optimize}; to measure on this machine only, use winnow compare`,
  })
}

type BranchNaming = Pick<CampaignContext, 'name' | 'prefix'>

/** A campaign is found by its branch names. Describes how a spec would change them; null when it does not. */
export function describeRename(
  { name, prefix }: BranchNaming,
  { name: other, branches }: Pick<Spec, 'name' | 'branches'>,
) {
  if (other !== name) return `it is now named ${other}, and the campaign ${name}`
  if (branches.prefix === prefix) return null
  return `its branches.prefix is now ${branches.prefix}, and that of the campaign ${prefix}`
}

export function requireSameBranches(
  context: BranchNaming & { refs: Pick<CampaignRefs, 'state'> },
  spec: Spec,
  path: string,
): void {
  const now = describeRename(context, spec)
  if (now === null) return
  throw new UserError(`the branches of this campaign would have other names: ${now}`, {
    place: { file: path, path: spec.name === context.name ? 'branches.prefix' : 'name' },
    fix: `change it back, or archive ${toShortRef(context.refs.state)} with winnow archive, then winnow run ${path}`,
  })
}

export async function readPoint(repository: Repository, commit: Oid): Promise<Point> {
  return { commit, tree: (await repository.commit(commit)).tree }
}

export async function listRefs({ repository, refs, defaultBranch }: CampaignContext) {
  const { optimize, campaign, state, closed, experiments } = refs
  return repository.remoteRefs([optimize, campaign, state, closed, defaultBranch, `${experiments}*`])
}
