import { getOverallMetric } from '../../setup/benchmark-tools.ts'
import type { OutputFormat } from '../../setup/findings.ts'
import { UserError } from '../../errors.ts'
import { BUILT_IN_METRICS } from '../../spec/built-in-metrics.ts'

/** A benchmark tool repeats until a given time has passed: how long it took as a whole says nothing of what it measured. */
interface BenchmarkTool {
  output: OutputFormat
  runs: RegExp
  /** What makes it write its numbers where they are read; null where it prints them. */
  asks: string | null
}

const TOOLS: readonly BenchmarkTool[] = [
  { output: 'go', runs: /\bgo test\b.*\s--?(?:test\.)?bench\b/, asks: null },
  { output: 'cargo', runs: /\bcargo (?:\+\S+ )?bench\b(?!.*--no-run)/, asks: null },
  {
    output: 'pytest-benchmark',
    runs: /\bpytest\b.*--benchmark-(?!disable|skip)/,
    asks: '--benchmark-json="$WINNOW_RESULT_PATH"',
  },
  { output: 'vitest', runs: /\bvitest bench\b/, asks: '--outputJson "$WINNOW_RESULT_PATH"' },
  { output: 'hyperfine', runs: /(?:^|[\s/])hyperfine\s/, asks: '--export-json "$WINNOW_RESULT_PATH"' },
]

export interface ToolReading {
  command: string
  output: OutputFormat
  metric: string
}

/** Null where the command is no tool's whose output is read, or where its time as a whole is asked for by name. */
export function readByTool(command: string, metric: string | undefined): ToolReading | null {
  const tool = TOOLS.find(({ runs }) => runs.test(command))
  const named = metric ?? (tool && getOverallMetric(tool.output))
  if (tool === undefined || named === undefined || BUILT_IN_METRICS.has(named)) return null
  return { command: addOutputOption(command, tool), output: tool.output, metric: named }
}

function addOutputOption(command: string, { output, asks }: BenchmarkTool): string {
  if (asks === null || command.includes('WINNOW_RESULT_PATH')) return command
  if (!/[;&|<>\n]/.test(command)) return `${command} ${asks}`
  throw new UserError(`${output} is not told where its numbers are read`, {
    fix: `add ${asks} to its options, or --metric wall_seconds to compare how long all of it takes`,
  })
}
