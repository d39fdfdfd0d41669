import {
  buildPriorResult,
  DataFile,
  dropEmpty,
  type ImportedFile,
  isRecord,
  selectNumbers,
  readJsonLines,
  type Section,
  type ImportSource,
  toText,
} from './imported.ts'
import { toKebabName } from '../../spec/schema.ts'

// task.yaml

export function importTask(source: ImportSource): ImportedFile {
  const task = new DataFile(source).getTop()
  const artifacts = task.section('artifacts')
  const mutation = task.section('mutation')
  const runner = task.section('runner')
  const objective = task.section('objective')
  const policy = task.section('policy')
  const budget = task.section('budget')
  const direction = objective.require('direction')
  if (direction !== 'maximize' && direction !== 'minimize')
    objective.fail('direction', 'is neither maximize nor minimize')
  const mutable = artifacts.texts('include')
  if (mutable.length === 0) artifacts.fail('include', 'lists no file')
  mutation.choose('mode', ['direct_edit'])
  const spec = dropEmpty({
    description: task.text('description'),
    metric: {
      primary: { name: objective.require('primary_metric'), direction },
      constraints: task.sections('constraints').map(readConstraint),
    },
    measurement: {
      command: runner.require('command'),
      working_directory: runner.text('cwd'),
      timeout_seconds: runner.number('timeout_seconds'),
      score: readScorer(task.section('scorer')),
    },
    scope: { mutable, immutable: artifacts.texts('exclude') },
    limits: {
      max_files: artifacts.number('max_files_per_iteration'),
      max_changed_lines: mutation.number('max_changed_lines'),
      allowed_file_types: mutation.texts('allowed_file_types'),
    },
    policy: {
      keep_if: policy.choose('keep_if', ['better_primary']),
      tie_breakers: policy.sections('tie_breakers').map(readTieBreaker),
      on_failure: policy.choose('on_failure', ['discard']),
    },
    stopping: {
      max_iterations: budget.number('max_iterations'),
      max_failures: budget.number('max_failures'),
    },
  })
  const logging = task.section('logging')
  logging.leave(
    'winnow records results in its ledger; winnow export --format jsonl writes them to a file',
    'results_file',
  )
  logging.leave('winnow keeps every candidate as a commit on a branch', 'candidate_dir')
  const name = toKebabName(task.require('id'))
  return { what: 'artifact-loop task', name, spec, ideas: [], results: [], left: task.listLeft() }
}

function readConstraint(constraint: Section): Record<string, unknown> {
  return {
    metric: constraint.require('metric'),
    op: constraint.require('op'),
    value: constraint.get('value'),
  }
}

function readTieBreaker(breaker: Section): Record<string, unknown> {
  return dropEmpty({ lower: breaker.text('lower'), higher: breaker.text('higher') })
}

/** Without a command of its own, the runner's output is the score. */
function readScorer(scorer: Section): Record<string, unknown> | undefined {
  scorer.choose('type', ['command'])
  const parse = scorer.section('parse')
  const command = scorer.text('command')
  if (command === undefined) return undefined
  return {
    command,
    timeout_seconds: scorer.number('timeout_seconds'),
    parse: {
      format: parse.choose('format', ['json']),
      score_field: parse.text('score_field'),
      metrics_field: parse.text('metrics_field'),
    },
  }
}

// results.jsonl

/** The lines that `logging.results_file` holds, and those that `winnow export --format jsonl` prints. */
export function importResultLines(source: ImportSource): ImportedFile {
  const { rows, left } = readJsonLines(source)
  const results = rows.map(({ value: row }) => {
    const first = (...keys: string[]) => keys.map(key => toText(row[key])).find(text => text !== undefined)
    const diff = describeDiff(row['diff_summary'] ?? row['diff'])
    const score = row['score'] ?? row['primary_score']
    return buildPriorResult({
      from: `artifact-loop, ${source.file}`,
      idea: first('hypothesis', 'description', 'rationale', 'idea') ?? diff,
      result: first('decision', 'outcome', 'status'),
      category: first('category'),
      metrics: selectNumbers({ score, ...(isRecord(row['metrics']) ? flattenMetrics(row['metrics']) : {}) }),
      diff,
      learned: first('learnings', 'learned', 'reason', 'error'),
      commit: first('commit'),
    })
  })
  return { what: 'artifact-loop results', name: null, spec: {}, ideas: [], results, left }
}

/** winnow prints both sides of a metric; the candidate's value is the result. */
function flattenMetrics(metrics: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(metrics).map(([name, value]) => [name, isRecord(value) ? value['candidate'] : value]),
  )
}

/** A text, or a list of files with the lines that were added and removed. */
function describeDiff(diff: unknown): string | undefined {
  const files = isRecord(diff) ? (diff['paths'] ?? diff['files']) : diff
  if (!Array.isArray(files)) return toText(files)
  const each = files.flatMap(file => {
    if (!isRecord(file)) return toText(file) ?? []
    const path = toText(file['file'] ?? file['path'])
    const [added, removed] = [toText(file['added']), toText(file['removed'] ?? file['deleted'])]
    return path === undefined ? [] : [`${path} +${added ?? '?'} -${removed ?? '?'}`]
  })
  return toText(each.join(', '))
}
