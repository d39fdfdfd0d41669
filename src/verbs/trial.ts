import { assess } from '../decide/assess.ts'
import { calibrate, type Calibration as Repeats } from '../decide/calibrate.ts'
import { calibrateNoise, type NoiseFound, notComparable } from '../decide/calibrate-noise.ts'
import { failureOf } from '../decide/failures.ts'
import { decisiveMetrics } from '../decide/tie-breakers.ts'
import type { Workshop } from '../engine/open.ts'
import { HarnessError, UserError } from '../errors.ts'
import { neededMetrics } from '../measure/output/read-printed.ts'
import { emptyCampaign, type Noise } from '../model/campaign.ts'
import type { Point } from '../model/ids.ts'
import { askedIn, type Order } from '../model/order.ts'
import { type Job, jobOf, measuredIn } from '../model/pairs.ts'
import { type Report, typicalMetrics } from '../model/report.ts'
import { CALIBRATION_JOBS, needsCalibration, needsNoise } from '../plan/preparation.ts'
import { prospectsOf } from '../plan/prospects.ts'
import type { OwnPurpose } from '../plan/orders.ts'
import type { Trial } from '../report/check-trial.ts'
import { type MissingMetrics, missingMetrics } from '../report/missing-metrics.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call } from './call.ts'
import { measureHere } from './measuring.ts'
import { trialOrder } from './trial-order.ts'

/** The harness on the default branch, as step 0 of a campaign measures it, and known to no ledger. */
export interface Trying {
  call: Call
  workshop: Workshop
  spec: Spec
  base: Point
}

export async function tryHarness(trying: Trying): Promise<Trial> {
  const campaign = { ...emptyCampaign(), incumbent: trying.base }
  if (needsCalibration({ ...trying, campaign })) {
    const { report, repeats } = await tryRepeats(trying)
    if (repeats.deterministic)
      return { ...measured(report), calibration: { ...repeats, noise: null }, prospects: null }
    return tryNoise(trying, `${repeats.reason}; `)
  }
  if (needsNoise({ ...trying, campaign })) return tryNoise(trying, '')
  return { ...measured(await tryOnce(trying)), calibration: null, prospects: null }
}

function measured(report: Report): Pick<Trial, 'seconds' | 'metrics' | 'gates'> {
  const runs = report.executions.filter(({ role }) => role === 'sample')
  return {
    seconds: runs.reduce((sum, { wall_seconds }) => sum + wall_seconds, 0) / Math.max(1, runs.length),
    metrics: typicalMetrics(report, 'base'),
    gates: [...new Set(report.gates.map(({ name }) => name))],
  }
}

/** Rules that compare with a stored score, or run each side once, take the harness at its word. */
async function tryOnce(trying: Trying): Promise<Report> {
  const spec = { ...trying.spec, measurement: { ...trying.spec.measurement, stability: null } }
  const { order, report } = await ask({ ...trying, spec }, 'baseline')
  const { outcome, reason } = assess({ spec, order, report, label: 'base', baseline: null })
  if (outcome !== 'eligible') throw notPassed(spec, reason, report)
  return report
}

async function tryRepeats(trying: Trying): Promise<{ report: Report; repeats: Repeats }> {
  const { spec } = trying
  const { report } = await ask(trying, 'calibration')
  const repeats = calibrate(spec, report)
  if (!repeats.failed) return { report, repeats }
  const refused = notComparable(spec, repeats.values[spec.metric.primary.name] ?? [])
  if (refused !== null) throw new UserError(refused, { place: { path: 'evidence.scale' } })
  throw notPassed(spec, repeats.reason, report)
}

/** Pairs of the base with itself, in as many jobs as a campaign begins with. */
async function tryNoise(trying: Trying, known: string): Promise<Trial> {
  const { spec, call } = trying
  const jobs: Job[] = []
  for (;;) {
    call.around.progress.say(`trying the harness: job ${jobs.length + 1} of the base against itself`)
    const { order, report } = await ask(trying, 'noise', jobs)
    requirePairs(spec, report)
    jobs.push(jobOf(askedIn(order), measuredIn(report), 'twin'))
    if (jobs.length < CALIBRATION_JOBS) continue
    const found = calibrateNoise(spec, report, jobs)
    if (!('suspected' in found)) return noisy(spec, { report, found, known })
  }
}

interface Found {
  report: Report
  found: Exclude<NoiseFound, { suspected: string }>
  known: string
}

function noisy(spec: Spec, { report, found, known }: Found): Trial {
  if ('refused' in found) throw new UserError(found.refused)
  const { scale, noise, reason } = found
  const calibration: { noise: Noise } & Pick<Repeats, 'deterministic' | 'scale' | 'reason'> = {
    deterministic: false,
    scale,
    reason: `${known}${reason}`,
    noise,
  }
  return {
    ...measured(report),
    calibration,
    prospects: prospectsOf(spec, { scale, noise, singleMachine: true }),
  }
}

function requirePairs(spec: Spec, report: Report): void {
  const failure = failureOf({ spec, report, label: 'twin', pairs: true })
  if (failure !== null) throw notPassed(spec, failure.reason, report)
  const { name } = spec.metric.primary
  if (typeof typicalMetrics(report, 'base')[name] !== 'number')
    throw notPassed(spec, `missing metric: ${name}`, report)
}

async function ask(
  trying: Trying,
  purpose: OwnPurpose,
  jobs: readonly Job[] = [],
): Promise<{ order: Order; report: Report }> {
  const { call, workshop, spec } = trying
  const order = await trialOrder(trying, purpose, jobs)
  const report = await measureHere(call, workshop, { order, spec, place: 'trial', what: 'winnow check' })
  if (report.runner_error !== null) throw notPassed(spec, `the runner failed: ${report.runner_error}`, report)
  return { order, report }
}

function notPassed(spec: Spec, reason: string, report: Report): HarnessError {
  const failed = report.executions.find(({ status }) => status !== 'ok')
  const gate = report.gates.find(({ passed }) => !passed)
  const tail = failed?.stderr_tail ?? gate?.tail ?? report.setups.find(({ ok }) => !ok)?.tail
  const detail = tail === undefined ? {} : { stderrTail: tail }
  return new HarnessError(
    `the default branch does not pass: ${reason.replace(/^the base does not pass: /, '')}`,
    { ...detail, ...notPrinted(spec, report) },
  )
}

/** What an execution that succeeded printed instead of what the spec asks for. */
function notPrinted(spec: Spec, { executions }: Report): MissingMetrics | null {
  const ran = executions.find(({ status }) => status === 'ok')
  if (ran === undefined) return null
  const needed = [...new Set([...neededMetrics(spec), ...decisiveMetrics(spec)])]
  const printed = Object.keys(ran.metrics)
  const own = (names: readonly string[]) => names.filter(name => !BUILT_IN_METRICS.has(name))
  return missingMetrics(own(needed), own(printed))
}
