import { absentMetrics, printedNames } from '../decide/absent-metrics.ts'
import { assess } from '../decide/assess.ts'
import { calibrate, type Calibration as Repeats } from '../decide/calibrate.ts'
import {
  CALIBRATION_JOBS,
  calibrateNoise,
  type NoiseFound,
  notComparable,
} from '../decide/calibrate-noise.ts'
import { failureOf } from '../decide/failures.ts'
import { UserError } from '../errors.ts'
import { emptyCampaign, type Noise } from '../model/campaign.ts'
import { aggregationOf } from '../model/aggregate.ts'
import { askedIn, type Order } from '../model/order.ts'
import { type Job, jobOf, measuredIn } from '../model/pairs.ts'
import { type Report, typicalMetrics } from '../model/report.ts'
import { runnerErrorText } from '../model/runner-error.ts'
import { needsCalibration, needsNoise } from '../plan/preparation.ts'
import { prospectsOf } from '../plan/prospects.ts'
import type { OwnPurpose } from '../plan/orders.ts'
import { absentText } from '../report/absent-text.ts'
import type { Trial } from '../report/check-trial.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'
import { isJudged } from '../spec/judged.ts'
import { unsteadyHarness } from '../decide/unsteady-harness.ts'
import { notPassed } from './not-passed.ts'
import { tryItems } from './trial-items.ts'
import { measureTrial, type Trying } from './trying.ts'
import { trialOrder } from './trial-order.ts'

export async function tryHarness(trying: Trying): Promise<Trial> {
  if (isJudged(trying.spec)) {
    const { report, judging } = await tryItems(trying)
    return { ...measured(trying, report), calibration: null, prospects: null, judging }
  }
  const campaign = { ...emptyCampaign(), incumbent: trying.base }
  if (needsCalibration({ ...trying, campaign })) {
    const { report, repeats } = await tryRepeats(trying)
    if (repeats.deterministic)
      return { ...measured(trying, report), calibration: { ...repeats, noise: null }, prospects: null }
    return tryNoise(trying, `${repeats.reason}; `)
  }
  if (needsNoise({ ...trying, campaign })) return tryNoise(trying, '')
  return { ...measured(trying, await tryOnce(trying)), calibration: null, prospects: null }
}

/** Whatever was not needed to pass, and will be asked for all the same. */
function warningsOf({ spec }: Trying, { executions }: Report): string[] {
  const names = printedNames(executions, BUILT_IN_METRICS)
  return absentMetrics(spec, executions).map(absent => absentText(absent, names))
}

function measured(trying: Trying, report: Report): Pick<Trial, 'seconds' | 'metrics' | 'gates' | 'warnings'> {
  const runs = report.executions.filter(({ role }) => role === 'sample')
  return {
    seconds: runs.reduce((sum, { wall_seconds }) => sum + wall_seconds, 0) / Math.max(1, runs.length),
    metrics: typicalMetrics(report, 'base', aggregationOf(trying.spec)),
    gates: [...new Set(report.gates.map(({ name }) => name))],
    warnings: warningsOf(trying, report),
  }
}

/** Rules that compare with a stored score, or run each side once, take the harness at its word. */
async function tryOnce(trying: Trying): Promise<Report> {
  const spec = { ...trying.spec, measurement: { ...trying.spec.measurement, stability: null } }
  const { order, report } = await ask({ ...trying, spec }, 'baseline')
  const { outcome, reason } = assess({ spec, order, report, label: 'base', baseline: null })
  if (outcome !== 'eligible') throw await notPassed(trying, reason, report)
  return report
}

async function tryRepeats(trying: Trying): Promise<{ report: Report; repeats: Repeats }> {
  const { spec } = trying
  const { report } = await ask(trying, 'calibration')
  const repeats = calibrate(spec, report)
  if (!repeats.failed) return { report, repeats }
  const refused = notComparable(spec, repeats.values[spec.metric.primary.name] ?? [])
  if (refused !== null) throw new UserError(refused, { place: { path: 'evidence.scale' } })
  throw await notPassed(trying, repeats.reason, report)
}

/** Pairs of the base with itself, in as many jobs as a campaign begins with. */
export async function tryNoise(trying: Trying, known: string): Promise<Trial> {
  const { spec, call } = trying
  const jobs: Job[] = []
  for (;;) {
    call.around.progress.say(`trying the harness: job ${jobs.length + 1} of ${trying.short} against itself`)
    const { order, report } = await ask(trying, 'noise', jobs)
    const unsteady = unsteadyHarness(report, { earlier: jobs })
    if (unsteady !== null) throw await notPassed(trying, unsteady, report)
    await requirePairs(trying, report)
    jobs.push(jobOf(askedIn(order), measuredIn(report), 'twin'))
    if (jobs.length < CALIBRATION_JOBS) continue
    const found = calibrateNoise(spec, report, jobs)
    if (!('suspected' in found)) return noisy(trying, { report, found, known })
  }
}

interface Found {
  report: Report
  found: Exclude<NoiseFound, { suspected: string }>
  known: string
}

function noisy(trying: Trying, { report, found, known }: Found): Trial {
  const { spec } = trying
  if ('refused' in found) throw new UserError(found.refused)
  const { scale, noise, reason } = found
  const calibration: { noise: Noise } & Pick<Repeats, 'deterministic' | 'scale' | 'reason'> = {
    deterministic: false,
    scale,
    reason: `${known}${reason}`,
    noise,
  }
  return {
    ...measured(trying, report),
    calibration,
    prospects: prospectsOf(spec, { scale, noise, singleMachine: true }),
  }
}

async function requirePairs(trying: Trying, report: Report): Promise<void> {
  const { spec } = trying
  const failure = failureOf({ spec, report, label: 'twin', pairs: true })
  if (failure !== null) throw await notPassed(trying, failure.reason, report)
  const { name } = spec.metric.primary
  if (typeof typicalMetrics(report, 'base', aggregationOf(spec))[name] !== 'number')
    throw await notPassed(trying, `missing metric: ${name}`, report)
}

async function ask(
  trying: Trying,
  purpose: OwnPurpose,
  jobs: readonly Job[] = [],
): Promise<{ order: Order; report: Report }> {
  const order = await trialOrder(trying, purpose, jobs)
  const report = await measureTrial(trying, order)
  if (report.runner_error !== null)
    throw await notPassed(trying, runnerErrorText(report.runner_error), report)
  return { order, report }
}
