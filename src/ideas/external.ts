import type { Campaign } from '../model/campaign.ts'
import { type Experiment, listExperiments, listSubjects } from '../model/experiment.ts'
import { formatIdeaName } from '../model/fold/proposers.ts'
import { buildCampaignRefs, type Oid, toShortRef } from '../model/ids.ts'
import { toSafeLine } from '../model/text.ts'
import type { Proposal, PullFacts } from '../plan/world.ts'
import { type PartialIdeaBlock, readPartialBlock, toIdea } from './idea-block.ts'

export interface ExternalFacts {
  campaign: Campaign
  /** First component of winnow's branches: `spec.branches.prefix`. */
  prefix: string
  /** Pull requests against the optimize branch. */
  pulls: readonly PullFacts[]
  /** Branches of the remote by short name, at least those below the experiments' prefix. */
  branches: ReadonlyMap<string, Oid>
}

/** A branch that a person pushed, with its pull request if it has one. */
export interface ExternalTip {
  branch: string
  head: Oid
  pull: PullFacts | null
}

/** Branches and open pull requests that are not experiments yet. Their heads must be fetched. */
export function listExternalTips(facts: ExternalFacts): ExternalTip[] {
  const { campaign, prefix, pulls, branches } = facts
  const refs = buildCampaignRefs(prefix, campaign.name)
  const own = new Set([refs.optimize, refs.campaign, refs.state, refs.closed].map(toShortRef))
  const experiments = listSubjects(campaign)
  const isFree = (branch: string, head: Oid): boolean =>
    !experiments.some(
      holder => holder.branch === branch && isBranchHeld(holder, toShortRef(refs.experiments), head),
    )

  const target = toShortRef(refs.optimize)
  const open = pulls.filter(
    ({ state, branch, base }) => state === 'open' && base === target && !own.has(branch),
  )
  const requested = open
    .filter(pull => !isKnownPull(campaign, pull) && isFree(pull.branch, pull.head))
    .map(pull => ({ branch: pull.branch, head: pull.head, pull }))
  const withPull = new Set(pulls.map(({ branch }) => branch))
  const pushed = [...branches]
    .filter(([branch]) => branch.startsWith(toShortRef(refs.experiments)) && !withPull.has(branch))
    .filter(([branch, head]) => isFree(branch, head))
    .filter(([branch, head]) => !Object.hasOwn(campaign.sources, formatBranchKey(branch, head)))
    .map(([branch, head]) => ({ branch, head, pull: null }))
  return [
    ...requested.toSorted((a, b) => a.pull.number - b.pull.number),
    ...pushed.toSorted((a, b) => (a.branch < b.branch ? -1 : 1)),
  ]
}

/**
 * A branch belongs to its experiment. After the experiment has ended, new commits on a person's branch are a
 * new idea. The experiment's own branch carries its results by then and is never one.
 */
function isBranchHeld(holder: Experiment, experiments: string, head: Oid): boolean {
  return holder.status !== 'ended' || holder.branch === `${experiments}${holder.id}` || holder.head === head
}

/**
 * A pull request is one idea until its experiment has ended. Reopened with another head it is a new idea;
 * with an earlier head it is not.
 */
function isKnownPull(campaign: Campaign, pull: PullFacts): boolean {
  const earlier = findPullExperiments(campaign, pull)
  if (earlier.some(({ status, head }) => status !== 'ended' || head === pull.head)) return true
  return Object.hasOwn(campaign.sources, formatPullKey(campaign, pull))
}

function formatPullKey(campaign: Campaign, pull: PullFacts): string {
  const key = `pull:${pull.number}`
  return findPullExperiments(campaign, pull).length === 0 ? key : `${key}@${pull.head}`
}

function findPullExperiments(campaign: Campaign, { number }: PullFacts): Experiment[] {
  return listExperiments(campaign).filter(({ pull }) => pull === number)
}

function formatBranchKey(branch: string, head: Oid): string {
  return `branch:${branch}@${head}`
}

/** `messages`: those of the head commits, which describe branches without a pull request. */
export function buildExternalProposals(facts: ExternalFacts, messages: ReadonlyMap<Oid, string>): Proposal[] {
  return listExternalTips(facts).map(tip => {
    const message = messages.get(tip.head) ?? ''
    const { fields, problem } = tip.pull
      ? readDescribedIdea(tip.pull.body, 'description')
      : readDescribedIdea(message, 'commit message')
    const fallbacks = [tip.pull?.title ?? '', message.split('\n', 1)[0] ?? '', `branch ${tip.branch}`]
    return {
      ...toIdea(fields, fallbacks.find(text => toSafeLine(text, 300) !== '') ?? ''),
      ...findCarriedIdea(facts.campaign, fields.idea),
      source: {
        use: 'external',
        key: tip.pull ? formatPullKey(facts.campaign, tip.pull) : formatBranchKey(tip.branch, tip.head),
      },
      learnings: problem,
      head: { commit: tip.head, base: facts.campaign.incumbent },
      branch: tip.branch,
      pull: tip.pull?.number ?? null,
    }
  })
}

/** Empty if the name matches no open idea: the work is measured all the same. */
function findCarriedIdea({ backlog }: Campaign, name: string | undefined): Pick<Proposal, 'carries'> {
  const found = backlog.find(idea => formatIdeaName(idea) === name && idea.status === 'open')
  return found === undefined ? {} : { carries: found.id }
}

const BLOCK = /^[ \t]*```[ \t]*winnow[ \t]*\n([\s\S]*?)^[ \t]*```[ \t]*$/m
const LONGEST_BLOCK = 10_000

/** An invalid block does not cost its author the experiment. The record says that it was not used. */
function readDescribedIdea(
  text: string,
  file: 'description' | 'commit message',
): { fields: PartialIdeaBlock; problem: string | null } {
  const body = text.replaceAll('\r\n', '\n')
  const block = BLOCK.exec(body)
  const yaml = block?.[1] ?? ''
  if (block === null) return { fields: {}, problem: null }
  const linesBefore = body.slice(0, body.indexOf(yaml, block.index)).split('\n').length - 1
  const read =
    yaml.length > LONGEST_BLOCK
      ? { ok: false as const, problem: `it has more than ${LONGEST_BLOCK} characters` }
      : readPartialBlock({ yaml, file, linesBefore })
  if (read.ok) return { fields: read.fields, problem: null }
  return { fields: {}, problem: `The winnow block of the ${file} was not used: ${read.problem}` }
}
