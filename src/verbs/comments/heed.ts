import type { Observation } from '../../engine/observe.ts'
import type { Place } from '../../engine/place.ts'
import { record } from '../../engine/record.ts'
import { loadCampaign } from '../../ledger/load.ts'
import { UserError } from '../../errors.ts'
import { plural } from '../../decide/wording.ts'
import { broughtBy } from '../../engine/brought-by.ts'
import { type Allowance, allowance } from '../../forge/allowance.ts'
import { whyNotApprover } from '../../forge/may-approve.ts'
import type { Reaction } from '../../forge/port.ts'
import { isRefusal } from '../../forge/refused.ts'
import { answerMarker, type Comment, type Pull } from '../../forge/pull.ts'
import { COMMENT } from '../../model/fold.ts'
import { subjectOf as subjectNamed, subjectsOf } from '../../model/picked.ts'
import type { ExperimentId } from '../../model/ids.ts'
import { pullFinder } from '../../plan/pull-of.ts'
import { oneLine } from '../../model/landing.ts'
import { cell } from '../../report/markdown.ts'
import type { Scene } from '../at-campaign.ts'
import type { Call, Commented, Terminal } from '../call.ts'
import type { Verb } from '../verb.ts'
import { type Asked, commandsIn, readingDone } from './commands.ts'
import { COMMAND } from './comment-line.ts'
import { typedVerb, verbNamed } from './typed-verb.ts'

/** In one wake-up, so that nobody keeps it busy by writing comments. */
const MOST_HEEDED = 20
const MOST_DECLINED = 20

interface Answer {
  how: Reaction
  text: string
  /** Something was written into the ledger. */
  acted: boolean
  /** The reaction says it all. */
  quiet?: boolean
}

/** Commands whose effect shows by itself: the pull requests and checks say it. */
const QUIET: ReadonlySet<string> = new Set([
  'avoid',
  'measure',
  'note',
  'pause',
  'priority',
  'resume',
  'retry',
])

/** What this process has done so far. */
interface Hearing {
  call: Call
  scene: Scene
  over: Set<string>
  heeded: Allowance
  declined: Allowance
}

/**
 * What people ask for in comments is done before anything is planned; true where that changed the ledger. Those who may
 * steer come first, each is done once, as the event that names it tells, and answered once, as its answer tells
 * (invariant 7). Who may not gets a reaction and nothing else: outsiders write nobody mail through winnow.
 */
export function heedComments(call: Call, scene: Scene): (seen: Observation) => Promise<boolean> {
  const now = () => scene.place.clock.monotonic()
  const hearing: Hearing = {
    call,
    scene,
    over: new Set(),
    heeded: allowance(MOST_HEEDED, now),
    declined: allowance(MOST_DECLINED, now),
  }
  return seen => hear(hearing, seen)
}

async function hear(hearing: Hearing, seen: Observation): Promise<boolean> {
  const { scene, over } = hearing
  const { may, mayNot, unknown } = await apart(hearing, seen, commandsIn(seen, over))
  for (const [index, asked] of may.entries()) {
    if (!hearing.heeded.take()) return later(scene.place, may.length - index)
    const answer = await heed(hearing, seen, asked)
    scene.place.progress.say(heededText(asked, answer))
    await give(scene.place, asked, answer)
    over.add(asked.comment.id)
    // The next one is about a campaign that may be another by now.
    if (answer.acted) return true
  }
  for (const { comment } of mayNot) {
    if (!hearing.declined.take()) break
    await react(scene.place, comment, '-1')
    over.add(comment.id)
  }
  if (unknown.length > 0)
    scene.place.progress.say(
      `Left for the next wake-up, which asks who wrote them: ${plural(unknown.length, 'comment')}.`,
    )
  return tellRead(scene.place, readingDone(seen, unknown))
}

/** For the log of the run: whose comment was read, and what came of it. */
function heededText({ pull, comment, words }: Asked, { text }: Answer): string {
  return `${comment.author} on #${pull.number}: ${cell(oneLine(`${COMMAND} ${words.join(' ')}`, LONGEST))}: ${text}`
}

function later({ progress }: Place, left: number): boolean {
  progress.say(`Left for the next wake-up, since one heeds ${MOST_HEEDED}: ${plural(left, 'comment')}.`)
  return false
}

/** Whom the forge counts among the project's people is asked about first, so that no crowd keeps them waiting. */
async function apart(hearing: Hearing, seen: Observation, all: readonly Asked[]) {
  const found = { may: [] as Asked[], mayNot: [] as Asked[], unknown: [] as Asked[] }
  const nearFirst = all.toSorted((one, other) => Number(isNear(other)) - Number(isNear(one)))
  for (const asked of nearFirst) found[await standing(hearing, seen, asked)].push(asked)
  found.may.sort((one, other) => all.indexOf(one) - all.indexOf(other))
  return found
}

function isNear({ comment }: Asked): boolean {
  return comment.near === true
}

/** Whoever may write steers; whom the spec trusts with approvals approves, whatever else they may. */
async function standing(
  { call, scene: { place } }: Hearing,
  { world: { spec } }: Observation,
  { comment: { author }, words }: Asked,
): Promise<'may' | 'mayNot' | 'unknown'> {
  const permission = (await place.forge.permissionOf?.(author)) ?? null
  if (permission === null) return 'unknown'
  if (permission === 'write' || permission === 'admin') return 'may'
  if (verbNamed(words[0] ?? '', call.verbs)?.name !== 'approve') return 'mayNot'
  const who = { login: author, permission }
  return (await whyNotApprover(place.forge, spec.dependencies.approvers, who)) === null ? 'may' : 'mayNot'
}

