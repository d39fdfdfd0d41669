import type { Campaign } from '../model/campaign.ts'
import type { World } from '../plan/world.ts'
import type { Spec } from '../spec/schema.ts'
import type { IdeaSource } from './ideas.ts'
import type { WorkerSlots } from './lanes.ts'
import type { CampaignContext } from './place.ts'
import { TaskGroup } from './under-way.ts'

/** Proposers that are being asked by this process: begun by a plan, their answers found at a later look. */
export interface ProposerTasks {
  readonly where: World['asks']
  /** Who is being asked now, as often as it is. */
  readonly asked: string[]
  /** The same, unless one of them failed: that is thrown once. */
  facts(): string[]
  begin(who: string, scene: { campaign: Campaign; spec: Spec }): void
  readonly busy: boolean
  /** Resolves when one of them has answered; at once when nobody is asked. */
  settled(): Promise<void>
  /** Resolves when nobody is asked any more. */
  finished(): Promise<void>
  /** Ends them all; resolves when no process of theirs is left. */
  close(): Promise<void>
}

/** They share the lanes with what is measured: never beside anything timed, and never more than allowed. */
export function createLocalProposerTasks(
  place: CampaignContext,
  ideas: IdeaSource,
  lanes: WorkerSlots,
  interrupt: AbortSignal,
): ProposerTasks {
  const tasks = new TaskGroup()
  const names = new Map<string, string>()
  let count = 0

  async function ask(who: string, scene: { campaign: Campaign; spec: Spec }, signal: AbortSignal) {
    // As a user of its own: ending an execution ends everything of its user.
    const alone = place.isolation?.asRoot === true
    const lane = await lanes.enter({ limit: scene.spec.execution.max_concurrent, alone }, signal)
    if (lane === null) return
    try {
      const { ok, reason } = await ideas.ask(who, { ...scene, lane, signal })
      place.progress.say(ok ? `${who}: one idea` : `${who}: no idea, ${reason}`)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      lanes.leave(lane)
    }
  }

  return {
    where: 'here',
    get asked() {
      return tasks.keys.flatMap(key => names.get(key) ?? [])
    },
    facts() {
      tasks.surface()
      return this.asked
    },
    begin(who, scene) {
      count += 1
      const key = String(count)
      const asked = (signal: AbortSignal) => ask(who, scene, AbortSignal.any([signal, interrupt]))
      names.set(key, who)
      tasks.begin(key, signal => asked(signal).finally(() => names.delete(key)))
    },
    get busy() {
      return tasks.busy
    },
    settled: () => tasks.settled(),
    finished: () => tasks.finished(),
    close: () => tasks.close(),
  }
}

/** Where this process holds a token it starts no program of anybody: jobs of their own ask, or nobody at this look. */
export function createRemoteProposerTasks(where: 'elsewhere' | 'later'): ProposerTasks {
  return {
    where,
    asked: [],
    facts: () => [],
    begin: who => {
      throw new Error(`${who} is to be asked by a process that asks nobody`)
    },
    busy: false,
    settled: async () => {},
    finished: async () => {},
    close: async () => {},
  }
}
