import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { UserError } from '../errors.ts'
import { explainApproverRefusal } from '../forge/may-approve.ts'
import type { Forge, Permission } from '../forge/port.ts'
import { isRefusal } from '../forge/refused.ts'
import { buildCampaignRefs } from '../model/refs.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import type { Call } from '../verbs/call.ts'
import { parseCommentCommand } from '../verbs/comments/comment-line.ts'
import { DEFAULT_PREFIX, type KnownCampaign } from '../verbs/known-campaigns.ts'
import type { Task } from './commands.ts'
import { toLogLine, setOutputs, appendSummary } from './runner-protocol.ts'

const commented = z.object({
  comment: z.object({
    id: z.number().int().positive(),
    body: z.string(),
    user: z.object({ login: z.string() }).nullable(),
  }),
})
type EventComment = z.output<typeof commented>['comment']

/**
 * Whether this run was started by the comment of somebody who may not steer: they get a reaction, and no campaign is
 * looked at. Everything in the event is text of strangers; who may do what is asked of GitHub.
 */
export async function isCommentRefused(
  { env }: Task,
  around: Call['around'],
  campaigns: readonly KnownCampaign[],
): Promise<boolean> {
  if (env['GITHUB_EVENT_NAME'] !== 'issue_comment') return false
  const forge = around.forge?.(buildCampaignRefs(DEFAULT_PREFIX, ''))
  if (forge === undefined) throw new Error('a job has a forge')
  const comment = readComment(env['GITHUB_EVENT_PATH'] ?? '')
  const login = comment.user?.login ?? ''
  const isBot = login === '' || login.endsWith('[bot]')
  if (!isBot && (await canSteer(forge, campaigns, { login, body: comment.body }))) return false
  if (!isBot) await rejectComment(around, forge, comment.id)
  const line = toLogLine(
    `${login || 'An account that is gone'} has no write access here: winnow ignored the comment.`,
  )
  console.log(line)
  appendSummary(env, escapeMarkdown(line))
  setOutputs(env, { 'result-json': JSON.stringify({ paused: false, campaigns: [], later: [], broken: [] }) })
  return true
}

function readComment(file: string): EventComment {
  try {
    return commented.parse(JSON.parse(readFileSync(file, 'utf8'))).comment
  } catch (error) {
    throw new UserError('GITHUB_EVENT_PATH names no event of a comment', {
      fix: 'start this job by issue_comment as winnow init --github writes it; the runner sets the path',
      cause: error,
    })
  }
}

/** As comments are heeded: writers, and whom a spec trusts with approvals. */
async function canSteer(
  forge: Forge,
  campaigns: readonly KnownCampaign[],
  { login, body }: { login: string; body: string },
): Promise<boolean> {
  const permission: Permission = (await forge.readPermission?.(login)) ?? 'none'
  if (permission === 'write' || permission === 'admin') return true
  if (parseCommentCommand(body)?.[0] !== 'approve') return false
  for (const { spec } of campaigns) {
    if (spec === null) continue
    const why = await explainApproverRefusal(forge, spec.dependencies.approvers, { login, permission })
    if (why === null) return true
  }
  return false
}

/** A token that may not react costs nobody the refusal. */
async function rejectComment({ progress }: Call['around'], forge: Forge, comment: number): Promise<void> {
  try {
    await forge.react?.(String(comment), '-1')
  } catch (error) {
    if (!isRefusal(error)) throw error
    progress.say(`The comment has no reaction: ${error.message}`)
  }
}