async function tellRead(place: Place, read: ReturnType<typeof readingDone>): Promise<boolean> {
  for (const draft of read)
    await record({ ...place, nonce: `comments of #${draft.pull} up to ${draft.comment}` }, [draft])
  return read.length > 0
}

/** Where several were asked for at once, each answer says what it is about. The words come first: they are what counts. */
async function give(
  place: Place,
  { pull, comment, words }: Asked,
  { how, text, quiet = false }: Answer,
): Promise<void> {
  if (quiet && (await react(place, comment, how))) return
  const about = cell(oneLine(words[0] ?? COMMAND, 40))
  const options = { marker: answerMarker(comment), after: comment.id }
  try {
    await place.forge.comment(pull.number, `${about}: ${text}`, options)
  } catch (error) {
    // A conversation that is locked since: what was asked for is done, and nothing else waits for the words.
    if (!isRefusal(error)) throw error
    place.progress.say(`a comment of ${comment.author} has no answer: ${error.message}`)
  }
  await react(place, comment, how)
}

/** A token that may not react costs nobody the campaign; whether it did. */
async function react({ forge, progress }: Place, comment: Comment, how: Reaction): Promise<boolean> {
  if (forge.react === undefined) return false
  try {
    await forge.react(comment.id, how)
    return true
  } catch (error) {
    if (!isRefusal(error)) throw error
    progress.say(`a comment of ${comment.author} has no reaction: ${error.message}`)
    return false
  }
}

async function heed({ call, scene }: Hearing, seen: Observation, asked: Asked): Promise<Answer> {
  const { comment, words } = asked
  const before = await heededBy(scene.place, comment)
  if (before !== null)
    return { how: '+1', text: `It is in the ledger (${before}).`, acted: false, quiet: before !== 'note' }
  const subject = subjectOf(seen, asked.pull)
  try {
    const { verb, given } = typedVerb(words, call.verbs, subject)
    const why = verb.name === 'approve' ? await whyNotApproving(scene.place, seen, comment.author) : null
    if (why !== null) return { how: '-1', text: why, acted: false }
    return await obey({ ...call, given }, scene, { seen, asked, verb, subject })
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { how: 'confused', text: sentenceOf(error), acted: false }
  }
}

/** Who may write need not be who approves. */
async function whyNotApproving(
  { forge }: Place,
  { world }: Observation,
  login: string,
): Promise<string | null> {
  const permission = (await forge.permissionOf?.(login)) ?? 'none'
  return whyNotApprover(forge, world.spec.dependencies.approvers, { login, permission })
}

interface Order {
  seen: Observation
  asked: Asked
  verb: Verb
  subject: ExperimentId | null
}

/** The very verb of the command line, at work on this campaign for whoever wrote the comment. */
async function obey(call: Call, scene: Scene, order: Order): Promise<Answer> {
  const { asked, verb, subject, seen } = order
  const { author, id, at } = asked.comment
  const { place } = scene
  const nonce = `${COMMENT}${id}`
  const here = { ...place, by: { ...place.by, actor: author }, nonce }
  const { terminal, said } = listening(call.terminal)
  const comment = { scene: { ...scene, place: here }, subject, bringers: bringersIn(place, seen), at }
  const answer = await saidBy(said, () => {
    const here = { ...call, terminal, comment }
    return verb.comment?.run ? verb.comment.run(here) : verb.run(here)
  })
  if (verb.access === 'read') return answer
  if ((await heededBy(here, asked.comment)) !== null)
    return { ...answer, acted: true, quiet: answer.how === '+1' && QUIET.has(verb.name) }
  // It is not done later either, when it would no longer be refused.
  const text = oneLine(`${COMMAND} ${asked.words.join(' ')}: ${answer.text}`, LONGEST)
  await record(here, [{ kind: 'note', text, experiment: subject }])
  return { ...answer, acted: true }
}

const LONGEST = 400

/** By which kind of event, as the ledger has it now: another tick may have been first. */
async function heededBy({ repository, refs }: Place, { id }: Comment): Promise<string | null> {
  const tip = (await repository.remoteRefs([refs.state])).refs.get(refs.state)
  if (tip === undefined) return null
  await repository.fetch([{ ref: refs.state, oid: tip }])
  return (await loadCampaign(repository, tip)).campaign.heeded[`${COMMENT}${id}`] ?? null
}

async function saidBy(said: readonly string[], run: () => Promise<number>): Promise<Answer> {
  try {
    await run()
    return { how: '+1', text: cell(said[0] ?? 'Done.'), acted: false }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { how: '-1', text: sentenceOf(error), acted: false }
  }
}

/** What is not understood, and what to do about it, in one line that quotes what others wrote and obeys none of it. */
function sentenceOf({ message, fix }: UserError): string {
  return fix === undefined ? cell(message) : `${cell(message)} (${cell(fix)})`
}

/** A terminal that nobody reads but the answer. */
function listening(terminal: Terminal): { terminal: Terminal; said: string[] } {
  const said: string[] = []
  const out = (text: string) => void (text.trim() === '' || said.push(text))
  return { terminal: { ...terminal, out, err: () => undefined, live: () => undefined, confirm: null }, said }
}

function subjectOf({ world }: Observation, pull: Pull): ExperimentId | null {
  const pullOf = pullFinder(world)
  const found = subjectsOf(world.campaign).find(each => pullOf(each)?.number === pull.number)
  return found?.id ?? null
}

function bringersIn({ forge }: Place, { pulls, world }: Observation): Commented['bringers'] {
  const pullOf = pullFinder(world)
  return async id => {
    const experiment = subjectNamed(world.campaign, id)
    if (experiment === undefined) return null
    const number = pullOf(experiment)?.number
    return broughtBy(
      forge,
      experiment,
      pulls.find(pull => pull.number === number),
    )
  }
}
