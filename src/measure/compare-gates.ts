import { assessCandidate } from '../decide/assess.ts'
import { describeShortOutput } from '../decide/lost-output.ts'
import { experimentIdSchema } from '../model/ids.ts'
import type { Report } from '../model/report.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import { runGates, selectGates } from './build-and-gates.ts'
import { findBaseSide, listCandidateSides, type OrderSide, type Session } from './session.ts'

/**
 * Before a candidate can be kept, the base runs the same gates, so that a gate which ended early on the candidate is
 * found by what it did not print. Candidates that are not kept do not cost the base's gates.
 */
export async function compareGates(session: Session): Promise<void> {
  const base = findBaseSide(session)
  if (base === undefined || base.ended || session.input.spec.gates.length === 0) return
  const report = session.buildReport()
  const due = listCandidateSides(session).filter(side => !side.ended && isToBeKept(session, side, report))
  if (due.length === 0) return
  await runBaseGates(session, base)
  // The second run shows whether the base always prints that.
  const short = listShortGates(session, due)
  if (short.size > 0) await runBaseGates(session, base, short)
}

/**
 * Judges score a report later, so any of its candidates may be kept. Upstream commits and reverts may remove tests, so
 * only ideas and probes are compared.
 */
function isToBeKept({ input: { spec, order } }: Session, { label }: OrderSide, report: Report): boolean {
  const isCompared = experimentIdSchema.safeParse(label).success || order.purpose === 'probe'
  if (!isCompared || order.stop.rule === 'holdout') return false
  if (isJudgedMetric(spec)) return true
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  return (
    assessCandidate({ spec: selectGates(spec, order), order, report, label, baseline }).outcome === 'eligible'
  )
}

async function runBaseGates(session: Session, base: OrderSide, only?: ReadonlySet<string>): Promise<void> {
  for (const phase of ['pre', 'post'] as const) await runGates(session, base, phase, only)
}

function listShortGates({ draft: { gates } }: Session, due: readonly OrderSide[]): Set<string> {
  const labels = new Set(due.map(({ label }) => label))
  const base = gates.filter(gate => gate.side === 'base')
  const short = gates.filter(
    gate =>
      labels.has(gate.side) &&
      describeShortOutput(
        gate,
        base.filter(({ name }) => name === gate.name),
      ) !== null,
  )
  return new Set(short.map(({ name }) => name))
}
