import { formatCount } from '../decide/wording.ts'
import { requireHome } from '../engine/campaign/context.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import { normalizeHypothesis, readIdeaList, toIdea } from '../ideas/idea-block.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import { prioritySchema } from '../model/event-schemas.ts'
import { formatIdeaName } from '../model/fold/proposers.ts'
import type { IdeaText } from '../plan/world.ts'
import { renderBacklog, sortBacklogIdeas, toIdeaView } from '../report/backlog.ts'
import { suggestWord } from '../spec/nearest-word.ts'
import { PRESETS } from '../ideas/proposers.ts'
import { changeCampaign, readGivenFile } from './context.ts'
import { generateIdeas } from './generate-ideas.ts'
import { CATEGORY, FAMILY, PRIORITY, readGivenPatches, submitIdeas } from './propose.ts'
import { findNamedIdea } from './subjects.ts'
import { type Call, type CommandContext, refuseOptions, type Verb } from './verb.ts'

export const ideaVerb: Verb = {
  name: 'idea',
  group: 'more',
  summary:
    'add, generate, approve, list, drop or import ideas in the backlog, for agents and people to implement',
  access: 'write',
  arguments: [
    { name: 'action', summary: 'add, generate, approve, list, drop or import', required: true },
    {
      name: 'what',
      summary: 'the idea in one sentence; its name, such as idea-003; or a file with ideas or patches',
    },
  ],
  options: [
    CATEGORY,
    PRIORITY,
    { name: 'needs', value: 'package', many: true, summary: 'a package that the idea would add' },
    FAMILY,
    { name: 'message', short: 'm', value: 'reason', summary: 'why you drop the idea, for the ledger' },
    {
      name: 'model',
      value: 'name',
      summary: 'with generate: the model to ask at WINNOW_MODEL_URL (default: strong)',
    },
    {
      name: 'agent',
      value: 'name',
      summary: `with generate: ask this coding agent, or a command proposer of the spec: ${PRESETS.join(', ')}`,
    },
    { name: 'all', summary: 'with approve or drop: all suggested ideas' },
    { name: 'json', summary: 'print JSON' },
  ],
  examples: [
    'winnow idea add "cache the parsed header" --category caching --priority high',
    'winnow idea generate --agent claude',
    'winnow idea approve --all',
    'winnow idea list --json',
    'winnow idea drop idea-003 -m "the format changes next week"',
    'winnow idea import ideas.md',
    'winnow idea import 0001-use-a-map.patch',
  ],
  run(call) {
    const { act } = chooseIdeaAction(call)
    return changeCampaign(call, (context, campaign) => act(call, context, campaign))
  },
}

/** A comment has no work tree to measure, so the idea goes to the backlog. */
export function addToBacklog(call: Call): Promise<number> {
  return changeCampaign(call, (context, campaign) =>
    addIdea(call, context, campaign, {
      hypothesis: requireText(call.given.text('message'), '/winnow try -m "what might help"'),
      priority: 'high',
    }),
  )
}

interface IdeaAction {
  act: (call: Call, context: CommandContext, campaign: Campaign) => Promise<void>
  /** Those of IDEA_OPTIONS that it reads. */
  options: readonly string[]
  /** Whether it is about a sentence, an idea or a file. */
  takesWhat: boolean
}

const DETAILS = ['category', 'priority', 'needs', 'family']

const ACTIONS = new Map<string, IdeaAction>([
  ['add', { act: addGivenIdea, options: DETAILS, takesWhat: true }],
  ['generate', { act: generateIdeas, options: ['model', 'agent'], takesWhat: false }],
  ['approve', { act: approveIdeas, options: ['all'], takesWhat: true }],
  ['list', { act: printIdeas, options: [], takesWhat: false }],
  ['drop', { act: dropIdea, options: ['all', 'message'], takesWhat: true }],
  ['import', { act: importIdeas, options: [...DETAILS, 'message'], takesWhat: true }],
])

const IDEA_OPTIONS = [...new Set([...ACTIONS.values()].flatMap(({ options }) => options))]

