import { numberText } from '../decide/wording.ts'
import { type Scale, scaleOf, ticksWithin } from './chart-scale.ts'
import type { Kept, Progress } from './progress.ts'
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
export function chartSvg(campaign: string, progress: Progress): string {
  const { metric, from, kept } = progress
  const values = [...(from === null ? [] : [from]), ...kept.map(({ value }) => value)]
  const body = values.length === 0 ? [note('Nothing is measured yet.')] : drawing(progress, values)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>${svgText(metric)} of ${svgText(campaign)}</title>`,
    STYLE,
    `<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="head" x="${PAPER.left}" y="24">${svgText(metric)} of ${svgText(campaign)}, by experiment</text>`,
    ...body,
    '</svg>',
    '',
  ].join('\n')
}

function note(text: string): string {
  return `<text class="small" x="${PAPER.left}" y="${HEIGHT / 2}">${text}</text>`
}

function drawing(progress: Progress, values: readonly number[]): string[] {
  const { first, last, from } = progress
  const start = Math.max(0, first - 1)
  const span = Math.max(1, last - start)
  const across = (number: number) => PAPER.left + ((number - start) / span) * (PAPER.right - PAPER.left)
  const y = scaleOf(values, { from: PAPER.bottom, to: PAPER.top })
  const steps = thinned(inOrder(progress.kept))
  return [
    ...grid(y),
    ...numbers(start, start + span, across),
    ...(from === null ? [] : [countedFrom(from, y)]),
    ...path(steps, { from, across, y }),
    ...steps.map(step => mark(step, across(step.number), y.at(step.value))),
  ]
}

/** A runner-up may have a lower number than what it was merged upon: time does not go back for it. */
function inOrder(kept: readonly Kept[]): Kept[] {
  let latest = 0
  return kept.map(each => {
    latest = Math.max(latest, each.number)
    return { ...each, number: latest }
  })
}

function thinned(kept: readonly Kept[]): Kept[] {
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
  from: number | null
  across: (number: number) => number
  y: Scale
}

/** What was taken back is marked, and not on the way to where the incumbent is. */
function path(steps: readonly Kept[], { from, across, y }: Paper): string[] {
  const standing = steps.filter(({ takenBack }) => !takenBack)
  const [begin] = standing
  const value = from ?? begin?.value
  if (value === undefined) return []
  const left = from === null && begin ? across(begin.number) : PAPER.left
  const moves = standing.map(step => `H${px(across(step.number))}V${px(y.at(step.value))}`)
  return [`<path class="line" d="M${px(left)} ${px(y.at(value))}${moves.join('')}H${PAPER.right}"/>`]
}

function mark({ id, value, takenBack, isRevert = false }: Kept, x: number, y: number): string {
  const title = `<title>${id}: ${numberText(value)}${takenBack ? ', taken back' : isRevert ? ', a revert' : ''}</title>`
  return `<circle class="${takenBack || isRevert ? 'back' : 'kept'}" cx="${px(x)}" cy="${px(y)}" r="4">${title}</circle>`
}
