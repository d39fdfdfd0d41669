import { join } from 'node:path'
import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { MeasureInput } from '../measure/input.ts'
import { secondsSinceJobStart } from '../measure/job-age.ts'
import { looksSecret } from '../measure/secret-names.ts'
import { measure, unmeasuredReport } from '../measure/measure.ts'
import type { NoUsers, SideUsers } from '../measure/users/side-users.ts'
import type { OrderId } from '../model/ids.ts'
import type { PartialReport } from '../model/interruption.ts'
import { isJudgedOrder } from '../model/judged-order.ts'
import { type Item } from '../measure/output/items.ts'
import { MOST_REPORT_BYTES } from '../model/parcel.ts'
import type { Report } from '../model/report.ts'
import type { Clock, Progress, Random } from '../ports.ts'
import type { Spec } from '../spec/schema.ts'
import { givenOrder } from './given-order.ts'
import { type JobClone, ledgerTip, openJobClone } from './job-clone.ts'
import { HandedBack, type JobLodging, jobLodging, rehearseTwice } from './job-lodging.ts'
import { measureInTurn } from './measuring-turn.ts'
import { bringOrderedTrees } from './ordered-trees.ts'

/** One order in a job of its own: a clone that somebody else made, and no way to write to it. */
export interface Job extends JobClone {
  /** Who sides can run as here, or why nobody. */
  users: SideUsers | NoUsers
  /** Root measures with users of sides alone: everything else is handed back to who started it, with the reason. */
  onlyUsers: boolean
  /** Folders of code that later steps of the job run. */
  laterCode: readonly string[]
  campaign: string
  prefix: string
  order: OrderId
  machineDir: string
  runId: string
  /** Awaited with all that was measured so far, also before anything of the order ran. */
  onPartial: (partial: PartialReport) => Promise<void>
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
    const { order, spec } = given
    const wanted = { order, spec, what: `campaign ${job.campaign}` }
    const input = inputOf(job, repository, topLevel, given)
    await job.onPartial({ report: unmeasuredReport(input), begun: null })
    let handedBack: string | null = null
    const done = await measureInTurn(job, wanted, job.signal, async ({ beside }) => {
      job.signal.throwIfAborted()
      const lodging = await jobLodging(input.workDir, {
        users: job.users,
        before: given.isolatedBefore,
        spec,
        rehearse: lodged => {
          job.progress.say('Trying whether the pinned commit can be measured as a user of its own.')
          return rehearseTwice({ ...input, ...lodged })
        },
      })
      if ('unisolatedBecause' in lodging && job.onlyUsers) throw new HandedBack(lodging.unisolatedBecause)
      job.progress.say(isolationText(lodging))
      return measured({ ...input, ...lodging, beside })
    }).catch((error: unknown) => {
      if (!(error instanceof HandedBack)) throw error
      handedBack = error.message
      return null
    })
    if (handedBack !== null) return { handedBack, spec }
    job.signal.throwIfAborted()
    if (done === null) throw new Error('an order was given up without an interruption')
    return { ...done, report: withPreparation(done.report, job.clock), spec }
  } finally {
    await repository.close()
  }
}

/** The tool chain and the clones were minutes of this job as well. */
function withPreparation(report: Report, clock: Clock): Report {
  const age = secondsSinceJobStart()
  if (age === null) return report
  const since = (clock.now() - Date.parse(report.started_at)) / 1000
  return { ...report, prepared_seconds: Math.max(0, age - since) }
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
    onPartial: job.onPartial,
    onStart: async () => {},
    laterCode: job.laterCode,
    mostReportBytes: MOST_REPORT_BYTES,
  }
}
