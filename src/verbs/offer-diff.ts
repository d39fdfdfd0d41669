import { requireCampaign } from '../engine/session.ts'
import { submit } from '../engine/submit.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import { canonicalJson, sha256 } from '../model/canonical.ts'
import { ideaName } from '../model/fold-backlog.ts'
import type { Scene } from './at-campaign.ts'
import type { Call } from './call.ts'
import { ideaBody } from './idea-block.ts'
import { ideaNamed } from './idea-named.ts'
import type { OwnDiff } from './own-diff.ts'

/** Whoever measures takes it next; the same files on the same incumbent have the same branch. */
export async function offer(
  { given }: Call,
  { place }: Scene,
  { campaign, diff }: { campaign: Campaign; diff: OwnDiff },
): Promise<string> {
  const { commit, hypothesis: title } = diff
  const idea = ideaGiven(given, campaign)
  const body = ideaBody({
    hypothesis: title,
    category: given.text('category') ?? idea?.category,
    priority: 'high',
    required_deps: [...(idea?.required_deps ?? []), ...given.texts('needs')],
    family: given.text('family') ?? idea?.family ?? undefined,
    idea: idea === null ? undefined : ideaName(idea),
  })
  const identity = canonicalJson([diff.head, diff.tree, campaign.incumbent.commit])
  const name = `try-${sha256(identity).slice(0, 12)}`
  return (await submit(place, { commit, from: null, name, title, body })).branch
}

function ideaGiven(given: Call['given'], campaign: Campaign): BacklogIdea | null {
  const name = given.text('idea')
  return name === undefined ? null : ideaNamed(campaign, name)
}

/** What was written down says what it is, where nothing else does. */
export async function wordsOfIdea({ given }: Call, { campaign, place }: Scene): Promise<string | undefined> {
  if (given.text('idea') === undefined || !campaign.started) return undefined
  return ideaGiven(given, (await requireCampaign(place)).loaded.campaign)?.hypothesis
}
