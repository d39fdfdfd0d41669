import { formatCount } from '../decide/wording.ts'
import { type CampaignContext, requireForge } from '../engine/campaign/context.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { findHeadPushers } from '../engine/controller/reviews.ts'
import type { Observation } from '../engine/observe/observe.ts'
import { UserError, isRefusal } from '../errors.ts'
import { fetchRef } from '../git/fetch.ts'
import { explainApproverRefusal } from '../github/people.ts'
import { createRateBudget, type RateBudget } from '../github/requests.ts'
import type { Reaction } from '../github/port.ts'
import { type Comment, COMMENTS_AT_ONCE, getAnswerMarker, type Pull } from '../github/pull.ts'
import { loadCampaign } from '../ledger/load.ts'
import type { Campaign } from '../model/campaign.ts'
import { findSubject, listSubjects } from '../model/experiment.ts'
import { COMMENT_CAUSE } from '../model/fold/fold.ts'
import type { ExperimentId } from '../model/ids.ts'
import { toOneLine } from '../model/text.ts'
import { createPullFinder } from '../plan/world.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import { COMMAND, findCommentVerb, parseCommentCommand, parseTypedCommand } from './comment-command.ts'
import type { Call, CommandContext, CommentSource, Terminal, Verb } from './verb.ts'

/** Limits per run, so that a flood of comments cannot keep winnow busy. */
const MAX_ANSWERED = 20

const MAX_DECLINED = 20
const MAX_LENGTH = 400

/** A person may close a pull request with a comment between two scheduled runs; the next run still reads it. */
const READ_AFTER_CLOSING_MS = 24 * 3_600_000

/** Comment lists lag: the newest comments may be incomplete. */
const UNSETTLED_COMMENTS = 10

/** Recent comments of winnow are enough to know the current state. */
const MAX_OWN_COMMENTS = 50

/** These commands get no reply, because pull requests and checks already show their effect. */
const QUIET: ReadonlySet<string> = new Set(['avoid', 'measure', 'pause', 'priority', 'resume', 'retry'])

interface CommentRun {
  call: Call
  context: CommandContext
  handled: Set<string>
  answerBudget: RateBudget
  reactionBudget: RateBudget
}

interface CommentCommand {
  pull: Pull
  comment: Comment
  words: readonly string[]
}

interface CommentAnswer {
  reaction: Reaction
  text: string
  /** The command wrote to the ledger. */
  recorded: boolean
  /** The reaction is enough: no reply is posted. */
  quiet?: boolean
}

interface CommentOrder {
  observation: Observation
  command: CommentCommand
  verb: Verb
  subject: ExperimentId | null
}

interface SeenPulls extends Pick<Observation, 'pulls'> {
  world: Pick<Observation['world'], 'campaign' | 'now'>
}

/**
 * Runs the commands in comments before anything is planned. Resolves to true if one changed the ledger. Runs
 * commands of authorized people first. Each command runs once, guarded by the event that names it, and is
 * answered once, guarded by its reply (invariant 7). Other people get only a reaction, so that outsiders cannot
 * make winnow send notifications.
 */
export function runComments(
  call: Call,
  context: CommandContext,
): (observation: Observation) => Promise<boolean> {
  const now = () => context.campaignContext.clock.monotonic()
  const run: CommentRun = {
    call,
    context,
    handled: new Set(),
    answerBudget: createRateBudget(MAX_ANSWERED, now),
    reactionBudget: createRateBudget(MAX_DECLINED, now),
  }
  return observation => runSeenComments(run, observation)
}

