import { requireCampaign } from '../engine/session.ts'
import { submitIdea } from '../engine/submit.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import { toCanonicalJson, hashSha256 } from '../model/canonical.ts'
import { formatIdeaName } from '../model/fold-backlog.ts'
import type { CommandContext } from './at-campaign.ts'
import type { Call } from './call.ts'
import { renderIdeaBody } from './idea-block.ts'
import { findNamedIdea } from './idea-named.ts'
import type { OwnDiff } from './own-diff.ts'

/** Whoever measures takes it next; the same files on the same incumbent have the same branch. */
export async function proposeDiff(
  { given }: Call,
  { place }: CommandContext,
  { campaign, diff }: { campaign: Campaign; diff: OwnDiff },
): Promise<string> {
  const { commit, hypothesis: title } = diff
  const idea = findGivenIdea(given, campaign)
  const body = renderIdeaBody({
    hypothesis: title,
    category: given.text('category') ?? idea?.category,
    priority: 'high',
    required_deps: [...(idea?.required_deps ?? []), ...given.texts('needs')],
    family: given.text('family') ?? idea?.family ?? undefined,
    idea: idea === null ? undefined : formatIdeaName(idea),
  })
  const identity = toCanonicalJson([diff.head, diff.tree, campaign.incumbent.commit])
  const name = `try-${hashSha256(identity).slice(0, 12)}`
  return (await submitIdea(place, { commit, from: null, name, title, body })).branch
}

function findGivenIdea(given: Call['given'], campaign: Campaign): BacklogIdea | null {
  const name = given.text('idea')
  return name === undefined ? null : findNamedIdea(campaign, name)
}

/** What was written down says what it is, where nothing else does. */
export async function getGivenHypothesis(
  { given }: Call,
  { campaign, place }: CommandContext,
): Promise<string | undefined> {
  if (given.text('idea') === undefined || !campaign.started) return undefined
  return findGivenIdea(given, (await requireCampaign(place)).loaded.campaign)?.hypothesis
}
