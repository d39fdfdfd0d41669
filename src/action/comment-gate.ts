import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { UserError } from '../errors.ts'
import { whyNotApprover } from '../forge/may-approve.ts'
import type { Forge, Permission } from '../forge/port.ts'
import { isRefusal } from '../forge/refused.ts'
import { campaignRefs } from '../model/refs.ts'
import { cell } from '../report/markdown.ts'
import type { Call } from '../verbs/call.ts'
import { commandIn } from '../verbs/comments/comment-line.ts'
import { DEFAULT_PREFIX, type KnownCampaign } from '../verbs/known-campaigns.ts'
import type { Task } from './commands.ts'
import { said, setOutputs, summarise } from './runner-protocol.ts'

const commented = z.object({
  comment: z.object({
    id: z.number().int().positive(),
    body: z.string(),
    user: z.object({ login: z.string() }).nullable(),
  }),
})
type Comment = z.output<typeof commented>['comment']

/**
 * Whether this run was started by the comment of somebody who may not steer: they get a reaction, and no campaign is
 * looked at. Everything in the event is text of strangers; who may do what is asked of GitHub.
 */
export async function refusesComment(
  { env }: Task,
  around: Call['around'],
  campaigns: readonly KnownCampaign[],
): Promise<boolean> {
  if (env['GITHUB_EVENT_NAME'] !== 'issue_comment') return false
  const forge = around.forge?.(campaignRefs(DEFAULT_PREFIX, ''))
  if (forge === undefined) throw new Error('a job has a forge')
  const comment = readComment(env['GITHUB_EVENT_PATH'] ?? '')
  const login = comment.user?.login ?? ''
  const isBot = login === '' || login.endsWith('[bot]')
  if (!isBot && (await maySteer(forge, campaigns, { login, body: comment.body }))) return false
  if (!isBot) await decline(around, forge, comment.id)
  const line = said(
    `${login || 'An account that is gone'} has no write access here: winnow ignored the comment.`,
  )
  console.log(line)
  summarise(env, cell(line))
  setOutputs(env, { 'result-json': JSON.stringify({ paused: false, campaigns: [], later: [], broken: [] }) })
  return true
}

function readComment(file: string): Comment {
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
async function maySteer(
  forge: Forge,
  campaigns: readonly KnownCampaign[],
  { login, body }: { login: string; body: string },
): Promise<boolean> {
  const permission: Permission = (await forge.permissionOf?.(login)) ?? 'none'
  if (permission === 'write' || permission === 'admin') return true
  if (commandIn(body)?.[0] !== 'approve') return false
  for (const { spec } of campaigns) {
    if (spec === null) continue
    const why = await whyNotApprover(forge, spec.dependencies.approvers, { login, permission })
    if (why === null) return true
  }
  return false
}

/** A token that may not react costs nobody the refusal. */
async function decline({ progress }: Call['around'], forge: Forge, comment: number): Promise<void> {
  try {
    await forge.react?.(String(comment), '-1')
  } catch (error) {
    if (!isRefusal(error)) throw error
    progress.say(`The comment has no reaction: ${error.message}`)
  }
}
