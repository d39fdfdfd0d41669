import { UserError } from '../errors.ts'
import { getOverallMetric } from '../init/benchmarks.ts'
import type { OutputFormat } from '../init/project.ts'
import { quoteShell } from '../model/text.ts'
import { SpecErrors } from '../spec/errors.ts'
import { parseSpec } from '../spec/load.ts'
import { listPlannedFeatures } from '../spec/planned-features.ts'
import type { Spec } from '../spec/schema.ts'
import { BUILT_IN_METRICS, MODEL_METRICS, PERCENT } from '../spec/schema-values.ts'
import { SPENDING_OPTIONS } from './harness-models.ts'
import type { CommandArguments, Option } from './verb.ts'

export const COMPARE_OPTIONS: readonly Option[] = [
  {
    name: 'metric',
    value: 'name',
    summary:
      'a metric that the command prints; by default wall_seconds, or the result of go test -bench and similar tools',
  },
  {
    name: 'direction',
    values: ['minimize', 'maximize'],
    summary: 'the better direction (default: minimize)',
  },
  {
    name: 'output',
    value: 'format',
    summary: 'the output format of the command: json (default), metric-lines, …',
  },
  { name: 'setup', value: 'command', summary: 'install and build each side, not timed, such as npm ci' },
  {
    name: 'gate',
    value: 'command',
    many: true,
    summary: 'a command that must pass on both sides, such as npm test',
  },
  {
    name: 'same',
    value: 'metric',
    many: true,
    summary: 'a printed answer, such as a checksum, that must be the same on both sides',
  },
  { name: 'share', value: 'path', many: true, summary: 'an uncommitted file that both sides need' },
  { name: 'env', value: 'name', many: true, summary: 'an environment variable to pass to the command' },
  {
    name: 'model',
    value: 'id',
    many: true,
    summary:
      'a model that the command asks, through winnow: at OPENAI_BASE_URL, with a key for one execution in OPENAI_API_KEY',
  },
  ...SPENDING_OPTIONS,
  { name: 'timeout', value: 'seconds', summary: 'stop an execution after this time (default: 600)' },
  {
    name: 'min-effect',
    value: 'share',
    summary: 'the smallest relevant gain, such as 5% or 0.05 (default: 2%)',
  },
  { name: 'pairs', value: 'number', summary: 'pairs per job (default: 8)' },
  { name: 'max-jobs', value: 'number', summary: 'jobs before the answer is not proven (default: 8)' },
]

const COMMAND_LINE = 'the command line'

/** A spec requires a gate, and a comparison needs none: this one is removed after parsing. */
const ALWAYS_TRUE_GATE = { name: 'wall_seconds', check: '>= 0' }

const OPTION_BY_PATH: readonly (readonly [path: string, option: string])[] = [
  ['measurement.output', '--output'],
  ['measurement.env', '--env'],
  ['models', '--model'],
  ['measurement.command', 'the command'],
  ['parallel.shared_files', '--share'],
  ['metric.primary.name', '--metric'],
  ['metric.degenerate_gates', '--same'],
  ['gates', '--gate'],
  ['evidence.min_effect', '--min-effect'],
]

type EffectOptions = { min_effect: string | number | null; scale?: 'linear' }

/** These tools repeat until a fixed time has passed, so their total run time is not a useful metric. */
interface BenchmarkTool {
  output: OutputFormat
  pattern: RegExp
  /** Options that make the tool write its numbers to the result file; null if it prints them. */
  outputOption: string | null
}

interface ToolReading {
  command: string
  output: OutputFormat
  metric: string
}

const TOOLS: readonly BenchmarkTool[] = [
  { output: 'go', pattern: /\bgo test\b.*\s--?(?:test\.)?bench\b/, outputOption: null },
  { output: 'cargo', pattern: /\bcargo (?:\+\S+ )?bench\b(?!.*--no-run)/, outputOption: null },
  {
    output: 'pytest-benchmark',
    pattern: /\bpytest\b.*--benchmark-(?!disable|skip)/,
    outputOption: '--benchmark-json="$WINNOW_RESULT_PATH"',
  },
  { output: 'vitest', pattern: /\bvitest bench\b/, outputOption: '--outputJson "$WINNOW_RESULT_PATH"' },
  {
    output: 'hyperfine',
    pattern: /(?:^|[\s/])hyperfine\s/,
    outputOption: '--export-json "$WINNOW_RESULT_PATH"',
  },
]

