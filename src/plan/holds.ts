import { computePrimaryGain, describePrimaryChange } from '../decide/assess.ts'
import { describeOtherOutput } from '../decide/lost-output.ts'
import { describeSuspicionRule, type SuspiciousChange } from '../decide/suspicious-changes.ts'
import { describeUnseenCost } from '../decide/unseen-cost.ts'
import { type HoldFinding, listAwaitedPackages, summarizeFindings } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { describeHarness, describeGuard, isGuarded, listMissedProbes } from '../model/harness-guard.ts'
import type { Spec } from '../spec/schema.ts'
import type { PlanStep } from './action.ts'
import { buildApprovalRequest } from './approvals.ts'
import { getAssessment, type RoundMember } from './judgement.ts'
import { buildRequeueStep, closeNotSelected, formatNotTakenReason } from './landing.ts'
import { isByProgramOrOutsider } from './permissions.ts'
import type { World } from './world.ts'

export const HELD_REASON = 'a person has to read the change before winnow keeps it'

/**
 * A change that would be kept waits for a person if its diff or its gain says that it may deceive the benchmark, or if
 * it is typically faster and sometimes slower. It leaves the round, asks for approval of exactly this head, and is
 * measured once more after that.
 */
export function holdMember(world: World, member: RoundMember): PlanStep[] {
  const { experiment } = member
  const facts = world.candidates.get(experiment.id)
  if (facts?.merged !== 'clean' || experiment.purpose === 'revert' || experiment.head === null) return []
  const forgeable = findForgeableHarness(world, member)
  if (forgeable !== null && world.spec.merge.forgeable === 'deny')
    return closeNotSelected(member, `${forgeable.name} (merge.forgeable: deny)`)
  const findings = [
    ...listFindings(world, member, facts.suspicious),
    ...(forgeable === null ? [] : [forgeable]),
  ]
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

function isBoundByProbes(world: World, experiment: Experiment): boolean {
  const { forgeable } = world.spec.merge
  return forgeable !== 'allow' && experiment.purpose !== 'revert' && isByProgramOrOutsider(world, experiment)
}

/** A program is paid by the number, so it finds what the probes found. People answer for what they push. */
function findForgeableHarness(world: World, { experiment }: RoundMember): HoldFinding | null {
  const { campaign } = world
  if (!isBoundByProbes(world, experiment) || isGuarded(campaign)) return null
  const { results = [], not_probed = null } = campaign.probes ?? {}
  const missed = listMissedProbes(results).map(({ detail }) => detail)
  const text = not_probed ?? (missed.join('; ') || 'no probe that acts could be tried')
  return { name: describeHarness(describeGuard(campaign)), path: null, line: null, text }
}

function listFindings(
  { spec, campaign }: World,
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
    ...findOtherOutput(spec, member),
    ...findUnseenCost(spec, member),
    ...findLargeGain(spec, campaign, member),
    ...findSlowRuns(member),
  ]
}

/** Its median gains, and its mean may not. */
function findSlowRuns(member: RoundMember): HoldFinding[] {
  const found = getAssessment(member)?.sometimes_slower ?? null
  return found === null ? [] : [{ ...found, path: null, line: null }]
}

function findOtherOutput({ merge }: Spec, { experiment, measured, judgement }: RoundMember): HoldFinding[] {
  if (merge.suspicious === 'allow' || measured === null || judgement?.is !== 'eligible') return []
  const text = describeOtherOutput(measured.report, experiment.id)
  if (text === null) return []
  return [
    {
      name: 'its harness prints less or more than on the base',
      path: null,
      line: null,
      text: `The harness ${text}`,
    },
  ]
}

function findUnseenCost(spec: Spec, { experiment, measured }: RoundMember): HoldFinding[] {
  if (spec.merge.suspicious === 'allow' || measured === null) return []
  const text = describeUnseenCost(spec, measured.report, experiment.id)
  return text === null
    ? []
    : [{ name: 'it costs what its metric does not see', path: null, line: null, text }]
}

/** Honest gains of this size exist. So do benchmarks that measure nothing any more. */
function findLargeGain(
  spec: Spec,
  { probes }: Pick<Campaign, 'probes'>,
  { experiment, measured }: RoundMember,
): HoldFinding[] {
  const { hold_above } = spec.merge
  if (hold_above === null || measured === null) return []
  // No idea gains more than the removal of the code that it changes.
  const vanished = probes?.vanish_gain ?? null
  const isVanishLess = vanished !== null && vanished < hold_above
  const limit = isVanishLess ? Math.max(1, vanished) : hold_above
  const { order, report } = measured
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const input = { spec, order, report, label: experiment.id, baseline }
  const gain = computePrimaryGain(input)
  if (gain === null || gain <= limit) return []
  const name = isVanishLess
    ? `its gain is larger than ${limit.toPrecision(3)}x, what the harness prints when the files in scope are empty`
    : `its gain is larger than ${limit}x (merge.hold_above)`
  return [
    {
      name,
      path: null,
      line: null,
      text: Number.isFinite(gain)
        ? `${spec.metric.primary.name} is ${gain.toPrecision(3)} times better`
        : (describePrimaryChange(input) ?? ''),
    },
  ]
}
