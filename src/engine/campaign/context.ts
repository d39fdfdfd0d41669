import { type ForgeError, UserError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import type { Forge } from '../../github/port.ts'
import type { LoadedCampaign } from '../../ledger/load.ts'
import type { Pacing } from '../../ledger/retry.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { EventAuthor } from '../../model/event.ts'
import { type CampaignRefs, type ExperimentId, type Oid, toShortRef } from '../../model/ids.ts'
import type { CandidateFacts, HoldoutFacts, PickFacts, World } from '../../plan/world.ts'
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
import type { JobIsolation } from '../jobs/measurement-job.ts'

/** Everything the engine works with for one campaign; made once at the edge, passed down. */
export interface CampaignContext {
  name: string
  prefix: string
  refs: CampaignRefs
  repository: Repository
  forge: Forge
  /** Absolute, ours: orders under way, work trees, proposals. */
  dataDir: string
  /** Where the winnow processes of this user on this machine find each other, whatever they work on. */
  machineDir: string
  /** The top of the user's checkout, for shared files alone; null in a bare repository. */
  checkout: string | null
  /** Full name of the default branch when no campaign recorded one yet. */
  defaultBranch: string
  /** No remote: the branches live in the user's repository itself. */
  local: boolean
  /** As whom code of others runs in a job that holds a token; on machines of people the spec alone says it. */
  isolation?: JobIsolation
  by: EventAuthor
  /** The cause of what is recorded here, where a person's command has a name for good; else one is drawn. */
  nonce?: string
  env: Readonly<Record<string, string>>
  clock: Clock
  random: RandomSource
  faults: Faults
  progress: ProgressReporter
  keepUnwritten: SaveUnwrittenEvents
  /** Where none are, the age of no release is known. */
  registries?: Registries
  version: string
}

/** A forge that runs workflows measures by them; one that was told not to is a job that measures by itself. */
export function getWhereabouts({ kind, workflows }: Forge): CampaignLocation {
  if (kind === 'local') return 'local'
  return workflows === undefined ? 'single-job' : 'github'
}

/** How long and how often a lost race or a refused push is repeated here. */
export function createPacing({ clock, random }: Pick<CampaignContext, 'clock' | 'random'>): Pacing {
  return {
    clock: () => clock.now(),
    sleep: ms => clock.sleep(ms),
    random: () => random.fraction(),
  }
}

/** What is remembered between looks, to look faster; forgetting it changes nothing (invariant 11). */
export interface Memory {
  loaded: LoadedCampaign | null
  candidates: Map<string, CandidateFacts>
  /** What a change comes to on the default branch, by both. */
  picks: Map<string, PickFacts>
  /** Checks as this process has shown them. */
  checks: Map<ExperimentId, string>
  /** When releases were published, as far as it was asked. */
  releases: Map<string, ReleaseDate | null | undefined>
  /** Which commits are in the history of which: that never changes. */
  ancestors: Map<string, boolean>
  /** The remote's refs when they were last asked for, and as our own pushes left them since. */
  refs: ReadonlyMap<string, Oid> | null
  /** Where the holdout's ref was at the same time. */
  holdout: HoldoutFacts | null
  /** On the clock that never jumps. */
  askedAt: number
  /** Another one for each tick, and after each turn that was cut off. */
  turn: number
  /** What was done outside the ledger, or refused there, while it ended in this commit (`plan/draft.ts`). */
  carried: { tip: Oid | null; keys: Set<string> }
  /** What the forge would not do, by its words. */
  refusals: Map<string, ForgeError>
  /** The campaign's state that the ledger's views are known to tell. */
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
    askedAt: Number.NEGATIVE_INFINITY,
    turn: 0,
    carried: { tip: null, keys: new Set() },
    refusals: new Map(),
    shown: null,
  }
}

/** What a turn that was cut off, or another writer, may have made untrue. */
export function resetMemory(memory: Memory): void {
  memory.loaded = null
  memory.refs = null
  memory.turn += 1
  memory.shown = null
}

export function listDoneKeys(
  { carried: { tip, keys } }: Memory,
  ledger: Oid | null,
): Pick<World, 'doneActions'> {
  return ledger !== null && tip === ledger ? { doneActions: keys } : {}
}

type HomeContext = Pick<CampaignContext, 'name' | 'refs' | 'forge'>
type RecordedHome = Pick<Campaign, 'host' | 'status'>

/**
 * Whether its pull requests are kept where this process sees none of them. An old ledger that no job of GitHub Actions
 * wrote into is of one machine.
 */
export function isAway({ forge }: Pick<CampaignContext, 'forge'>, { host, status }: RecordedHome): boolean {
  return status !== 'none' && (host ?? 'local') !== forge.kind
}

/** What cannot be seen from here would look as if people had taken it away: nothing is planned, moved or measured. */
export function requireHome(homeContext: HomeContext, campaign: RecordedHome): void {
  if (!isAway(homeContext, campaign)) return
  const { name, refs } = homeContext
  if (campaign.host !== 'github') {
    throw new UserError(
      `campaign ${name} lives on one machine: its pull requests are kept beside its branches, and GitHub has none of them`,
      {
        fix: 'go on there with winnow run; or put it aside there with winnow archive, and the next wake-up begins one that lives here',
      },
    )
  }
  const optimize = toShortRef(refs.optimize)
  throw new UserError(
    `campaign ${name} lives on GitHub: its pull requests cannot be seen from here, so nothing is planned or measured here`,
    {
      fix: `its next wake-up goes on with it; to bring an idea, push a branch and open a pull request against ${optimize}; to measure on this machine alone, winnow compare`,
    },
  )
}

/** What the spec of a campaign may ask for: of where it lives, whoever reads it. */
export function getCampaignWhereabouts({ forge }: Pick<CampaignContext, 'forge'>, campaign: RecordedHome) {
  return isAway({ forge }, campaign) && campaign.host === 'github' ? 'github' : getWhereabouts(forge)
}

type BranchNaming = Pick<CampaignContext, 'name' | 'prefix'>

/** A campaign is found by the names of its branches: what a spec calls them now, where that is something else. */
export function describeRename(
  { name, prefix }: BranchNaming,
  { name: other, branches }: Pick<Spec, 'name' | 'branches'>,
) {
  if (other !== name) return `it is now named ${other}, and the campaign ${name}`
  if (branches.prefix === prefix) return null
  return `its branches.prefix is now ${branches.prefix}, and that of the campaign ${prefix}`
}

/** No spec makes the branches of one campaign those of another. */
export function requireSameBranches(
  context: BranchNaming & { refs: Pick<CampaignRefs, 'state'> },
  spec: Spec,
  path: string,
): void {
  const now = describeRename(context, spec)
  if (now === null) return
  throw new UserError(`the branches of this campaign would have other names: ${now}`, {
    place: { file: path, path: spec.name === context.name ? 'branches.prefix' : 'name' },
    fix: `change it back, or put ${toShortRef(context.refs.state)} aside with winnow archive, then winnow run ${path}`,
  })
}

/** The refs a look at the remote asks for: all of a campaign, and the branch it improves. */
export async function listRefs(context: CampaignContext) {
  return context.repository.remoteRefs([...listRefPatterns(context), `${context.refs.experiments}*`])
}

function listRefPatterns({ refs, defaultBranch }: CampaignContext): string[] {
  return [refs.optimize, refs.campaign, refs.state, refs.closed, refs.forge, defaultBranch]
}

/** Whether a look at the remote would have shown this ref. */
export function isListed(context: CampaignContext, ref: string): boolean {
  return ref.startsWith(context.refs.experiments) || listRefPatterns(context).includes(ref)
}
