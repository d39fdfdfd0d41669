import { UserError } from '../../errors.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Oid } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import type { CandidateFacts } from '../../plan/world.ts'
import { listTooYoungPackages } from '../../decide/additions.ts'
import { formatPackages } from '../../model/approval.ts'
import type { Experiment } from '../../model/experiment.ts'
import { describeUnapproved } from '../../plan/approvals.ts'
import { readCandidateFacts } from '../facts/candidate.ts'
import { findLandingCommitGaps } from './landing-commit.ts'
import { findPinGaps } from './pin.ts'
import { listAbsentCommits, type IncumbentStep } from './incumbent-step.ts'

type MergedEvent = LedgerEvent<'merged'>

/** A landing: its verdict, the tree it was taken on, the commit that carries it. */
export async function findLandingGaps(step: IncumbentStep, merged: MergedEvent): Promise<string[]> {
  const { seq, sha256 } = merged.decided
  const verdict = step.evidence.verdicts.get(seq)
  if (!verdict) return [`event ${seq}, named as its verdict, keeps nothing`]
  const { event } = verdict
  if (event.experiment !== merged.experiment)
    return [`event ${seq}, named as its verdict, is about ${event.experiment}, not ${merged.experiment}`]
  if (verdict.sha256 !== sha256)
    return [
      `event ${merged.seq} names verdict ${sha256.slice(0, 12)}, event ${seq} is ${verdict.sha256.slice(0, 12)}`,
    ]
  if (verdict.gaps.length > 0) return verdict.gaps
  const order = verdict.order?.order
  if (!order) return [`its verdict (event ${seq}) names no order`]
  return [
    ...(await findTreeGaps(step, merged, order)),
    ...(await findLandingCommitGaps(step, merged, verdict)),
  ]
}

async function findTreeGaps(step: IncumbentStep, merged: MergedEvent, order: Order): Promise<string[]> {
  const { from, to } = step
  const candidate = order.candidates.find(({ label }) => label === merged.experiment)
  if (!candidate) return [`order ${order.id.slice(0, 12)} did not measure ${merged.experiment}`]
  if (order.base.tree !== from.tree)
    return [`it was measured against tree ${order.base.tree}, its parent's is ${from.tree}`]
  if (candidate.tree !== to.tree) return [`its tree is ${to.tree}, the measured one ${candidate.tree}`]
  if (candidate.head !== merged.head)
    return [`the measured head is ${candidate.head}, event ${merged.seq} says ${merged.head}`]
  const recomputed = await findCandidateGaps(step, merged.experiment, candidate)
  return recomputed.length > 0 ? recomputed : findPinGaps(step)
}

/** The tree is made again from the two commits, so that what was measured is what they say, and allowed. */
async function findCandidateGaps(
  step: IncumbentStep,
  id: string,
  candidate: { head: Oid; tree: Oid },
): Promise<string[]> {
  const { place, campaign, spec, from } = step
  const { head } = candidate
  const absent = await listAbsentCommits(place, [head])
  if (absent.length > 0) return absent
  if (spec === null) return ['the spec in force cannot be read']
  const { repository } = place
  const facts = await readFactsOrError(
    readCandidateFacts({ repository, campaign, spec, incumbent: from, head, unsynced: null }),
  )
  if (typeof facts === 'string') return [facts]
  if (facts.merged === 'conflict') return [`its head ${head} does not merge with its first parent`]
  if (facts.tree !== candidate.tree)
    return [`merging its head ${head} makes tree ${facts.tree}, not ${candidate.tree}`]
  if (facts.refusal) return [`its change is not allowed: ${facts.refusal.message}`]
  const experiment = campaign.experiments[id]
  const rules = { spec, now: '', releases: null }
  const packages = experiment ? describeUnapproved(rules, experiment, facts) : null
  if (packages !== null) return [`it adds ${packages}, and no approval is of that set`]
  const young = experiment ? findPackageAgeGaps(experiment) : []
  if (young.length > 0) return young
  if (facts.contains !== null && experiment?.purpose !== 'revert')
    return [`its head contains ${facts.contains}, which was reverted`]
  return []
}

/** What was let in by its name has to have been old enough by what was known then. */
function findPackageAgeGaps({ approval, asked_at }: Experiment): string[] {
  if (approval?.min_age_days === undefined || asked_at === null) return []
  const { additions, packages, min_age_days: days } = approval
  const young = listTooYoungPackages({ min_release_age_days: days }, additions, asked_at)
  const missing = young.filter(name => !packages.includes(name))
  if (missing.length === 0) return []
  return [
    `it adds ${formatPackages(missing, additions)}, which was not submitted for approval and was not out for ${days} days`,
  ]
}

async function readFactsOrError(facts: Promise<CandidateFacts>): Promise<CandidateFacts | string> {
  try {
    return await facts
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
}
