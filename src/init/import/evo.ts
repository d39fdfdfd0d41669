import { toIdea } from '../../ideas/idea-block.ts'
import type { PriorResult } from '../../ideas/prior-results.ts'
import type { IdeaText } from '../../plan/world.ts'
import {
  buildPriorResult,
  DataFile,
  dropEmpty,
  type ImportedFile,
  isRecord,
  type Leftover,
  parseJson,
  selectNumbers,
  readJsonLines,
  type Section,
  type ImportSource,
  toText,
} from './imported.ts'
import { toKebabName } from '../../spec/schema.ts'

function buildImport(what: string, found: Partial<ImportedFile> = {}): ImportedFile {
  return { what, name: null, spec: {}, ideas: [], results: [], left: [], ...found }
}

// config.json

/** What evo keeps about its own files and its own session. */
const OWN_STATE = [
  'repo_root',
  'workspace_dir',
  'worktrees_dir',
  'initialized_at',
  'current_eval_epoch',
  'comparison_blocked',
  'default_autonomous',
  'default_subagents_only',
  'default_orchestrator',
  'instrumentation_mode',
]

const FALLBACK_TIMEOUT = 1_800

export function importEvoConfig(source: ImportSource): ImportedFile {
  const config = new DataFile(source).getTop()
  const root = config.text('repo_root')
  const target = toRepositoryPath(config.require('target'), root)
  const metric = config.require('metric')
  if (metric !== 'max' && metric !== 'min') config.fail('metric', 'is neither max nor min')
  const runtime = config.section('runtime')
  const [before, prefix] = [runtime.text('before_run'), runtime.text('prefix')]
  const fill = (command: string) => replacePlaceholders(command, target)
  const benchmark = fill(config.require('benchmark'))
  const prefixed = prefix === undefined ? benchmark : `${prefix} ${benchmark}`
  const gate = config.text('gate')
  const spec = dropEmpty({
    metric: { primary: { name: 'score', direction: metric === 'max' ? 'maximize' : 'minimize' } },
    measurement: {
      setup: runtime.text('prepare'),
      command: before === undefined ? prefixed : `${before} && ${prefixed}`,
      timeout_seconds: config.number('per_exp_timeout') ?? FALLBACK_TIMEOUT,
    },
    gates: gate === undefined ? [] : [{ name: 'init-gate', command: fill(gate) }],
    scope: { mutable: [target] },
  })
  for (const key of OWN_STATE) config.get(key)
  leaveSearchKeys(config)
  const name = toKebabName(config.text('project_name') ?? target.replace(/^.*\/|\.\w+$/g, ''))
  return buildImport('evo config', { name, spec, left: config.listLeft() })
}

function leaveSearchKeys(config: Section): void {
  config.leave('every experiment of winnow starts from the best version', 'frontier_strategy')
  config.leave('winnow repeats a measurement until the evidence decides', 'max_attempts')
  config.leave('winnow commits the files that an idea changed, before it measures them', 'commit_strategy')
  config.leave(
    'winnow measures in work trees of its own',
    'execution_backend',
    'execution_backend_config',
    'diff_exclude_patterns',
  )
  config.leave('name the variables that the benchmark needs under measurement.env', 'runtime_env')
  config.leave('put what proposers should know under advice', 'task_skills')
}

/** evo runs commands in the main checkout and fills in the work tree; winnow runs them in the work tree. */
function replacePlaceholders(command: string, target: string): string {
  return command.replaceAll('{worktree}', '.').replaceAll('{target}', target)
}

function toRepositoryPath(path: string, root: string | undefined): string {
  return root !== undefined && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}

// graph.json, outcome.json, result.json