async function runSeenComments(run: CommentRun, observation: Observation): Promise<boolean> {
  const { context, handled } = run
  const { may, mayNot, unknown } = await groupByPermission(
    run,
    observation,
    listCommentCommands(observation, handled),
  )
  for (const [index, command] of may.entries()) {
    if (!run.answerBudget.take()) return deferComments(context.campaignContext, may.length - index)
    const answer = await runComment(run, observation, command)
    context.campaignContext.progress.say(formatCommentLog(command, answer))
    await postAnswer(context.campaignContext, command, answer)
    handled.add(command.comment.id)
    // The campaign may have changed: observe it again before the next command.
    if (answer.recorded) return true
  }
  for (const { comment } of mayNot) {
    if (!run.reactionBudget.take()) break
    await addReaction(context.campaignContext, comment, '-1')
    handled.add(comment.id)
  }
  if (unknown.length > 0)
    context.campaignContext.progress.say(
      `Skipped ${formatCount(unknown.length, 'comment')} until the next scheduled run: GitHub did not say whether the author has write access.`,
    )
  return recordReadComments(context.campaignContext, buildReadEvents(observation, unknown))
}

function formatCommentLog({ pull, comment, words }: CommentCommand, { text }: CommentAnswer): string {
  return `${comment.author} on #${pull.number}: ${escapeMarkdown(toOneLine(`${COMMAND} ${words.join(' ')}`, MAX_LENGTH))}: ${text}`
}

function deferComments({ progress }: CampaignContext, left: number): boolean {
  progress.say(
    `Skipped ${formatCount(left, 'comment')} until the next scheduled run (limit ${MAX_ANSWERED} per run).`,
  )
  return false
}

// Selecting comments

/**
 * Lists the commands to run, oldest first. Skips comments that are edited, by bots, or older than the campaign.
 * Skips comments that are already answered, declined, recorded as read, or too old. Keeps commands that the
 * ledger has recorded but winnow has not answered yet.
 */
export function listCommentCommands(
  { pulls, world }: SeenPulls,
  handled: ReadonlySet<string>,
): CommentCommand[] {
  const { campaign } = world
  const since = Date.parse(campaign.started_at ?? '')
  const found = pulls.flatMap(pull =>
    pull.comments.flatMap(comment => {
      const { id, edited, own, author, at, answered, done, declined, body } = comment
      const counts = !edited && !own && !author.endsWith('[bot]') && Date.parse(at) >= since
      if (!counts || answered || done || declined || handled.has(id) || isRead(campaign, pull, comment))
        return []
      if (isPast(world, pull, comment)) return []
      const words = parseCommentCommand(body)
      return words === null ? [] : [{ pull, comment, words }]
    }),
  )
  return found.toSorted((one, other) => Date.parse(one.comment.at) - Date.parse(other.comment.at))
}

/**
 * Ignores comments written before a pull request that was closed long ago: an earlier run has dealt with them.
 * Keeps commands that still need an answer.
 */
function isPast({ campaign, now }: SeenPulls['world'], pull: Pull, { id, at }: Comment): boolean {
  const { number, closed_at: closed } = pull
  if (closed === null || campaign.comments_read[number] !== undefined) return false
  if (campaign.handled[`${COMMENT_CAUSE}${id}`] !== undefined || Date.parse(at) > Date.parse(closed))
    return false
  return Date.parse(now) - Date.parse(closed) > READ_AFTER_CLOSING_MS
}

function isRead({ comments_read }: Campaign, { number }: Pull, { id }: Comment): boolean {
  const upTo = comments_read[number]
  return upTo !== undefined && Number(id) <= Number(upTo.comment)
}

/**
 * Records how far comments were read, so that the next run can skip them. Covers only pull requests with more
 * unread comments than GitHub returns with the pull request. Stops before the newest comments and before commands
 * whose author's permission is still unknown.
 */
export function buildReadEvents(
  { pulls, world: { campaign } }: { pulls: SeenPulls['pulls']; world: Pick<SeenPulls['world'], 'campaign'> },
  left: readonly CommentCommand[],
) {
  return pulls.flatMap(pull => {
    const { number, comments, unread } = pull
    const news = comments.filter(comment => !isRead(campaign, pull, comment))
    const read = comments.slice(0, -UNSETTLED_COMMENTS)
    const last = read.at(-1)
    if (unread || news.length <= COMMENTS_AT_ONCE || last === undefined) return []
    const waits = left.some(
      command => command.pull.number === number && Number(command.comment.id) <= Number(last.id),
    )
    if (waits) return []
    const own = read.flatMap(({ node }) => node ?? []).slice(-MAX_OWN_COMMENTS)
    return [{ kind: 'comments-read' as const, pull: number, comment: last.id, own }]
  })
}

