import { experimentIdSchema } from '../model/ids.ts'
import type { Execution, GateRun, Report, Side } from '../model/report.ts'
import { joinFirst } from '../model/text.ts'
import { BUILT_IN_METRICS } from '../spec/schema-values.ts'
import { formatCount } from './wording.ts'

/**
 * Code that ends a program early prints less than the base, and reports success. Code that prints a result of its own
 * prints more.
 */

/** A candidate has to print at least this share of the base's lines. */
const LEAST_SHARE_OF_LINES = 0.5

/** Null if the gate printed what the base prints. Several runs of the base show which of its output varies. */
export function describeShortOutput(
  own: GateRun,
  base: readonly GateRun[],
): { name: string; text: string } | null {
  const { name } = own
  const shortest = (values: readonly (number | undefined)[]) =>
    Math.min(...values.map(value => value ?? Number.POSITIVE_INFINITY))
  const build = (text: string) => ({ name, text: `gate ${name} succeeded, but ${text}` })
  const tests = shortest(base.map(run => run.tests_passed))
  if (Number.isFinite(tests)) {
    const ran = own.tests_passed ?? 0
    const text = `only ${ran} of the base's ${formatCount(tests, 'test')} passed`
    return ran >= tests ? null : build(text)
  }
  const lines = shortest(base.map(run => run.printed?.lines))
  if (!Number.isFinite(lines) || own.printed === undefined) return null
  const printed = own.printed.lines
  if (printed < lines * LEAST_SHARE_OF_LINES)
    return build(`printed only ${printed} of the ${formatCount(lines, 'line')} that the base prints`)
  const [last, ...others] = new Set(base.map(run => run.printed?.last))
  if (last === undefined || others.length > 0 || own.printed.last === last) return null
  const sign = last.includes('#') ? ' (# stands for any number)' : ''
  return build(`did not print the base's last line: ${JSON.stringify(last)}${sign}`)
}

// Output of the harness

/** With fewer lines, half of them may be warnings that a good idea makes unnecessary. */
const LEAST_LINES = 10
/** One run does not show which of the output varies. */
const LEAST_BASE_RUNS = 2
const NAMES_SHOWN = 3

type PrintedReport = Pick<Report, 'executions'>

/** Null if most executions of the idea printed what every execution of the base printed. */
export function describeLostOutput(report: PrintedReport, label: Side): string | null {
  const runs = findPrintedRuns(report, label)
  if (runs === null) return null
  const lost = listLostNames(runs, runs.own.length / 2)
  if (lost.length > 0) return `did not print ${joinFirst(lost, NAMES_SHOWN)}, which the base always prints`
  const least = Math.min(...runs.base.map(countLines))
  const isShort = (run: Execution) =>
    countLines(run) === 0 || (least >= LEAST_LINES && countLines(run) < least * LEAST_SHARE_OF_LINES)
  const short = least === 0 ? [] : runs.own.filter(isShort)
  if (short.length < runs.own.length / 2) return null
  return `printed ${Math.max(...short.map(countLines))} of the ${formatCount(least, 'line')} that the base prints`
}

/**
 * Null if each execution of the idea printed as much as the base, which printed the same in each of its own. An honest
 * idea may print fewer or more lines, so a person reads it.
 */
export function describeOtherOutput(report: PrintedReport, label: Side): string | null {
  const runs = findPrintedRuns(report, label)
  if (runs === null) return null
  const [lost] = listLostNames(runs, 1)
  if (lost !== undefined) return `did not always print ${lost}, which the base always prints`
  const [lines, ...others] = new Set(runs.base.map(countLines))
  if (lines === undefined || others.length > 0) return null
  const own = runs.own.map(countLines)
  const [least, most] = [Math.min(...own), Math.max(...own)]
  if (least < lines)
    return `printed ${least} of the ${formatCount(lines, 'line')} that the base always prints`
  if (most === lines) return null
  return `printed ${formatCount(most, 'line')}, and the base always prints ${lines}`
}

interface PrintedRuns {
  base: Execution[]
  own: Execution[]
}

/** Null where nothing can be compared. Upstream commits may print something else, so only ideas are compared. */
function findPrintedRuns({ executions }: PrintedReport, label: Side): PrintedRuns | null {
  if (!experimentIdSchema.safeParse(label).success) return null
  const select = (side: Side) => executions.filter(run => run.side === side && isPrinted(run))
  const runs = { base: select('base'), own: select(label) }
  return runs.base.length < LEAST_BASE_RUNS || runs.own.length === 0 ? null : runs
}

/** A run of a suite's task that failed has no count of lines. */
function isPrinted({ role, status, printed_lines: lines }: Execution): boolean {
  return status === 'ok' && lines !== undefined && role !== 'smoke' && role !== 'holdout'
}

function countLines({ printed_lines: lines = 0 }: Execution): number {
  return lines
}

/** Metrics and tasks that every run of the base printed, and at least `times` runs of the candidate did not. */
function listLostNames({ base: [first, ...others], own }: PrintedRuns, times: number): string[] {
  if (first === undefined) return []
  const rest = others.map(listNames)
  const always = [...listNames(first)].filter(name => rest.every(names => names.has(name)))
  const printed = own.map(listNames)
  return always.filter(name => printed.filter(names => !names.has(name)).length >= times).toSorted()
}

function listNames({ metrics, tasks = {} }: Execution): Set<string> {
  const printed = Object.keys(metrics).filter(name => !BUILT_IN_METRICS.has(name))
  return new Set([...printed, ...Object.keys(tasks).map(name => `tasks.${name}`)])
}
