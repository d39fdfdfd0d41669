import type { Campaign } from '../model/campaign.ts'
import type { Progress } from '../decide/progress.ts'
import { gainText } from '../decide/progress-text.ts'
import { px, svgText } from './svg-text.ts'

const HEIGHT = 20
const PADDING = 7
/** Widths are not measured but forced: the same bytes look the same with any font. */
const LETTER = 6.4

const COLOURS = { none: '#57606a', running: '#1a7f37', paused: '#9a6700', stopped: '#0969da' } as const

/** Gain so far and state, white on colours that stand out on light and dark pages alike. */
export function badgeSvg(campaign: Campaign, progress: Progress): string {
  const { name, status } = campaign
  const said = `${gainText(progress)} · ${status}`
  const [left, right] = [widthOf(name), widthOf(said)]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${px(left + right)}" height="${HEIGHT}" role="img">`,
    `<title>${svgText(name)}: ${svgText(said)}</title>`,
    `<rect width="${px(left)}" height="${HEIGHT}" fill="#24292f"/>`,
    `<rect x="${px(left)}" width="${px(right)}" height="${HEIGHT}" fill="${COLOURS[status]}"/>`,
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
    label(name, 0),
    label(said, left),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

/** Whether a badge that is there already tells of this state. */
export function badgeTells(svg: string, status: Campaign['status']): boolean {
  return svg.includes(` · ${status}</title>`)
}

function widthOf(text: string): number {
  return Array.from(text).length * LETTER + 2 * PADDING
}

function label(text: string, x: number): string {
  const length = widthOf(text) - 2 * PADDING
  return `<text x="${px(x + PADDING)}" y="14" textLength="${px(length)}" lengthAdjust="spacingAndGlyphs">${svgText(text)}</text>`
}
