import { type CampaignProgress, formatGain } from '../decide/progress.ts'
import { formatNumber } from '../decide/wording.ts'
import type { Campaign, Landing } from '../model/campaign.ts'
import { aggregateSnapshot, getNumber } from '../model/report.ts'

// Chart data

/**
 * Values of the primary metric after each kept change. A value is null where it was not measured (invariant 5).
 */
interface ChartData {
  metric: string
  gain: string
  start: number | null
  marks: ChartMark[]
  /** The value that one test of all kept changes shows. */
  end: number | null
  /** Numbers of the first and last experiment; both 0 if there are none. */
  first: number
  last: number
}

export interface ChartMark {
  id: string
  number: number
  /** Differs from the previous mark where something other than winnow changed the metric. */
  from: number
  value: number
  reverted: boolean
  /** The revert of a kept change: part of the line, but not a gain. */
  isRevert: boolean
}

type ChartLevel = Pick<ChartMark, 'from' | 'value'>

export function buildChartData(campaign: Campaign, progress: CampaignProgress): ChartData {
  const { experiments, origin } = campaign
  const { metric } = progress
  const numbers = Object.values(experiments).map(({ number }) => number)
  const start = getNumber(aggregateSnapshot(origin?.snapshot ?? null), metric)
  const tested = progress.is === 'tested' ? progress.effect : null
  return {
    metric,
    gain: formatGain(progress),
    start,
    marks: buildChartMarks(campaign, progress, start),
    end: start === null || tested === null ? null : shiftByEffect(start, tested, progress),
    first: numbers[0] ?? 0,
    last: numbers.reduce((most, number) => Math.max(most, number), 0),
  }
}

export function computeMetricChange(
  campaign: Campaign,
  progress: CampaignProgress,
): { from: number; to: number } | null {
  if (progress.is === 'numbers') {
    const [{ from }] = progress.stretches
    return { from, to: progress.stretches.at(-1)?.to ?? from }
  }
  const from = getNumber(aggregateSnapshot(campaign.origin?.snapshot ?? null), progress.metric)
  if (from === null || !('effect' in progress)) return null
  return { from, to: shiftByEffect(from, progress.effect, progress) }
}

function buildChartMarks(campaign: Campaign, progress: CampaignProgress, start: number | null): ChartMark[] {
  let level = start
  return campaign.landings.flatMap((landing): ChartMark[] => {
    const kept = campaign.experiments[landing.experiment]
    const found =
      progress.is === 'tested' || progress.is === 'composed'
        ? computeLevelByEffect(landing, level, progress)
        : findLevelByNumbers(campaign, landing, progress.metric)
    if (kept === undefined || found === null) return []
    const reverted = landing.reverted !== null
    if (!reverted) level = found.value
    const isRevert = kept.purpose === 'revert'
    return [{ id: kept.id, number: kept.number, reverted, isRevert, ...found }]
  })
}

function findLevelByNumbers({ steps }: Campaign, { experiment }: Landing, metric: string): ChartLevel | null {
  const step = steps.find(each => each.experiment === experiment && each.by === 'numbers')
  const from = getNumber(step?.from.metrics ?? {}, metric)
  const value = getNumber(step?.to.metrics ?? {}, metric)
  return from === null || value === null ? null : { from, value }
}

/** Uses effects of pairs for a noisy metric, because medians of different hours cannot be compared. */
function computeLevelByEffect(
  { effect }: Landing,
  from: number | null,
  progress: CampaignProgress,
): ChartLevel | null {
  if (from === null || effect?.metric !== progress.metric) return null
  return { from, value: shiftByEffect(from, effect.effect, progress, effect.scale) }
}

function shiftByEffect(
  value: number,
  effect: number,
  progress: CampaignProgress,
  scale: 'log' | 'linear' = 'scale' in progress ? progress.scale : 'linear',
): number {
  const change = progress.direction === 'minimize' ? 0 - effect : effect
  return scale === 'log' ? value * Math.exp(change) : value + change
}

// Chart

export const WIDTH = 720
const CHART_HEIGHT = 280
const PLOT_AREA = { left: 72, right: WIDTH - 20, top: 44, bottom: CHART_HEIGHT - 40 }
/** More marks than this could not be told apart. */
const MAX_MARKS = 250

