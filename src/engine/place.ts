import type { Repository } from '../git/repository.ts'
import type { Forge } from '../forge/port.ts'
import type { Pacing } from '../ledger/retry.ts'
import type { CampaignRefs } from '../model/refs.ts'
import type { EventAuthor } from '../model/event.ts'
import type { CampaignLocation } from '../spec/unread-keys.ts'
import type { JobIsolation } from './job-lodging.ts'
import type {
  Clock,
  Faults,
  SaveUnwrittenEvents,
  ProgressReporter,
  RandomSource,
  Registries,
} from '../ports.ts'

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
