import countColumns from 'string-width'
import { type CampaignProgress, formatGain } from '../decide/progress.ts'
import { formatNumber } from '../decide/wording.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import { aggregateSnapshot, aggregateValues, getNumber, type Report } from '../model/report.ts'
import { getCampaignSpec } from '../spec/load.ts'
import { countRounds, formatRounds } from './rounds.ts'

// Tables

/** Pads every column to its widest cell, except the last column. */
export function formatTable(rows: readonly (readonly string[])[], gap = 2): string[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, measureCell(cell))
  return rows.map(row =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        // A column without any text takes no room.
        const isLast = column === row.length - 1 || width === 0
        return isLast ? cell : cell + ' '.repeat(width + gap - measureCell(cell))
      })
      .join('')
      .trimEnd(),
  )
}

const NARROW_TEXT = /^[ -~\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027\u2190-\u21ff\u2580-\u259f]*$/

/** `countColumns` is slow for text that is not ASCII, and a table may have thousands of cells. */
function measureCell(cell: string): number {
  return NARROW_TEXT.test(cell) ? cell.length : countColumns(cell)
}

const MAX_LINES = 40

export function limitLines(lines: readonly string[], most = MAX_LINES): string[] {
  const more = lines.length - most
  return more <= 0 ? [...lines] : [...lines.slice(0, most), `and ${more} more`]
}

// Width

const GRAPHEMES = new Intl.Segmenter()

/** Cuts the line and appends a sign that it was cut. */
export function truncateToWidth(line: string, columns: number): string {
  if (countColumns(line) <= columns) return line
  let kept = ''
  for (const { segment } of GRAPHEMES.segment(line)) {
    if (countColumns(kept + segment) >= columns) break
    kept += segment
  }
  return columns < 1 ? '' : `${kept.trimEnd()}…`
}

const CONTINUATION_INDENT = 4
/** A drawn bar counts as one word, including its spaces. It may end in the truncation sign. */
const WORD = /( *)(▕[^▕]*▏|\S+)/gu

/**
 * Wraps a table row or a sentence between words and indents the continuation. Moves a cell to its own line if
 * that makes it fit. Never splits a word, so that it can be copied.
 */
export function wrapLine(line: string, columns: number): string[] {
  if (countColumns(line) <= columns) return [line]
  const indent = /^ */.exec(line)?.[0].length ?? 0
  const inner = ' '.repeat(Math.min(indent + CONTINUATION_INDENT, Math.floor(columns / 2)))
  const lines: string[] = []
  let current = ' '.repeat(Math.min(indent, Math.floor(columns / 2)))
  let empty = true
  for (const { gap, words } of splitCells(line.slice(indent))) {
    const whole = words.join(' ')
    const isPastMiddle = gap > 1 && countColumns(current) > columns / 2
    const ownLine = isPastMiddle && !fits(current, gap, whole) && fits(inner, 0, whole)
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
  gap: number
  words: string[]
}

/** Two or more spaces separate columns. */
function splitCells(text: string): WrapCell[] {
  const cells: WrapCell[] = []
  for (const [, spaces = '', word = ''] of text.matchAll(WORD)) {
    const last = cells.at(-1)
    if (last === undefined || spaces.length > 1) cells.push({ gap: spaces.length, words: [word] })
    else last.words.push(word)
  }
  return cells
}

// Live line

interface LiveState {
  orders: readonly LiveOrder[]
  /** True if another process measures for this campaign. */
  elsewhere: boolean
  /** Proposers with an open request. */
  asked: readonly string[]
  /** Since the oldest of this work began. */
  seconds: number
}

/** The status line of a run: current work, elapsed and expected time, best result so far. */
export function renderLiveLine(campaign: Campaign, progress: CampaignProgress, now: LiveState): string {
  const expected = now.orders.flatMap(({ order }) => estimateOrderSeconds(campaign, order) ?? [])
  const whole = expected.length === 0 ? '' : ` of ~${formatClock(Math.max(...expected))}`
  const busy = now.orders.length > 0 || now.asked.length > 0
  const time = busy ? ` ${formatClock(now.seconds)}${whole}` : ''
  const rounds = campaign.spec_yaml === '' ? null : countRounds(campaign, getCampaignSpec(campaign))
  const where = rounds === null ? '' : `${formatRounds(rounds)}: `
  return `${where}${describeActivity(now)}${time}, ${describeBest(progress)}`
}

function describeActivity({ orders, asked, elsewhere }: LiveState): string {
  const named = [...new Set(orders.map(({ order }) => describeOrder(order)))]
  if (named.length > 0) return joinNames(named)
  if (asked.length > 0) return `asking ${joinNames([...new Set(asked)])}`
  return elsewhere ? 'waiting for another run' : 'looking'
}

const MAX_NAMES = 2

function joinNames(names: readonly string[]): string {
  const more = names.length - MAX_NAMES
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` +${more}` : ''}`
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
      return 'effect of kept changes'
    case 'progression':
      return 'progress in all'
    case 'probe':
      return 'attacking the harness'
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

type TimedCampaign = Pick<Campaign, 'calibration' | 'orders' | 'origin'>

/** Estimates from earlier measurements on this machine; null without any. */
export function estimateOrderSeconds(campaign: TimedCampaign, { stop, candidates }: Order): number | null {
  const sides = 1 + candidates.length
  const noise = campaign.calibration?.noise ?? null
  if (noise !== null && 'pairs' in stop) {
    return noise.overhead_seconds + sides * (stop.pairs + 1) * noise.execution_seconds
  }
  const alike = Object.values(campaign.orders).flatMap(({ order, report }) =>
    report === null || order.stop.rule !== stop.rule ? [] : [computeReportSeconds(report.report)],
  )
  if (alike.length > 0) return aggregateValues(alike, 'mean')
  const each = getNumber(aggregateSnapshot(campaign.origin?.snapshot ?? null), 'wall_seconds')
  return each === null ? null : sides * each
}

function computeReportSeconds({ started_at, finished_at }: Report): number {
  return Math.max(0, Date.parse(finished_at) - Date.parse(started_at)) / 1_000
}

// Durations

/** 0:07, 12:00, 1:02:03. */
export function formatClock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const rest = String(whole % 60).padStart(2, '0')
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`
}

/** "42 s", "3 min", "3 h 10 min": coarse, for planning. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return 'less than 1 s'
  if (seconds < 90) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`
}

export function formatMeasuringTime(minutes: number): string {
  if (minutes > 0 && minutes < 1) return 'less than a minute'
  return minutes === 0 ? '0 min' : formatClock(60 * minutes)
}
