import { joinStreams } from '../model/failed-output.ts'
import type { PairJob } from '../model/pairs.ts'
import type { Execution, Report } from '../model/report.ts'
import { formatCount } from './wording.ts'

const FAILURE_LINES = 3

/** Failures of unchanged code from which on they are no single accident. */
const UNSTEADY_FAILURES = 2

/**
 * A harness that fails on unchanged code now and then, and not always: ideas would fail by the same chance. Null where
 * no run failed, every run did, or one alone among many in pairs.
 */
export function describeUnsteadyHarness(
  { executions }: Pick<Report, 'executions'>,
  { earlier = [], most = UNSTEADY_FAILURES }: { earlier?: readonly PairJob[]; most?: number } = {},
): string | null {
  const pairs = earlier.flatMap(job => job.pairs).filter(({ lost }) => !lost)
  const before = pairs
    .flatMap(({ base, candidate }) => [base, candidate])
    .filter(side => side === null).length
  const failed = executions.filter(({ status }) => status !== 'ok')
  const total = executions.length + 2 * pairs.length
  const failures = failed.length + before
  if (failures < most || failures === total) return null
  return `the harness failed in ${failures} of ${formatCount(total, 'run')} of unchanged code${formatLastFailure(failed.at(-1))}
Ideas would fail by the same chance. Make it exit 0 whenever it has measured, print the number, and let a gate or a constraint judge it; or mend what fails now and then.`
}

function formatLastFailure(run: Execution | undefined): string {
  if (run === undefined) return ''
  const how = run.error ?? (run.exit_code === null ? run.status : `exit ${run.exit_code}`)
  const lines = joinStreams(run.output).trim().split('\n').slice(-FAILURE_LINES).join('\n')
  return `: ${how}${lines === '' ? '' : `; its last lines:\n${lines}`}`
}
