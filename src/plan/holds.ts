import { computePrimaryGain } from '../decide/assess.ts'
import { describeShorterOutput } from '../decide/lost-output.ts'
import { describeSuspicionRule, type SuspiciousChange } from '../decide/suspicious-changes.ts'
import { type HoldFinding, listAwaitedPackages, summarizeFindings } from '../model/approval.ts'
import type { Spec } from '../spec/schema.ts'
import type { PlanStep } from './action.ts'
import { buildApprovalRequest } from './approvals.ts'
import { getAssessment, type RoundMember } from './judgement.ts'
import { buildRequeueStep, closeNotSelected, formatNotTakenReason } from './landing.ts'
import type { World } from './world.ts'

export const HELD_REASON = 'a person has to read the change before winnow keeps it'

/**
 * A change that would be kept waits for a person if its diff or its gain says that it may deceive the benchmark, or if
 * it is typically faster and sometimes slower. It leaves the round, asks for approval of exactly this head, and is measured once more after that.
 */
export function holdMember(world: World, member: RoundMember): PlanStep[] {
  const { experiment } = member
  const facts = world.candidates.get(experiment.id)
  if (facts?.merged !== 'clean' || experiment.purpose === 'revert' || experiment.head === null) return []
  const findings = listFindings(world, member, facts.suspicious)
  if (findings.length === 0) return []
  if (world.spec.merge.suspicious === 'deny' && facts.suspicious.length > 0)
    return closeNotSelected(
      member,
      `${summarizeFindings(findings.map(({ name }) => name))} (merge.suspicious: deny)`,
    )
  const held = { ...experiment, held: { head: experiment.head, findings } }
  const approval = buildApprovalRequest(world, held, facts)
  if (listAwaitedPackages({ approval, approved: experiment.approved }).length === 0) return []
  const reason = formatNotTakenReason(HELD_REASON, getAssessment(member)?.reason)
  return [buildRequeueStep(member, 'held', reason, findings)]
}

function listFindings(
  { spec }: World,
  member: RoundMember,
  suspicious: readonly SuspiciousChange[],
): HoldFinding[] {
  const lines = spec.merge.suspicious === 'allow' ? [] : suspicious
  const found = lines.map(({ rule, path, line, text }) => ({
    name: `${path} ${describeSuspicionRule(rule)}`,
    path,
    line,
    text,
  }))
  return [
    ...new Map(found.map(finding => [finding.name, finding])).values(),
    ...findShorterOutput(spec, member),
    ...findLargeGain(spec, member),
    ...findSlowRuns(member),
  ]
}

/** Its median gains, and its mean may not. */
function findSlowRuns(member: RoundMember): HoldFinding[] {
  const found = getAssessment(member)?.sometimes_slower ?? null
  return found === null ? [] : [{ ...found, path: null, line: null }]
}

function findShorterOutput({ merge }: Spec, { experiment, measured, judgement }: RoundMember): HoldFinding[] {
  if (merge.suspicious === 'allow' || measured === null || judgement?.is !== 'eligible') return []
  const text = describeShorterOutput(measured.report, experiment.id)
  if (text === null) return []
  return [
    { name: 'its harness prints less than on the base', path: null, line: null, text: `The harness ${text}` },
  ]
}

/** Honest gains of this size exist. So do benchmarks that measure nothing any more. */
function findLargeGain(spec: Spec, { experiment, measured }: RoundMember): HoldFinding[] {
  const { hold_above: limit } = spec.merge
  if (limit === null || measured === null) return []
  const { order, report } = measured
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const gain = computePrimaryGain({ spec, order, report, label: experiment.id, baseline })
  if (gain === null || gain <= limit) return []
  const name = `its gain is larger than ${limit}x (merge.hold_above)`
  return [
    {
      name,
      path: null,
      line: null,
      text: `${spec.metric.primary.name} is ${gain.toPrecision(3)} times better`,
    },
  ]
}