async function recordReadComments(
  campaignContext: CampaignContext,
  read: ReturnType<typeof buildReadEvents>,
): Promise<boolean> {
  for (const draft of read)
    await recordEvents({ ...campaignContext, nonce: `comments of #${draft.pull} up to ${draft.comment}` }, [
      draft,
    ])
  return read.length > 0
}

/** Checks likely project members first, so that a crowd of other comments cannot delay them. */
async function groupByPermission(run: CommentRun, observation: Observation, all: readonly CommentCommand[]) {
  const found = {
    may: [] as CommentCommand[],
    mayNot: [] as CommentCommand[],
    unknown: [] as CommentCommand[],
  }
  const nearFirst = all.toSorted((one, other) => Number(isNear(other)) - Number(isNear(one)))
  for (const command of nearFirst) found[await checkPermission(run, observation, command)].push(command)
  found.may.sort((one, other) => all.indexOf(one) - all.indexOf(other))
  return found
}

function isNear({ comment }: CommentCommand): boolean {
  return comment.near === true
}

/** Approvers named in the spec may run `approve` without write access. */
async function checkPermission(
  { call, context: { campaignContext } }: CommentRun,
  { world: { spec } }: Observation,
  { comment: { author }, words }: CommentCommand,
): Promise<'may' | 'mayNot' | 'unknown'> {
  const forge = requireForge(campaignContext)
  const permission = await forge.readPermission(author)
  if (permission === null) return 'unknown'
  if (permission === 'write' || permission === 'admin') return 'may'
  if (findCommentVerb(words[0] ?? '', call.verbs)?.name !== 'approve') return 'mayNot'
  const person = { login: author, permission }
  return (await explainApproverRefusal(forge, spec.dependencies.approvers, person)) === null
    ? 'may'
    : 'mayNot'
}

// Running one command

async function runComment(
  { call, context }: CommentRun,
  observation: Observation,
  command: CommentCommand,
): Promise<CommentAnswer> {
  const { comment, words } = command
  const before = await findCommentEvent(context.campaignContext, comment)
  if (before !== null)
    return {
      reaction: '+1',
      text: `It is in the ledger (${before}).`,
      recorded: false,
      quiet: before !== 'note',
    }
  const subject = findPullSubject(observation, command.pull)
  try {
    const { verb, given } = parseTypedCommand(words, call.verbs, subject)
    const why =
      verb.name === 'approve'
        ? await explainNotApprover(context.campaignContext, observation, comment.author)
        : null
    if (why !== null) return { reaction: '-1', text: why, recorded: false }
    return await executeComment({ ...call, given }, context, { observation, command, verb, subject })
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { reaction: 'confused', text: formatUserError(error), recorded: false }
  }
}

/** Reads the ledger again, because another tick may have been faster. */
async function findCommentEvent(
  { repository, refs }: CampaignContext,
  { id }: Comment,
): Promise<string | null> {
  const tip = await fetchRef(repository, refs.state)
  if (tip === null) return null
  return (await loadCampaign(repository, tip)).campaign.handled[`${COMMENT_CAUSE}${id}`] ?? null
}

/** Write access does not imply the right to approve packages. */
async function explainNotApprover(
  context: CampaignContext,
  { world }: Observation,
  login: string,
): Promise<string | null> {
  const forge = requireForge(context)
  const permission = (await forge.readPermission(login)) ?? 'none'
  return explainApproverRefusal(forge, world.spec.dependencies.approvers, { login, permission })
}

