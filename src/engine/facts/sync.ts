import { parseSpec } from '../../spec/parse.ts'
import { getParseOptions } from '../../spec/recorded-spec.ts'
import type { CampaignLocation } from '../../spec/unread-keys.ts'
import { listPlannedFeatures } from '../../spec/unsupported.ts'
import { UserError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import { hashSha256 } from '../../model/canonical.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { ExperimentId, Oid, Point } from '../../model/ids.ts'
import type { SyncFacts } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'
import { describeRename } from '../same-branches.ts'
import { isUnread } from './unread-changes.ts'
import { computeTreeHarness } from './harness.ts'

export interface SyncRequest {
  repository: Repository
  campaign: Campaign
  spec: Spec
  defaultTip: Point
  where: CampaignLocation
  /** Asked only where another spec comes with it. */
  isPrivate?: (() => Promise<boolean>) | undefined
  /** On the optimize branch already: a merge of just these two by a person. */
  byHand?: Point | undefined
}

/**
 * Whether the optimize branch is one merge ahead, of the incumbent with a commit of the default branch, which may
 * have moved on since.
 */
export async function findManualMerge(
  repository: Repository,
  { incumbent }: Pick<Campaign, 'incumbent'>,
  { optimizeTip, defaultTip }: { optimizeTip: Point | null; defaultTip: Point },
): Promise<{ byHand: Point; defaultTip: Point } | null> {
  if (optimizeTip === null || optimizeTip.commit === incumbent.commit) return null
  const { parents } = await repository.commit(optimizeTip.commit)
  const [first, second] = parents
  if (parents.length !== 2 || first !== incumbent.commit || second === undefined) return null
  if (!(await repository.isAncestor(second, defaultTip.commit))) return null
  return { byHand: optimizeTip, defaultTip: { commit: second, tree: (await repository.commit(second)).tree } }
}

/** null while the default branch is where it was when it was last merged in. */
export async function readSyncFacts(question: SyncRequest): Promise<SyncFacts | null> {
  const { repository, campaign, defaultTip } = question
  if (campaign.status === 'none' || defaultTip.commit === campaign.default_tip) return null
  const tip = defaultTip.commit
  const merged = await repository.mergeTree(campaign.incumbent.commit, tip)
  const ruler = await readSyncRuler(question)
  if (!merged.clean) {
    const changed = 'parsed' in ruler && ruler.changed ? { spec: ruler.parsed } : {}
    return { result: 'conflict', tip, paths: merged.conflicts, ...changed }
  }
  if ('message' in ruler) return { result: 'bad-spec', tip, message: ruler.message }
  const to = { commit: await writeSyncCommit(question, merged.tree), tree: merged.tree }
  const harness = await computeTreeHarness(repository, ruler.parsed, merged.tree)
  const { byHand } = question
  const unread =
    harness === campaign.harness &&
    (await isUnread(repository, ruler.parsed, { from: campaign.incumbent.tree, to: to.tree }))
  return {
    result: 'clean',
    tip,
    tipTree: defaultTip.tree,
    holds: await findContainedLandings(repository, campaign, tip),
    to,
    spec: ruler,
    harness,
    unread,
    ...(byHand?.tree === to.tree ? { byHand } : {}),
  }
}

/** Kept experiments whose merges are in the history of a commit: with one of them, it has all before it. */
export async function findContainedLandings(
  repository: Pick<Repository, 'isAncestor'>,
  { landings }: Pick<Campaign, 'landings'>,
  commit: Oid,
): Promise<ExperimentId[]> {
  let [held, unknown] = [0, landings.length]
  while (held < unknown) {
    const middle = Math.floor((held + unknown) / 2)
    const landing = landings[middle]
    if (landing !== undefined && (await repository.isAncestor(landing.commit, commit))) held = middle + 1
    else unknown = middle
  }
  return landings.slice(0, held).map(({ experiment }) => experiment)
}

/** The commit of the default branch whose merge is being measured: that is finished before a later one is looked at. */
export async function findTipInProgress(
  repository: Repository,
  { orders, alerts }: Pick<Campaign, 'orders' | 'alerts'>,
  defaultTip: Point,
): Promise<Point> {
  const live = Object.values(orders).find(({ order }) => order.purpose === 'sync')
  const commit = live && (await repository.commit(live.order.pin.commit)).parents[1]
  const hasFailed = alerts.some(({ code, about }) => code === 'sync-failed' && about === commit)
  if (commit === undefined || hasFailed || !(await repository.isAncestor(commit, defaultTip.commit)))
    return defaultTip
  return { commit, tree: (await repository.commit(commit)).tree }
}

type SyncRuler = Extract<SyncFacts, { result: 'clean' }>['spec']

/** A spec amended by a person stays until the default branch's own file changes. */
async function readSyncRuler({
  repository,
  campaign,
  spec,
  defaultTip,
  where,
  isPrivate,
}: SyncRequest): Promise<SyncRuler | { message: string }> {
  const entry = await repository.findEntry(defaultTip.tree, campaign.spec_path)
  if (entry?.type !== 'blob') return { message: `${campaign.spec_path} is gone` }
  const yaml = (await repository.blob(entry.oid)).toString('utf8')
  const changed = hashSha256(yaml) !== campaign.default_spec_sha256
  if (!changed) return { yaml: campaign.spec_yaml, sha256: campaign.spec_sha256, changed, parsed: spec }
  try {
    const hidden = await isPrivate?.()
    const placed = hidden === undefined ? campaign : { ...campaign, private_repository: hidden }
    const parsed = parseSpec(yaml, getParseOptions(placed))
    const missing = listPlannedFeatures(parsed.spec, where)
    if (missing.length > 0) return { message: missing.join(' ') }
    const now = describeRename({ name: campaign.name, prefix: spec.branches.prefix }, parsed.spec)
    if (now !== null) return { message: now }
    const ruler = { yaml, sha256: parsed.sha256, changed, parsed: parsed.spec }
    return hidden === undefined ? ruler : { ...ruler, private: hidden }
  } catch (error) {
    if (error instanceof UserError) return { message: error.message }
    throw error
  }
}

/** The same incumbent and tip make the same commit, whoever looks and whenever. */
async function writeSyncCommit(
  { repository, campaign, defaultTip }: SyncRequest,
  tree: string,
): Promise<string> {
  const { committer } = await repository.commit(defaultTip.commit)
  const message = `optimize(${campaign.name}): sync with ${campaign.default_branch.replace('refs/heads/', '')}\n\nWinnow-Sync: ${defaultTip.commit}\n`
  const parents = [campaign.incumbent.commit, defaultTip.commit]
  return repository.writeCommit({ tree, parents, message, date: committer.date })
}
