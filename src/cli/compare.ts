import { rename, writeFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { UserError } from '../errors.ts'
import type { Execution } from '../model/report.ts'
import type { HarnessTrial } from '../report/check-trial.ts'
import {
  estimateComparisonSeconds,
  estimateInitialSeconds,
  renderComparisonForecast,
  renderComparisonLiveLine,
  renderComparisonProgress,
  renderComparisonReport,
} from '../report/compare-report.ts'
import {
  buildCompareView,
  type CompareEnd,
  type CompareFailure,
  type CompareView,
  type ComparisonResult,
  toCompareExitCode,
} from '../report/compare.ts'
import type { Spec } from '../spec/schema.ts'
import {
  type ComparedSides,
  type ComparisonProgress,
  createComparisonProgress,
  formatFew,
  HEAD_LABEL,
  measureComparison,
  resolveSides,
} from './compare-measure.ts'
import { buildCompareSpec, COMPARE_OPTIONS, parsePositiveNumber } from './compare-spec.ts'
import { withRepository } from './context.ts'
import { DEFAULT_PREFIX } from './known-campaigns.ts'
import { createMeasuringTime, type MeasuringTime, showLive } from './live.ts'
import { confirmStake, describeStake } from './stake.ts'
import { findHarnessFailure, type HarnessRun } from './trial.ts'
import type { Call, Verb } from './verb.ts'

export const compareVerb: Verb = {
  name: 'compare',
  group: 'start',
  summary: 'say whether one commit is better than another; nothing is written',
  access: 'apart',
  arguments: [
    { name: 'base', summary: 'a branch, tag or commit', required: true },
    {
      name: 'head',
      summary: 'another; by default your work tree as it stands, with what is not committed and not ignored',
      required: false,
    },
  ],
  command: {
    name: 'command',
    summary:
      'what to measure, run in a fresh copy of each side: words of one command, or one quoted line for the shell',
  },
  options: [
    ...COMPARE_OPTIONS,
    {
      name: 'max-minutes',
      value: 'minutes',
      summary: 'stop after measuring so long, even without an answer; waiting is not counted',
    },
    { name: 'raw', value: 'file', summary: 'write every pair to this file, as JSON lines' },
    { name: 'json', summary: 'print JSON; progress goes to stderr' },
    { name: 'yes', short: 'y', summary: 'do not ask before a comparison that takes more than an hour' },
  ],
  examples: [
    'winnow compare main -- npm run bench',
    'winnow compare main my-branch --setup "npm ci" -- npm run bench',
    'winnow compare main HEAD -- npm run bench || [ $? -ne 15 ]',
    'winnow compare v1.2.0 v1.3.0 --metric bytes --max-minutes 10 -- node size.js',
  ],
  exits: {
    0: 'the second is better',
    10: 'no gain: a gain worth having is ruled out, and harm is not shown',
    11: 'not proven',
    12: 'refused: an execution changed files it must not change',
    13: 'broken: the command or a gate failed',
    15: 'worse: harm is shown',
    130: 'interrupted; what was known is said',
  },
  run(call) {
    if ((call.given.text('remote') ?? 'none') !== 'none')
      throw new UserError('compare reads this repository alone', {
        fix: 'git fetch, then name the branch as git does: origin/main',
      })
    const around = { ...call.around, remote: 'none' }
    buildCompareSpec(call.given, '.')
    const minutes = parsePositiveNumber(call.given, 'max-minutes')
    return withRepository({ ...call, around }, DEFAULT_PREFIX, workshop =>
      runComparison({ ...call, around }, workshop, {
        spec: buildCompareSpec(call.given, getRelativeDirectory(workshop, around.directory)),
        minutes,
      }),
    )
  },
}

/** Where the person is, in the repository: there the command is run on both sides. */
function getRelativeDirectory({ checkout: { topLevel } }: RepositoryContext, directory: string): string {
  return topLevel === null ? '.' : relative(topLevel, directory) || '.'
}

async function runComparison(
  call: Call,
  workshop: RepositoryContext,
  asked: ComparisonOptions,
): Promise<number> {
  const say = (line: string) => call.around.progress.say(line)
  const sides = await resolveSides(call, workshop)
  for (const note of sides.notes) say(`note: ${note}`)
  const same = sides.differing.length === 0
  if (!same) say(describeDifference(sides))
  const time = createMeasuringTime(asked.minutes, () => call.around.clock.monotonic())
  const known = createComparisonProgress()
  const measuring = { ...asked, sides, known, asking: false }
  const end = same
    ? 'same'
    : await showLive(
        call,
        elapsed => renderLiveComparison(measuring, elapsed),
        () => measureUntilEnd(call, workshop, measuring, time),
      )
  const seconds = time.seconds()
  const failure = await findComparisonFailure(call, workshop, measuring)
  const compared: ComparisonResult = {
    ...known,
    ...sides,
    ...asked,
    label: HEAD_LABEL,
    seconds,
    end,
    failure,
  }
  const view = buildCompareView(compared)
  const raw = call.given.text('raw')
  if (raw !== undefined) await writeRawComparison(call, raw, view, compared)
  if (call.given.flag('json'))
    call.terminal.json({ ...view, end, differing: sides.differing, notes: sides.notes })
  else for (const line of renderComparisonReport(view, compared, sides.differing)) call.terminal.out(line)
  return toCompareExitCode(view, end)
}

function describeDifference({ base, head, differing }: ComparedSides): string {
  const count = differing.length === 1 ? '1 file' : `${differing.length} files`
  return `${base.name} (${base.point.commit.slice(0, 12)}) and ${head.name} differ in ${count}: ${formatFew(differing)}`
}

interface ComparisonOptions {
  spec: Spec
  minutes: number | null
}

interface ComparisonContext extends ComparisonOptions {
  sides: ComparedSides
  known: ComparisonProgress
  /** A question stands at the bottom of the terminal. */
  asking: boolean
}

function renderLiveComparison(measuring: ComparisonContext, elapsed: number): string | null {
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

async function findComparisonFailure(
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
async function measureUntilEnd(
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

/** Everything the verdict was computed from, as JSON lines, so that anybody can compute it again. */
async function writeRawComparison(
  { around }: Call,
  path: string,
  view: CompareView,
  { paired, report, label }: ComparisonResult,
) {
  const { base, head, metric, scale, verdict } = view
  const rule = paired === null ? null : { ...paired.rule, terms: paired.terms }
  const lines: unknown[] = [{ kind: 'comparison', base, head, metric, scale, verdict, rule }]
  for (const [job, { runner, complete, pairs }] of (paired?.jobs ?? []).entries()) {
    lines.push({ kind: 'job', job: job + 1, runner, complete })
    for (const [pair, values] of pairs.entries())
      lines.push({ kind: 'pair', job: job + 1, pair: pair + 1, ...values })
  }
  if (paired === null)
    for (const { side, ...execution } of report?.executions ?? [])
      lines.push({ kind: 'execution', side: side === label ? 'head' : side, ...execution })
  const target = resolve(around.directory, path)
  const part = `${target}.${around.random.hex(4)}.part`
  try {
    await writeFile(part, lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    await rename(part, target)
  } catch (cause) {
    throw new UserError(`the raw pairs could not be written to ${target}`, {
      place: { file: path },
      fix: 'give a file in a directory that exists and can be written',
      cause,
    })
  }
}
