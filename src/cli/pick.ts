import { toSentenceCase } from '../model/text.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { type Experiment, isPicked, isUnderWay, type PickedChange } from '../model/experiment.ts'
import { toShortRef } from '../model/ids.ts'
import { getExperimentState } from '../report/experiment-state.ts'
import { isBehind, renderPickLine } from '../report/pull-request.ts'
import { describeNextTick } from '../report/resume-hint.ts'
import { renderStateSentence } from '../report/verdict-text.ts'
import { changeCampaign } from './context.ts'
import { REASON } from './pause.ts'
import { describeKeptChanges, findNamedExperiment, listLandedIds } from './subjects.ts'
import type { Verb } from './verb.ts'

export const pickVerb: Verb = {
  name: 'pick',
  group: 'more',
  summary: 'measure one kept change alone on the default branch, and open a pull request for it',
  access: 'write',
  arguments: [{ name: 'exp', summary: 'a kept experiment', required: true, subject: true }],
  options: [REASON],
  examples: ['winnow pick exp-007', 'winnow pick exp-007 --dry-run'],
  comment: { options: ['message'] },
  run: call =>
    changeCampaign(call, async ({ campaignContext, dryRun }, campaign) => {
      const named = findNamedExperiment(campaign, call.given.positionals[0] ?? '')
      // On the pull request of a picked change, the command refers to the original change.
      const experiment = isPicked(named) ? (campaign.experiments[named.picks] ?? named) : named
      const earlier = describeEarlierPick(campaign, experiment)
      if (earlier !== null) {
        if (dryRun !== null) dryRun.printed = true
        return call.terminal.out(earlier)
      }
      requireKept(campaign, experiment)
      const { id } = experiment
      const reason = call.given.text('message') ?? `requested by ${campaignContext.by.actor}`
      await recordEvents(campaignContext, [{ kind: 'steered', action: 'pick', experiment: id, reason }])
      if (dryRun === null) call.terminal.out(describePickTime(campaign, id))
    }),
}

/** A repeated pick is answered with the state of the first. */
function describeEarlierPick(campaign: Campaign, { id }: Experiment): string | null {
  const { picks, steered } = campaign
  if (!listLandedIds(campaign).includes(id)) return null
  if (steered.some(({ action, experiment }) => action === 'pick' && experiment === id))
    return `the pick of ${id} was requested already: ${describeNextTick(campaign)} measures it.`
  const mine = Object.values(picks).filter(pick => pick.picks === id)
  const current = mine.findLast(pick => pick.pick_end === 'merged' || isCurrent(campaign, pick))
  return current === undefined ? null : renderPickLine(campaign, current)
}

/** The pull request is not closed, and its base is the current default branch of the campaign. */
function isCurrent(campaign: Campaign, pick: PickedChange): boolean {
  return isUnderWay(pick) || pick.status === 'deferred' || (!pick.closed && !isBehind(campaign, pick))
}

function requireKept(campaign: Campaign, experiment: Experiment): void {
  const { id, purpose } = experiment
  const kept = listLandedIds(campaign)
  const fix = describeKeptChanges(kept)
  const into = toShortRef(campaign.default_branch)
  if (kept.includes(id) && purpose === 'revert') {
    throw new UserError(`${id} reverts a change that ${into} never had from winnow, so it cannot be picked`, {
      fix,
    })
  }
  if (!kept.includes(id)) {
    const before = campaign.landings.some(landing => landing.experiment === id)
    const why = before
      ? `${id} was reverted, so it cannot be picked`
      : `${id} was not kept. ${renderStateSentence(getExperimentState(campaign, experiment))}`
    throw new UserError(why, { fix })
  }
  const { stop_code: code, status } = campaign
  if (status === 'stopped' && code === 'merged')
    throw new UserError(`the campaign was merged, so ${into} has ${id} already`)
}

function describePickTime(campaign: Campaign, id: string): string {
  const { status, name } = campaign
  const then = `${describeNextTick(campaign)} measures ${id} on its own, as one commit on the default branch, and opens a pull request for it.`
  return status === 'paused'
    ? `Noted, but campaign ${name} is paused: after winnow resume, ${then}`
    : toSentenceCase(then)
}
