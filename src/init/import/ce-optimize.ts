import { toIdea } from '../../ideas/idea-block.ts'
import type { PriorResult } from '../../ideas/prior-results.ts'
import type { IdeaText } from '../../plan/world.ts'
import {
  buildPriorResult,
  DataFile,
  type ImportedFile,
  isRecord,
  type Leftover,
  selectNumbers,
  type Section,
  type ImportSource,
  toText,
} from './imported.ts'
import { toKebabName } from '../../spec/schema.ts'

/** winnow reads ce-optimize specs by the rules of ce, so the text stays as it is. */
export function importCeSpec(source: ImportSource): ImportedFile {
  const name = toText(new DataFile(source).getTop().get('name'))
  return {
    what: 'ce-optimize spec',
    name: name === undefined ? null : toKebabName(name),
    spec: {},
    specText: source.text,
    ideas: [],
    results: [],
    left: [],
  }
}

// experiment-log.yaml

/** Experiments without a verdict that another tool can still carry out. */
const UNDECIDED = new Set(['measured', 'promising', 'deferred_needs_approval'])

export function importCeLog(source: ImportSource): ImportedFile {
  const log = new DataFile(source).getTop()
  const name = log.text('spec')
  const from = `ce-optimize, ${source.file}`
  const ideas = log.sections('hypothesis_backlog').map(importBacklogIdea)
  const results: PriorResult[] = []
  for (const experiment of log.sections('experiments')) {
    const outcome = experiment.text('outcome') ?? 'no outcome'
    const idea = toText(experiment.get('hypothesis')) ?? 'no description'
    const category = toText(experiment.get('category'))
    if (outcome !== 'deferred_needs_approval')
      results.push(importExperiment(experiment, { from, idea, outcome, category }))
    else experiment.text('deferred_reason')
    if (UNDECIDED.has(outcome)) ideas.push(toIdea({ hypothesis: idea, category }, ''))
    for (const key of EXPERIMENT_DETAILS) experiment.get(key)
  }
  const left = describeLog(log)
  return { what: 'ce-optimize log', name: name ? toKebabName(name) : null, spec: {}, ideas, results, left }
}

/** They repeat what the history says in a sentence, or number the runs of ce. */
const EXPERIMENT_DETAILS = [
  'iteration',
  'batch',
  'gates',
  'gates_passed',
  'diagnostics',
  'objective_results',
  'sample_count',
  'next_measurement',
  'merged_with',
  'comparisons',
  'opportunity',
  'regressions',
  'cost',
]

function importBacklogIdea(idea: Section): IdeaText {
  const priority = idea.choose('priority', ['high', 'medium', 'low']) as IdeaText['priority'] | undefined
  const required_deps = idea.texts('required_deps')
  if (required_deps.length > 0 && idea.get('dep_status') === 'approved')
    idea.leave('winnow asks a person again; or list the package under dependencies.approved', 'dep_status')
  idea.get('dep_status')
  idea.get('opportunity')
  return toIdea(
    { hypothesis: idea.text('description'), category: idea.text('category'), priority, required_deps },
    'no description',
  )
}

function importExperiment(
  experiment: Section,
  {
    from,
    idea,
    outcome,
    category,
  }: { from: string; idea: string; outcome: string; category?: string | undefined },
): PriorResult {
  const changes = experiment.get('changes')
  const files = Array.isArray(changes) ? changes.filter(isRecord) : []
  const metrics = { ...readAggregates(experiment.get('metrics')), ...readAggregates(experiment.get('judge')) }
  return buildPriorResult({
    from,
    idea,
    result: outcome,
    category,
    metrics: selectNumbers(metrics),
    change: toText(experiment.get('primary_delta')),
    diff: toText(
      files.map(({ file, summary }) => [toText(file), toText(summary)].filter(Boolean).join(' ')).join(', '),
    ),
    learned: toText(experiment.get('learnings')) ?? toText(experiment.get('error_message')),
    commit: toText(experiment.get('commit')),
  })
}

/** A metric is a number, or an aggregate with its samples. */
function readAggregates(metrics: unknown): Record<string, unknown> {
  if (!isRecord(metrics)) return {}
  return Object.fromEntries(
    Object.entries(metrics).map(([name, value]) => [name, isRecord(value) ? value['aggregate'] : value]),
  )
}

function describeLog(log: Section): Leftover[] {
  log.leave('winnow measures the baseline itself, on its own machine', 'baseline')
  log.leave('winnow counts a version as the best only after it has measured it', 'best')
  for (const key of ['run_id', 'started_at', 'approval', 'run_state', 'harness_validation']) log.get(key)
  return log.listLeft()
}
