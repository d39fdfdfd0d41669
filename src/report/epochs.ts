import { computeMean, computeSpread, type EpochStep, listEpochSteps } from '../decide/epochs.ts'
import { formatNumber, roundNumbers } from '../decide/wording.ts'
import type { Campaign, EpochRun, MeasuredEpoch } from '../model/campaign.ts'
import { isUndecided, listExperiments } from '../model/experiment.ts'
import { getOwnValue } from '../model/own-value.ts'
import { computeMedian } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import type { ArtifactHistory, ArtifactMove } from './artifacts.ts'
import { formatScore } from './tasks.ts'
import { formatTable } from './terminal.ts'

export interface Expectation {
  expectedLossReduction: number
  confidence: number
  learningRate: number
}

/** The first line of what a text gradient records beside its rewrite. */
export function formatExpectation({ expectedLossReduction, confidence, learningRate }: Expectation): string {
  return `Expected loss reduction ${expectedLossReduction}, confidence ${confidence}, learning rate ${learningRate}`
}

const EXPECTATION = /^Expected loss reduction (\S+), confidence (\S+), learning rate (\S+)$/m

function parseExpectation(text: string | null): Expectation | null {
  const [, ...found] = EXPECTATION.exec(text ?? '') ?? []
  const [expectedLossReduction, confidence, learningRate] = found.map(Number)
  if (expectedLossReduction === undefined || confidence === undefined || learningRate === undefined)
    return null
  return { expectedLossReduction, confidence, learningRate }
}

/** What was done between two epochs, with the fields of AWP's child_artifacts_json. */
export interface ArtifactEvent {
  type: 'update' | 'rollback'
  artifact: string
  from_version: number
  to_version: number
  experiment: string | null
  rationale: string
  expected_loss_reduction?: number
  confidence?: number
  learning_rate?: number
  /** Of a rollback after a regression: the means that show it, and the rate of the next proposal. */
  mean_loss_prev?: number | null
  mean_loss_current?: number | null
  new_learning_rate?: number
}

export interface EpochView extends Pick<EpochStep, 'regressed' | 'limit'> {
  /** 0 for a baseline-only pass. */
  epoch: number
  at: string
  mean: number | null
  /** Over this pass and the two before it; null where one of them is missing. */
  average: number | null
  tasks: Record<string, number | null>
  /** Over the tasks that have a score; null without any. */
  range: TaskRange | null
  /** The rate of the proposal after it. */
  learning_rate: number
  /** Versions in force while it was measured. */
  artifacts: Record<string, number>
  /** After it. */
  events: ArtifactEvent[]
  /** What became of the incumbent after it. */
  change: 'update' | 'rollback' | null
  /** Measured after it, and not landed. */
  dropped: { experiment: string; verdict: string }[]
}

interface TaskRange {
  least: number
  median: number
  most: number
}

export function buildEpochViews(
  campaign: Campaign,
  spec: Spec,
  histories: readonly ArtifactHistory[],
): EpochView[] {
  const passes = listEpochSteps(campaign, spec)
  return passes.map(({ epoch, step }, index) => {
    const next = passes[index + 1]?.epoch
    const moves = histories.flatMap(({ name, moves: all }) =>
      all
        .filter(move => !isEarlierMove(move, epoch) && (next === undefined || isEarlierMove(move, next)))
        .map(move => ({ name, ...move })),
    )
    const { number, learningRate, regressed, limit } = step
    const regression = {
      mean_loss_prev: passes[index - 1]?.epoch.mean ?? null,
      mean_loss_current: epoch.mean,
      new_learning_rate: learningRate,
    }
    const tasks = listTaskScores(epoch.runs)
    const events = moves.map(move => {
      const event = toArtifactEvent(campaign, move)
      return regressed && event.type === 'rollback' ? { ...event, ...regression } : event
    })
    return roundNumbers({
      epoch: number,
      at: epoch.at,
      mean: epoch.mean,
      average: computeAverage(passes.slice(0, index + 1).map(pass => pass.epoch.mean)),
      tasks,
      range: computeRange(Object.values(tasks)),
      limit,
      regressed,
      learning_rate: learningRate,
      artifacts: Object.fromEntries(histories.map(each => [each.name, findVersion(each, epoch)])),
      events,
      change: findChange(campaign, { epoch, step, next, events }),
      dropped: listDropped(campaign, epoch.round, next?.round ?? Infinity),
    })
  })
}

/** Under `compat: awp` the measurement of an update is recorded just before it lands. */
function isEarlierMove({ seq, experiment }: ArtifactMove, epoch: MeasuredEpoch): boolean {
  return seq < epoch.seq || (experiment !== null && experiment === epoch.update?.id)
}

/** Passes of the moving average. */
export const AVERAGED = 3

function computeAverage(means: readonly (number | null)[]): number | null {
  const last = means.slice(-AVERAGED).filter(mean => mean !== null)
  return last.length < AVERAGED ? null : computeMean(last)
}

