import type { Campaign } from '../model/campaign.ts'
import type { CampaignProgress } from '../decide/progress.ts'
import { formatGain } from '../decide/progress-text.ts'
import { formatPixels, escapeSvg } from './svg-text.ts'

const BADGE_HEIGHT = 20
const PADDING = 7
/** Widths are not measured but forced: the same bytes look the same with any font. */
const LETTER = 6.4

const COLOURS = { none: '#57606a', running: '#1a7f37', paused: '#9a6700', stopped: '#0969da' } as const

/** Gain so far and state, white on colours that stand out on light and dark pages alike. */
export function renderBadge(campaign: Campaign, progress: CampaignProgress): string {
  const { name, status } = campaign
  const said = `${formatGain(progress)} · ${status}`
  const [left, right] = [computeBadgeWidth(name), computeBadgeWidth(said)]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${formatPixels(left + right)}" height="${BADGE_HEIGHT}" role="img">`,
    `<title>${escapeSvg(name)}: ${escapeSvg(said)}</title>`,
    `<rect width="${formatPixels(left)}" height="${BADGE_HEIGHT}" fill="#24292f"/>`,
    `<rect x="${formatPixels(left)}" width="${formatPixels(right)}" height="${BADGE_HEIGHT}" fill="${COLOURS[status]}"/>`,
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
    renderBadgeLabel(name, 0),
    renderBadgeLabel(said, left),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

/** Whether a badge that is there already tells of this state. */
export function isBadgeCurrent(svg: string, status: Campaign['status']): boolean {
  return svg.includes(` · ${status}</title>`)
}

function computeBadgeWidth(text: string): number {
  return Array.from(text).length * LETTER + 2 * PADDING
}

function renderBadgeLabel(text: string, x: number): string {
  const length = computeBadgeWidth(text) - 2 * PADDING
  return `<text x="${formatPixels(x + PADDING)}" y="14" textLength="${formatPixels(length)}" lengthAdjust="spacingAndGlyphs">${escapeSvg(text)}</text>`
}
