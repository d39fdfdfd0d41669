import { computeProgress } from '../decide/progress.ts'
import { formatCount, formatNumber } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import { toSafeLine } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'
import type { ArtifactHistory } from './artifacts.ts'
import {
  buildChartData,
  buildChartScale,
  type ChartMark,
  type ChartScale,
  escapeSvg,
  formatPixels,
  renderSvgFile,
  WIDTH,
} from './charts.ts'
import { AVERAGED, buildEpochViews, describeArtifactEvent, type EpochView } from './epochs.ts'
import { buildRoundViews } from './rounds.ts'
import { formatScore } from './tasks.ts'

/** The epochs of a campaign as one SVG file, or its rounds where it has no epochs. */
export function renderCampaignCharts(
  campaign: Campaign,
  spec: Spec,
  histories: readonly ArtifactHistory[],
): string {
  const views = buildEpochViews(campaign, spec, histories)
  if (views.length === 0) return renderRoundChart(campaign, spec)
  const subject = `${spec.metric.primary.name} of ${campaign.name}`
  return renderEpochCharts(
    subject,
    views,
    histories.map(({ name }) => name),
  )
}

// Epochs

/** Loss curve, artifact timeline, and the range of the tasks; one column an epoch in each of them. */
function renderEpochCharts(subject: string, all: readonly EpochView[], artifacts: readonly string[]): string {
  const views = all.slice(-MAX_COLUMNS)
  const grid = buildColumns(views.length)
  const curve = { from: HEAD_HEIGHT + CURVE_HEIGHT, to: HEAD_HEIGHT + 16 }
  const body = [
    ...renderCurve(views, grid, curve),
    ...renderColumnLabels(
      views.map(({ epoch }) => (epoch === 0 ? 'base' : String(epoch))),
      grid,
      curve.from + 20,
    ),
  ]
  let bottom = curve.from + 20
  if (artifacts.length > 0) {
    const top = bottom + PANEL_GAP
    body.push(renderHeading('Versions of the artifacts', top - 12))
    body.push(
      ...artifacts.flatMap((name, row) => renderArtifactRow(name, top + row * ROW_HEIGHT, views, grid)),
    )
    bottom = top + artifacts.length * ROW_HEIGHT
  }
  if (views.some(({ range }) => range !== null)) {
    const top = bottom + PANEL_GAP
    body.push(renderHeading('Tasks: range and median', top - 12))
    body.push(...renderRanges(views, grid, { from: top + RANGE_HEIGHT, to: top }))
    bottom = top + RANGE_HEIGHT
  }
  return renderChartFile(`${subject}, by epoch${describeHidden(all, views)}`, bottom, body)
}

const KINDS = [
  ['update', 'update'],
  ['rollback', 'rollback'],
  ['same', 'no change'],
] as const

function renderLegend(y: number): string[] {
  const marks = KINDS.flatMap(([kind, text], index) => [
    `<circle class="${kind}" cx="${PLOT.left + index * 90 + 4}" cy="${y - 4}" r="4"/>`,
    `<text class="small" x="${PLOT.left + index * 90 + 14}" y="${y}">${text}</text>`,
  ])
  const x = PLOT.left + KINDS.length * 90
  const average = `<text class="small" x="${x + 30}" y="${y}">mean of the last ${AVERAGED}</text>`
  return [...marks, `<path class="from" d="M${x} ${y - 4}h24"/>`, average]
}

function renderCurve(views: readonly EpochView[], grid: Columns, area: PlotArea): string[] {
  const means = views.map(({ mean }) => mean)
  const averages = views.map(({ average }) => average)
  const known = [...means, ...averages].filter(value => value !== null)
  if (known.length === 0) return [renderNote('No epoch has a mean.', area)]
  const y = buildChartScale(known, area)
  const dots = views.flatMap((view, index) =>
    view.mean === null
      ? []
      : renderDot(view.change ?? 'same', [grid.at(index), y.at(view.mean)], grid, describeEpoch(view)),
  )
  return [
    ...renderLegend(HEAD_HEIGHT + 4),
    ...renderGridLines(y),
    renderLine('from', averages, grid, y),
    renderLine('line', means, grid, y),
    ...dots,
  ]
}