/** Draws its own background, so that the chart stays readable when page and system disagree about dark mode. */
const STYLE = `<style>
.ground{fill:#fff}.grid{stroke:#d1d9e0}.from{stroke:#59636e;stroke-dasharray:5 4}
.line{stroke:#0969da;stroke-width:2;fill:none}.kept{fill:#1a7f37}.back{fill:none;stroke:#9a6700;stroke-width:1.5}
text{fill:#1f2328;font:12px sans-serif}.head{font-size:14px;font-weight:600}.small{fill:#59636e}
@media (prefers-color-scheme:dark){.ground{fill:#0d1117}.grid{stroke:#30363d}.from{stroke:#9198a1}
.line{stroke:#4493f8}.kept{fill:#3fb950}.back{stroke:#d29922}text{fill:#f0f6fc}.small{fill:#9198a1}}
</style>`

export function renderChart(campaign: string, data: ChartData): string {
  const { metric, gain, start, marks, end } = data
  const levels = marks.flatMap(({ from, value }) => [from, value])
  const values = [start, ...levels, end].filter(value => value !== null)
  const empty = `<text class="small" x="${PLOT_AREA.left}" y="${CHART_HEIGHT / 2}">Nothing is measured yet.</text>`
  const body = values.length === 0 ? [empty] : renderDrawing(data, values)
  return renderSvgFile(`${escapeSvg(metric)} of ${escapeSvg(campaign)}`, CHART_HEIGHT, [
    `<text class="head" x="${PLOT_AREA.left}" y="24">${escapeSvg(metric)} of ${escapeSvg(campaign)}, by experiment: ${escapeSvg(gain)}</text>`,
    ...body,
  ])
}

