import type { Repository } from '../../git/repository.ts'
import type { Campaign, Landing } from '../../model/campaign.ts'
import type { EventId } from '../../model/ids.ts'
import type { RevertFacts } from '../../plan/world.ts'

/** What taking a landing back would make of the incumbent, for every landing a person asked to take back. */
export async function readRevertFacts(
  repository: Repository,
  campaign: Campaign,
): Promise<Map<EventId, RevertFacts>> {
  const facts = new Map<EventId, RevertFacts>()
  for (const wish of campaign.steered) {
    if (wish.action !== 'revert') continue
    const landing = campaign.landings.find(
      ({ experiment, reverted }) => experiment === wish.experiment && reverted === null,
    )
    if (landing) facts.set(wish.event, await mergeWithoutLanding(repository, campaign, landing))
  }
  return facts
}

/** A commit after the landing with the tree before it, merged with the incumbent: the merge undoes just that. */
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
