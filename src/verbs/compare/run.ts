import type { RepositoryContext } from '../../engine/open.ts'
import type { Execution } from '../../model/report.ts'
import type { HarnessTrial } from '../../report/check-trial.ts'
import {
  renderComparisonForecast,
  renderComparisonLiveLine,
  estimateComparisonSeconds,
  estimateInitialSeconds,
  renderComparisonProgress,
} from '../../report/compare-progress.ts'
import type { CompareEnd, CompareFailure } from '../../report/compare-view.ts'
import type { Spec } from '../../spec/schema.ts'
import type { Call } from '../call.ts'
import { type ComparisonProgress, HEAD_LABEL, measureComparison } from './measure.ts'
import type { ComparedSides } from './sides.ts'
import { confirmStake, describeStake } from '../go-on.ts'
import type { MeasuringTime } from '../measuring-time.ts'
import { findHarnessFailure } from '../not-passed.ts'
import type { HarnessRun } from '../trying.ts'

export interface ComparisonOptions {
  spec: Spec
  minutes: number | null
}

export interface ComparisonContext extends ComparisonOptions {
  sides: ComparedSides
  known: ComparisonProgress
  /** A question stands at the bottom of the terminal. */
  asking: boolean
}

export function renderLiveComparison(measuring: ComparisonContext, elapsed: number): string | null {
  return measuring.asking ? null : renderComparisonLiveLine(measuring.known, measuring.sides, elapsed)
}

function buildHarnessRun(
  call: Call,
  workshop: RepositoryContext,
  { spec, sides: { base } }: ComparisonContext,
): HarnessRun {
  return {
    call,
    workshop,
    spec,
    base: base.point,
    named: base.name,
    short: base.name,
    what: 'winnow compare',
    place: 'compare',
    keys: { setup: '--setup', timeout: '--timeout', share: '--share' },
    more: { unpinned: true },
  }
}

const BROKEN: ReadonlySet<string> = new Set(['error', 'timeout', 'degenerate'])

export async function findComparisonFailure(
  call: Call,
  workshop: RepositoryContext,
  measuring: ComparisonContext,
): Promise<CompareFailure | null> {
  const { assessment, report } = measuring.known
  if (assessment === null || report === null || !BROKEN.has(assessment.outcome)) return null
  const { said, ...failure } = await findHarnessFailure(
    buildHarnessRun(call, workshop, measuring),
    report,
    HEAD_LABEL,
  )
  return said === null ? failure : { ...failure, fix: said }
}

/** Asked at most once, as soon as it is known that much is at stake: after the first execution, or the calibration. */
function buildAgreementCheck(
  call: Call,
  measuring: ComparisonContext,
  over: AbortController,
  time: MeasuringTime,
): (seconds: number) => Promise<void> {
  const { minutes } = measuring
  let agreed = false
  return async seconds => {
    const most = minutes === null ? seconds : Math.min(seconds, 60 * minutes)
    const stake = { seconds: most, money: [], bound: 'most' } as const
    if (agreed || describeStake(stake) === null) return
    agreed = true
    measuring.asking = true
    call.terminal.live(null)
    const counted = time.ends()
    if (!(await confirmStake(call, stake))) over.abort()
    if (counted) time.begins()
    measuring.asking = false
  }
}

/** How it ended: by its rule, or by the person, their clock, or their answer. */
export async function measureUntilEnd(
  call: Call,
  workshop: RepositoryContext,
  measuring: ComparisonContext,
  time: MeasuringTime,
): Promise<CompareEnd> {
  const { spec, sides, known } = measuring
  const over = new AbortController()
  const interrupt = AbortSignal.any([call.interrupt, over.signal, time.signal])
  const agree = buildAgreementCheck(call, measuring, over, time)
  const trying = { ...buildHarnessRun({ ...call, interrupt }, workshop, measuring), time }
  const onExecution = async ([first]: readonly Execution[]) => {
    if (first !== undefined) await agree(estimateInitialSeconds(spec, first.wall_seconds))
  }
  const forecast = async (trial: HarnessTrial) => {
    for (const line of renderComparisonForecast(trial, sides)) call.around.progress.say(line)
    await agree(estimateComparisonSeconds(trial))
    interrupt.throwIfAborted()
  }
  try {
    await measureComparison({
      trying: { ...trying, more: { ...trying.more, onExecution } },
      sides,
      known,
      forecast,
      begins: number => reportJobStart(call, measuring, number),
    })
    return 'decided'
  } catch (error) {
    if (call.interrupt.aborted) return 'interrupted'
    if (over.signal.aborted) return 'declined'
    if (time.signal.aborted) return 'time'
    throw error
  }
}

function reportJobStart(call: Call, { known, spec }: ComparisonContext, number: number): void {
  call.around.progress.say(renderComparisonProgress(known.paired, spec, number))
}