/** Builds the spec from options. Every path is mutable, because each side runs its own files. */
export function buildCompareSpec(given: CommandArguments, directory: string): Spec {
  const { command, output, metric } = selectReading(given)
  const effect = parseMinEffect(given, metric)
  const models = [...new Set(given.texts('model'))]
  const asking = MODEL_METRICS.has(metric)
    ? `--metric ${metric}`
    : ['spend', 'allow-uncapped'].flatMap(name => (given.flag(name) ? [`--${name}`] : []))[0]
  if (asking !== undefined && models.length === 0)
    throw new UserError(`${asking} needs the models that the command asks`, {
      fix: 'name each: --model gpt-4.1-mini',
    })
  const text = JSON.stringify({
    winnow: 1,
    name: 'compare',
    metric: {
      primary: { name: metric, direction: given.text('direction') ?? 'minimize' },
      degenerate_gates: [ALWAYS_TRUE_GATE, ...listSameAnswers(given)],
    },
    measurement: {
      command,
      working_directory: directory,
      setup: given.text('setup') ?? null,
      output,
      timeout_seconds: parsePositiveNumber(given, 'timeout') ?? 600,
      env: given.texts('env'),
      ...(models.length === 0 ? {} : { models: 'metered' }),
    },
    models: models.map(id => ({ id })),
    gates: [...new Set(given.texts('gate'))].map(command => ({ name: command, command })),
    evidence: {
      campaign_control: 'fixed',
      ...effect,
      // Fixed before the first job, when the length of an execution is not known.
      pairs_per_job: parseWholeNumber(given, 'pairs') ?? 8,
      max_jobs: parseWholeNumber(given, 'max-jobs') ?? 8,
    },
    parallel: { shared_files: given.texts('share') },
    scope: { mutable: ['**'] },
  })
  const parsed = parseOptionSpec(text)
  const spec = { ...parsed, metric: { ...parsed.metric, degenerate_gates: listSameAnswers(given) } }
  const [missing] = listPlannedFeatures(spec)
  if (missing !== undefined) throw new UserError(missing.replace('measurement.output', '--output'))
  return spec
}

/** Reads a benchmark tool's own output format unless --output is given. */
function selectReading(given: CommandArguments): { command: string; output: string; metric: string } {
  const command = formatCommand(given.command)
  const output = given.text('output')
  const tool = output === undefined ? readByTool(command, given.text('metric')) : null
  return tool ?? { command, output: output ?? 'json', metric: selectMetric(given) }
}

/** A single word is a shell line. Several words are one command, quoted as they were given. */
function formatCommand(words: readonly string[]): string {
  const [only] = words
  return words.length === 1 && only !== undefined ? only : words.map(quoteShell).join(' ')
}

/** Returns null for other commands, and for `--metric wall_seconds` and other built-in metrics. */
export function readByTool(command: string, metric: string | undefined): ToolReading | null {
  const tool = TOOLS.find(({ pattern }) => pattern.test(command))
  const named = metric ?? (tool && getOverallMetric(tool.output))
  if (tool === undefined || named === undefined || BUILT_IN_METRICS.has(named)) return null
  return { command: addOutputOption(command, tool), output: tool.output, metric: named }
}

function addOutputOption(command: string, { output, outputOption }: BenchmarkTool): string {
  if (outputOption === null || command.includes('WINNOW_RESULT_PATH')) return command
  if (!/[;&|<>\n]/.test(command)) return `${command} ${outputOption}`
  throw new UserError(`${output} needs to know where to read the numbers`, {
    fix: `add ${outputOption} to its options, or --metric wall_seconds to compare how long all of it takes`,
  })
}

function listSameAnswers(given: CommandArguments): { name: string; check: string }[] {
  return [...new Set(given.texts('same'))].map(name => ({ name, check: '== base' }))
}

function selectMetric(given: CommandArguments): string {
  const name = given.text('metric')
  if (name !== undefined || given.text('output') === undefined) return name ?? 'wall_seconds'
  throw new UserError('--output needs --metric', {
    fix: 'add --metric <name>; without either, winnow times the command itself',
  })
}

/** Accepts 3% and 0.03. Refuses 3, which would mean 300 %. "3 bytes" is in the units of --metric bytes. */
function parseMinEffect(given: CommandArguments, metric: string): EffectOptions {
  const text = given.text('min-effect')?.trim()
  if (text === undefined) return { min_effect: null }
  const inUnits = text.endsWith(` ${metric}`)
  const isShare = PERCENT.test(text)
  const value = Number(inUnits ? text.slice(0, -metric.length) : isShare ? text.slice(0, -1) : text)
  if (text === '' || !(value > 0) || !Number.isFinite(value))
    throw new UserError(`--min-effect ${text} is not a gain`, { fix: 'give a share, like 3% or 0.03' })
  if (inUnits) return { min_effect: value, scale: 'linear' }
  if (isShare) return { min_effect: text }
  if (value < 1) return { min_effect: value }
  throw new UserError(`--min-effect ${text} would be ${value * 100} %`, {
    fix: `did you mean ${text}%? In metric units write "${text} ${metric}"`,
  })
}

function parseWholeNumber(given: CommandArguments, name: string): number | null {
  const value = parsePositiveNumber(given, name)
  if (value === null || Number.isInteger(value)) return value
  throw new UserError(`--${name} ${value} is not a whole number`, { fix: 'give 1 or more' })
}

export function parsePositiveNumber(given: CommandArguments, name: string): number | null {
  const text = given.text(name)
  if (text === undefined) return null
  const value = Number(text)
  if (Number.isFinite(value) && value > 0) return value
  throw new UserError(`--${name} ${text} is not a number above 0`, { fix: `give a number: --${name} 10` })
}

function parseOptionSpec(text: string): Spec {
  try {
    return parseSpec(text, { file: COMMAND_LINE }).spec
  } catch (error) {
    const problem = error instanceof SpecErrors ? error.problems[0] : undefined
    if (problem === undefined) throw error
    const option = OPTION_BY_PATH.find(([path]) => problem.path.startsWith(path))?.[1] ?? problem.path
    throw new UserError(`${option}: ${problem.found} is not possible`, { fix: `give ${problem.expected}` })
  }
}