function computeRange(scores: readonly (number | null)[]): TaskRange | null {
  const known = scores.filter(score => score !== null)
  if (known.length === 0) return null
  return { least: Math.min(...known), median: computeMedian(known), most: Math.max(...known) }
}

/** Read from the campaign too, because the views of a ledger have no histories of artifacts. */
function findChange(
  { landings, experiments }: Campaign,
  pass: { epoch: MeasuredEpoch; step: EpochStep; next: MeasuredEpoch | undefined; events: ArtifactEvent[] },
): EpochView['change'] {
  const { epoch, step, next, events } = pass
  const purposes = landings
    .slice(epoch.landings, next?.landings)
    .map(({ experiment }) => experiments[experiment]?.purpose)
  const isRolledBack = landings.some(
    ({ experiment, reverted }) => experiment === step.rollBack && reverted !== null,
  )
  if (isRolledBack || purposes.includes('revert') || events.some(({ type }) => type === 'rollback'))
    return 'rollback'
  return purposes.includes('idea') || events.length > 0 ? 'update' : null
}

function listDropped(campaign: Campaign, after: number, upTo: number): EpochView['dropped'] {
  return listExperiments(campaign).flatMap(experiment => {
    const { id, round, purpose, verdict } = experiment
    const isBetween = round !== null && round > after && round <= upTo
    const isDecided = verdict !== null && !isUndecided(experiment)
    const isDropped = purpose === 'idea' && isDecided && verdict !== 'kept'
    return isBetween && isDropped ? [{ experiment: id, verdict }] : []
  })
}

function findVersion({ moves }: ArtifactHistory, epoch: MeasuredEpoch): number {
  return moves.findLast(move => isEarlierMove(move, epoch))?.to ?? 0
}

function toArtifactEvent(
  { experiments }: Campaign,
  move: ArtifactHistory['moves'][number] & { name: string },
): ArtifactEvent {
  const { name: artifact, from: from_version, to: to_version, experiment, rationale } = move
  const expected = parseExpectation(experiments[experiment ?? '']?.learnings ?? null)
  return {
    type: to_version < from_version ? 'rollback' : 'update',
    artifact,
    from_version,
    to_version,
    experiment,
    rationale,
    ...(expected === null
      ? {}
      : {
          expected_loss_reduction: expected.expectedLossReduction,
          confidence: expected.confidence,
          learning_rate: expected.learningRate,
        }),
  }
}

function listTaskScores(runs: readonly EpochRun[]): Record<string, number | null> {
  const scores = new Map<string, (number | null)[]>()
  for (const { task, score } of runs)
    if (task !== null) scores.set(task, [...(scores.get(task) ?? []), score])
  const sorted = [...scores].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    sorted.map(([task, all]) => {
      const known = all.filter(score => score !== null)
      return [task, known.length < all.length ? null : known.reduce((a, b) => a + b, 0) / known.length]
    }),
  )
}

/** More tasks, such as the items of a judged metric, are in --json only. */
const MOST_COLUMNS = 10

export function renderEpochViews(views: readonly EpochView[], metric: string): string[] {
  const all = [...new Set(views.flatMap(view => Object.keys(view.tasks)))]
  const tasks = all.length <= MOST_COLUMNS ? all : []
  const most = Math.max(...views.map(({ mean }) => mean ?? 0))
  const rows = views.map(({ epoch, mean, average, range, tasks: scores, ...view }) => [
    epoch === 0 ? 'baseline' : String(epoch),
    formatScore(mean),
    drawBar(mean, most),
    average === null ? '' : formatScore(average),
    all.length < 2 || range === null ? '' : formatRange(range),
    ...tasks.map(task => formatScore(getOwnValue(scores, task) ?? null)),
    formatNumber(view.learning_rate),
    [
      ...(view.regressed ? ['regression'] : []),
      ...view.events.map(describeArtifactEvent),
      ...view.dropped.map(({ experiment, verdict }) => `${experiment} ${verdict}`),
    ].join('; '),
  ])
  const average = views.length < AVERAGED ? '' : `last ${AVERAGED}`
  const range = all.length < 2 ? '' : 'least/median/most'
  const table = formatTable([['epoch', metric, '', average, range, ...tasks, 'rate', 'then'], ...rows])
  const spread = computeSpread(views.filter(({ epoch }) => epoch === 0).map(({ mean }) => mean))
  if (spread === null) return table
  return [
    ...table,
    `baseline passes: mean ${formatNumber(spread.mean)}, standard deviation ${formatNumber(spread.sd)}`,
  ]
}

const BAR_WIDTH = 16

function drawBar(value: number | null, most: number): string {
  return '█'.repeat(most > 0 ? Math.max(0, Math.round((BAR_WIDTH * (value ?? 0)) / most)) : 0)
}

function formatRange({ least, median, most }: TaskRange): string {
  return [least, median, most].map(formatScore).join('/')
}

export function describeArtifactEvent({
  artifact,
  from_version,
  to_version,
  experiment,
}: ArtifactEvent): string {
  const by = experiment === null ? '' : ` (${experiment})`
  return `${artifact} v${from_version} -> v${to_version}${by}`
}
