import { formatNumber } from '../decide/wording.ts'
import { type ChartScale, buildChartScale, listChartTicks } from './chart-scale.ts'
import type { ChartData, ChartMark } from './chart-data.ts'
import { formatPixels, escapeSvg } from './svg-text.ts'

const WIDTH = 720
const CHART_HEIGHT = 280
const PAPER = { left: 72, right: WIDTH - 20, top: 44, bottom: CHART_HEIGHT - 40 }
/** Of a long campaign so many are drawn: more could not be told apart. */
const MOST = 250

/** It has a ground of its own, so that it can be read where the page and the system disagree about dark. */
const STYLE = `<style>
.ground{fill:#fff}.grid{stroke:#d1d9e0}.from{stroke:#59636e;stroke-dasharray:5 4}
.line{stroke:#0969da;stroke-width:2;fill:none}.kept{fill:#1a7f37}.back{fill:none;stroke:#9a6700;stroke-width:1.5}
text{fill:#1f2328;font:12px sans-serif}.head{font-size:14px;font-weight:600}.small{fill:#59636e}
@media (prefers-color-scheme:dark){.ground{fill:#0d1117}.grid{stroke:#30363d}.from{stroke:#9198a1}
.line{stroke:#4493f8}.kept{fill:#3fb950}.back{stroke:#d29922}text{fill:#f0f6fc}.small{fill:#9198a1}}
</style>`

/** The primary metric of the incumbents over experiments: a step for each that was kept. */
export function renderChart(campaign: string, data: ChartData): string {
  const { metric, gain, start, marks, end } = data
  const levels = marks.flatMap(({ from, value }) => [from, value])
  const values = [start, ...levels, end].filter(value => value !== null)
  const body =
    values.length === 0 ? [renderChartNote('Nothing is measured yet.')] : renderDrawing(data, values)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${CHART_HEIGHT}" viewBox="0 0 ${WIDTH} ${CHART_HEIGHT}" role="img">`,
    `<title>${escapeSvg(metric)} of ${escapeSvg(campaign)}</title>`,
    STYLE,
    `<rect class="ground" width="${WIDTH}" height="${CHART_HEIGHT}"/>`,
    `<text class="head" x="${PAPER.left}" y="24">${escapeSvg(metric)} of ${escapeSvg(campaign)}, by experiment: ${escapeSvg(gain)}</text>`,
    ...body,
    '</svg>',
    '',
  ].join('\n')
}

function renderChartNote(text: string): string {
  return `<text class="small" x="${PAPER.left}" y="${CHART_HEIGHT / 2}">${text}</text>`
}

function renderDrawing(data: ChartData, values: readonly number[]): string[] {
  const { first, last, start, end } = data
  const left = Math.max(0, first - 1)
  const span = Math.max(1, last - left)
  const across = (number: number) => PAPER.left + ((number - left) / span) * (PAPER.right - PAPER.left)
  const y = buildChartScale(values, { from: PAPER.bottom, to: PAPER.top })
  const steps = limitChartMarks(sortChartMarks(data.marks))
  return [
    ...renderGrid(y),
    ...renderAxisNumbers(left, left + span, across),
    ...(start === null ? [] : [renderStartLine(start, y)]),
    ...renderChartPath(steps, { start, end, across, y }),
    ...steps.map(step => renderChartMark(step, across(step.number), y.at(step.value))),
  ]
}

/** A runner-up may have a lower number than what it was merged upon: time does not go back for it. */
function sortChartMarks(kept: readonly ChartMark[]): ChartMark[] {
  let latest = 0
  return kept.map(each => {
    latest = Math.max(latest, each.number)
    return { ...each, number: latest }
  })
}

function limitChartMarks(kept: readonly ChartMark[]): ChartMark[] {
  const every = Math.ceil(kept.length / MOST)
  return kept.filter((_, index) => (kept.length - 1 - index) % every === 0)
}

function renderGrid({ at, ticks }: ChartScale): string[] {
  return ticks.flatMap(value => [
    `<path class="grid" d="M${PAPER.left} ${formatPixels(at(value))}H${PAPER.right}"/>`,
    `<text class="small" x="${PAPER.left - 8}" y="${formatPixels(at(value) + 4)}" text-anchor="end">${formatNumber(value)}</text>`,
  ])
}

function renderAxisNumbers(start: number, end: number, across: (number: number) => number): string[] {
  const whole = listChartTicks(start, end, 8).filter(Number.isInteger)
  return whole.map(
    number =>
      `<text class="small" x="${formatPixels(across(number))}" y="${PAPER.bottom + 20}" text-anchor="middle">${number}</text>`,
  )
}

function renderStartLine(from: number, { at }: ChartScale): string {
  return `<path class="from" d="M${PAPER.left} ${formatPixels(at(from))}H${PAPER.right}"/>`
}

interface ChartArea {
  start: number | null
  end: number | null
  across: (number: number) => number
  y: ChartScale
}

/**
 * What was taken back is marked, and not on the way to where the incumbent is. What something else than a kept change
 * has moved, a sync with the default branch say, is a dashed line between two others.
 */
function renderChartPath(steps: readonly ChartMark[], { start, end, across, y }: ChartArea): string[] {
  const standing = steps.filter(({ reverted: takenBack }) => !takenBack)
  const [begin] = standing
  let level = start ?? begin?.from
  if (level === undefined) return []
  const left = start === null && begin ? across(begin.number) : PAPER.left
  let line = `M${formatPixels(left)} ${formatPixels(y.at(level))}`
  const jumps: string[] = []
  for (const { number, from, value } of standing) {
    const x = formatPixels(across(number))
    line += `H${x}`
    if (from !== level) {
      jumps.push(`<path class="from" d="M${x} ${formatPixels(y.at(level))}V${formatPixels(y.at(from))}"/>`)
      line += `M${x} ${formatPixels(y.at(from))}`
    }
    line += `V${formatPixels(y.at(value))}`
    level = value
  }
  const last = end === null ? '' : `V${formatPixels(y.at(end))}`
  return [...jumps, `<path class="line" d="${line}H${PAPER.right}${last}"/>`]
}

function renderChartMark(
  { id, value, reverted: takenBack, isRevert }: ChartMark,
  x: number,
  y: number,
): string {
  const title = `<title>${id}: ${formatNumber(value)}${takenBack ? ', taken back' : isRevert ? ', a revert' : ''}</title>`
  return `<circle class="${takenBack || isRevert ? 'back' : 'kept'}" cx="${formatPixels(x)}" cy="${formatPixels(y)}" r="4">${title}</circle>`
}
