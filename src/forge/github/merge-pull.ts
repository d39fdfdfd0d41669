import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import { oidSchema } from '../../model/ids.ts'
import type { PullMerge, MergeAnswer } from '../port.ts'
import { type GithubClient, parseAnswer } from './client.ts'
import { readNumbers } from './read-pulls.ts'

const merged = z.object({ sha: oidSchema, merged: z.boolean(), message: z.string() })

/** A merge commit of exactly this head, made by GitHub; one that was made already is the same (invariant 7). */
export async function mergePull(
  client: GithubClient,
  number: number,
  { head, title, message }: PullMerge,
): Promise<MergeAnswer> {
  const pull = (await readNumbers(client, [number])).get(number)?.pull
  if (pull?.merged_commit != null) return { ok: true, commit: pull.merged_commit }
  if (pull?.state !== 'open') return { ok: false, why: 'moved', message: `#${number} is not open` }
  if (pull.head !== head) return { ok: false, why: 'moved', message: `#${number} has another head` }
  const words = { merge_method: 'merge', sha: head, commit_title: title, commit_message: message } as const
  const values = { ...client.where, pull_number: number, ...words }
  try {
    const { data } = await client.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', values)
    const answer = parseAnswer(merged, data, `the merge of #${number}`)
    return answer.merged ? { ok: true, commit: answer.sha } : toMergeRefusal(answer.message)
  } catch (error) {
    if (!(error instanceof ForgeError) || !ANSWERS.has(error.detail.status ?? 0)) throw error
    const said = error.detail.output ?? error.message
    return error.detail.status === 409 || BASE_MOVED.test(said)
      ? { ok: false, why: 'moved', message: said }
      : toMergeRefusal(said)
  }
}

/** It may not be merged, or not as it is; anything else is no answer to the question. */
const ANSWERS: ReadonlySet<number> = new Set([405, 409, 422])
const BASE_MOVED = /Base branch was modified/i

function toMergeRefusal(message: string): MergeAnswer {
  return { ok: false, why: 'refused', message: withFix(message.split(' - https://')[0] ?? message) }
}

const EXCLUDE = 'or exclude the branch from that rule'
/** What to do about each of GitHub's reasons, where it is known. */
const FIXES: readonly [reason: RegExp, fix: string][] = [
  [/merge commits are not allowed/i, 'Turn on "Allow merge commits" under Settings > General'],
  [/still a draft/i, 'Mark it as ready for review'],
  [/merge queue/i, 'Exclude the branch from that rule: a merge queue makes commits of its own'],
  [
    /linear history|must not contain merge commits/i,
    'Exclude the branch from that rule: winnow lands merges',
  ],
  [/review/i, `Approve it, ${EXCLUDE}`],
  [/status check|checks/i, `Let the check pass on its head, ${EXCLUDE}`],
  [/deployment/i, 'Exclude the branch from that rule'],
  [/sign/i, 'Exclude the branch from that rule: the commits of experiments are not signed'],
  [/rule violation|protected/i, 'Let GitHub Actions, or the App whose token this is, bypass that rule'],
  [/not mergeable|conflict/i, 'GitHub finds a conflict, or has not looked yet'],
]

function withFix(message: string): string {
  const said = message.trim().replace(/\.?$/, '.')
  const fix = FIXES.find(([reason]) => reason.test(message))?.[1]
  return fix === undefined ? said : `${said} ${fix}.`
}
