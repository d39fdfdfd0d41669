import type { EventDraft } from '../model/event.ts'
import {
  type Experiment,
  formatPermissionCommand,
  isAwaitingPermission,
  listExperiments,
} from '../model/experiment.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { PlanStep } from './action.ts'
import type { RoundMember } from './judgement.ts'
import type { World } from './world.ts'

/**
 * Code of people who may not write here runs on nobody's machine before somebody who may has allowed exactly that
 * head; another head is another question.
 */
export function requestPermission(world: World): { steps: PlanStep[]; waiting: Set<ExperimentId> } {
  const { campaign, outsiders: strangers } = world
  const steps: PlanStep[] = []
  const waiting = new Set<ExperimentId>()
  for (const experiment of listExperiments(campaign)) {
    const { id, head, status, stranger, allowed_head } = experiment
    const author = strangers.get(id)
    if (author === undefined || status !== 'queued' || head === null || allowed_head === head) continue
    waiting.add(id)
    if (author === null || stranger?.head === head) continue
    const cause = `asked at ${campaign.seq}`
    steps.push({ step: 'event', draft: { kind: 'measure-asked', cause, experiment: id, head, author } })
  }
  return { steps, waiting }
}

/** Who brought this head without the right to write here, allowed since or not; null where nobody did. */
export function findOutsider(
  { outsiders: strangers }: Pick<World, 'outsiders'>,
  { id, head, stranger }: Pick<Experiment, 'id' | 'head' | 'stranger'>,
): string | null {
  return strangers.get(id) ?? (stranger !== null && stranger.head === head ? stranger.author : null)
}

/** A whole name: who brings a head could make another with the same beginning, and push that after it was looked at. */
const FULL_COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

interface PermissionRefusal {
  refused: string
  fix: string
}

/** What a person's word for one head is about, or why about nothing. Whether they may give it was asked before. */
export function allowMeasure(
  campaign: Pick<World['campaign'], 'experiments'>,
  sha: string,
): Pick<EventDraft<'measure-allowed'>, 'experiment' | 'head'> | PermissionRefusal {
  if (!FULL_COMMIT_ID.test(sha))
    return { refused: 'give all digits of the commit', fix: describePermissionCommand(campaign, sha) }
  const found = listExperiments(campaign).filter(({ status, head }) => status === 'queued' && head === sha)
  const [only, ...others] = found.filter(isAwaitingPermission)
  if (only === undefined || only.head === null) {
    const named = found[0]
    return {
      refused: named
        ? `${named.id} needs no permission`
        : `no experiment waits for permission at commit ${sha}`,
      fix: 'where one waits, the comment on its pull request shows the whole command',
    }
  }
  if (others.length > 0)
    return { refused: `${sha} is the head of several experiments`, fix: 'close all but one of them' }
  return { experiment: only.id, head: only.head }
}

/** The whole line to write, where it can be told which one was meant. */
function describePermissionCommand(campaign: Pick<World['campaign'], 'experiments'>, sha: string): string {
  const all = listExperiments(campaign).filter(isAwaitingPermission)
  const [only, another] = all.filter(({ head }) => head?.startsWith(sha) === true)
  if (only === undefined || another !== undefined)
    return 'the comment on its pull request shows the whole command'
  return `read the change once more, then ${formatPermissionCommand(only)}`
}

/** Whose turn cannot come, whoever is next. */
export function needsPermission(
  { campaign, outsiders: strangers }: Pick<World, 'campaign' | 'outsiders'>,
  id: ExperimentId,
): boolean {
  const experiment = campaign.experiments[id]
  return strangers.has(id) && experiment?.status === 'queued' && experiment.allowed_head !== experiment.head
}

/** Who waits for a word, and which word it is. */
export function describeNeededPermissions({ campaign }: Pick<World, 'campaign'>): string | null {
  const waiting = listExperiments(campaign).filter(isAwaitingPermission)
  if (waiting.length === 0) return null
  const each = waiting.map(experiment => {
    const from = experiment.pull === null ? experiment.id : `${experiment.id} (#${experiment.pull})`
    return `${from} by ${experiment.stranger?.author}: ${formatPermissionCommand(experiment)}`
  })
  return `permission to measure, from a person with write access: ${each.join('; ')}`
}

/** Why what was measured may not land, though its numbers are good; null where it may. */
export function explainUnisolated({ spec }: Pick<World, 'spec'>, member: RoundMember): string | null {
  const { experiment, measured } = member
  const { unisolated } = spec.merge
  if (measured === null || unisolated === 'allow' || experiment.purpose === 'revert') return null
  if (!measured.report.flags.includes('unisolated')) return null
  if (unisolated === 'deny') return 'it was measured without isolation, which merge.unisolated denies'
  const author = findUnallowedAuthor(experiment)
  return author && `it was measured without isolation, and ${author} has no write access (merge.unisolated)`
}

/** Who brought what was measured, if they had no right to and somebody who has allowed it. */
function findUnallowedAuthor({
  head,
  stranger,
  allowed_head: allowed,
}: RoundMember['experiment']): string | null {
  return stranger?.head === head && allowed === head ? stranger.author : null
}

/**
 * Why code of people without write access is not measured at all: it could not land, and machine time would be wasted. Null
 * where it may be measured, and where the campaign has not found out yet; its baseline tells.
 */
export function explainDeniedOutsiders({
  campaign,
  spec,
  outsidersDenied,
}: Pick<World, 'campaign' | 'spec' | 'outsidersDenied'>): string | null {
  if (outsidersDenied !== undefined) return outsidersDenied
  if (spec.merge.unisolated === 'allow') return null
  const { isolation } = spec.measurement
  if (isolation === 'uid') return null
  if (isolation !== 'none' && campaign.isolated[campaign.harness] !== false) return null
  const why = isolation === 'none' ? ' (measurement.isolation: none)' : ''
  return `this campaign measures without isolation${why}, so it measures no code of people without write access (${DENYING_KEY})`
}

const DENYING_KEY = 'merge.unisolated'

/** Whether another commit of its author would be refused as well. */
export function isDeniedOutsider({ outcome, reason }: Pick<Experiment, 'outcome' | 'reason'>): boolean {
  return outcome === 'refused' && reason?.includes(`(${DENYING_KEY})`) === true
}