function describeEpoch(view: EpochView): string {
  const { mean, average, regressed, limit, events } = view
  return [
    `${nameEpoch(view)}: mean ${formatScore(mean)}`,
    ...(average === null ? [] : [`mean of the last ${AVERAGED} ${formatScore(average)}`]),
    ...(regressed && limit !== null ? [`regression, limit ${formatScore(limit)}`] : []),
    ...events.map(describeArtifactEvent),
  ].join('; ')
}

function nameEpoch({ epoch }: EpochView): string {
  return epoch === 0 ? 'baseline pass' : `epoch ${epoch}`
}

function renderArtifactRow(name: string, top: number, views: readonly EpochView[], grid: Columns): string[] {
  const y = top + ROW_HEIGHT / 2
  const marks = views.flatMap((view, index) =>
    view.events
      .filter(({ artifact }) => artifact === name)
      .map(event => {
        const title = `${describeArtifactEvent(event)} after ${nameEpoch(view)}: ${event.rationale}`
        const place = [grid.at(index), y] as const
        return event.type === 'update'
          ? renderDot('update', place, grid, title)
          : renderCross(place, grid, title)
      }),
  )
  return [
    `<path class="grid" d="M${PLOT.left} ${formatPixels(y)}H${PLOT.right}"/>`,
    `<text class="small" x="${PLOT.left - 8}" y="${formatPixels(y + 4)}" text-anchor="end">${renderTitle(name)}${escapeSvg(name, 32)}</text>`,
    ...marks,
  ]
}

/** All tasks are in `winnow inspect --json`. */
const MOST_TASKS = 12

function renderRanges(views: readonly EpochView[], grid: Columns, area: PlotArea): string[] {
  const y = buildChartScale(
    views.flatMap(({ range }) => (range === null ? [] : [range.least, range.most])),
    area,
  )
  const marks = views.flatMap((view, index) => {
    if (view.range === null) return []
    const { least, median, most } = view.range
    const x = formatPixels(grid.at(index))
    const bar = `<path class="range" d="M${x} ${formatPixels(y.at(least))}V${formatPixels(y.at(most))}"/>`
    const title = `${nameEpoch(view)}: ${formatScore(least)} to ${formatScore(most)}, median ${formatScore(median)}: ${listTasks(view)}`
    return [bar, renderDot('same', [grid.at(index), y.at(median)], grid, title)]
  })
  return [...renderGridLines(y), ...marks]
}

function listTasks({ tasks }: EpochView): string {
  const all = Object.entries(tasks)
  const shown = all
    .slice(0, MOST_TASKS)
    .map(([task, score]) => `${toSafeLine(task, 40)} ${formatScore(score)}`)
  const more = all.length > MOST_TASKS ? [`and ${all.length - MOST_TASKS} more`] : []
  return [...shown, ...more].join(', ')
}

// Rounds

interface RoundPoint {
  /** 0 for the start. */
  round: number
  /** The incumbent after it; null while nothing is measured. */
  value: number | null
  change: EpochView['change']
  kept: readonly ChartMark[]
  reverted: readonly ChartMark[]
  tried: number
}

/** All experiments are in the other formats of `winnow export`. */
const MOST_KEPT = 30

