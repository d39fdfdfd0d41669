import { findFailure } from '../decide/failures.ts'
import { formatCount } from '../decide/wording.ts'
import type { OrderCandidate } from '../model/order.ts'
import { formatRunnerError } from '../model/report.ts'
import { buildProbeRule } from '../probes/probe-rule.ts'
import { summarizeProbes } from '../model/harness-guard.ts'
import { findIgnoringCommands, readProbes } from '../probes/read-probes.ts'
import type { ProbeTrial } from '../report/check-probes.ts'
import type { HarnessTrial } from '../report/check-trial.ts'
import { createNotPassedError } from './harness-failure.ts'
import { createUnrecordedOrder, type HarnessRun, measureTrial } from './harness-run.ts'

/** Measures hostile changes of winnow's own like ideas. Null where none can be written for this code. */
export async function tryProbes(
  harness: HarnessRun,
  { calibration }: HarnessTrial,
  candidates: readonly OrderCandidate[],
): Promise<ProbeTrial | null> {
  const { spec, call } = harness
  const { clock, progress } = call.environment
  if (candidates.length === 0) return null
  progress.say(`attacking the harness with ${formatCount(candidates.length, 'change')} that must not be kept`)
  const stop = buildProbeRule(spec, calibration)
  const order = await createUnrecordedOrder(harness, {
    purpose: 'probe',
    round: 0,
    attempt: 1,
    candidates: [...candidates],
    stop,
  })
  const begun = clock.monotonic()
  const report = await measureTrial({ ...harness, workspaceName: 'probes' }, order)
  if (report.runner_error !== null)
    throw await createNotPassedError(harness, formatRunnerError(report.runner_error), report)
  const failure = findFailure({ spec: { ...spec, gates: [] }, report, label: 'base' })
  if (failure !== null) throw await createNotPassedError(harness, failure.reason, report)
  const results = readProbes(spec, order, report)
  return {
    results,
    guard: summarizeProbes(results),
    ignored_by: findIgnoringCommands(spec, results),
    seconds: (clock.monotonic() - begun) / 1000,
  }
}
