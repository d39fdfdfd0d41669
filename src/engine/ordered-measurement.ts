import { join } from 'node:path'
import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import { looksSecret } from '../measure/secret-names.ts'
import { measure } from '../measure/measure.ts'
import type { OrderId } from '../model/ids.ts'
import type { Report } from '../model/report.ts'
import type { Clock, Progress, Random } from '../ports.ts'
import type { Spec } from '../spec/schema.ts'
import { givenOrder } from './given-order.ts'
import { type JobClone, ledgerTip, openJobClone } from './job-clone.ts'
import { berthFor } from './lanes.ts'
import { takeTurn } from './machine-turn.ts'
import { bringOrderedTrees } from './ordered-trees.ts'

/** One order in a job of its own: a clone that somebody else made, and no way to write to it. */
export interface Job extends JobClone {
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

export type Answer = { report: Report } | { stale: string }

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
      return { report: await measure(inputOf(job, repository, topLevel, given)) }
    } finally {
      leave?.()
    }
  } finally {
    await repository.close()
  }
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
): Parameters<typeof measure>[0] {
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
  }
}