/** The incumbent after each round, and the ideas that were kept. */
function renderRoundChart(campaign: Campaign, spec: Spec): string {
  const data = buildChartData(campaign, computeProgress(campaign, spec))
  const all = listRoundPoints(campaign, data, countTried(campaign, spec))
  const points = all.slice(-MAX_COLUMNS)
  const subject = `${data.metric} of ${campaign.name}, by round: ${data.gain}${describeHidden(all, points)}`
  const values = points.map(({ value }) => value)
  const known = values.filter(value => value !== null)
  const area = { from: HEAD_HEIGHT + CURVE_HEIGHT, to: HEAD_HEIGHT + 4 }
  if (known.length === 0)
    return renderChartFile(subject, area.from, [renderNote('Nothing is measured yet.', area)])
  const y = buildChartScale(known, area)
  const grid = buildColumns(points.length)
  const dots = points.flatMap((point, index) =>
    point.value === null
      ? []
      : renderDot(point.change ?? 'same', [grid.at(index), y.at(point.value)], grid, describeRound(point)),
  )
  const labels = points.map(({ round }) => (round === 0 ? 'start' : String(round)))
  const kept = renderKeptIdeas(campaign, all, area.from + 20 + PANEL_GAP)
  return renderChartFile(subject, kept.bottom, [
    ...renderGridLines(y),
    renderLine('line', values, grid, y),
    ...dots,
    ...renderColumnLabels(labels, grid, area.from + 20),
    ...kept.lines,
  ])
}

function countTried(campaign: Campaign, spec: Spec): Map<number, number> {
  return new Map(buildRoundViews(campaign, spec).map(({ round, experiments }) => [round, experiments.length]))
}

/** A kept change without a round of its own belongs to the round before it. */
function listRoundPoints(
  { experiments }: Campaign,
  { start, marks }: { start: number | null; marks: readonly ChartMark[] },
  tried: ReadonlyMap<number, number>,
): RoundPoint[] {
  const landed = new Map<number, ChartMark[]>()
  let latest = 0
  for (const mark of marks) {
    latest = experiments[mark.id]?.round ?? latest
    landed.set(latest, [...(landed.get(latest) ?? []), mark])
  }
  const rounds = [...new Set([0, ...tried.keys(), ...landed.keys()])].toSorted((a, b) => a - b)
  let value = start
  return rounds.map(round => {
    const own = landed.get(round) ?? []
    value = own.findLast(({ reverted }) => !reverted)?.value ?? value
    const kept = own.filter(({ reverted, isRevert }) => !reverted && !isRevert)
    const reverted = own.filter(mark => !kept.includes(mark))
    const change = kept.length > 0 ? 'update' : reverted.length > 0 ? 'rollback' : null
    return { round, value, change, kept, reverted, tried: tried.get(round) ?? 0 }
  })
}

function describeRound({ round, value, kept, reverted, tried }: RoundPoint): string {
  return [
    `${round === 0 ? 'start' : `round ${round}`}: ${value === null ? 'not measured' : formatNumber(value)}`,
    ...(round === 0 ? [] : [`${formatCount(tried, 'experiment')}`]),
    ...(kept.length === 0 ? [] : [`kept ${kept.map(({ id }) => id).join(', ')}`]),
    ...(reverted.length === 0 ? [] : [`reverted ${reverted.map(({ id }) => id).join(', ')}`]),
  ].join('; ')
}

function renderKeptIdeas(
  { experiments }: Campaign,
  points: readonly RoundPoint[],
  top: number,
): { lines: string[]; bottom: number } {
  const all = points.flatMap(({ round, kept }) => kept.map(mark => ({ round, mark })))
  const shown = all.slice(-MOST_KEPT)
  if (shown.length === 0) return { lines: [], bottom: top - PANEL_GAP }
  const rows = shown.map(({ round, mark: { id, from, value } }, index) => {
    const text = `round ${round}, ${id}: ${formatNumber(from)} -> ${formatNumber(value)}, ${experiments[id]?.hypothesis ?? ''}`
    return `<text class="small" x="20" y="${top + 10 + index * 18}">${escapeSvg(text, 110)}</text>`
  })
  const heading = renderHeading(`Kept ideas${describeHidden(all, shown)}`, top - 12)
  return { lines: [heading, ...rows], bottom: top + shown.length * 18 }
}

// Parts of a chart

const PLOT = { left: 214, right: WIDTH - 20 }
const HEAD_HEIGHT = 44
const CURVE_HEIGHT = 190
const RANGE_HEIGHT = 150
const ROW_HEIGHT = 24
const PANEL_GAP = 46
const MAX_TITLE = 600
/** More columns than this could not be told apart, so the latest are shown. */
const MAX_COLUMNS = 200

