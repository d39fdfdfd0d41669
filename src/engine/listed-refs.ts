import type { Place } from './place.ts'

/** The refs a look at the remote asks for: all of a campaign, and the branch it improves. */
export async function listRefs(place: Place) {
  return place.repository.remoteRefs([...listed(place), `${place.refs.experiments}*`])
}

function listed({ refs, defaultBranch }: Place): string[] {
  return [refs.optimize, refs.campaign, refs.state, refs.closed, refs.forge, defaultBranch]
}

/** Whether a look at the remote would have shown this ref. */
export function isListed(place: Place, ref: string): boolean {
  return ref.startsWith(place.refs.experiments) || listed(place).includes(ref)
}
