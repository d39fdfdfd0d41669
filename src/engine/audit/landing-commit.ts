import type { Commit } from '../../git/commit-object.ts'
import type { LedgerEvent } from '../../model/event.ts'
import {
  type LandingMessage,
  renderEarlierLandingMessages,
  getMergedTip,
  renderLandingMessage,
  getLinkedPull,
  toSeconds,
  parseTrailers,
} from '../../model/landing.ts'
import { isSingleMachineOrder } from '../../model/order.ts'
import type { LandedVerdict } from './evidence.ts'
import { listAbsentCommits, type IncumbentStep } from './incumbent-step.ts'

type LandingMergedEvent = LedgerEvent<'merged'>

/** The commit of a landing holds nothing but what its events say: made again from them it is the same commit. */
export async function findLandingCommitGaps(
  step: IncumbentStep,
  merged: LandingMergedEvent,
  verdict: LandedVerdict,
): Promise<string[]> {
  const { place, from, to } = step
  const commit = await place.repository.commit(to.commit)
  const words = buildLandingWords(step, merged, verdict)
  if (merged.via !== undefined) {
    const wrong = [
      ...findForgeMergeGaps(commit, from.commit, merged, words),
      ...(await findResultsGaps(step, merged)),
    ]
    return wrong.slice(0, 1)
  }
  const tip = getMergedTip(step.campaign.experiments[merged.experiment], merged)
  const parents = findParentGaps(commit, from.commit, tip)
  if (parents.length > 0) return parents
  const results = await findResultsGaps(step, merged)
  if (results.length > 0) return results
  const earlier = renderEarlierLandingMessages(words).find(each => each === commit.message)
  const message = earlier ?? renderLandingMessage(words)
  const trailers = findTrailerGaps(commit.message, message)
  if (trailers.length > 0) return trailers
  const { tree } = to
  const again = await place.repository.writeCommit({
    tree,
    parents: commit.parents,
    message,
    date: toSeconds(verdict.event.at),
  })
  return again === to.commit ? [] : [`made again from event ${verdict.event.seq} it would be ${again}`]
}

/**
 * A commit that the forge or a person made cannot be made again: whose it is and when it was made proves nothing. It
 * has to be one commit on the incumbent that brings nothing but the measured head, and to name no other verdict.
 */
function findForgeMergeGaps(
  { parents, message }: Commit,
  first: string,
  { head, via }: LandingMergedEvent,
  words: LandingMessage,
): string[] {
  if (parents[0] !== first) return [`its first parent is ${parents[0] ?? 'none'}, not the incumbent ${first}`]
  const other = parents.slice(1).find(parent => parent !== head)
  if (other !== undefined) return [`it also merges ${other}, which is not the measured head ${head}`]
  // A person need not say anything of it, but nothing that is not so.
  return findTrailerGaps(message, renderLandingMessage(words), via === 'api')
}

function findParentGaps({ parents }: Commit, first: string, second: string): string[] {
  if (parents[0] !== first) return [`its first parent is ${parents[0] ?? 'none'}, not the incumbent ${first}`]
  if (parents[1] !== second || parents.length !== 2)
    return [`its parents after the first are ${parents.slice(1).join(', ') || 'none'}, not ${second} alone`]
  return []
}

/** One commit on the measured head that adds the results file and nothing else. */
async function findResultsGaps({ place }: IncumbentStep, merged: LandingMergedEvent): Promise<string[]> {
  const { results, head, experiment } = merged
  if (results === null) return []
  const { repository, name } = place
  const absent = await listAbsentCommits(place, [results, head])
  if (absent.length > 0) return absent
  const { parents } = await repository.commit(results)
  if (parents.length !== 1 || parents[0] !== head)
    return [`its results commit ${results} is not one commit on the measured head ${head}`]
  const path = `.winnow/results/${name}/${experiment}/results.yaml`
  const changed = await repository.diff(head, results)
  const other = changed.find(entry => entry.path !== path || entry.newMode !== '100644')
  if (other) return [`its results commit ${results} also changes ${other.path}`]
  return changed.length === 1 ? [] : [`its results commit ${results} adds no ${path}`]
}

function buildLandingWords(
  step: IncumbentStep,
  merged: LandingMergedEvent,
  verdict: LandedVerdict,
): LandingMessage {
  const { place, campaign } = step
  const { event, sha256, order, spec_sha256 } = verdict
  return {
    spec: place.name,
    spec_sha256,
    experiment: merged.experiment,
    hypothesis: campaign.experiments[merged.experiment]?.hypothesis ?? '',
    pull: getLinkedPull(campaign.host, merged.pull),
    reason: event.reason,
    decided: { seq: event.seq, sha256 },
    single_machine: order !== null && isSingleMachineOrder(order.order),
  }
}

function findTrailerGaps(found: string, expected: string, all = true): string[] {
  const [has, wants] = [parseTrailers(found), parseTrailers(expected)]
  return [...new Set([...(all ? wants.keys() : []), ...has.keys()])].flatMap(name => {
    const [said, value] = [has.get(name) ?? 'nothing', wants.get(name) ?? 'nothing']
    return said === value ? [] : [`its trailer ${name} says ${said}, the ledger ${value}`]
  })
}
