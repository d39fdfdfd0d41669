import type { FailedOutput } from './failed-output.ts'
import type { Report, Side } from './report.ts'

/** The part of one side that failed, with its output. */
export interface FailedPart {
  /** set-up, gate <name>, or the harness. */
  what: string
  /** null: it printed nothing. */
  output: FailedOutput | null
}

/** The first thing of this side that failed, in the order in which it is run; null where everything worked. */
export function findFailedPart({ setups, gates, executions }: Report, side: Side): FailedPart | null {
  const setup = setups.find(each => each.side === side && !each.ok)
  if (setup !== undefined) return { what: 'set-up', output: setup.output ?? null }
  const gate = gates.find(each => each.side === side && !each.passed)
  if (gate !== undefined) return { what: `gate ${gate.name}`, output: gate.output ?? null }
  const run = executions.find(each => each.side === side && each.status !== 'ok')
  return run === undefined ? null : { what: 'the harness', output: run.output ?? null }
}