function chooseIdeaAction(call: Call): IdeaAction {
  const { given } = call
  const [word = '', what] = given.positionals
  const action = findIdeaAction(word)
  const unread = IDEA_OPTIONS.filter(name => !action.options.includes(name))
  refuseOptions(call, unread, `has no effect on winnow idea ${word}`)
  if (given.text('agent') !== undefined)
    refuseOptions(call, ['model'], 'and --agent both say who suggests ideas', 'give one of the two')
  if (what === undefined || (action.takesWhat && !given.flag('all'))) return action
  throw new UserError(
    given.flag('all')
      ? `--all is about every suggested idea, and ${what} about one`
      : `winnow idea ${word} takes no ${JSON.stringify(what)}`,
    { fix: given.flag('all') ? 'give one of the two' : 'leave it out' },
  )
}

function findIdeaAction(given: string): IdeaAction {
  const found = ACTIONS.get(given)
  if (found !== undefined) return found
  throw new UserError(`winnow idea does not know ${JSON.stringify(given)}`, {
    fix: suggestWord(
      given,
      ACTIONS.keys(),
      'winnow idea add, generate, approve, list, drop or import',
      'winnow idea ',
    ),
  })
}

async function addGivenIdea(call: Call, context: CommandContext, campaign: Campaign): Promise<void> {
  await addIdea(call, context, campaign, {
    hypothesis: requireText(call.given.positionals[1], 'winnow idea add "what might help"'),
    priority: prioritySchema.optional().parse(call.given.text('priority')),
  })
}

async function addIdea(
  call: Call,
  context: CommandContext,
  campaign: Campaign,
  words: Pick<Parameters<typeof toIdea>[0], 'hypothesis' | 'priority'>,
): Promise<void> {
  const { given } = call
  const details = { category: given.text('category'), family: given.text('family') }
  const idea = toIdea({ ...words, ...details, required_deps: [...given.texts('needs')] }, '')
  const duplicate = findBacklogDuplicate(campaign.backlog, idea)
  if (duplicate !== null)
    throw new UserError(`that is ${duplicate} already`, { fix: `winnow idea list shows its state` })
  const names = await recordIdeas(context, [idea])
  printAnswer(call, context, { added: names }, `${names[0] ?? ''} added: ${idea.hypothesis}`)
}

async function printIdeas(
  { given, terminal }: Call,
  { dryRun }: CommandContext,
  campaign: Campaign,
): Promise<void> {
  if (dryRun !== null) dryRun.printed = true
  if (given.flag('json'))
    return terminal.json(sortBacklogIdeas(campaign).map(idea => toIdeaView(campaign, idea)))
  for (const line of renderBacklog(campaign)) terminal.out(line)
}

async function dropIdea(call: Call, context: CommandContext, campaign: Campaign): Promise<void> {
  const ideas = selectIdeas(call, campaign, 'drop')
  const closed = ideas.find(({ status }) => status !== 'open' && status !== 'suggested')
  if (closed !== undefined) throw new UserError(`${formatIdeaName(closed)} is ${closed.status} already`)
  const learnings = call.given.text('message') ?? `dropped by ${context.campaignContext.by.actor}`
  await recordEvents(
    context.campaignContext,
    ideas.map(({ id, experiment }) => {
      const draft = { kind: 'hypothesis-updated', hypothesis: id, status: 'dropped' } as const
      return { ...draft, experiment, outcome: null, learnings }
    }),
  )
  const names = ideas.map(formatIdeaName)
  printAnswer(call, context, { dropped: names }, describeChange(ideas, 'dropped'))
}

/** A person says yes to what a model or an agent suggested. Proposers get an idea only after that. */
async function approveIdeas(call: Call, context: CommandContext, campaign: Campaign): Promise<void> {
  const ideas = selectIdeas(call, campaign, 'approve')
  const other = ideas.find(({ status }) => status !== 'suggested')
  if (other !== undefined)
    throw new UserError(`${formatIdeaName(other)} is ${other.status}, and needs no approval`)
  const unknown = { experiment: null, outcome: null, learnings: null }
  await recordEvents(
    context.campaignContext,
    ideas.map(({ id }) => ({ kind: 'hypothesis-updated', hypothesis: id, status: 'open', ...unknown })),
  )
  printAnswer(call, context, { approved: ideas.map(formatIdeaName) }, describeChange(ideas, 'approved'))
}

