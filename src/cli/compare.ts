import { rename, writeFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { formatCount } from '../decide/wording.ts'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { UserError } from '../errors.ts'
import type { Execution } from '../model/report.ts'
import type { HarnessTrial, ModelSpending } from '../report/check-trial.ts'
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
  HEAD_LABEL,
  measureComparison,
  resolveSides,
} from './compare-measure.ts'
import { buildCompareSpec, COMPARE_OPTIONS, parsePositiveNumber } from './compare-spec.ts'
import { formatFew } from './default-branch.ts'
import { withRepository } from './context.ts'
import { DEFAULT_PREFIX } from './known-campaigns.ts'
import { createMeasuringTime, type MeasuringTime, showLive } from './live.ts'
import { confirmStake, describeStake } from './stake.ts'
import { findHarnessFailure } from './harness-failure.ts'
import { chooseSpendingCap, type SpendingCap, SpendingCapReached } from './harness-models.ts'
import { type HarnessRun, withHarnessModels } from './harness-run.ts'
import type { Call, Verb } from './verb.ts'

export const compareVerb: Verb = {
  name: 'compare',
  group: 'start',
  summary: 'measure whether one commit is better than another; writes nothing',
  access: 'apart',
  arguments: [
    { name: 'base', summary: 'a branch, tag or commit', required: true },
    {
      name: 'head',
      summary:
        'a branch, tag or commit; by default your working tree, with uncommitted files that git does not ignore',
    },
  ],
  command: {
    name: 'command',
    summary:
      'the command to measure, run in a fresh copy of each side: as separate words, or as one quoted shell line',
  },
  options: [
    ...COMPARE_OPTIONS,
    {
      name: 'max-minutes',
      value: 'minutes',
      summary: 'stop measuring after this time, even without an answer; waiting does not count',
    },
    { name: 'raw', value: 'file', summary: 'write every pair to this file, as JSON lines' },
    { name: 'json', summary: 'print JSON; progress goes to stderr' },
    { name: 'yes', short: 'y', summary: 'do not ask before a comparison that takes more than an hour' },
  ],
  examples: [
    'winnow compare main -- npm run bench',
    'winnow compare main my-branch --setup "npm ci" -- npm run bench',
    'winnow compare main HEAD -- npm run bench || [ $? -ne 15 ]',
    'winnow compare main --same checksum -- node bench.js',
    'winnow compare v1.2.0 v1.3.0 --metric bytes --max-minutes 10 -- node size.js',
    'winnow compare main --metric model_cost_usd --model gpt-4.1-mini --spend 2 -- node answers.mjs',
  ],
  exits: {
    0: 'the second is better',
    10: 'no gain: a relevant gain is ruled out, harm is not shown',
    11: 'not proven',
    12: 'refused: an execution changed files it must not change',
    13: 'broken: the command or a gate failed',
    15: 'worse: harm is shown',
    130: 'interrupted; the result so far was printed',
  },
  run(call) {
    if ((call.given.text('remote') ?? 'none') !== 'none')
      throw new UserError('compare reads this repository alone', {
        fix: 'git fetch, then name the branch as git does: origin/main',
      })
    const environment = { ...call.environment, remote: 'none' }
    const minutes = parsePositiveNumber(call.given, 'max-minutes')
    const cap = chooseSpendingCap(call, buildCompareSpec(call.given, '.'), { what: 'winnow compare' })
    return withRepository({ ...call, environment }, DEFAULT_PREFIX, repositoryContext =>
      runComparison({ ...call, environment }, repositoryContext, {
        spec: buildCompareSpec(call.given, getRelativeDirectory(repositoryContext, environment.directory)),
        minutes,
        cap,
      }),
    )
  },
}

/** The command runs in the same directory on both sides. */
function getRelativeDirectory({ checkout: { topLevel } }: RepositoryContext, directory: string): string {
  return topLevel === null ? '.' : relative(topLevel, directory) || '.'
}

async function runComparison(
  call: Call,
  repositoryContext: RepositoryContext,
  options: ComparisonOptions,
): Promise<number> {
  const say = (line: string) => call.environment.progress.say(line)
  const sides = await resolveSides(call, repositoryContext)
  for (const note of sides.notes) say(`note: ${note}`)
  const same = sides.differing.length === 0
  if (!same) say(describeDifference(sides))
  const time = createMeasuringTime(options.minutes, () => call.environment.clock.monotonic())
  const progress = createComparisonProgress()
  const comparison = { ...options, sides, progress, asking: false }
  const { end, models } = same
    ? ({ end: 'same', models: null } as const)
    : await showLive(
        call,
        elapsed => renderLiveComparison(comparison, elapsed),
        () => measureUntilEnd(call, repositoryContext, comparison, time),
      )
  const seconds = time.seconds()
  const failure = await findComparisonFailure(call, repositoryContext, comparison)
  const result: ComparisonResult = {
    ...progress,
    ...sides,
    ...options,
    label: HEAD_LABEL,
    seconds,
    end,
    models,
    failure,
  }
  const view = buildCompareView(result)
  const raw = call.given.text('raw')
  if (raw !== undefined) await writeRawComparison(call, raw, view, result)
  if (call.given.flag('json'))
    call.terminal.json({ ...view, end, differing: sides.differing, notes: sides.notes })
  else for (const line of renderComparisonReport(view, result, sides.differing)) call.terminal.out(line)
  return toCompareExitCode(view, end)
}

