import type { CampaignContext } from './place.ts'

/** The refs a look at the remote asks for: all of a campaign, and the branch it improves. */
export async function listRefs(place: CampaignContext) {
  return place.repository.remoteRefs([...listRefPatterns(place), `${place.refs.experiments}*`])
}

function listRefPatterns({ refs, defaultBranch }: CampaignContext): string[] {
  return [refs.optimize, refs.campaign, refs.state, refs.closed, refs.forge, defaultBranch]
}

/** Whether a look at the remote would have shown this ref. */
export function isListed(place: CampaignContext, ref: string): boolean {
  return ref.startsWith(place.refs.experiments) || listRefPatterns(place).includes(ref)
}
