import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { plural } from '../decide/wording.ts'
import { requireHome } from '../engine/home.ts'
import { record } from '../engine/record.ts'
import { requireCampaign } from '../engine/session.ts'
import { UserError } from '../errors.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import { ideaName } from '../model/fold-backlog.ts'
import type { Idea } from '../plan/world.ts'
import { asIdea } from '../propose/idea-block.ts'
import { readIdeaList, sameWords } from '../propose/idea-list.ts'
import { backlogText, ideasInOrder, ideaView } from '../report/backlog-text.ts'
import { nearest } from '../spec/suggest.ts'
import { atCampaign, type Scene } from './at-campaign.ts'
import type { Call } from './call.ts'
import { CATEGORY, FAMILY, priorityGiven } from './idea-block.ts'
import { ideaNamed } from './idea-named.ts'
import { patchesGiven } from './patches-given.ts'
import { offerAll } from './propose.ts'
import type { Verb } from './verb.ts'

export const idea: Verb = {
  name: 'idea',
  group: 'more',
  summary: 'the backlog: ideas in words, for agents that are asked and for people to take',
  access: 'write',
  arguments: [
    { name: 'action', summary: 'add, list, drop or import', required: true },
    {
      name: 'what',
      summary: 'the idea in one sentence; idea-003; or a file with a list of ideas, or with patches',
      required: false,
    },
  ],
  options: [
    CATEGORY,
    { name: 'priority', values: ['high', 'medium', 'low'], summary: 'how soon to try it (medium)' },
    { name: 'needs', value: 'package', many: true, summary: 'a package that it would add' },
    FAMILY,
    { name: 'message', short: 'm', value: 'reason', summary: 'why it is dropped, for the record' },
    { name: 'json', summary: 'print JSON' },
  ],
  examples: [
    'winnow idea add "cache the parsed header" --category caching --priority high',
    'winnow idea list --json',
    'winnow idea drop idea-003 -m "the format changes next week"',
    'winnow idea import ideas.md',
    'winnow idea import 0001-use-a-map.patch',
  ],
  exits: {},
  run(call) {
    const act = actionNamed(call.given.positionals[0] ?? '')
    return atCampaign(call, { access: 'write', startedOnly: true }, async scene => {
      const { campaign } = (await requireCampaign(scene.place)).loaded
      await act(call, scene, campaign)
      return 0
    })
  },
}

/** In a comment there is no work tree to measure: the idea is kept in words, and somebody carries it out. */
export async function addToBacklog(call: Call, scene: Scene): Promise<number> {
  const { campaign } = (await requireCampaign(scene.place)).loaded
  await addIdea(call, scene, campaign, {
    hypothesis: required(call.given.text('message'), '/winnow try -m "what might help"'),
    priority: 'high',
  })
  return 0
}

type Act = (call: Call, scene: Scene, campaign: Campaign) => Promise<void>

const ACTIONS = new Map<string, Act>([
  ['add', add],
  ['list', list],
  ['drop', drop],
  ['import', importList],
])

function actionNamed(given: string): Act {
  const found = ACTIONS.get(given)
  if (found !== undefined) return found
  const near = nearest(given, [...ACTIONS.keys()])
  throw new UserError(`winnow idea does not know ${JSON.stringify(given)}`, {
    fix: near === undefined ? 'winnow idea add, list, drop or import' : `did you mean winnow idea ${near}?`,
  })
}

async function add(call: Call, scene: Scene, campaign: Campaign): Promise<void> {
  await addIdea(call, scene, campaign, {
    hypothesis: required(call.given.positionals[1], 'winnow idea add "what might help"'),
    priority: priorityGiven(call.given.text('priority')),
  })
}

async function addIdea(
  call: Call,
  scene: Scene,
  campaign: Campaign,
  words: { hypothesis: string; priority: ReturnType<typeof priorityGiven> },
): Promise<void> {
  const { given } = call
  const told = asIdea(
    {
      ...words,
      category: given.text('category'),
      required_deps: [...given.texts('needs')],
      family: given.text('family'),
    },
    '',
  )
  const twin = twinOf(campaign.backlog, told)
  if (twin !== null)
    throw new UserError(`that is ${twin} already`, { fix: `winnow idea list shows what became of it` })
  const names = await write(scene, [told])
  answer(call, scene, { added: names }, `${names[0] ?? ''} added: ${told.hypothesis}`)
}

