import { type CampaignProgress, formatGain } from '../decide/progress.ts'
import { formatNumber } from '../decide/wording.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import { aggregateSnapshot, getNumber, type Report } from '../model/report.ts'

/** Columns of text, each as wide as its widest cell; the last one is not padded. */
export function formatTable(rows: readonly (readonly string[])[], gap = 2): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  }
  return rows.map(row =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd((widths[column] ?? 0) + gap)))
      .join('')
      .trimEnd(),
  )
}

const MOST = 40

/** So many lines at most, and how many more there are. */
export function limitLines(lines: readonly string[]): string[] {
  const more = lines.length - MOST
  return more <= 0 ? [...lines] : [...lines.slice(0, MOST), `and ${more} more`]
}

/** Characters that take no column, or two; what is not known here takes one. */
const NONE = /[\p{Mn}\p{Me}\p{Cf}]/u
const TWO =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u

/** How many columns of a terminal a line takes. */
export function countColumns(line: string): number {
  let width = 0
  for (const character of line) width += countCharacterColumns(character)
  return width
}

/** The line, or as much of its beginning as fits, and a sign that there was more. */
export function truncateToWidth(line: string, columns: number): string {
  if (countColumns(line) <= columns) return line
  let room = columns - 1
  let kept = ''
  for (const character of line) {
    room -= countCharacterColumns(character)
    if (room < 0) break
    kept += character
  }
  return columns < 1 ? '' : `${kept.trimEnd()}…`
}

function countCharacterColumns(character: string): number {
  if (NONE.test(character)) return 0
  return TWO.test(character) ? 2 : 1
}

const HANG = 4
/** A drawn bar is one word, spaces and all; it may end in the sign that also closes it. */
const WORD = /( *)(▕[^▕]*▏|\S+)/gu

/**
 * A line of a table or a sentence as lines that fit: broken between words, what is continued stands further in. A
 * cell that fits whole on a line of its own gets one. A word that fits nowhere stays whole, to be copied.
 */
export function wrapLine(line: string, columns: number): string[] {
  if (countColumns(line) <= columns) return [line]
  const indent = /^ */.exec(line)?.[0].length ?? 0
  const inner = ' '.repeat(Math.min(indent + HANG, Math.floor(columns / 2)))
  const lines: string[] = []
  let current = ' '.repeat(Math.min(indent, Math.floor(columns / 2)))
  let empty = true
  for (const { gap, words } of splitCells(line.slice(indent))) {
    const whole = words.join(' ')
    const late = gap > 1 && countColumns(current) > columns / 2
    const ownLine = late && !fits(current, gap, whole) && fits(inner, 0, whole)
    for (const [at, word] of words.entries()) {
      const before = at === 0 ? Math.min(gap, 2) : 1
      const next = (ownLine && at === 0) || (!empty && !fits(current, before, word))
      if (next) lines.push(current)
      current = next ? `${inner}${word}` : `${current}${empty ? '' : ' '.repeat(before)}${word}`
      empty = false
    }
  }
  return [...lines, current]

  function fits(text: string, gap: number, more: string): boolean {
    return countColumns(text) + Math.min(gap, 2) + countColumns(more) <= columns
  }
}

interface WrapCell {
  /** Spaces before it. */
  gap: number
  words: string[]
}

/** Columns of a table are further apart than words. */
function splitCells(text: string): WrapCell[] {
  const cells: WrapCell[] = []
  for (const [, spaces = '', word = ''] of text.matchAll(WORD)) {
    const last = cells.at(-1)
    if (last === undefined || spaces.length > 1) cells.push({ gap: spaces.length, words: [word] })
    else last.words.push(word)
  }
  return cells
}

/** What this machine is busy with now. */
interface LiveState {
  orders: readonly LiveOrder[]
  /** Whether another process measures for this campaign. */
  elsewhere: boolean
  /** Proposers that are being asked. */
  asked: readonly string[]
  /** Since the first of them began. */
  seconds: number
}