/** Runs the same verb as the command line, with the comment's author as the actor. */
async function executeComment(
  call: Call,
  context: CommandContext,
  order: CommentOrder,
): Promise<CommentAnswer> {
  const { command, verb, subject, observation } = order
  const { author, id, at } = command.comment
  const { campaignContext } = context
  const nonce = `${COMMENT_CAUSE}${id}`
  const here = { ...campaignContext, by: { ...campaignContext.by, actor: author }, nonce }
  const { terminal, said: output } = recordTerminal(call.terminal)
  const comment = {
    context: { ...context, campaignContext: here },
    subject,
    headAuthors: buildHeadAuthorLookup(campaignContext, observation),
    at,
  }
  const answer = await collectAnswer(output, () => {
    const here = { ...call, terminal, comment }
    return verb.comment?.run ? verb.comment.run(here) : verb.run(here)
  })
  if (verb.access === 'read') return answer
  if ((await findCommentEvent(here, command.comment)) !== null)
    return { ...answer, recorded: true, quiet: answer.reaction === '+1' && QUIET.has(verb.name) }
  // Record refused commands too: a later run must not execute them once they would be accepted.
  const text = toOneLine(`${COMMAND} ${command.words.join(' ')}: ${answer.text}`, MAX_LENGTH)
  await recordEvents(here, [{ kind: 'note', text, experiment: subject }])
  return { ...answer, recorded: true }
}

function recordTerminal(terminal: Terminal): { terminal: Terminal; said: string[] } {
  const output: string[] = []
  const out = (text: string) => void (text.trim() === '' || output.push(text))
  return {
    terminal: { ...terminal, out, err: () => undefined, live: () => undefined, confirm: null },
    said: output,
  }
}

async function collectAnswer(output: readonly string[], run: () => Promise<number>): Promise<CommentAnswer> {
  try {
    await run()
    return { reaction: '+1', text: escapeMarkdown(output[0] ?? 'Done.'), recorded: false }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { reaction: '-1', text: formatUserError(error), recorded: false }
  }
}

/** Escapes quoted text, so that it cannot contain active Markdown. */
function formatUserError({ message, fix }: UserError): string {
  return fix === undefined ? escapeMarkdown(message) : `${escapeMarkdown(message)} (${escapeMarkdown(fix)})`
}

function findPullSubject({ world }: Observation, pull: Pull): ExperimentId | null {
  const findPull = createPullFinder(world)
  const found = listSubjects(world.campaign).find(each => findPull(each)?.number === pull.number)
  return found?.id ?? null
}

function buildHeadAuthorLookup(
  context: CampaignContext,
  { pulls, world }: Observation,
): CommentSource['headAuthors'] {
  const findPull = createPullFinder(world)
  return async id => {
    const experiment = findSubject(world.campaign, id)
    if (experiment === undefined) return null
    const number = findPull(experiment)?.number
    return findHeadPushers(
      requireForge(context),
      experiment,
      pulls.find(pull => pull.number === number),
    )
  }
}

// Answering

/** Starts each reply with the command, so that several replies can be told apart. */
async function postAnswer(
  campaignContext: CampaignContext,
  { pull, comment, words }: CommentCommand,
  { reaction, text, quiet = false }: CommentAnswer,
): Promise<void> {
  if (quiet && (await addReaction(campaignContext, comment, reaction))) return
  const about = escapeMarkdown(toOneLine(words[0] ?? COMMAND, 40))
  const reply = { marker: getAnswerMarker(comment), after: comment.id, body: `${about}: ${text}` }
  const [answer] = await requireForge(campaignContext).batch([
    { kind: 'comment', number: pull.number, ...reply },
  ])
  // A conversation locked in the meantime cannot be answered. The command is done, so continue.
  if (answer?.ok === false)
    campaignContext.progress.say(`a comment of ${comment.author} has no answer: ${answer.message}`)
  await addReaction(campaignContext, comment, reaction)
}

/** Returns false if the token may not react. This must not stop the campaign. */
async function addReaction(context: CampaignContext, comment: Comment, reaction: Reaction): Promise<boolean> {
  try {
    await requireForge(context).react(comment.id, reaction)
    return true
  } catch (error) {
    if (!isRefusal(error)) throw error
    context.progress.say(`a comment of ${comment.author} has no reaction: ${error.message}`)
    return false
  }
}
