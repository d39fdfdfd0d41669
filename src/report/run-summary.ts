import { formatProgress } from '../decide/progress.ts'
import type { Campaign } from '../model/campaign.ts'
import { buildCampaignRefs, toShortRef } from '../model/ids.ts'
import { toOneLine } from '../model/text.ts'
import type { PlanWaiting } from '../plan/action.ts'
import { renderKeptPackageLines } from './approval.ts'
import {
  buildCampaignResult,
  type CampaignResult,
  computeCampaignProgress,
  describeVerdictCounts,
  renderTally,
} from './campaign-result.ts'
import { toShortId } from './event-log.ts'
import { renderPersonalTasks } from './experiment-state.ts'
import { describeResumeHint, describeWaitingIdeas } from './resume-hint.ts'
import { formatCampaignCost, renderExperimentSentence } from './status.ts'
import { formatClock, formatTable } from './terminal.ts'
import { describeWaiting, listKeptExperiments } from './verdict-text.ts'

export function renderRunSummary(campaign: Campaign, waiting: PlanWaiting): string[] {
  const machine = describeSingleMachine(campaign)
  const ideas = describeWaitingIdeas(campaign, waiting.for === 'nothing' ? (waiting.ideas ?? 0) : 0)
  const progress = computeCampaignProgress(campaign)
  return [
    describeWaiting(waiting),
    ...(ideas === null ? [] : [ideas]),
    `${campaign.name}: ${renderTally(campaign)}; the incumbent is ${toShortId(campaign.incumbent.commit)}.`,
    ...(progress.is === 'nothing kept' ? [] : [`Since the baseline: ${formatProgress(progress)}.`]),
    ...(machine === null ? [] : [machine]),
  ]
}

interface ResultLocation {
  prefix: string
  /** Name of the remote in the user's repository; null if winnow stores everything in that repository. */
  remote: string | null
  /** The optimize branch differs from the ledger, so it must not be merged. */
  astray?: boolean
}

const MAX_LISTED = 5

export function renderFinalSummary(campaign: Campaign, where: ResultLocation): string[] {
  const result = buildCampaignResult(campaign)
  const rows = [
    ...labelRows('verdicts', describeVerdictCounts(campaign)),
    ...labelRows(
      'kept',
      ...limitSummaryLines(result.improvements.map(({ id }) => describeKeptExperiment(campaign, id))),
    ),
    ...labelRows('packages', ...limitSummaryLines(renderKeptPackageLines(campaign))),
    ...labelRows('waiting', ...limitSummaryLines(renderPersonalTasks(campaign))),
    ...labelRows('took', describeTimeTaken(campaign, result)),
    ...labelRows('to continue', describeResumeHint(campaign) ?? ''),
    ...labelRows('next', ...listNextSteps(campaign, result, where)),
  ]
  return ['', ...formatTable(rows)]
}

function labelRows(label: string, ...lines: readonly string[]): string[][] {
  return lines.filter(line => line !== '').map((line, index) => [index === 0 ? `  ${label}` : '', line])
}

function limitSummaryLines(lines: readonly string[]): string[] {
  const more = lines.length - MAX_LISTED
  return more > 0 ? [...lines.slice(0, MAX_LISTED), `and ${more} more`] : [...lines]
}

function describeKeptExperiment(campaign: Campaign, id: string): string {
  const experiment = campaign.experiments[id]
  if (experiment === undefined) return ''
  const sentence = toOneLine(renderExperimentSentence(campaign, experiment), 160).replace(/^Kept: /, '')
  return `${id}  ${sentence} (${toOneLine(experiment.hypothesis, 80)})`
}

function describeTimeTaken(campaign: Campaign, { duration_seconds, waited_seconds }: CampaignResult): string {
  const working = duration_seconds === null ? null : Math.max(0, duration_seconds - waited_seconds)
  const waited = waited_seconds < 1 ? '' : `, plus ${formatClock(waited_seconds)} waiting for other processes`
  const since = working === null ? [] : [`${formatClock(working)} since the campaign began${waited}`]
  return [...since, formatCampaignCost(campaign)].join(', ')
}

function listNextSteps(
  campaign: Campaign,
  { improvements }: CampaignResult,
  where: ResultLocation,
): string[] {
  const some = Object.keys(campaign.experiments)
  const last = improvements.at(-1)?.id ?? some.at(-1)
  const review =
    last === undefined
      ? []
      : [
          ['winnow status', 'every experiment'],
          [`winnow show ${last}`, 'its evidence'],
        ]
  const taken = campaign.incumbent.tree === campaign.reference.tree
  const take =
    improvements.length === 0 || taken || where.astray === true ? [] : listMergeSteps(campaign, where)
  return formatTable([...review, ...take, ...listFinishSteps(campaign)])
}

function listFinishSteps({ status, experiments }: Campaign): string[][] {
  if (status === 'stopped') return [['winnow archive', 'archive the campaign']]
  if (status === 'paused') return [['winnow resume', 'continue, once the cause of the pause is fixed']]
  if (Object.keys(experiments).length > 0) return [['winnow stop', 'end the campaign']]
  return [
    ['winnow try -m "…"', 'measure your uncommitted change'],
    ['winnow propose -m "…"', 'submit HEAD as an idea'],
  ]
}

function listMergeSteps({ name, reference }: Campaign, { prefix, remote }: ResultLocation): string[][] {
  const own = toShortRef(buildCampaignRefs(prefix, name).optimize)
  const branch = remote === null ? own : `${remote}/${own}`
  const fetch = remote === null ? '' : `git fetch ${remote} && `
  return [
    ['winnow audit', 'verify from git that everything was measured'],
    [`${fetch}git diff ${toShortId(reference.commit)}..${branch}`, 'what changed'],
    [`git merge ${branch}`, 'merge it'],
  ]
}

/** Discloses that no second machine has confirmed the kept changes (decision.md 3.3). */
export function describeSingleMachine(campaign: Pick<Campaign, 'experiments' | 'landings'>): string | null {
  const kept = listKeptExperiments(campaign)
  const single = kept.filter(({ single_machine }) => single_machine).length
  if (single === 0) return null
  const all = single === 1 ? 'The kept change was' : `All ${single} kept changes were`
  const which =
    single === kept.length ? all : `${single} of ${kept.length} kept changes ${single === 1 ? 'was' : 'were'}`
  return `${which} measured on a single machine: new builds replaced fresh runners, so effects specific to this machine are not averaged out.`
}
