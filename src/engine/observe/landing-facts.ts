import type { Repository } from '../../git/repository.ts'
import type { Campaign, Landing } from '../../model/campaign.ts'
import type { EventId, ExperimentId, Oid, Point } from '../../model/ids.ts'
import { parseTrailers } from '../../model/landing.ts'
import { neutralizeMentions, toOneLine } from '../../model/text.ts'
import type { HoldoutFacts, PickFacts, RevertFacts, World } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'
import { parseHoldoutSource } from '../../spec/spec-facts.ts'
import { readPoint } from '../campaign/context.ts'
import { findForeignRefusal } from './candidate-facts.ts'

interface PickLookup {
  repository: Repository
  memory: { picks: Map<string, PickFacts> }
  campaign: Campaign
}

/** Uses the tip that the campaign has synced: a newer one may have another harness. */
export async function readPickFacts(lookup: PickLookup): Promise<Map<string, PickFacts>> {
  const { campaign, memory } = lookup
  const found = new Map<string, PickFacts>()
  const used = new Map<string, PickFacts>()
  for (const { by, of } of listWantedPicks(campaign)) {
    const landing = campaign.landings.find(
      ({ experiment, reverted }) => experiment === of && reverted === null,
    )
    if (landing === undefined) continue
    const key = `${campaign.default_tip} ${landing.commit}`
    const facts = memory.picks.get(key) ?? (await buildPick(lookup, landing))
    used.set(key, facts)
    found.set(by, facts)
  }
  memory.picks = used
  return found
}

function listWantedPicks({ steered, picks }: Campaign): { by: string; of: ExperimentId }[] {
  const wishes = steered.filter(({ action }) => action === 'pick')
  const open = Object.values(picks).filter(({ closed }) => !closed)
  return [
    ...wishes.map(({ event: by, experiment: of }) => ({ by, of })),
    ...open.map(({ id: by, picks: of }) => ({ by, of })),
  ]
}

/** A merge of parentless commits, with the tree before the landing as base, ignores every other change. */
async function buildPick({ repository, campaign }: PickLookup, landing: Landing): Promise<PickFacts> {
  const { commit, tree } = await readPoint(repository, campaign.default_tip)
  const { committer } = await repository.commit(commit)
  const writeSide = (of: Oid, parents: Oid[]) =>
    repository.writeCommit({ tree: of, parents, message: 'apart\n', date: committer.date })
  const before = await writeSide(landing.base.tree, [])
  const merged = await repository.mergeTree(
    await writeSide(tree, [before]),
    await writeSide(landing.tree, [before]),
  )
  const facts = { landing: landing.experiment, base: { commit, tree } }
  if (!merged.clean) return { ...facts, result: { conflict: merged.conflicts } }
  if (merged.tree === tree) return { ...facts, result: { present: true } }
  const made = await repository.writeCommit({
    tree: merged.tree,
    parents: [commit],
    message: formatPickMessage(campaign, landing),
    date: committer.date,
  })
  return { ...facts, result: { made: { commit: made, tree: merged.tree } } }
}

function formatPickMessage({ name, experiments }: Campaign, { experiment, commit }: Landing): string {
  const hypothesis = neutralizeMentions(toOneLine(experiments[experiment]?.hypothesis ?? experiment, 120))
  const trailers = [`Winnow-Pick: ${experiment}`, `Winnow-Landing: ${commit}`]
  return [`optimize(${name}): ${hypothesis}`, '', `${experiment} alone.`, '', ...trailers, ''].join('\n')
}

export async function readRevertFacts(
  repository: Repository,
  campaign: Campaign,
): Promise<Map<EventId, RevertFacts>> {
  const facts = new Map<EventId, RevertFacts>()
  for (const request of campaign.steered) {
    if (request.action !== 'revert') continue
    const landing = campaign.landings.find(
      ({ experiment, reverted }) => experiment === request.experiment && reverted === null,
    )
    if (landing) facts.set(request.event, await mergeWithoutLanding(repository, campaign, landing))
  }
  return facts
}

