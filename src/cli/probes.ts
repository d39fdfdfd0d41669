import { findFailure } from '../decide/failures.ts'
import { formatCount } from '../decide/wording.ts'
import { createLocalJudges } from '../engine/jobs/judging.ts'
import type { PrintedOrder } from '../judge/judging-task.ts'
import type { Item } from '../measure/output/harness-output.ts'
import { summarizeProbes } from '../model/harness-guard.ts'
import { isJudgedOrder, type Order, type OrderCandidate } from '../model/order.ts'
import { formatRunnerError, type Report } from '../model/report.ts'
import { buildProbeRule } from '../probes/probe-rule.ts'
import { findIgnoringCommands, readProbes } from '../probes/read-probes.ts'
import type { ProbeTrial } from '../report/check-probes.ts'
import type { HarnessTrial } from '../report/check-trial.ts'
import { createNotPassedError } from './harness-failure.ts'
import { SpendingCapReached } from './harness-models.ts'
import { createUnrecordedOrder, type HarnessRun, measureTrial } from './harness-run.ts'

interface HarnessAttack {
  candidates: readonly OrderCandidate[]
  /** The most that models may cost. Null: none is asked. */
  capUsd: number | null
}

/** Measures hostile changes of winnow's own like ideas. Null where none can be written for this code. */
export async function tryProbes(
  harness: HarnessRun,
  { calibration }: HarnessTrial,
  { candidates, capUsd }: HarnessAttack,
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
  const report = await measureAndScore({ ...harness, workspaceName: 'probes' }, order, capUsd)
  if (report.runner_error !== null)
    throw await createNotPassedError(harness, formatRunnerError(report.runner_error), report)
  const failure = findFailure({ spec: { ...spec, gates: [] }, report, label: 'base' })
  if (failure !== null) throw await createNotPassedError(harness, failure.reason, report)
  const results = readProbes(spec, order, report)
  return {
    results,
    guard: summarizeProbes(results),
    ignored_by: findIgnoringCommands(spec, results),
    ...(report.judging === undefined ? {} : { judging: report.judging }),
    seconds: (clock.monotonic() - begun) / 1000,
  }
}

/** Models score what the attacks print, for what is left of --spend. Nothing is stored, because no campaign needs it. */
async function measureAndScore(harness: HarnessRun, order: Order, capUsd: number | null): Promise<Report> {
  const { spec, call, models } = harness
  const items: PrintedOrder['items'] = {}
  const onItems = (side: string, printed: readonly Item[]) => {
    items[side] ??= [...printed]
  }
  const report = await measureTrial({ ...harness, more: { ...harness.more, onItems } }, order)
  if (!isJudgedOrder(order, spec) || capUsd === null) return report
  const left = capUsd - (models?.meter.usage().usd ?? 0)
  const judges = createLocalJudges(call.environment, { scores: () => null, score: async () => {} })
  const request = { order: { ...order, may_cost_usd: left }, spec }
  const scored = await judges.report(request, { report, items }, call.interrupt)
  const { judging } = scored
  if (judging === undefined) return scored
  if (scored.runner_error !== null) throw new SpendingCapReached({ usd: capUsd, key: '--spend' }, judging.usd)
  const silent = scored.executions.find(({ side, error }) => side === 'base' && error !== undefined)?.error
  if (silent !== undefined) throw await createNotPassedError(harness, silent, scored)
  return scored
}
