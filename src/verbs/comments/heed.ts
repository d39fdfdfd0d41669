import type { Observation } from '../../engine/observe.ts'
import type { Place } from '../../engine/place.ts'
import { record } from '../../engine/record.ts'
import { loadCampaign } from '../../ledger/load.ts'
import { ForgeError, UserError } from '../../errors.ts'
import { answerMarker, type Comment, type Pull } from '../../forge/pull.ts'
import type { Permission, Reaction } from '../../forge/port.ts'
import { type Approvers, whyNotApprover } from '../../forge/may-approve.ts'
import { COMMENT } from '../../model/fold.ts'
import { subjectsOf } from '../../model/picked.ts'
import type { ExperimentId } from '../../model/ids.ts'
import { pullFinder } from '../../plan/pull-of.ts'
import { oneLine } from '../../model/landing.ts'
import { cell } from '../../report/markdown.ts'
import type { Scene } from '../at-campaign.ts'
import type { Call, Terminal } from '../call.ts'
import type { Verb } from '../verb.ts'
import { COMMAND, commandIn } from './comment-line.ts'
import { typedVerb } from './typed-verb.ts'

/** So that nobody keeps a tick busy by writing comments. */
const MOST_AT_ONCE = 10

interface Answer {
  how: Reaction
  text: string
  /** Something was written into the ledger. */
  acted: boolean
}

interface Asked {
  pull: Pull
  comment: Comment
  words: readonly string[]
}

/**
 * What people ask for in comments is done before anything is planned; true where that changed the ledger. A
 * comment acts once, as the event that names it tells, and is answered once, as its answer tells (invariant 7).
 */
export function heedComments(call: Call, scene: Scene): (seen: Observation) => Promise<boolean> {
  const answered = new Set<string>()
  return async seen => {
    let acted = false
    for (const asked of commandsIn(seen, answered).slice(0, MOST_AT_ONCE)) {
      const answer = await heed(call, scene, seen, asked)
      await give(scene.place, asked, answer)
      answered.add(asked.comment.id)
      acted ||= answer.acted
      // The next one is about a campaign that may be another by now.
      if (acted) return true
    }
    return acted
  }
}

/** Only what was written since the campaign began, as it was written, by people; each until it is answered. */
function commandsIn({ pulls, world: { campaign } }: Observation, answered: ReadonlySet<string>): Asked[] {
  const since = Date.parse(campaign.started_at ?? '')
  return pulls.flatMap(pull =>
    pull.comments.flatMap(comment => {
      const { edited, own, author, at, id, body } = comment
      const counts = !edited && !own && !author.endsWith('[bot]') && Date.parse(at) >= since
      const words = counts && !comment.answered && !answered.has(id) ? commandIn(body) : null
      return words === null ? [] : [{ pull, comment, words }]
    }),
  )
}

/** Where several were asked for at once, each answer says what it is about. */
async function give(place: Place, { pull, comment, words }: Asked, { how, text }: Answer): Promise<void> {
  const about = cell(oneLine(words[0] ?? COMMAND, 40))
  await react(place, comment, how)
  await place.forge.comment(pull.number, `${about}: ${text}`, { marker: answerMarker(comment) })
}

/** A token that may not react costs nobody the campaign: the answer stands in words as well. */
async function react({ forge, progress }: Place, comment: Comment, how: Reaction): Promise<void> {
  try {
    await forge.react?.(comment.id, how)
  } catch (error) {
    if (!(error instanceof ForgeError) || error.detail.status !== 403) throw error
    progress.say(`a comment of ${comment.author} has no reaction: ${error.message}`)
  }
}

async function heed(call: Call, scene: Scene, seen: Observation, asked: Asked): Promise<Answer> {
  const { comment, words } = asked
  const { spec } = seen.world
  const before = await heededBy(scene.place, comment)
  if (before !== null) return { how: '+1', text: `It is in the ledger (${before}).`, acted: false }
  const permission = (await scene.place.forge.permissionOf?.(comment.author)) ?? 'none'
  const subject = subjectOf(seen, asked.pull)
  try {
    const { verb, given } = typedVerb(words, call.verbs, subject)
    const who = { login: comment.author, permission }
    const why = await whyNot(scene.place, verb, spec.dependencies.approvers, who)
    if (why !== null) return { how: '-1', text: why, acted: false }
    return await obey({ ...call, given }, scene, { seen, asked, verb, subject })
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { how: 'confused', text: sentenceOf(error), acted: false }
  }
}

/** Whoever may write steers; whom the spec trusts with that approves. */
async function whyNot(
  { forge }: Place,
  { name }: Verb,
  approvers: Approvers,
  who: { login: string; permission: Permission },
): Promise<string | null> {
  if (name === 'approve') return whyNotApprover(forge, approvers, who)
  const may = who.permission === 'write' || who.permission === 'admin'
  return may ? null : 'Only people with write access to this repository may steer the campaign.'
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
  const comment = { scene: { ...scene, place: here }, subject, authorOf: authorsIn(seen), at }
  const answer = await saidBy(said, () => {
    const here = { ...call, terminal, comment }
    return verb.comment?.run ? verb.comment.run(here) : verb.run(here)
  })
  if (verb.access === 'read') return answer
  if ((await heededBy(here, asked.comment)) !== null) return { ...answer, acted: true }
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

function authorsIn({ pulls, world: { campaign } }: Observation) {
  return (id: ExperimentId): string | null => {
    const experiment = campaign.experiments[id]
    const pull = pulls.find(({ number }) => number === experiment?.pull)
    return experiment?.owned === false ? (pull?.author ?? null) : null
  }
}