/** A commit after the landing with the tree before it: merging it undoes exactly that landing. */
async function mergeWithoutLanding(
  repository: Repository,
  campaign: Campaign,
  landing: Landing,
): Promise<RevertFacts> {
  const { committer } = await repository.commit(landing.commit)
  const undone = await repository.writeCommit({
    tree: landing.base.tree,
    parents: [landing.commit],
    message: `revert ${landing.experiment}\n`,
    date: committer.date,
  })
  const merged = await repository.mergeTree(campaign.incumbent.commit, undone)
  if (!merged.clean) return { landing: landing.experiment, result: { conflict: merged.conflicts } }
  const { tree } = merged
  return {
    landing: landing.experiment,
    result: { tree, measuredIn: campaign.proven[tree] ?? null, head: undone },
  }
}

/** Resolved only when a measured experiment may land now. */
export async function readHoldoutFacts(
  repository: Repository,
  memory: { holdout: HoldoutFacts | null },
  campaign: Campaign,
  spec: Spec,
): Promise<HoldoutFacts | null> {
  const { holdout } = spec.measurement
  const { round, experiments } = campaign
  const canLandNow = round?.open && round.members.some(id => experiments[id]?.status === 'measured')
  if (holdout === null || !canLandNow) return null
  memory.holdout ??= await resolveHoldoutSource(repository, holdout.source)
  return memory.holdout
}

async function resolveHoldoutSource(repository: Repository, source: string | null): Promise<HoldoutFacts> {
  const named = source === null ? null : parseHoldoutSource(source)
  if (named === null) return { source: null }
  if ('environment' in named) return { source: named }
  const { ref } = named
  const commit = (await repository.remoteRefs([ref])).refs.get(ref)
  if (commit === undefined) return { missing: `there is no ${ref}` }
  await repository.fetch([{ ref, oid: commit }])
  if (!(await repository.isCommit(commit))) return { missing: `${ref} is no commit` }
  return { source: { ref, ...(await readPoint(repository, commit)) } }
}

export async function readForeignFacts(
  repository: Repository,
  { incumbent }: Campaign,
  spec: Spec,
  tip: Point | null,
): Promise<World['foreign']> {
  if (tip === null || tip.commit === incumbent.commit) return null
  const change = { from: incumbent.tree, to: tip.tree }
  return { tip, refusal: await findForeignRefusal(repository, spec, change) }
}

/** Null when branch and ledger agree, or when the campaign no longer needs the branch. */
export async function readBranchMismatch(
  repository: Repository,
  { incumbent, stop_code }: Campaign,
  { optimizeTip, defaultTip }: { optimizeTip: Point | null; defaultTip: Point },
): Promise<World['branchMismatch']> {
  if (optimizeTip?.commit === incumbent.commit) return null
  const isBehind = optimizeTip === null || (await repository.isAncestor(optimizeTip.commit, incumbent.commit))
  if (!isBehind) return { is: 'foreign', tip: optimizeTip }
  const isMerged =
    stop_code === 'merged' ||
    defaultTip.tree === incumbent.tree ||
    (await repository.isAncestor(incumbent.commit, defaultTip.commit))
  if (isMerged) return null
  return optimizeTip === null ? { is: 'gone' } : { is: 'rewound', tip: optimizeTip }
}

/** Returns a commit that may be the external merge of a pending landing. */
export async function readForeignLanding(
  repository: Repository,
  { landing, incumbent }: Campaign,
  tip: Point | null,
): Promise<Pick<World, 'mergeCommit'>> {
  if (landing === null || tip === null || tip.commit === incumbent.commit) return {}
  const { parents, message } = await repository.commit(tip.commit)
  return { mergeCommit: { ...tip, parents, names: parseTrailers(message).get('Winnow-Ledger') ?? null } }
}