function describeDifference({ base, head, differing }: ComparedSides): string {
  return `${base.name} (${base.point.commit.slice(0, 12)}) and ${head.name} differ in ${formatCount(differing.length, 'file')}: ${formatFew(differing)}`
}

interface ComparisonOptions {
  spec: Spec
  minutes: number | null
  cap: SpendingCap | null
}

interface ComparisonContext extends ComparisonOptions {
  sides: ComparedSides
  progress: ComparisonProgress
  /** A question is on screen, so the live line must not appear. */
  asking: boolean
}

function renderLiveComparison(comparison: ComparisonContext, elapsed: number): string | null {
  return comparison.asking ? null : renderComparisonLiveLine(comparison.progress, comparison.sides, elapsed)
}

function buildHarnessRun(
  call: Call,
  repositoryContext: RepositoryContext,
  { spec, sides: { base } }: ComparisonContext,
): HarnessRun {
  return {
    call,
    repositoryContext,
    spec,
    base: base.point,
    longName: base.name,
    shortName: base.name,
    what: 'winnow compare',
    workspaceName: 'compare',
    keys: {
      setup: '--setup',
      timeout: '--timeout',
      share: '--share',
      metric: name => `--metric ${name}`,
    },
    more: { unpinned: true },
  }
}

const BROKEN: ReadonlySet<string> = new Set(['error', 'timeout', 'degenerate'])

async function findComparisonFailure(
  call: Call,
  repositoryContext: RepositoryContext,
  comparison: ComparisonContext,
): Promise<CompareFailure | null> {
  const { assessment, report } = comparison.progress
  if (assessment === null || report === null || !BROKEN.has(assessment.outcome)) return null
  const { said: missing, ...failure } = await findHarnessFailure(
    buildHarnessRun(call, repositoryContext, comparison),
    report,
    HEAD_LABEL,
  )
  return missing === null ? failure : { ...failure, fix: missing }
}

/** Asks at most once, as soon as the first execution or the calibration shows a high cost. */
function buildAgreementCheck(
  call: Call,
  comparison: ComparisonContext,
  declined: AbortController,
  time: MeasuringTime,
): (seconds: number) => Promise<void> {
  const { minutes } = comparison
  let agreed = false
  return async seconds => {
    const most = minutes === null ? seconds : Math.min(seconds, 60 * minutes)
    const stake = { seconds: most, money: [], bound: 'most' } as const
    if (agreed || describeStake(stake) === null) return
    agreed = true
    comparison.asking = true
    call.terminal.live(null)
    const counted = time.ends()
    if (!(await confirmStake(call, stake))) declined.abort()
    if (counted) time.begins()
    comparison.asking = false
  }
}

async function measureUntilEnd(
  call: Call,
  repositoryContext: RepositoryContext,
  comparison: ComparisonContext,
  time: MeasuringTime,
): Promise<{ end: CompareEnd; models: ModelSpending | null }> {
  const { spec, sides, progress, cap } = comparison
  const declined = new AbortController()
  const interrupt = AbortSignal.any([call.interrupt, declined.signal, time.signal])
  const agree = buildAgreementCheck(call, comparison, declined, time)
  const harness = { ...buildHarnessRun({ ...call, interrupt }, repositoryContext, comparison), time }
  const onExecution = async ([first]: readonly Execution[]) => {
    if (first !== undefined) await agree(estimateInitialSeconds(spec, first.wall_seconds))
  }
  const onForecast = async (trial: HarnessTrial, goesOn = true) => {
    for (const line of renderComparisonForecast(trial, sides, goesOn)) call.environment.progress.say(line)
    if (goesOn) await agree(estimateComparisonSeconds(trial))
    interrupt.throwIfAborted()
  }
  const compare = async (metered: HarnessRun): Promise<CompareEnd> => {
    try {
      await measureComparison({
        harness: { ...metered, more: { ...metered.more, onExecution } },
        sides,
        progress,
        onForecast,
        onJobStart: number =>
          call.environment.progress.say(renderComparisonProgress(progress.paired, spec, number)),
      })
      return 'decided'
    } catch (error) {
      if (call.interrupt.aborted) return 'interrupted'
      if (declined.signal.aborted) return 'declined'
      if (time.signal.aborted) return 'time'
      if (error instanceof SpendingCapReached) return 'money'
      throw error
    }
  }
  const { result: end, spending: models } = await withHarnessModels(harness, cap, compare)
  return { end, models }
}

/** Writes all data that the verdict was computed from, as JSON lines, so that it can be recomputed. */
async function writeRawComparison(
  { environment }: Call,
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
  const target = resolve(environment.directory, path)
  const part = `${target}.${environment.random.hex(4)}.part`
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
