import type { StopCode, StopRuleHit } from '../decide/stop-rules.ts'
import { findRaiseObstacle } from '../model/alerts.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { toShortRef } from '../model/ids.ts'
import { isMovable } from '../model/status.ts'
import { joinFirst, toSentenceCase } from '../model/text.ts'

type StoppedCampaign = Pick<
  Campaign,
  | 'status'
  | 'stop_code'
  | 'spec_path'
  | 'default_branch'
  | 'host'
  | 'experiments'
  | 'alerts'
  | 'incumbent'
  | 'landings'
  | 'steered'
  | 'restores'
  | 'sources'
>

/** After a limit of the spec, a used-up error budget, or a stop that requeued ideas. */
export function describeResumeHint(campaign: StoppedCampaign): string | null {
  const { status, stop_code: code } = campaign
  if (status !== 'stopped' || code === null) return null
  if (isMovable(code) || code === BUDGET_SPENT) return describeLimitRaise(campaign, code)
  return listRequeuedExperiments(campaign).length === 0 ? null : describeResumeCommand(campaign)
}

/** For a limit that has not stopped the campaign yet: campaigns stop only between rounds of a run. */
export function describeLimitReached(campaign: StoppedCampaign, { code, reason }: StopRuleHit): string {
  const nextRun = describeNextRun(campaign)
  return `its limit is reached: ${reason}. Nothing new is tried, and ${nextRun} stops it. To continue: ${describeLimitRaise(campaign, code)}`
}

function describeResumeCommand(campaign: StoppedCampaign): string {
  return `winnow resume: ${describeNextRun(campaign)} then measures the waiting ideas`
}

export function describeWaitingIdeas(campaign: StoppedCampaign, fresh: number): string | null {
  if (campaign.status !== 'stopped') return null
  const waiting = listRequeuedExperiments(campaign)
  const measured = waiting.filter(experiment => isAlreadyMeasured(campaign, experiment))
  const rest = waiting.filter(experiment => !measured.includes(experiment))
  const parts = [
    describeIdeaCount(rest, fresh, ['was not measured', 'were not measured']),
    describeIdeaCount(measured, 0, [`waits ${REMEASURED}`, `wait ${REMEASURED}`]),
    describeReverts(campaign),
    describeRestores(campaign),
  ].filter(part => part !== null)
  if (parts.length === 0) return null
  return `${parts.join('. ')}. To continue, ${describeResumeHint(campaign) ?? describeResumeCommand(campaign)}.`
}

function describeReverts({ steered, sources }: StoppedCampaign): string | null {
  const isOpened = (event: string) => Object.hasOwn(sources, `revert:${event}`)
  const reverts = steered.flatMap(({ action, event, experiment }) =>
    action === 'revert' && !isOpened(event) ? (experiment ?? []) : [],
  )
  if (reverts.length === 0) return null
  return `${reverts.join(', ')} ${reverts.length === 1 ? 'is' : 'are'} not reverted yet`
}

function describeRestores({ restores }: StoppedCampaign): string | null {
  const names = restores.map(({ artifact, version }) => `${artifact} v${version}`)
  if (names.length === 0) return null
  return `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} not restored yet`
}

const REMEASURED = 'to be measured on top of what was merged'

function describeIdeaCount(
  waiting: readonly Experiment[],
  fresh: number,
  [one, more]: readonly [string, string],
): string | null {
  const count = waiting.length + fresh
  if (count === 0) return null
  const named = joinFirst(
    waiting.map(({ id }) => id),
    MAX_LISTED,
  )
  const all = [named, fresh === 0 ? '' : `${fresh} new`].filter(part => part !== '').join(', ')
  return count === 1 ? `1 idea ${one} (${all})` : `${count} ideas ${more} (${all})`
}

/** Its measurement is against an earlier incumbent, because a better idea of its round was merged. */
function isAlreadyMeasured(
  { incumbent, landings }: Pick<StoppedCampaign, 'incumbent' | 'landings'>,
  { measured_tree, evidence }: Experiment,
): boolean {
  if (measured_tree === null || landings.length === 0) return false
  return evidence === null || evidence.base !== incumbent.tree
}

const MAX_LISTED = 6

function listRequeuedExperiments({ experiments }: Pick<StoppedCampaign, 'experiments'>): Experiment[] {
  return Object.values(experiments).filter(({ status }) => status === 'queued')
}

/** The error budget is spent for good. Raising a limit afterwards leaves nothing to test with. */
const BUDGET_SPENT = 'level_used_up' satisfies StopCode

export function describeProposedIdeas(campaign: StoppedCampaign, count: number): string {
  const [what, it, waits] =
    count === 1 ? ['it', 'an experiment', 'it waits'] : ['them', 'experiments', 'they wait']
  if (campaign.status === 'paused') return `The campaign is paused, and ${waits} for winnow resume.`
  if (campaign.status === 'stopped')
    return `The campaign is stopped, and ${waits}. To continue, ${describeResumeHint(campaign) ?? describeResumeCommand(campaign)}.`
  return `${toSentenceCase(describeNextTick(campaign))} makes ${what} ${it}.`
}

/** Null unless the campaign is stopped. */
export function describeWaitWhenStopped({
  status,
  stop_code,
}: Pick<Campaign, 'status' | 'stop_code'>): string | null {
  if (status !== 'stopped') return null
  if (stop_code === BUDGET_SPENT) return 'another campaign'
  if (stop_code === 'target_reached') return 'a further target'
  return isMovable(stop_code ?? '') ? `a raised ${getLimitKey(stop_code ?? '')}` : '`winnow resume`'
}

export function describeLimitRaise(
  campaign: StoppedCampaign,
  code: string,
  obstacle: string | null = findRaiseObstacle(campaign),
): string {
  const { spec_path, default_branch } = campaign
  if (code === BUDGET_SPENT) {
    const again =
      listRequeuedExperiments(campaign).length === 0 ? '' : '; propose the waiting ideas there again'
    return `merge the kept changes and run winnow archive: the next campaign has an error budget of its own${again}`
  }
  if (!isMovable(code))
    return 'no setting of the spec changes that: run winnow archive, then start a new campaign'
  const where = `in ${spec_path} on ${toShortRef(default_branch)}`
  const raise = `${describeLimit(code)} ${where}: ${describeNextRun(campaign)} then continues`
  return obstacle === null ? raise : `${raise}. Fix this first: ${obstacle}`
}

function describeLimit(code: string): string {
  if (code === 'target_reached') return 'set a further target'
  const counted = code === 'max_hours' ? ' (hours count from the start of the campaign)' : ''
  return `raise ${getLimitKey(code)}${counted}`
}

/** Limits that are not below `stopping`. */
const LIMIT_KEYS = new Map([
  ['max_judge_cost_usd', 'metric.judge.max_total_cost_usd'],
  ['epochs', 'epochs.count'],
])

function getLimitKey(code: string): string {
  return LIMIT_KEYS.get(code) ?? `stopping.${code}`
}

// Next run

type HostedCampaign = Pick<Campaign, 'host'>

export function describeNextRun({ host }: HostedCampaign): string {
  return host === 'github' ? 'the next run on GitHub' : 'the next winnow run'
}

/** Like `describeNextRun`, where no measurement is needed. */
export function describeNextTick(campaign: HostedCampaign): string {
  return campaign.host === 'github' ? describeNextRun(campaign) : 'the next winnow tick or run'
}

export function describeNextMeasurement({ host }: HostedCampaign): string {
  return host === 'github' ? 'The next run on GitHub measures.' : 'winnow run measures.'
}
