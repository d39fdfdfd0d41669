import { toShortRef } from '../model/refs.ts'
import type { CommandContext } from './at-campaign.ts'
import type { Call } from './call.ts'
import type { OwnDiff } from './own-diff.ts'
import { toTypedPath } from './path-here.ts'

const PLAIN = /^[\w./-]+$/
const MOST = 3

/** The command that brings what was kept; what is not committed would be in its way, and is in it already. */
export function formatMergeCommand(call: Call, { place, workshop }: CommandContext, diff: OwnDiff): string {
  const { around } = call
  const optimize = toShortRef(place.refs.optimize)
  const { remotes } = workshop.checkout
  const remote = (remotes.find(({ name }) => name === (around.remote ?? 'origin')) ?? remotes[0])?.name
  const merge =
    place.local || remote === undefined
      ? `git merge ${optimize}`
      : `git fetch ${remote} && git merge ${remote}/${optimize}`
  const uncommitted = diff.uncommitted.map(path => toTypedPath(call, workshop, path))
  return [formatStashCommand({ ...diff, uncommitted }), merge].filter(text => text !== '').join(' && ')
}

function formatStashCommand({ uncommitted, addsFiles }: OwnDiff): string {
  if (uncommitted.length === 0) return ''
  if (uncommitted.length > MOST || !uncommitted.every(path => PLAIN.test(path)))
    return `git stash${addsFiles ? ' --include-untracked' : ''}`
  return `git stash push --include-untracked -- ${uncommitted.join(' ')}`
}
