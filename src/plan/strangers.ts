import { isAwaitingPermission, formatPermissionCommand } from '../model/permission.ts'
import type { EventDraft } from '../model/event.ts'
import type { Experiment } from '../model/experiment.ts'
import { listExperiments } from '../model/experiments.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { PlanStep } from './action.ts'
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