/** The texts have to be escaped. */
export function renderSvgFile(title: string, height: number, body: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${title}</title>`,
    STYLE,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    ...body,
    '</svg>',
    '',
  ].join('\n')
}

function renderDrawing(data: ChartData, values: readonly number[]): string[] {
  const { first, last, start, end } = data
  const left = Math.max(0, first - 1)
  const span = Math.max(1, last - left)
  const across = (number: number) =>
    PLOT_AREA.left + ((number - left) / span) * (PLOT_AREA.right - PLOT_AREA.left)
  const y = buildChartScale(values, { from: PLOT_AREA.bottom, to: PLOT_AREA.top })
  const steps = limitChartMarks(sortChartMarks(data.marks))
  return [
    ...renderGrid(y),
    ...renderAxisNumbers(left, left + span, across),
    ...(start === null ? [] : [renderLevel('from', y.at(start))]),
    ...renderChartPath(steps, { start, end, across, y }),
    ...steps.map(step => renderChartMark(step, across(step.number), y.at(step.value))),
  ]
}

/** A runner-up may have a lower number than the change below it: its mark moves right. */
function sortChartMarks(kept: readonly ChartMark[]): ChartMark[] {
  let latest = 0
  return kept.map(each => {
    latest = Math.max(latest, each.number)
    return { ...each, number: latest }
  })
}

/** One mark for each group, from where its first change began to where its last one ended. */
function limitChartMarks(kept: readonly ChartMark[]): ChartMark[] {
  const every = Math.ceil(kept.length / MAX_MARKS)
  return kept.flatMap((mark, index) => {
    if ((kept.length - 1 - index) % every !== 0) return []
    const group = kept.slice(Math.max(0, index + 1 - every), index + 1).filter(({ reverted }) => !reverted)
    const last = group.at(-1) ?? mark
    return [{ ...last, from: group[0]?.from ?? last.from }]
  })
}

function renderGrid({ at, ticks }: ChartScale): string[] {
  return ticks.flatMap(value => [
    renderLevel('grid', at(value)),
    `<text class="small" x="${PLOT_AREA.left - 8}" y="${formatPixels(at(value) + 4)}" text-anchor="end">${formatNumber(value)}</text>`,
  ])
}

function renderLevel(style: 'grid' | 'from', y: number): string {
  return `<path class="${style}" d="M${PLOT_AREA.left} ${formatPixels(y)}H${PLOT_AREA.right}"/>`
}

function renderAxisNumbers(start: number, end: number, across: (number: number) => number): string[] {
  const whole = listChartTicks(start, end, 8).filter(Number.isInteger)
  return whole.map(
    number =>
      `<text class="small" x="${formatPixels(across(number))}" y="${PLOT_AREA.bottom + 20}" text-anchor="middle">${number}</text>`,
  )
}

interface ChartArea {
  start: number | null
  end: number | null
  across: (number: number) => number
  y: ChartScale
}

/** A dashed line shows a change of the metric that no kept change caused, for example a sync. */
function renderChartPath(steps: readonly ChartMark[], { start, end, across, y }: ChartArea): string[] {
  const current = steps.filter(({ reverted }) => !reverted)
  const [begin] = current
  let level = start ?? begin?.from
  if (level === undefined) return []
  const left = start === null && begin ? across(begin.number) : PLOT_AREA.left
  let line = `M${formatPixels(left)} ${formatPixels(y.at(level))}`
  const dashedLines: string[] = []
  for (const { number, from, value } of current) {
    const x = formatPixels(across(number))
    line += `H${x}`
    if (from !== level) {
      dashedLines.push(
        `<path class="from" d="M${x} ${formatPixels(y.at(level))}V${formatPixels(y.at(from))}"/>`,
      )
      line += `M${x} ${formatPixels(y.at(from))}`
    }
    line += `V${formatPixels(y.at(value))}`
    level = value
  }
  const last = end === null ? '' : `V${formatPixels(y.at(end))}`
  return [...dashedLines, `<path class="line" d="${line}H${PLOT_AREA.right}${last}"/>`]
}

function renderChartMark({ id, value, reverted, isRevert }: ChartMark, x: number, y: number): string {
  const title = `<title>${id}: ${formatNumber(value)}${reverted ? ', reverted' : isRevert ? ', a revert' : ''}</title>`
  return `<circle class="${reverted || isRevert ? 'back' : 'kept'}" cx="${formatPixels(x)}" cy="${formatPixels(y)}" r="4">${title}</circle>`
}

// Scale

export interface ChartScale {
  at: (value: number) => number
  ticks: number[]
}

const STEPS = [1, 2, 2.5, 5, 10]

/** Spreads values over `from`..`to` with a small margin. A single value lies in the middle. */
export function buildChartScale(
  values: readonly number[],
  { from, to }: { from: number; to: number },
): ChartScale {
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)
  const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
  const margin = high > low ? (high - low) * 0.08 : Math.abs(high) * 0.5 || 1
  const [first, last] = [low - margin, high + margin]
  return {
    at: value => from + ((value - first) / (last - first)) * (to - from),
    ticks: listChartTicks(first, last, 5),
  }
}

/** Returns at most about `most` round values in a range. */
export function listChartTicks(first: number, last: number, most: number): number[] {
  const raw = (last - first) / most
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = (STEPS.find(each => each * power >= raw) ?? 10) * power
  const count = Math.floor(last / step) - Math.ceil(first / step) + 1
  const lowest = Math.ceil(first / step)
  // Multiples of the step, because sums drift.
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    Number(((lowest + index) * step).toPrecision(12)),
  )
}

// Badge

const BADGE_HEIGHT = 20
const PADDING = 7
/** Forces text widths instead of measuring them, so that the same bytes look the same in any font. */
const LETTER_WIDTH = 6.4

const COLOURS = { none: '#57606a', running: '#1a7f37', paused: '#9a6700', stopped: '#0969da' } as const

/** Uses white text on colours that are visible on light and dark pages. */
export function renderBadge(campaign: Campaign, progress: CampaignProgress): string {
  const { name, status } = campaign
  const label = `${formatGain(progress)} · ${status}`
  const [left, right] = [computeBadgeWidth(name), computeBadgeWidth(label)]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${formatPixels(left + right)}" height="${BADGE_HEIGHT}" role="img">`,
    `<title>${escapeSvg(name)}: ${escapeSvg(label)}</title>`,
    `<rect width="${formatPixels(left)}" height="${BADGE_HEIGHT}" fill="#24292f"/>`,
    `<rect x="${formatPixels(left)}" width="${formatPixels(right)}" height="${BADGE_HEIGHT}" fill="${COLOURS[status]}"/>`,
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
    renderBadgeLabel(name, 0),
    renderBadgeLabel(label, left),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

export function isBadgeCurrent(svg: string, status: Campaign['status']): boolean {
  return svg.includes(` · ${status}</title>`)
}

function computeBadgeWidth(text: string): number {
  return Array.from(text).length * LETTER_WIDTH + 2 * PADDING
}

function renderBadgeLabel(text: string, x: number): string {
  const length = computeBadgeWidth(text) - 2 * PADDING
  return `<text x="${formatPixels(x + PADDING)}" y="14" textLength="${formatPixels(length)}" lengthAdjust="spacingAndGlyphs">${escapeSvg(text)}</text>`
}

// SVG text

const MAX_TEXT_LENGTH = 60
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Keeps foreign text inside an SVG plain, on one line and of limited length. */
export function escapeSvg(text: string, most = MAX_TEXT_LENGTH): string {
  const plain = text.replace(/[\p{C}\s]+/gu, ' ').trim()
  const letters = Array.from(plain)
  const short = letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : plain
  return short.replace(/[&<>"']/g, character => ENTITIES[character] ?? '')
}

/** One decimal is finer than a pixel, and gives the same bytes on every machine. */
export function formatPixels(value: number): string {
  return String(Math.round(value * 10) / 10)
}
