import type { Workshop } from '../../engine/open.ts'
import type { Execution } from '../../model/report.ts'
import type { Trial } from '../../report/check-trial.ts'
import {
  compareForecast,
  compareLive,
  compareSeconds,
  earlySeconds,
  soFarLine,
} from '../../report/compare-progress.ts'
import type { CompareEnd, CompareFailure } from '../../report/compare-view.ts'
import type { Spec } from '../../spec/schema.ts'
import type { Call } from '../call.ts'
import { type ComparisonSoFar, HEAD, measureComparison } from './measure.ts'
import type { ComparedSides } from './sides.ts'
import { goesOn, stakeText } from '../go-on.ts'
import type { MeasuringTime } from '../measuring-time.ts'
import { failureIn } from '../not-passed.ts'
import type { Trying } from '../trying.ts'

export interface Asked {
  spec: Spec
  minutes: number | null
}

export interface Measuring extends Asked {
  sides: ComparedSides
  known: ComparisonSoFar
  /** A question stands at the bottom of the terminal. */
  asking: boolean
}

export function liveLine(measuring: Measuring, elapsed: number): string | null {
  return measuring.asking ? null : compareLive(measuring.known, measuring.sides, elapsed)
}

function tryingFor(call: Call, workshop: Workshop, { spec, sides: { base } }: Measuring): Trying {
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

export async function failureOf(
  call: Call,
  workshop: Workshop,
  measuring: Measuring,
): Promise<CompareFailure | null> {
  const { assessment, report } = measuring.known
  if (assessment === null || report === null || !BROKEN.has(assessment.outcome)) return null
  const { said, ...failure } = await failureIn(tryingFor(call, workshop, measuring), report, HEAD)
  return said === null ? failure : { ...failure, fix: said }
}

/** Asked at most once, as soon as it is known that much is at stake: after the first execution, or the calibration. */
function agreement(
  call: Call,
  measuring: Measuring,
  over: AbortController,
  time: MeasuringTime,
): (seconds: number) => Promise<void> {
  const { minutes } = measuring
  let agreed = false
  return async seconds => {
    const most = minutes === null ? seconds : Math.min(seconds, 60 * minutes)
    const stake = { seconds: most, money: [], bound: 'most' } as const
    if (agreed || stakeText(stake) === null) return
    agreed = true
    measuring.asking = true
    call.terminal.live(null)
    const counted = time.ends()
    if (!(await goesOn(call, stake))) over.abort()
    if (counted) time.begins()
    measuring.asking = false
  }
}

/** How it ended: by its rule, or by the person, their clock, or their answer. */
export async function measured(
  call: Call,
  workshop: Workshop,
  measuring: Measuring,
  time: MeasuringTime,
): Promise<CompareEnd> {
  const { spec, sides, known } = measuring
  const over = new AbortController()
  const interrupt = AbortSignal.any([call.interrupt, over.signal, time.signal])
  const agree = agreement(call, measuring, over, time)
  const trying = { ...tryingFor({ ...call, interrupt }, workshop, measuring), time }
  const onExecution = async ([first]: readonly Execution[]) => {
    if (first !== undefined) await agree(earlySeconds(spec, first.wall_seconds))
  }
  const forecast = async (trial: Trial) => {
    for (const line of compareForecast(trial, sides)) call.around.progress.say(line)
    await agree(compareSeconds(trial))
    interrupt.throwIfAborted()
  }
  try {
    await measureComparison({
      trying: { ...trying, more: { ...trying.more, onExecution } },
      sides,
      known,
      forecast,
      begins: number => tell(call, measuring, number),
    })
    return 'decided'
  } catch (error) {
    if (call.interrupt.aborted) return 'interrupted'
    if (over.signal.aborted) return 'declined'
    if (time.signal.aborted) return 'time'
    throw error
  }
}

function tell(call: Call, { known, spec }: Measuring, number: number): void {
  call.around.progress.say(soFarLine(known.paired, spec, number))
}
