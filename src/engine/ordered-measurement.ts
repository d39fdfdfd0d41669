import { join } from 'node:path'
import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { MeasureInput } from '../measure/input.ts'
import { looksSecret } from '../measure/secret-names.ts'
import { measure } from '../measure/measure.ts'
import type { NoUsers, SideUsers } from '../measure/users/side-users.ts'
import type { OrderId } from '../model/ids.ts'
import { isJudgedOrder } from '../model/judged-order.ts'
import { type Item } from '../measure/output/items.ts'
import { MOST_REPORT_BYTES } from '../model/parcel.ts'
import type { Report } from '../model/report.ts'
import type { Clock, Progress, Random } from '../ports.ts'
import type { Spec } from '../spec/schema.ts'
import { givenOrder } from './given-order.ts'
import { type JobClone, ledgerTip, openJobClone } from './job-clone.ts'
import { isolatedBefore, type JobLodging, jobLodging, rehearseTwice } from './job-lodging.ts'
import { berthFor } from './lanes.ts'
import { takeTurn } from './machine-turn.ts'
import { bringOrderedTrees } from './ordered-trees.ts'

/** One order in a job of its own: a clone that somebody else made, and no way to write to it. */
export interface Job extends JobClone {
  /** Who sides can run as here, or why nobody. */
  users: SideUsers | NoUsers
  /** Root measures with users of sides alone: everything else is handed back to who started it, with the reason. */
  onlyUsers: boolean
  campaign: string
  prefix: string
  order: OrderId
  machineDir: string
  runId: string
  clock: Clock
  random: Random
  progress: Progress
  signal: AbortSignal
}

export type Answer =
  /** Items: by side, where models are to score them. */
  | { report: Report; items: Record<string, Item[]> | null; spec: Spec }
  | { stale: string }
  | { handedBack: string; spec: Spec }

export async function measureOrdered(job: Job): Promise<Answer> {
  const { repository, topLevel } = await openJobClone(job, job.prefix)
  try {
    const tip = await ledgerTip(repository, job)
    const given = await givenOrder(repository, { tip, id: job.order, now: job.clock.now() })
    if (!given.wanted) return { stale: given.why }
    refuseSecrets(given.spec)
    await bringOrderedTrees(repository, given.order)
    const wish = { ...berthFor(given.order, given.spec), what: `campaign ${job.campaign}` }
    const leave = await takeTurn(job, wish, job.signal)
    try {
      job.signal.throwIfAborted()
      const input = inputOf(job, repository, topLevel, given)
      const lodging = await jobLodging(input.workDir, {
        users: job.users,
        before: () => isolatedBefore(repository, tip, given.order),
        spec: given.spec,
        rehearse: lodged => {
          job.progress.say('Trying whether the pinned commit can be measured as a user of its own.')
          return rehearseTwice({ ...input, ...lodged })
        },
      })
      if ('unisolatedBecause' in lodging && job.onlyUsers)
        return { handedBack: lodging.unisolatedBecause, spec: given.spec }
      job.progress.say(isolationText(lodging))
      return { ...(await measured({ ...input, ...lodging })), spec: given.spec }
    } finally {
      leave?.()
    }
  } finally {
    await repository.close()
  }
}

async function measured(
  input: MeasureInput,
): Promise<Pick<Extract<Answer, { report: Report }>, 'report' | 'items'>> {
  if (!isJudgedOrder(input.order, input.spec)) return { report: await measure(input), items: null }
  const items: Record<string, Item[]> = {}
  const onItems = (side: string, printed: readonly Item[]) => {
    items[side] = [...printed]
  }
  return { report: await measure({ ...input, onItems }), items }
}

function isolationText(lodging: JobLodging): string {
  return 'users' in lodging
    ? 'Isolation: each side runs as a user of its own.'
    : `Isolation: none, because ${lodging.unisolatedBecause}.`
}

/** Left out in silence, its absence would look like a failure of the experiment. */
function refuseSecrets({ measurement }: Spec): void {
  const secret = measurement.env.find(looksSecret)
  if (secret === undefined) return
  throw new UserError(`measurement.env asks for ${secret}, and a measuring job holds no secret`, {
    place: { path: 'measurement.env' },
    fix: 'remove it, or give it another name if it is none: experiment code could read it',
  })
}

type Wanted = Extract<Awaited<ReturnType<typeof givenOrder>>, { wanted: true }>

function inputOf(
  job: Job,
  repository: Repository,
  sharedRoot: string | null,
  { order, spec }: Wanted,
): MeasureInput {
  const { runId, env, clock, signal, workDir } = job
  return {
    order,
    spec,
    runId,
    repository,
    workDir: join(workDir, 'work'),
    sharedRoot,
    env,
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    signal,
    onStart: async () => {},
    mostReportBytes: MOST_REPORT_BYTES,
  }
}
