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

// Permission to measure

/** Each head of an author without write access needs its own permission, before it runs on any machine. */
export function requestPermission(world: World): { steps: PlanStep[]; waiting: Set<ExperimentId> } {
  const { campaign, outsiders } = world
  const steps: PlanStep[] = []
  const waiting = new Set<ExperimentId>()
  for (const experiment of listExperiments(campaign)) {
    const { id, head, status, needs_permission, allowed_head } = experiment
    const author = outsiders.get(id)
    if (author === undefined || status !== 'queued' || head === null || allowed_head === head) continue
    waiting.add(id)
    if (author === null || needs_permission?.head === head) continue
    const cause = `asked at ${campaign.seq}`
    steps.push({
      step: 'event',
      draft: { kind: 'permission-requested', cause, experiment: id, head, author },
    })
  }
  return { steps, waiting }
}

/** The author without write access who pushed this head, allowed since or not; null if there is none. */
export function findOutsider(
  { outsiders }: Pick<World, 'outsiders'>,
  { id, head, needs_permission }: Pick<Experiment, 'id' | 'head' | 'needs_permission'>,
): string | null {
  return (
    outsiders.get(id) ??
    (needs_permission !== null && needs_permission.head === head ? needs_permission.author : null)
  )
}

/** A program proposed this head, or an author without write access pushed it. */
export function isByProgramOrOutsider(
  world: Pick<World, 'outsiders'>,
  experiment: Pick<Experiment, 'id' | 'head' | 'needs_permission' | 'source'>,
): boolean {
  return !PEOPLES_SOURCES.has(experiment.source.use) || findOutsider(world, experiment) !== null
}

/** Ideas that a person pushed, put into a folder of the spec or asked for. */
const PEOPLES_SOURCES: ReadonlySet<string> = new Set(['external', 'patch', 'revert', 'pick'])

/** An author could push a second commit with the same prefix after the review. */
const FULL_COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

interface PermissionRefusal {
  refused: string
  fix: string
}

/** The caller has checked that the person may give this permission. */
export function allowMeasure(
  campaign: Pick<World['campaign'], 'experiments'>,
  sha: string,
): Pick<EventDraft<'permission-granted'>, 'experiment' | 'head'> | PermissionRefusal {
  if (!FULL_COMMIT_ID.test(sha))
    return { refused: 'give the full commit id', fix: describePermissionCommand(campaign, sha) }
  const found = listExperiments(campaign).filter(({ status, head }) => status === 'queued' && head === sha)
  const [only, ...others] = found.filter(isAwaitingPermission)
  if (only === undefined || only.head === null) {
    const named = found[0]
    return {
      refused: named
        ? `${named.id} needs no permission`
        : `no experiment waits for permission at commit ${sha}`,
      fix: 'the comment on a waiting pull request shows the whole command',
    }
  }
  if (others.length > 0)
    return { refused: `${sha} is the head of several experiments`, fix: 'close all but one of them' }
  return { experiment: only.id, head: only.head }
}

/** Shows the whole command only if the prefix matches exactly one commit that waits. */
function describePermissionCommand(campaign: Pick<World['campaign'], 'experiments'>, sha: string): string {
  const all = listExperiments(campaign).filter(isAwaitingPermission)
  const [only, another] = all.filter(({ head }) => head?.startsWith(sha) === true)
  if (only === undefined || another !== undefined)
    return 'the comment on its pull request shows the whole command'
  return `review the change again, then ${formatPermissionCommand(only)}`
}

export function needsPermission(
  { campaign, outsiders }: Pick<World, 'campaign' | 'outsiders'>,
  id: ExperimentId,
): boolean {
  const experiment = campaign.experiments[id]
  return outsiders.has(id) && experiment?.status === 'queued' && experiment.allowed_head !== experiment.head
}

export function describeNeededPermissions({ campaign }: Pick<World, 'campaign'>): string | null {
  const waiting = listExperiments(campaign).filter(isAwaitingPermission)
  if (waiting.length === 0) return null
  const each = waiting.map(experiment => {
    const from = experiment.pull === null ? experiment.id : `${experiment.id} (#${experiment.pull})`
    return `${from} by ${experiment.needs_permission?.author}: ${formatPermissionCommand(experiment)}`
  })
  return `a person with write access must allow the measurement of ${each.join('; ')}`
}

// Measurements without isolation

/** Null where the measured change may land. */
export function explainUnisolated({ spec }: Pick<World, 'spec'>, member: RoundMember): string | null {
  const { experiment, measured } = member
  const { unisolated } = spec.merge
  if (measured === null || unisolated === 'allow' || experiment.purpose === 'revert') return null
  if (!measured.report.flags.includes('unisolated')) return null
  if (unisolated === 'deny') return 'it was measured without isolation, which merge.unisolated denies'
  const { head, needs_permission: needs, allowed_head } = experiment
  if (needs?.head !== head || allowed_head !== head) return null
  return `it was measured without isolation, and ${needs.author} has no write access (merge.unisolated)`
}

/** Null where such code may be measured, and while isolation is not known yet: the baseline tells. */
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

/** True if another commit of its author would be refused as well. */
export function isDeniedOutsider({ outcome, reason }: Pick<Experiment, 'outcome' | 'reason'>): boolean {
  return outcome === 'refused' && reason?.includes(`(${DENYING_KEY})`) === true
}