async function list({ given, terminal }: Call, { rehearsal }: Scene, campaign: Campaign): Promise<void> {
  if (rehearsal !== null) rehearsal.answered = true
  if (given.flag('json')) return terminal.json(ideasInOrder(campaign).map(idea => ideaView(campaign, idea)))
  for (const line of backlogText(campaign)) terminal.out(line)
}

/** It stays in the list, with why it was dropped. */
async function drop(call: Call, scene: Scene, campaign: Campaign): Promise<void> {
  const { given } = call
  const found = ideaNamed(campaign, required(given.positionals[1], 'winnow idea drop idea-003'))
  const name = ideaName(found)
  if (found.status !== 'open') throw new UserError(`${name} is ${found.status} already`)
  const learnings = given.text('message') ?? `dropped by ${scene.place.by.actor}`
  const { experiment } = found
  const draft = { kind: 'hypothesis-updated', hypothesis: found.id, status: 'dropped' } as const
  await record(scene.place, [{ ...draft, experiment, outcome: null, learnings }])
  answer(call, scene, { dropped: [name] }, `${name} is dropped: ${found.hypothesis}`)
}

function answer({ given, terminal }: Call, { rehearsal }: Scene, json: object, sentence: string): void {
  if (rehearsal !== null) return
  if (given.flag('json')) terminal.json(json)
  else terminal.out(sentence)
}

async function importList(call: Call, scene: Scene, campaign: Campaign): Promise<void> {
  const { given, terminal, around } = call
  const file = required(given.positionals[1], 'winnow idea import ideas.md')
  const patches = await patchesGiven(call, scene, { given: file, campaign })
  if (patches !== null) {
    requireHome(scene.place, campaign)
    return offerAll(call, scene, patches)
  }
  const fresh: Idea[] = []
  const known: BacklogIdea[] = [...campaign.backlog]
  for (const told of readIdeaList(await textOf(resolve(around.directory, file), file), file)) {
    const twin = twinOf(known, told) ?? twinIn(fresh, told)
    if (twin === null) fresh.push(told)
    else terminal.err(`note: left out, it is ${twin} already: ${told.hypothesis}`)
  }
  const names = await write(scene, fresh)
  const which = names.length === 0 ? '' : `: ${span(names)}`
  answer(call, scene, { added: names }, `${plural(names.length, 'idea')} added${which}.`)
}

function span(names: readonly string[]): string {
  const [first, last] = [names[0] ?? '', names.at(-1) ?? '']
  return first === last ? first : `${first} to ${last}`
}

async function textOf(path: string, file: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new UserError(`${file} cannot be read`, { place: { file }, fix: 'name a file with ideas', cause })
  }
}

/** Answers how they are called from now on. */
async function write({ place, rehearsal }: Scene, ideas: readonly Idea[]): Promise<string[]> {
  const source = place.by.actor
  const events = await record(
    place,
    ideas.map(told => ({ kind: 'hypothesis-added', ...told, source })),
  )
  if (events.length === 0 || rehearsal !== null) return []
  const { backlog } = (await requireCampaign(place)).loaded.campaign
  const ids = new Set(events.map(({ id }) => id))
  return backlog.filter(({ id }) => ids.has(id)).map(ideaName)
}

function twinOf(backlog: readonly BacklogIdea[], { hypothesis }: Idea): string | null {
  const twin = backlog.find(each => sameWords(each.hypothesis) === sameWords(hypothesis))
  return twin === undefined ? null : ideaName(twin)
}

function twinIn(fresh: readonly Idea[], { hypothesis }: Idea): string | null {
  return fresh.some(each => sameWords(each.hypothesis) === sameWords(hypothesis)) ? 'in this file' : null
}

function required(given: string | undefined, example: string): string {
  if (given !== undefined && given.trim() !== '') return given
  throw new UserError('winnow idea needs to know which', { fix: example })
}
