import { type EpochStep, listEpochSteps } from '../decide/epochs.ts'
import { formatCount, formatNumber } from '../decide/wording.ts'
import { findLanding, type MeasuredEpoch } from '../model/campaign.ts'
import { listExperiments } from '../model/experiment.ts'
import type { PlanStep } from './action.ts'
import { listNewProposals } from './intake.ts'
import type { World } from './world.ts'

type EpochFacts = Pick<World, 'campaign' | 'spec'>

interface CurrentEpoch {
  epoch: MeasuredEpoch
  step: EpochStep
}

function findCurrentEpoch({ campaign, spec }: EpochFacts): CurrentEpoch | null {
  return listEpochSteps(campaign, spec).at(-1) ?? null
}

/** Records the request; reverts do the rest. The base tree was measured, so it lands at once. */
export function planEpochRollback(world: World): PlanStep[] {
  const current = findCurrentEpoch(world)
  if (current === null || world.campaign.round?.open) return []
  const { epoch, step } = current
  const id = step.rollBack
  if (id === null || findLanding(world.campaign, id) === undefined) return []
  if (world.campaign.steered.some(({ action, experiment }) => action === 'revert' && experiment === id))
    return []
  const { name } = world.spec.metric.primary
  const [mean, limit] = [epoch.mean, step.limit].map(value =>
    value === null ? 'missing' : formatNumber(value),
  )
  const reason = `epoch ${step.number}: mean ${name} ${mean}, limit ${limit}; learning rate ${formatNumber(step.learningRate)} from now on`
  const draft = {
    kind: 'steered',
    cause: `${epoch.order} epoch`,
    action: 'revert',
    experiment: id,
    reason,
  } as const
  return [{ step: 'event', draft }]
}

/** False once it is done, or cannot be done. */
function isRollbackPending({ campaign }: EpochFacts, { step }: CurrentEpoch): boolean {
  const id = step.rollBack
  if (id === null || findLanding(campaign, id) === undefined) return false
  const request = campaign.steered.find(({ action, experiment }) => action === 'revert' && experiment === id)
  const opened = campaign.experiments[campaign.sources[`revert:${request?.event}`] ?? '']
  return opened === undefined || opened.status !== 'ended'
}

/** The next pass judges an update: without a mean, it is rolled back. */
export function isUpdateUnmeasured({ campaign, spec }: EpochFacts): boolean {
  const { measurement, epochs } = spec
  if (measurement.stability !== null || epochs === null) return false
  return campaign.landings.length > (campaign.epochs.at(-1)?.landings ?? 0)
}

/** An epoch ends with the measurement of the incumbent, whether or not an update was kept. */
export function isPassDue(world: World): boolean {
  const { campaign, spec } = world
  if (spec.epochs === null || campaign.round?.open || campaign.landing !== null) return false
  const current = findCurrentEpoch(world)
  if (current === null) return campaign.baseline !== null
  if (current.step.next === 'end' || isRollbackPending(world, current)) return false
  return current.step.next === 'measure' || isProposingOver(world, current)
}

/** One update, or none, between two passes. */
function isProposingOver(world: World, { epoch }: CurrentEpoch): boolean {
  const { campaign, spec, asking, askable } = world
  if ((campaign.round?.number ?? 0) > epoch.round) return true
  const isQueued = listExperiments(campaign).some(({ status }) => status === 'queued')
  if (isQueued || asking.length > 0 || listNewProposals(world).length + world.unopened > 0) return false
  if (isAskedSince(world, epoch)) return true
  return askable.length === 0 && !spec.propose.some(({ use }) => use === 'textgrad')
}

/** An answer that this plan records counts: otherwise one that has no idea would be asked for again. */
function isAskedSince(
  { campaign: { proposers }, answers }: Pick<World, 'campaign' | 'answers'>,
  { seq }: MeasuredEpoch,
): boolean {
  return answers.length > 0 || Object.values(proposers).some(({ asked }) => asked > seq)
}

/** Proposers are asked once after a pass, and not after one that rolled back. */
export function isProposalTurn(world: World): boolean {
  if (world.spec.epochs === null) return true
  const current = findCurrentEpoch(world)
  if (current === null || current.step.next !== 'propose') return false
  return (world.campaign.round?.number ?? 0) === current.epoch.round && !isAskedSince(world, current.epoch)
}

/** The stop after the last epoch; null while one is left or a rollback is under way. */
export function findLastEpoch(facts: EpochFacts): { code: 'epochs'; reason: string } | null {
  const current = findCurrentEpoch(facts)
  if (current === null || current.step.next !== 'end' || isRollbackPending(facts, current)) return null
  return { code: 'epochs', reason: `${formatCount(current.step.number, 'epoch')} measured (epochs.count)` }
}
