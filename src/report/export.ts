import { stringify } from 'yaml'
import { listObjectives } from '../decide/metrics.ts'
import { roundNumbers } from '../decide/wording.ts'
import { type Campaign, getIncumbentMetrics } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { aggregateSnapshot, toFinite } from '../model/report.ts'
import { isLanded } from '../model/verdict.ts'
import type { Spec } from '../spec/schema.ts'
import type { ArtifactHistory } from './artifacts.ts'
import { renderCampaignCharts } from './campaign-charts.ts'
import { buildCeLog } from './ce-log.ts'
import type { ExportedExperiment, Results } from './results.ts'

export const EXPORT_FORMATS = ['ce-optimize', 'jsonl', 'csv', 'github-action-benchmark', 'svg'] as const
type ExportFormat = (typeof EXPORT_FORMATS)[number]

interface CampaignExport {
  campaign: Campaign
  spec: Spec
  experiments: readonly ExportedExperiment[]
  /** Only the charts show them. */
  histories: readonly ArtifactHistory[]
}

/** The text of the file, and what its reader has to know. */
export function exportCampaign(
  format: ExportFormat,
  input: CampaignExport,
): { text: string; notes: string[] } {
  switch (format) {
    case 'ce-optimize':
      return {
        text: stringify(roundNumbers(buildCeLog(input)), { lineWidth: 100, aliasDuplicateObjects: false }),
        notes: [],
      }
    case 'jsonl':
      return {
        text: input.experiments.map(each => `${JSON.stringify(buildLine(each, input.spec))}\n`).join(''),
        notes: [],
      }
    case 'csv':
      return { text: renderCsv(input), notes: [] }
    case 'github-action-benchmark':
      return exportBenchmark(input)
    case 'svg':
      return { text: renderCampaignCharts(input.campaign, input.spec, input.histories), notes: [] }
    default:
      return format satisfies never
  }
}

// JSON lines

/** One experiment: the decision of the artifact loop, the verdict of winnow, and the numbers behind it. */
function buildLine({ experiment, results }: ExportedExperiment, spec: Spec): Record<string, unknown> {
  const { verdict, outcome, hypothesis, category, reason, learnings, failure_class, decided_at } = results
  const metrics = Object.entries(results.metrics).map(([name, { base, candidate }]) => [
    name,
    { base, candidate },
  ])
  const [primary] = listObjectives(spec.metric)
  return {
    experiment: experiment.id,
    iteration: experiment.number,
    hypothesis,
    category,
    proposed_by: results.proposed_by,
    decision: toDecision(experiment),
    verdict,
    outcome,
    reason,
    score: results.metrics[primary.name]?.candidate ?? null,
    metrics: Object.fromEntries(metrics),
    effect: results.effect,
    gates: results.gates,
    diff_summary: results.diff,
    failure_class,
    learnings,
    commit: results.candidate?.commit ?? null,
    decided_at,
    cost: results.cost,
  }
}

function toDecision({ outcome }: Experiment): 'keep' | 'discard' | 'crash' | null {
  if (outcome === null) return null
  if (isLanded(outcome)) return 'keep'
  return outcome === 'error' || outcome === 'timeout' ? 'crash' : 'discard'
}

// CSV

type Cell = string | number | boolean | null
type Column = [name: string, read: (results: Results) => Cell]

const LEADING_COLUMNS: readonly Column[] = [
  ['experiment', ({ experiment }) => experiment],
  ['verdict', ({ verdict }) => verdict],
  ['outcome', ({ outcome }) => outcome],
  ['hypothesis', ({ hypothesis }) => hypothesis],
  ['category', ({ category }) => category],
  ['reason', ({ reason }) => reason],
  ['effect', ({ effect }) => effect?.value ?? null],
  ['pairs', ({ effect }) => effect?.pairs ?? null],
]

const TRAILING_COLUMNS: readonly Column[] = [
  ['files', ({ diff }) => diff?.files ?? null],
  ['lines_added', ({ diff }) => diff?.added ?? null],
  ['lines_deleted', ({ diff }) => diff?.deleted ?? null],
  ['minutes', ({ cost }) => cost.minutes],
  ['judge_usd', ({ cost }) => cost.judge_usd],
  ['model_usd', ({ cost }) => cost.model_usd],
  ['commit', ({ candidate }) => candidate?.commit ?? null],
  ['decided_at', ({ decided_at }) => decided_at],
]

/** One row an experiment; two columns a metric. */
function renderCsv({ experiments }: CampaignExport): string {
  const names = [...new Set(experiments.flatMap(({ results }) => Object.keys(results.metrics)))]
  const metrics = names.flatMap((name): Column[] => [
    [`${name} base`, ({ metrics: values }) => values[name]?.base ?? null],
    [`${name} candidate`, ({ metrics: values }) => values[name]?.candidate ?? null],
  ])
  const columns = [...LEADING_COLUMNS, ...metrics, ...TRAILING_COLUMNS]
  const rows = experiments.map(({ results }) => columns.map(([, read]) => read(results)))
  return [columns.map(([name]) => name), ...rows].map(row => `${row.map(formatCell).join(',')}\r\n`).join('')
}

/** Spreadsheets run a text that begins like a formula, and ideas are untrusted text. */
function formatCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// github-action-benchmark

const UNITS: readonly [suffix: RegExp, unit: string][] = [
  [/(?:^|_)seconds$|_s$/, 's'],
  [/(?:^|_)(?:milliseconds|ms)$/, 'ms'],
  [/(?:^|_)(?:microseconds|us)$/, 'us'],
  [/(?:^|_)(?:nanoseconds|ns|ns_per_op)$/, 'ns'],
  [/(?:^|_)mb$/, 'MB'],
  [/(?:^|_)kb$/, 'kB'],
  [/(?:^|_)bytes$/, 'bytes'],
  [/(?:^|_)(?:percent|pct)$/, '%'],
]

/** One file holds metrics of one direction, so objectives of the other one are left out by name. */
function exportBenchmark({ campaign, spec }: CampaignExport): { text: string; notes: string[] } {
  const [primary, ...others] = listObjectives(spec.metric)
  const tool = primary.direction === 'minimize' ? 'customSmallerIsBetter' : 'customBiggerIsBetter'
  const now = roundNumbers(getIncumbentMetrics(campaign))
  const before = roundNumbers(aggregateSnapshot(campaign.origin?.snapshot ?? null))
  const fitting = [primary, ...others.filter(({ direction }) => direction === primary.direction)]
  const entries = fitting.flatMap(({ name }) => {
    const value = toFinite(now[name])
    if (value === null) return []
    const start = toFinite(before[name])
    const extra = [
      `campaign ${campaign.name}`,
      `commit ${campaign.incumbent.commit}`,
      ...(start === null ? [] : [`baseline ${start}`]),
    ]
    const unit = UNITS.find(([suffix]) => suffix.test(name))?.[1] ?? ''
    return [{ name, unit, value, extra: extra.join('\n') }]
  })
  const omitted = others.filter(({ direction }) => direction !== primary.direction).map(({ name }) => name)
  const notes = [
    `set tool: ${tool} in the step that uses github-action-benchmark`,
    ...(omitted.length === 0
      ? []
      : [`left out, because less and more are better in one file each: ${omitted.join(', ')}`]),
    ...(entries.length === 0 ? ['the incumbent has not been measured yet, so the list is empty'] : []),
  ]
  return { text: `${JSON.stringify(entries, null, 2)}\n`, notes }
}
