import { join } from 'node:path'
import type { Table } from '../decide/case.ts'
import { printed } from '../decide/report.ts'
import { CLAIMS, type Claim, COMMITS, type RealCommit } from './commits.ts'
import { digestWorkload, findResult, type Result, type ResultFile } from './results.ts'
import { findLanguage } from './sides.ts'

type TruthWord = 'faster' | 'slower' | 'no difference'

/** A result and the commit that it belongs to. */
export interface Row {
  entry: RealCommit
  result: Result
}

/** A gain below winnow's default smallest relevant effect is not missed. */
const SMALLEST_RELEVANT_GAIN = 0.02

/** The results of the listed commits, in the order of the list. Results of changed workloads do not count. */
export function listRows(file: ResultFile, workloads: string): Row[] {
  return COMMITS.flatMap(entry => {
    const result = findResult(file, entry, digestWorkload(join(workloads, entry.workload)))
    return result === undefined ? [] : [{ entry, result }]
  })
}

export function renderReport({ machine, any_load }: ResultFile, rows: readonly Row[]): string {
  const { processor, cores, core, memory_gib, system } = machine
  const dates = rows.map(({ result }) => result.date).toSorted()
  const when = dates[0] === dates.at(-1) ? dates[0] : `${dates[0]} to ${dates.at(-1)}`
  const lines = [
    printed(buildSummary(rows)),
    printed(buildCommitTable(rows)),
    `Measured ${when} on ${processor}, ${cores} cores, ${memory_gib} GiB, ${system}.`,
    ...(core === null
      ? []
      : ['The workloads had one core for themselves. winnow and other programs were running on the rest.']),
  ]
  if (any_load) lines.push('Measured while other programs were running: not a result.')
  return lines.join('\n\n')
}

/** The truth by the 95 % interval of the paired times. */
export function describeTruth({ gain: { low, high } }: Result): TruthWord {
  if (low > 0) return 'faster'
  return high < 0 ? 'slower' : 'no difference'
}

/** A verdict is wrong if it says better or worse, and the truth is something else. */
function isWrong({ result }: Row): boolean {
  const truth = describeTruth(result)
  const { verdict } = result.winnow
  return (verdict === 'better' && truth !== 'faster') || (verdict === 'worse' && truth !== 'slower')
}

function isMissed({ result }: Row): boolean {
  const relevant = describeTruth(result) === 'faster' && result.gain.estimate >= SMALLEST_RELEVANT_GAIN
  return relevant && result.winnow.verdict !== 'better'
}

const COLUMNS = ['better', 'no gain', 'not proven', 'worse'] as const

function buildSummary(rows: readonly Row[]): Table {
  const count = (own: readonly Row[], title: string) => [
    title,
    `${own.length}`,
    ...COLUMNS.map(verdict => `${own.filter(({ result }) => result.winnow.verdict === verdict).length}`),
    `${own.filter(isWrong).length}`,
    `${own.filter(isMissed).length}`,
  ]
  const byTruth = (word: TruthWord) =>
    count(
      rows.filter(({ result }) => describeTruth(result) === word),
      `truly ${word}`.replace('truly no', 'truly without'),
    )
  const byClaim = (claim: Claim) =>
    count(
      rows.filter(({ entry }) => entry.claim === claim),
      `claimed ${claim}`,
    )
  const libraries = new Set(rows.map(({ entry }) => entry.repository)).size
  const languages = new Set(rows.map(({ entry }) => findLanguage(entry.workload).name)).size
  return {
    title: `winnow compare on ${rows.length} public commits of ${libraries} libraries in ${languages} languages`,
    columns: ['', 'commits', ...COLUMNS, 'wrong', 'missed'],
    rows: [
      ...CLAIMS.map(byClaim),
      ...(['faster', 'no difference', 'slower'] as const).map(byTruth),
      count(rows, 'all'),
    ],
    notes: [
      'truth: the 95 % interval of the paired times of long interleaved runs',
      'wrong: better without a true gain, or worse without a true loss; missed: a true gain of 2 % or more',
    ],
  }
}

function buildCommitTable(rows: readonly Row[]): Table {
  return {
    title: 'each commit',
    columns: ['commit', 'claim', 'truth', '95 % interval', 'counted', 'winnow', 'its figure', 'executions'],
    rows: rows.map(({ entry, result }) => [
      `${entry.repository} ${entry.commit.slice(0, 8)}${result.same_answers ? '' : ' (other answers)'}`,
      entry.backwards === true ? `${entry.claim} (backwards)` : entry.claim,
      formatGain(result.gain.estimate),
      `${formatGain(result.gain.low)} to ${formatGain(result.gain.high)}`,
      result.counted === null ? '' : `${formatGain(result.counted.gain)} ${result.counted.by}`,
      result.winnow.verdict,
      result.winnow.gain === null ? '' : formatGain(result.winnow.gain),
      `${result.winnow.executions}`,
    ]),
    notes: ['positive is better: the share of the time, instructions or CPU time that the change saves'],
  }
}

function formatGain(share: number): string {
  const percent = (100 * share).toFixed(1)
  return `${share > 0 && percent !== '0.0' ? '+' : ''}${percent.replace('-0.0', '0.0')} %`
}