const STYLE = `<style>
.update{fill:#1a7f37}.rollback{fill:#cf222e}.cross{fill:none;stroke:#cf222e;stroke-width:2}
.same{fill:#818b98}.range{stroke:#54aeff;stroke-width:3}
@media (prefers-color-scheme:dark){.update{fill:#3fb950}.rollback{fill:#ff7b72}.cross{stroke:#ff7b72}
.same{fill:#9198a1}.range{stroke:#1f6feb}}
</style>`

interface PlotArea {
  from: number
  to: number
}

interface Columns {
  count: number
  /** The middle of a column. */
  at: (index: number) => number
}

function buildColumns(count: number): Columns {
  return { count, at: index => PLOT.left + ((index + 0.5) / count) * (PLOT.right - PLOT.left) }
}

function describeHidden(all: readonly unknown[], shown: readonly unknown[]): string {
  return all.length === shown.length ? '' : `, the latest ${shown.length} of ${all.length}`
}

function renderChartFile(title: string, bottom: number, body: readonly string[]): string {
  const heading = renderHeading(title, 24)
  return renderSvgFile(escapeSvg(title, MAX_TITLE), Math.ceil(bottom + 20), [STYLE, heading, ...body])
}

function renderHeading(text: string, y: number): string {
  return `<text class="head" x="20" y="${formatPixels(y)}">${escapeSvg(text, 90)}</text>`
}

function renderNote(text: string, { from, to }: PlotArea): string {
  return `<text class="small" x="${PLOT.left}" y="${formatPixels((from + to) / 2)}">${text}</text>`
}

function renderGridLines({ at, ticks }: ChartScale): string[] {
  return ticks.flatMap(value => [
    `<path class="grid" d="M${PLOT.left} ${formatPixels(at(value))}H${PLOT.right}"/>`,
    `<text class="small" x="${PLOT.left - 8}" y="${formatPixels(at(value) + 4)}" text-anchor="end">${formatNumber(value)}</text>`,
  ])
}

/** At most about 16 labels have room. */
function renderColumnLabels(labels: readonly string[], grid: Columns, y: number): string[] {
  const every = Math.ceil(labels.length / 16)
  return labels.flatMap((label, index) =>
    (labels.length - 1 - index) % every === 0
      ? `<text class="small" x="${formatPixels(grid.at(index))}" y="${y}" text-anchor="middle">${label}</text>`
      : [],
  )
}

/** A missing value is a gap. */
function renderLine(
  style: 'line' | 'from',
  values: readonly (number | null)[],
  grid: Columns,
  y: ChartScale,
): string {
  const points = values.map((value, index) => {
    if (value === null) return ''
    const begins = index === 0 || values[index - 1] === null
    return `${begins ? 'M' : 'L'}${formatPixels(grid.at(index))} ${formatPixels(y.at(value))}`
  })
  return `<path class="${style}" fill="none" d="${points.join('')}"/>`
}

function renderDot(
  kind: (typeof KINDS)[number][0],
  [x, y]: readonly [x: number, y: number],
  grid: Columns,
  text: string,
): string {
  const [cx, cy, r] = [x, y, computeRadius(grid)].map(formatPixels)
  return `<circle class="${kind}" cx="${cx}" cy="${cy}" r="${r}">${renderTitle(text)}</circle>`
}

function renderCross([x, y]: readonly [x: number, y: number], grid: Columns, text: string): string {
  const radius = computeRadius(grid)
  const [left, right, top, bottom] = [x - radius, x + radius, y - radius, y + radius].map(formatPixels)
  return `<path class="cross" d="M${left} ${top}L${right} ${bottom}M${left} ${bottom}L${right} ${top}">${renderTitle(text)}</path>`
}

function computeRadius({ count }: Columns): number {
  return Math.max(1.2, Math.min(4, ((PLOT.right - PLOT.left) / count) * 0.4))
}

function renderTitle(text: string): string {
  return `<title>${escapeSvg(text, MAX_TITLE)}</title>`
}