export function importEvoGraph(source: ImportSource): ImportedFile {
  const graph = readObject(source)
  const nodes = isRecord(graph['nodes']) ? Object.values(graph['nodes']).filter(isRecord) : []
  const isRoot = (node: Record<string, unknown>) => node['id'] === graph['root'] || node['status'] === 'root'
  const ideas: IdeaText[] = []
  const results: PriorResult[] = []
  const left: Leftover[] = []
  const gates: { name: string; command: string; phase: string }[] = []
  for (const node of nodes) {
    const own = readGates(node)
    if (isRoot(node)) gates.push(...own)
    else
      for (const { name } of own)
        left.push({
          line: findLine(source, `"${name}"`),
          text: `gate ${name} of ${toText(node['id']) ?? ''}: it holds below that node in evo; add it to gates if it should hold for every idea`,
        })
    if (isRoot(node)) continue
    if (node['status'] === 'pending')
      ideas.push(toIdea({ hypothesis: toText(node['hypothesis']) }, toText(node['id']) ?? ''))
    else results.push(importNode(node, source.file))
  }
  const notes = graph['workspace_notes']
  if (Array.isArray(notes) && notes.length > 0)
    left.push({
      line: findLine(source, '"workspace_notes"'),
      text: 'workspace_notes: winnow note records notes, once the campaign has started',
    })
  return buildImport('evo graph', { spec: dropEmpty({ gates }), ideas, results, left })
}

function readGates(node: Record<string, unknown>): { name: string; command: string; phase: string }[] {
  const gates = Array.isArray(node['gates']) ? node['gates'].filter(isRecord) : []
  return gates.flatMap(gate => {
    const [name, command] = [toText(gate['name']), toText(gate['command'])]
    const phase = gate['phase'] === 'pre' ? 'pre' : 'post'
    return name === undefined || command === undefined
      ? []
      : [{ name, command: replacePlaceholders(command, '.'), phase }]
  })
}

/** A node of the graph, the outcome of an attempt or the result of an experiment. */
function importNode(node: Record<string, unknown>, file: string): PriorResult {
  const first = (...keys: string[]) => keys.map(key => toText(node[key])).find(text => text !== undefined)
  const notes = Array.isArray(node['notes']) ? node['notes'].map(readNote) : []
  const learned = [first('discard_reason', 'pruned_reason', 'reason'), first('error'), ...notes]
  const parent = node['parent_score']
  const score = node['score']
  return buildPriorResult({
    from: `evo, ${file}`,
    idea: first('hypothesis', 'id', 'experiment_id'),
    result: first('outcome', 'status'),
    category: first('failure_class'),
    metrics: selectNumbers({ score }),
    change: typeof parent === 'number' ? `from ${parent}` : undefined,
    learned: toText(learned.filter(text => text !== undefined).join('; ')),
    commit: first('commit'),
  })
}

function readNote(note: unknown): string | undefined {
  return isRecord(note) ? (toText(note['text']) ?? toText(note['note'])) : toText(note)
}

export function importEvoResult(source: ImportSource): ImportedFile {
  return buildImport('evo result', { results: [importNode(readObject(source), source.file)] })
}

/** The result that a benchmark writes: the score of one version, without a word on what it changed. */
export function importEvoScore(source: ImportSource): ImportedFile {
  const { score } = readObject(source)
  const result = buildPriorResult({
    from: `evo, ${source.file}`,
    idea: 'a version without a description',
    result: 'measured',
    metrics: selectNumbers({ score }),
  })
  return buildImport('evo benchmark result', { results: [result] })
}

// annotations.json, proposals.jsonl

export function importEvoAnnotations(source: ImportSource): ImportedFile {
  const all = readObject(source)['annotations']
  const results = (Array.isArray(all) ? all.filter(isRecord) : []).map(each =>
    buildPriorResult({
      from: `evo, ${source.file}`,
      idea: [toText(each['experiment_id']), toText(each['task_id'])].filter(Boolean).join(', task '),
      result: 'annotated',
      learned: toText(each['analysis']),
    }),
  )
  return buildImport('evo annotations', { results })
}

export function importEvoProposals(source: ImportSource): ImportedFile {
  const { rows, left } = readJsonLines(source)
  const ideas = rows.map(({ value }) => {
    const [title, hypothesis] = [toText(value['title']), toText(value['hypothesis'])]
    const text = [title, hypothesis].filter(Boolean).join(': ')
    return toIdea({ hypothesis: text, category: toText(value['technique']) }, 'no description')
  })
  return buildImport('evo proposals', { ideas, left })
}

function readObject({ file, text }: ImportSource): Record<string, unknown> {
  const value = parseJson(text)
  return isRecord(value) ? value : new DataFile({ file, text }).getTop().fail('{', 'is not a JSON object')
}

function findLine({ text }: ImportSource, part: string): number | null {
  const at = text.indexOf(part)
  return at === -1 ? null : text.slice(0, at).split('\n').length
}
