import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findAbsentMetrics, listDecisiveMetrics, listPrintedNames } from '../decide/metrics.ts'
import { HarnessError } from '../errors.ts'
import { listNeededMetrics } from '../measure/output/read-output.ts'
import { buildTaskCommand } from '../measure/suite-runs.ts'
import { type Execution, findFailedPart, joinStreams, type Report, type Side } from '../model/report.ts'
import { findSuiteTask } from '../model/tasks.ts'
import { describeAbsentMetric, findMissingMetrics } from '../report/metrics.ts'
import { BUILT_IN_METRICS } from '../spec/schema-values.ts'
import { findUsualSetup } from './default-branch.ts'
import type { HarnessRun } from './harness-run.ts'

type FailureDetail = HarnessError['detail']

const MISSING =
  /not found|cannot find|no such file|no module named|ModuleNotFoundError|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND/i

const WORD = /[\w@+.-]+(?:\/[\w@+.-]+)*/g

/** Describes a failed side: the step, its output and a suggested fix. */
export async function createNotPassedError(
  harness: HarnessRun,
  reason: string,
  report: Report,
): Promise<HarnessError> {
  const [first = '', ...more] = reason.replace(/^the base fails: /, '').split('\n')
  const [line, example] = ['in: ', 'valid: '].map(start =>
    more.find(each => each.startsWith(start))?.slice(start.length),
  )
  const { said: missing, ...detail } = await findHarnessFailure(harness, report, null)
  const sentence = first.replace(/^the base's /, 'the ')
  const what = missing === null ? sentence : `${sentence}: ${missing}`.replace(/^missing metric: [^:]*: /, '')
  return new HarnessError(`${harness.longName} does not pass: ${what}`, {
    ...detail,
    line,
    example,
  })
}

/** `label` null means any side. */
export async function findHarnessFailure(
  harness: HarnessRun,
  report: Report,
  label: Side | null,
): Promise<FailureDetail & { said: string | null }> {
  const { setups, gates: gateRuns, executions } = report
  const all = [...setups, ...gateRuns, ...executions].map(({ side }) => side)
  const sides = label === null ? [...new Set(all)] : [label]
  const failed = sides
    .map(side => ({ side, part: findFailedPart(report, side) }))
    .find(({ part }) => part !== null)
  const part = failed?.part ?? null
  const { measurement, gates } = harness.spec
  // A failed run of a task has the worst loss, and is measured.
  const crashed = executions.find(({ status, error }) => status === 'ok' && error !== undefined)
  if (failed === undefined || part === null)
    return crashed === undefined
      ? describeMissingMetrics(harness, report)
      : describeFailedTask(harness, crashed)
  const run = executions.find(({ side, status }) => side === failed.side && status !== 'ok')
  const gate = gateRuns.find(({ side, passed }) => side === failed.side && !passed)
  const setup = setups.find(({ side, ok }) => side === failed.side && !ok)
  const explain = async (command: string, timedOut: boolean, suggests = true) => ({
    said: null,
    command,
    ...(part.output === null ? {} : { output: part.output }),
    ...(suggests ? await suggestFix(harness, joinStreams(part.output ?? undefined), timedOut) : {}),
  })
  if (part.what === 'set-up') return explain(measurement.setup ?? '', setup?.timed_out === true)
  if (part.what !== 'the harness') {
    const command = gates.find(({ name }) => name === gate?.name)?.command ?? part.what
    return explain(command, gate?.timed_out === true)
  }
  return explain(measurement.command, run?.status === 'timeout', run?.status !== 'bad-output')
}

async function describeFailedTask(
  harness: HarnessRun,
  { task: name, output }: Execution,
): Promise<FailureDetail & { said: string | null }> {
  const task = findSuiteTask(harness.spec, name ?? '')
  const { command } = harness.spec.measurement
  return {
    said: null,
    command: task === null ? command : buildTaskCommand(command, task),
    ...(output === undefined ? {} : { output }),
    ...(await suggestFix(harness, joinStreams(output), false)),
  }
}

/** All executions succeeded, but a needed metric is missing or not a number. */
function describeMissingMetrics(
  { spec }: HarnessRun,
  { executions }: Report,
): FailureDetail & { said: string | null } {
  const printed = listPrintedNames(executions, BUILT_IN_METRICS)
  const needed = new Set([...listNeededMetrics(spec), ...listDecisiveMetrics(spec)])
  const absent = findAbsentMetrics(spec, executions)
  const missing = executions.some(({ status }) => status === 'ok')
    ? findMissingMetrics(
        [...needed].filter(name => !BUILT_IN_METRICS.has(name)),
        printed,
      )
    : null
  if (missing !== null) {
    const others = absent.flatMap(({ name, key }) => (needed.has(name) ? [] : `${name} (${key})`))
    const also = others.length === 0 ? '' : ` Not printed either: ${others.join(', ')}.`
    return { said: null, command: spec.measurement.command, ...missing, fix: `${missing.fix}${also}` }
  }
  const [first] = absent.filter(({ name }) => needed.has(name))
  if (first === undefined) return { said: null }
  return { said: describeAbsentMetric(first, printed), command: spec.measurement.command }
}

async function suggestFix(
  harness: HarnessRun,
  tail: string,
  timedOut: boolean,
): Promise<Pick<FailureDetail, 'fix'>> {
  const { timeout, setup, share } = harness.keys
  if (timedOut)
    return { fix: `raise ${timeout} if it needs longer. Its stdin is empty, so it is not waiting for input` }
  const file = await findUncommittedFile(harness, tail)
  if (file !== null)
    return { fix: `${file} is in your work tree and not committed: commit it, or name it in ${share}` }
  if (harness.spec.measurement.setup !== null || !MISSING.test(tail)) return {}
  const usual = await findUsualSetup(harness.repositoryContext, harness.base)
  const instead = usual === null ? 'what installs and builds' : JSON.stringify(usual)
  return {
    fix: `it runs in a fresh copy of what is committed, with no node_modules and no builds: give ${setup} ${instead}, or install what is missing`,
  }
}

/** Finds a file that the output names, that exists in the work tree and is not committed. */
async function findUncommittedFile(
  { repositoryContext, base }: HarnessRun,
  tail: string,
): Promise<string | null> {
  const { topLevel } = repositoryContext.checkout
  if (topLevel === null || !MISSING.test(tail)) return null
  const words = new Set(tail.match(WORD)?.map(word => word.replace(/^.*\/at\/tree\//, '')) ?? [])
  for (const word of [...words].filter(each => /[/.]/.test(each) && !each.startsWith('.'))) {
    if (word.includes('..') || !existsSync(join(topLevel, word))) continue
    if ((await repositoryContext.repository.findEntry(base.tree, word)) === null) return word
  }
  return null
}
