import type { Commit } from '../../git/commit-object.ts'
import type { LedgerEvent } from '../../model/event.ts'
import {
  type LandingWords,
  earlierLandingMessages,
  getMergedTip,
  landingMessage,
  pullInMessage,
  secondsOf,
  trailersOf,
} from '../../model/landing.ts'
import { onSingleMachine } from '../../model/order.ts'
import type { LandedVerdict } from './evidence.ts'
import { absentCommits, type IncumbentStep } from './incumbent-step.ts'

type Merged = LedgerEvent<'merged'>

/** The commit of a landing holds nothing but what its events say: made again from them it is the same commit. */
export async function landingCommitGaps(
  step: IncumbentStep,
  merged: Merged,
  verdict: LandedVerdict,
): Promise<string[]> {
  const { place, from, to } = step
  const commit = await place.repository.commit(to.commit)
  const words = wordsOf(step, merged, verdict)
  if (merged.via !== undefined) {
    const wrong = [...elsewhereGaps(commit, from.commit, merged, words), ...(await resultsGaps(step, merged))]
    return wrong.slice(0, 1)
  }
  const tip = getMergedTip(step.campaign.experiments[merged.experiment], merged)
  const parents = parentGaps(commit, from.commit, tip)
  if (parents.length > 0) return parents
  const results = await resultsGaps(step, merged)
  if (results.length > 0) return results
  const earlier = earlierLandingMessages(words).find(each => each === commit.message)
  const message = earlier ?? landingMessage(words)
  const trailers = trailerGaps(commit.message, message)
  if (trailers.length > 0) return trailers
  const { tree } = to
  const again = await place.repository.writeCommit({
    tree,
    parents: commit.parents,
    message,
    date: secondsOf(verdict.event.at),
  })
  return again === to.commit ? [] : [`made again from event ${verdict.event.seq} it would be ${again}`]
}

/**
 * A commit that the forge or a person made cannot be made again: whose it is and when it was made proves nothing. It
 * has to be one commit on the incumbent that brings nothing but the measured head, and to name no other verdict.
 */
function elsewhereGaps(
  { parents, message }: Commit,
  first: string,
  { head, via }: Merged,
  words: LandingWords,
): string[] {
  if (parents[0] !== first) return [`its first parent is ${parents[0] ?? 'none'}, not the incumbent ${first}`]
  const other = parents.slice(1).find(parent => parent !== head)
  if (other !== undefined) return [`it also merges ${other}, which is not the measured head ${head}`]
  // A person need not say anything of it, but nothing that is not so.
  return trailerGaps(message, landingMessage(words), via === 'api')
}

function parentGaps({ parents }: Commit, first: string, second: string): string[] {
  if (parents[0] !== first) return [`its first parent is ${parents[0] ?? 'none'}, not the incumbent ${first}`]
  if (parents[1] !== second || parents.length !== 2)
    return [`its parents after the first are ${parents.slice(1).join(', ') || 'none'}, not ${second} alone`]
  return []
}

/** One commit on the measured head that adds the results file and nothing else. */
async function resultsGaps({ place }: IncumbentStep, merged: Merged): Promise<string[]> {
  const { results, head, experiment } = merged
  if (results === null) return []
  const { repository, name } = place
  const absent = await absentCommits(place, [results, head])
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

function wordsOf(step: IncumbentStep, merged: Merged, verdict: LandedVerdict): LandingWords {
  const { place, campaign } = step
  const { event, sha256, order, spec_sha256 } = verdict
  return {
    spec: place.name,
    spec_sha256,
    experiment: merged.experiment,
    hypothesis: campaign.experiments[merged.experiment]?.hypothesis ?? '',
    pull: pullInMessage(campaign.host, merged.pull),
    reason: event.reason,
    decided: { seq: event.seq, sha256 },
    single_machine: order !== null && onSingleMachine(order.order),
  }
}

function trailerGaps(found: string, expected: string, all = true): string[] {
  const [has, wants] = [trailersOf(found), trailersOf(expected)]
  return [...new Set([...(all ? wants.keys() : []), ...has.keys()])].flatMap(name => {
    const [said, value] = [has.get(name) ?? 'nothing', wants.get(name) ?? 'nothing']
    return said === value ? [] : [`its trailer ${name} says ${said}, the ledger ${value}`]
  })
}