function selectIdeas({ given }: Call, campaign: Campaign, action: 'approve' | 'drop'): BacklogIdea[] {
  if (!given.flag('all'))
    return [findNamedIdea(campaign, requireText(given.positionals[1], `winnow idea ${action} idea-003`))]
  const suggested = campaign.backlog.filter(({ status }) => status === 'suggested')
  if (suggested.length > 0) return suggested
  throw new UserError('no idea waits for approval', { fix: 'winnow idea generate suggests some' })
}

function describeChange(ideas: readonly BacklogIdea[], change: string): string {
  const [first] = ideas
  if (ideas.length === 1 && first !== undefined)
    return `${formatIdeaName(first)} is ${change}: ${first.hypothesis}`
  return `${formatCount(ideas.length, 'idea')} ${change}: ${ideas.map(formatIdeaName).join(', ')}`
}

function printAnswer(
  { given, terminal }: Call,
  { dryRun }: CommandContext,
  json: object,
  sentence: string,
): void {
  if (dryRun !== null) return
  if (given.flag('json')) terminal.json(json)
  else terminal.out(sentence)
}

async function importIdeas(call: Call, context: CommandContext, campaign: Campaign): Promise<void> {
  const file = requireText(call.given.positionals[1], 'winnow idea import ideas.md')
  const patches = await readGivenPatches(call, context, file, campaign)
  if (patches !== null) {
    requireHome(context.campaignContext, campaign)
    return submitIdeas(call, context, patches)
  }
  refuseOptions(call, [...DETAILS, 'message'], 'has no effect on a list: it is for patches')
  const fresh: IdeaText[] = []
  const text = await readGivenFile(call, file, 'name a file with ideas')
  for (const idea of readIdeaList(text, file)) {
    const duplicate =
      findBacklogDuplicate(campaign.backlog, idea) ??
      (fresh.some(each => isSameIdea(each, idea)) ? 'in this file' : null)
    if (duplicate === null) fresh.push(idea)
    else call.terminal.err(`note: left out, it is ${duplicate} already: ${idea.hypothesis}`)
  }
  const names = await recordIdeas(context, fresh)
  const which = names.length === 0 ? '' : `: ${formatSpan(names)}`
  printAnswer(call, context, { added: names }, `${formatCount(names.length, 'idea')} added${which}.`)
}

function formatSpan(names: readonly string[]): string {
  const [first, last] = [names[0] ?? '', names.at(-1) ?? '']
  return first === last ? first : `${first} to ${last}`
}

async function recordIdeas(
  { campaignContext, dryRun }: CommandContext,
  ideas: readonly IdeaText[],
): Promise<string[]> {
  const source = campaignContext.by.actor
  const events = await recordEvents(
    campaignContext,
    ideas.map(idea => ({ kind: 'hypothesis-added', ...idea, source })),
  )
  if (events.length === 0 || dryRun !== null) return []
  const { backlog } = (await requireCampaign(campaignContext)).loaded.campaign
  const ids = new Set(events.map(({ id }) => id))
  return backlog.filter(({ id }) => ids.has(id)).map(formatIdeaName)
}

function findBacklogDuplicate(backlog: readonly BacklogIdea[], idea: IdeaText): string | null {
  const duplicate = backlog.find(each => isSameIdea(each, idea))
  return duplicate === undefined ? null : formatIdeaName(duplicate)
}

function isSameIdea(one: IdeaText, other: IdeaText): boolean {
  return normalizeHypothesis(one.hypothesis) === normalizeHypothesis(other.hypothesis)
}

function requireText(given: string | undefined, example: string): string {
  if (given !== undefined && given.trim() !== '') return given
  throw new UserError('winnow idea needs to know which', { fix: example })
}