/** The line of a run: what is running, how long, how long it usually takes, and the best so far. */
export function renderLiveLine(campaign: Campaign, progress: CampaignProgress, now: LiveState): string {
  const expected = findLongest(now.orders.map(({ order }) => estimateOrderSeconds(campaign, order)))
  const busy = now.orders.length > 0 || now.asked.length > 0
  const time = busy
    ? ` ${formatClock(now.seconds)}${expected === null ? '' : ` of ~${formatClock(expected)}`}`
    : ''
  return `${describeActivity(now)}${time}, ${describeBest(progress)}`
}

function describeActivity({ orders, asked, elsewhere }: LiveState): string {
  const named = [...new Set(orders.map(({ order }) => describeOrder(order)))]
  if (named.length > 0) return joinNames(named)
  if (asked.length > 0) return `asking ${joinNames([...new Set(asked)])}`
  return elsewhere ? 'waiting for another run' : 'looking'
}

const NAMED = 2

function joinNames(names: readonly string[]): string {
  const more = names.length - NAMED
  return `${names.slice(0, NAMED).join(', ')}${more > 0 ? ` +${more}` : ''}`
}

function describeOrder({ purpose, candidates }: Order): string {
  const ids = joinNames(candidates.map(({ label }) => label))
  switch (purpose) {
    case 'calibration':
      return 'calibrating'
    case 'experiment':
    case 'combination':
      return ids
    case 'holdout':
      return `${ids} on the holdout`
    case 'pick':
      return `${ids} alone`
    case 'effect':
    case 'regression':
      return 'effect of what was kept'
    case 'progression':
      return 'progress in all'
    case 'sync':
    case 'foreign':
    case 'revert':
    case 'baseline':
      return purpose
    default:
      return purpose satisfies never
  }
}

function describeBest(progress: CampaignProgress): string {
  if (progress.is === 'nothing kept') return progress.value === null ? 'nothing measured yet' : 'no gain yet'
  const last = progress.is === 'numbers' ? progress.stretches.at(-1) : undefined
  const value = last === undefined ? '' : ` (${progress.metric} ${formatNumber(last.to)})`
  return `best ${formatGain(progress)}${value}`
}

function findLongest(seconds: readonly (number | null)[]): number | null {
  const known = seconds.filter(each => each !== null)
  return known.length === 0 ? null : Math.max(...known)
}

/** 0:07, 12:00, 1:02:03. */
export function formatClock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const rest = String(whole % 60).padStart(2, '0')
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`
}

type TimedCampaign = Pick<Campaign, 'calibration' | 'orders' | 'origin'>

/** How long an order is expected to take on this machine, from what was measured before; null: nobody can know. */
export function estimateOrderSeconds(campaign: TimedCampaign, { stop, candidates }: Order): number | null {
  const sides = 1 + candidates.length
  const noise = campaign.calibration?.noise ?? null
  if (noise !== null && 'pairs' in stop) {
    return noise.overhead_seconds + sides * (stop.pairs + 1) * noise.execution_seconds
  }
  const alike = Object.values(campaign.orders).flatMap(({ order, report }) =>
    report === null || order.stop.rule !== stop.rule ? [] : [computeReportSeconds(report.report)],
  )
  if (alike.length > 0) return computeMean(alike)
  const each = getNumber(aggregateSnapshot(campaign.origin?.snapshot ?? null), 'wall_seconds')
  return each === null ? null : sides * each
}

function computeReportSeconds({ started_at, finished_at }: Report): number {
  return Math.max(0, Date.parse(finished_at) - Date.parse(started_at)) / 1_000
}

function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** "42 s", "3 min", "3 h 10 min": as exact as a person plans with. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return 'less than 1 s'
  if (seconds < 90) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`
}

/** How long measuring took, the same in every view. */
export function formatMeasuringTime(minutes: number): string {
  if (minutes > 0 && minutes < 1) return 'less than a minute'
  return minutes === 0 ? '0 min' : formatClock(60 * minutes)
}
