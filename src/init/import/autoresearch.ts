import type { PriorResult } from '../../ideas/prior-results.ts'
import {
  buildPriorResult,
  dropEmpty,
  type ImportedFile,
  type Leftover,
  selectNumbers,
  readJsonLines,
  type ImportSource,
  toText,
} from './imported.ts'
import { toKebabName } from '../../spec/schema.ts'
import { buildTrainingCommand } from './prose.ts'

// results.tsv

/** Columns of autoresearch and its descendants that are no metric. */
const OTHER_COLUMNS = new Set([
  'iteration',
  'timestamp',
  'commit',
  'delta',
  'guard',
  'guard-metric',
  'guard_metric',
  'status',
  'hypothesis',
  'description',
  'axis',
  'category',
])

/** The repository of autoresearch is fixed: only train.py changes. */
const TRAINING_SPEC = {
  description: 'Lower the validation loss of train.py within its training budget.',
  metric: {
    primary: { name: 'val_bpb', direction: 'minimize' },
    // results.tsv holds 0 for a crash, so 0 is no result.
    degenerate_gates: [{ name: 'val_bpb', check: '> 0', description: 'a crashed training has no loss' }],
  },
  measurement: {
    command: buildTrainingCommand('uv run train.py'),
    output: 'metric-lines',
    timeout_seconds: 600,
  },
  scope: { mutable: ['train.py'], immutable: ['prepare.py'] },
}

export function importResultsTable(source: ImportSource): ImportedFile {
  const lines = source.text.split('\n').map(line => line.replace(/\r$/, ''))
  const start = lines.findIndex(line => line.includes('\t') && !line.startsWith('#'))
  const columns = (lines[start] ?? '').split('\t').map(name => name.trim())
  const metrics = columns.filter(name => !OTHER_COLUMNS.has(name.toLowerCase()) && name !== '')
  const [primary] = metrics
  const comment = lines.find(line => /^#\s*metric_direction:/.test(line)) ?? ''
  const direction = /higher/.test(comment) ? 'maximize' : 'minimize'
  const results: PriorResult[] = []
  const left: Leftover[] = []
  for (const [index, line] of lines.entries()) {
    if (index <= start || line.trim() === '' || line.startsWith('#')) continue
    const cells = line.split('\t')
    if (cells.length === columns.length) results.push(importRow(toRow(columns, cells), metrics, source.file))
    else
      left.push({
        line: index + 1,
        text: `this row has ${cells.length} of ${columns.length} columns and was not read`,
      })
  }
  const named = { metric: { primary: { name: primary, direction: comment === '' ? undefined : direction } } }
  const table = { what: 'autoresearch results', ideas: [], results, left }
  if (primary !== 'val_bpb') return { ...table, name: null, spec: dropEmpty(named) }
  const budget = { line: start + 1, text: 'val_bpb: winnow counts no training budget; prepare.py keeps it' }
  return {
    ...table,
    name: 'autoresearch',
    spec: TRAINING_SPEC,
    left: [...left, budget],
    spare: { spec: {}, left },
  }
}

function toRow(columns: readonly string[], cells: readonly string[]): Record<string, string> {
  return Object.fromEntries(columns.map((name, at) => [name.toLowerCase(), cells[at]?.trim() ?? '']))
}

function importRow(row: Record<string, string>, metrics: readonly string[], file: string): PriorResult {
  const result = row['status'] || 'no status'
  const isCrash = /crash|error/i.test(result)
  const values = metrics.map((name): [string, unknown] => [name, toNumber(row[name.toLowerCase()])])
  return buildPriorResult({
    from: `autoresearch, ${file}`,
    idea: toText(row['hypothesis']) ?? toText(row['description']),
    result,
    category: toText(row['category']) ?? toText(row['axis']),
    // A crash is stored as 0, which is no value.
    metrics: isCrash ? undefined : selectNumbers(Object.fromEntries(values)),
    change: toText(row['delta']),
    commit: toText(row['commit']),
  })
}

function toNumber(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : Number(text)
}

// METRIC lines

const METRIC_LINE = /^METRIC\s+([\w.µ]+)=(\S+)\s*$/
const METRIC_IN_SCRIPT = /METRIC\s+([\w.µ]+)=/g

/** The output of a harness, or a script that prints METRIC lines. */
export function importMetricLines(source: ImportSource): ImportedFile {
  if (source.text.startsWith('#!')) return importScript(source)
  const found = source.text.split('\n').flatMap((line): [string, number][] => {
    const [, name, value] = METRIC_LINE.exec(line) ?? []
    return name === undefined ? [] : [[name, Number(value)]]
  })
  const result = buildPriorResult({
    from: `autoresearch, ${source.file}`,
    idea: 'a version without a description',
    result: 'measured',
    metrics: selectNumbers(Object.fromEntries(found)),
  })
  return {
    what: 'METRIC lines',
    name: null,
    spec: { metric: { primary: { name: found[0]?.[0] } }, measurement: { output: 'metric-lines' } },
    ideas: [],
    results: [result],
    left: [],
  }
}

function importScript({ file, text }: ImportSource): ImportedFile {
  const names = [...text.matchAll(METRIC_IN_SCRIPT)].map(match => match[1])
  const interpreter = /^#!\S*?(?:env\s+)?(\w+)\s*$/m.exec(text.split('\n', 1)[0] ?? '')?.[1] ?? 'sh'
  const folder = file.includes('/') ? `${file.split('/')[0]}/` : file
  return {
    what: 'script with METRIC lines',
    name: null,
    spec: {
      metric: { primary: { name: names[0] } },
      measurement: { command: `${interpreter} ${file}`, output: 'metric-lines' },
      scope: { mutable: ['**'], immutable: [folder] },
    },
    spare: { spec: { scope: { immutable: [folder] } }, left: [] },
    ideas: [],
    results: [],
    left: [
      {
        line: 1,
        text: `scope.mutable: the script does not say which files may change, so all but ${folder} may; list the files to improve`,
      },
    ],
  }
}

// log.jsonl of pi-autoresearch

export function importSessionLog(source: ImportSource): ImportedFile {
  const { rows, left } = readJsonLines(source)
  const config = rows.find(({ value }) => value['type'] === 'config')?.value ?? {}
  const metricName = toText(config['metricName'])
  const results = rows.flatMap(({ value: row, line }): PriorResult[] => {
    if (row['type'] === 'config') return []
    if (row['type'] === 'hook') {
      left.push({ line, text: 'the output of a hook was not imported' })
      return []
    }
    const metrics = {
      ...selectNumbers({ [metricName ?? 'metric']: row['metric'] }),
      ...selectNumbers(row['metrics']),
    }
    const result = toText(row['status'])
    return [
      buildPriorResult({
        from: `autoresearch, ${source.file}`,
        idea: toText(row['description']),
        result,
        metrics: result === 'crash' ? undefined : selectNumbers(metrics),
        commit: toText(row['commit']),
      }),
    ]
  })
  const direction = config['bestDirection'] === 'higher' ? 'maximize' : 'minimize'
  const spec = dropEmpty({ metric: { primary: { name: metricName, direction } } })
  const name = toText(config['name'])
  return { what: 'autoresearch log', name: name ? toKebabName(name) : null, spec, ideas: [], results, left }
}
