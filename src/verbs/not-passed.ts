import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findAbsentMetrics, listPrintedNames } from '../decide/absent-metrics.ts'
import { listDecisiveMetrics } from '../decide/tie-breakers.ts'
import { HarnessError } from '../errors.ts'
import { listNeededMetrics } from '../measure/output/read-printed.ts'
import { joinStreams } from '../model/failed-output.ts'
import { type FailedPart, findFailedPart } from '../model/failed-part.ts'
import type { Report, Side } from '../model/report.ts'
import { describeAbsentMetric } from '../report/absent-text.ts'
import { findMissingMetrics } from '../report/missing-metrics.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'
import type { HarnessRun } from './trying.ts'
import { findUsualSetup } from './usual-setup.ts'

type FailureDetail = HarnessError['detail']

/** A side that does not work, said so that its person can mend it: what, where, what it printed, what would help. */
export async function createNotPassedError(
  trying: HarnessRun,
  reason: string,
  report: Report,
): Promise<HarnessError> {
  const [first = '', ...more] = reason.replace(/^the base does not pass: /, '').split('\n')
  const line = findPrefixedLine(more, 'in: ')
  const example = findPrefixedLine(more, 'valid: ')
  const { said, ...detail } = await findHarnessFailure(trying, report, null)
  const own = first.replace(/^the base's /, 'the ')
  const what = said === null ? own : `${own}: ${said}`.replace(/^missing metric: [^:]*: /, '')
  return new HarnessError(`${trying.named} does not pass: ${what}`, {
    ...detail,
    ...(line === undefined ? {} : { line }),
    ...(example === undefined ? {} : { example }),
  })
}

function findPrefixedLine(lines: readonly string[], start: string): string | undefined {
  return lines.find(line => line.startsWith(start))?.slice(start.length)
}

/** What failed of one side, or of any: what it was, its last words, and what to do about them. */
export async function findHarnessFailure(
  trying: HarnessRun,
  report: Report,
  label: Side | null,
): Promise<FailureDetail & { said: string | null }> {
  const sides = label === null ? [...new Set(listSides(report))] : [label]
  const failed = sides
    .map(side => ({ side, part: findFailedPart(report, side) }))
    .find(({ part }) => part !== null)
  const { measurement, gates } = trying.spec
  const part = failed?.part ?? null
  if (failed === undefined || part === null) return describeMissingMetrics(trying, report)
  const run = report.executions.find(({ side, status }) => side === failed.side && status !== 'ok')
  const gate = report.gates.find(({ side, passed }) => side === failed.side && !passed)
  const setup = report.setups.find(({ side, ok }) => side === failed.side && !ok)
  const tail = joinStreams(part.output ?? undefined)
  if (part.what === 'set-up')
    return {
      said: null,
      ...toFailureDetail(measurement.setup ?? '', part),
      ...(await suggestFix(trying, tail, { timed_out: setup?.timed_out === true })),
    }
  if (part.what !== 'the harness') {
    const command = gates.find(({ name }) => name === gate?.name)?.command ?? part.what
    return {
      said: null,
      ...toFailureDetail(command, part),
      ...(await suggestFix(trying, tail, { timed_out: gate?.timed_out === true })),
    }
  }
  const timed = { timed_out: run?.status === 'timeout' }
  const help = run?.status === 'bad-output' ? {} : await suggestFix(trying, tail, timed)
  return { said: null, ...toFailureDetail(measurement.command, part), ...help }
}

function listSides({ setups, gates, executions }: Report): Side[] {
  return [...setups, ...gates, ...executions].map(({ side }) => side)
}

function toFailureDetail(command: string, { output }: FailedPart): FailureDetail {
  return { command, ...(output === null ? {} : { output }) }
}

/** Everything ran, and numbers are missing: not printed, or printed as something that is none. */
function describeMissingMetrics(
  { spec }: HarnessRun,
  { executions }: Report,
): FailureDetail & { said: string | null } {
  const printed = listPrintedNames(executions, BUILT_IN_METRICS)
  const needed = new Set([...listNeededMetrics(spec), ...listDecisiveMetrics(spec)])
  const missing = executions.some(({ status }) => status === 'ok')
    ? findMissingMetrics(
        [...needed].filter(name => !BUILT_IN_METRICS.has(name)),
        printed,
      )
    : null
  if (missing !== null) return { said: null, command: spec.measurement.command, ...missing }
  const [first] = findAbsentMetrics(spec, executions).filter(({ name }) => needed.has(name))
  if (first === undefined) return { said: null }
  return { said: describeAbsentMetric(first, printed), command: spec.measurement.command }
}

async function suggestFix(
  trying: HarnessRun,
  tail: string,
  { timed_out }: { timed_out: boolean },
): Promise<FailureDetail> {
  const { timeout, setup, share } = trying.keys
  if (timed_out) {
    return { fix: `raise ${timeout} if it needs longer; it has no input that it could be waiting for` }
  }
  const file = await findUncommittedFile(trying, tail)
  if (file !== null) {
    return { fix: `${file} is in your work tree and not committed: commit it, or name it in ${share}` }
  }
  if (trying.spec.measurement.setup !== null || !MISSING.test(tail)) return {}
  const usual = await findUsualSetup(trying.workshop, trying.base)
  const instead = usual === null ? 'what installs and builds' : JSON.stringify(usual)
  return {
    fix: `it runs in a fresh copy of what is committed, with no node_modules and no builds: give ${setup} ${instead}, or install what is missing`,
  }
}

const MISSING =
  /not found|cannot find|no such file|no module named|ModuleNotFoundError|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND/i

const WORD = /[\w@+.-]+(?:\/[\w@+.-]+)*/g

/** Something that is named there, lies beside the committed files, and so was not in the copy. */
async function findUncommittedFile({ workshop, base }: HarnessRun, tail: string): Promise<string | null> {
  const { topLevel } = workshop.checkout
  if (topLevel === null || !MISSING.test(tail)) return null
  const words = new Set(tail.match(WORD)?.map(word => word.replace(/^.*\/at\/tree\//, '')) ?? [])
  for (const word of [...words].filter(each => /[/.]/.test(each) && !each.startsWith('.'))) {
    if (word.includes('..') || !existsSync(join(topLevel, word))) continue
    if ((await workshop.repository.findEntry(base.tree, word)) === null) return word
  }
  return null
}
