import { join } from 'node:path'
import { UserError } from '../errors.ts'
import { inspectCheckout } from '../git/checkout.ts'
import { openRepository, type Repository } from '../git/repository.ts'
import { looksSecret } from '../measure/secret-names.ts'
import { measure } from '../measure/measure.ts'
import type { OrderId } from '../model/ids.ts'
import { campaignRefs } from '../model/refs.ts'
import type { Report } from '../model/report.ts'
import type { Clock, Progress, Random } from '../ports.ts'
import type { Spec } from '../spec/schema.ts'
import { givenOrder } from './given-order.ts'
import { berthFor } from './lanes.ts'
import { takeTurn } from './machine-turn.ts'
import { bringOrderedTrees } from './ordered-trees.ts'

/** One order in a job of its own: a clone that somebody else made, and no way to write to it. */
export interface Job {
  /** In a clone with every branch; what is below it is read and never written. */
  directory: string
  campaign: string
  prefix: string
  order: OrderId
  /** Absolute and ours: a repository of our own and the work trees. */
  workDir: string
  machineDir: string
  runId: string
  env: Readonly<Record<string, string>>
  clock: Clock
  random: Random
  progress: Progress
  signal: AbortSignal
}

export type Answer = { report: Report } | { stale: string }

/** Invariant 6: everything is read from the clone; there is no remote here, no token and no ref that is written. */
export async function measureOrdered(job: Job): Promise<Answer> {
  const { directory, prefix, env, workDir } = job
  const checkout = await inspectCheckout(directory, env)
  const remote = checkout.commonDir
  const dir = join(workDir, 'repository.git')
  const repository = await openRepository({ dir, remote, prefix, local: true, env })
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
      return { report: await measure(inputOf(job, repository, checkout.topLevel, given)) }
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

/** A job's clone has other people's branches as those of its remote; what a person cloned or made has them too. */
async function ledgerTip(repository: Repository, { prefix, campaign }: Job): Promise<string> {
  const { state } = campaignRefs(prefix, campaign)
  const followed = state.replace('refs/heads/', 'refs/remotes/origin/')
  const { refs } = await repository.remoteRefs([followed, state])
  const ref = [followed, state].find(each => refs.has(each))
  const oid = ref === undefined ? undefined : refs.get(ref)
  if (ref === undefined || oid === undefined) {
    throw new UserError(`the clone has no ledger of campaign ${campaign}: there is no ${followed}`, {
      fix: 'give actions/checkout `fetch-depth: 0`, which fetches every branch, and start the campaign first',
    })
  }
  await repository.fetch([{ ref, oid }])
  return oid
}
