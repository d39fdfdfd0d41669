import { numberText } from '../decide/wording.ts'
import { type Scale, scaleOf, ticksWithin } from './chart-scale.ts'
import type { ChartData, Mark } from './chart-data.ts'
import { px, svgText } from './svg-text.ts'

const WIDTH = 720
const HEIGHT = 280
const PAPER = { left: 72, right: WIDTH - 20, top: 44, bottom: HEIGHT - 40 }
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
export function chartSvg(campaign: string, data: ChartData): string {
  const { metric, gain, start, marks, end } = data
  const levels = marks.flatMap(({ from, value }) => [from, value])
  const values = [start, ...levels, end].filter(value => value !== null)
  const body = values.length === 0 ? [note('Nothing is measured yet.')] : drawing(data, values)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>${svgText(metric)} of ${svgText(campaign)}</title>`,
    STYLE,
    `<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="head" x="${PAPER.left}" y="24">${svgText(metric)} of ${svgText(campaign)}, by experiment: ${svgText(gain)}</text>`,
    ...body,
    '</svg>',
    '',
  ].join('\n')
}

function note(text: string): string {
  return `<text class="small" x="${PAPER.left}" y="${HEIGHT / 2}">${text}</text>`
}

function drawing(data: ChartData, values: readonly number[]): string[] {
  const { first, last, start, end } = data
  const left = Math.max(0, first - 1)
  const span = Math.max(1, last - left)
  const across = (number: number) => PAPER.left + ((number - left) / span) * (PAPER.right - PAPER.left)
  const y = scaleOf(values, { from: PAPER.bottom, to: PAPER.top })
  const steps = thinned(inOrder(data.marks))
  return [
    ...grid(y),
    ...numbers(left, left + span, across),
    ...(start === null ? [] : [countedFrom(start, y)]),
    ...path(steps, { start, end, across, y }),
    ...steps.map(step => mark(step, across(step.number), y.at(step.value))),
  ]
}

/** A runner-up may have a lower number than what it was merged upon: time does not go back for it. */
function inOrder(kept: readonly Mark[]): Mark[] {
  let latest = 0
  return kept.map(each => {
    latest = Math.max(latest, each.number)
    return { ...each, number: latest }
  })
}

function thinned(kept: readonly Mark[]): Mark[] {
  const every = Math.ceil(kept.length / MOST)
  return kept.filter((_, index) => (kept.length - 1 - index) % every === 0)
}

function grid({ at, ticks }: Scale): string[] {
  return ticks.flatMap(value => [
    `<path class="grid" d="M${PAPER.left} ${px(at(value))}H${PAPER.right}"/>`,
    `<text class="small" x="${PAPER.left - 8}" y="${px(at(value) + 4)}" text-anchor="end">${numberText(value)}</text>`,
  ])
}

function numbers(start: number, end: number, across: (number: number) => number): string[] {
  const whole = ticksWithin(start, end, 8).filter(Number.isInteger)
  return whole.map(
    number =>
      `<text class="small" x="${px(across(number))}" y="${PAPER.bottom + 20}" text-anchor="middle">${number}</text>`,
  )
}

function countedFrom(from: number, { at }: Scale): string {
  return `<path class="from" d="M${PAPER.left} ${px(at(from))}H${PAPER.right}"/>`
}

interface Paper {
  start: number | null
  end: number | null
  across: (number: number) => number
  y: Scale
}

/**
 * What was taken back is marked, and not on the way to where the incumbent is. What something else than a kept change
 * has moved, a sync with the default branch say, is a dashed line between two others.
 */
function path(steps: readonly Mark[], { start, end, across, y }: Paper): string[] {
  const standing = steps.filter(({ takenBack }) => !takenBack)
  const [begin] = standing
  let level = start ?? begin?.from
  if (level === undefined) return []
  const left = start === null && begin ? across(begin.number) : PAPER.left
  let line = `M${px(left)} ${px(y.at(level))}`
  const jumps: string[] = []
  for (const { number, from, value } of standing) {
    const x = px(across(number))
    line += `H${x}`
    if (from !== level) {
      jumps.push(`<path class="from" d="M${x} ${px(y.at(level))}V${px(y.at(from))}"/>`)
      line += `M${x} ${px(y.at(from))}`
    }
    line += `V${px(y.at(value))}`
    level = value
  }
  const last = end === null ? '' : `V${px(y.at(end))}`
  return [...jumps, `<path class="line" d="${line}H${PAPER.right}${last}"/>`]
}

function mark({ id, value, takenBack, isRevert }: Mark, x: number, y: number): string {
  const title = `<title>${id}: ${numberText(value)}${takenBack ? ', taken back' : isRevert ? ', a revert' : ''}</title>`
  return `<circle class="${takenBack || isRevert ? 'back' : 'kept'}" cx="${px(x)}" cy="${px(y)}" r="4">${title}</circle>`
}
