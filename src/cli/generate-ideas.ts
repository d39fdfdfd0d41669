import { join } from 'node:path'
import { formatCount } from '../decide/wording.ts'
import { readEarlierResults } from '../engine/campaign/earlier-results.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { claimFreeWorkDir } from '../engine/jobs/worker-slots.ts'
import { UserError } from '../errors.ts'
import { createWebFetch } from '../github/web.ts'
import { askAgentForText, getBriefPath } from '../ideas/agent.ts'
import { renderBriefFacts } from '../ideas/brief.ts'
import {
  countCategories,
  IDEAS_ANSWER,
  parseGeneratedIdeas,
  renderEarlierResults,
  WANTED_IDEAS,
} from '../ideas/generate-ideas.ts'
import {
  buildAgentCommand,
  type CommandProposer,
  findMissingAgent,
  getProposerName,
  isPreset,
  type NamedProposer,
  nameProposers,
} from '../ideas/proposers.ts'
import { formatUsd, openBudget } from '../judge/budget.ts'
import { createChatModels } from '../judge/chat-model.ts'
import { hasModelUrl, readModelAccess } from '../judge/model-access.ts'
import { type Campaign, getIncumbentMetrics } from '../model/campaign.ts'
import { formatIdeaName } from '../model/fold/proposers.ts'
import type { ModelCost } from '../model/report.ts'
import { NO_COST } from '../plan/money.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call, CommandContext } from './verb.ts'

/** One list costs cents. The rest of stopping.max_total_cost_usd is the limit where that is less. */
const MOST_USD = 1
const ANSWER_TOKENS = 8_000
const TIMEOUT_SECONDS = 1800

/** Asks a model or an agent for a backlog. Its ideas wait until a person approves them. */
export async function generateIdeas(call: Call, context: CommandContext, campaign: Campaign): Promise<void> {
  const { campaignContext, dryRun } = context
  const { spec } = await requireCampaign(campaignContext)
  const prompt = await buildPrompt(context, campaign, spec)
  if (dryRun !== null) {
    dryRun.printed = true
    if (call.given.flag('json')) call.terminal.json({ prompt })
    else call.terminal.out(prompt)
    return
  }
  const agent = selectAgent(call, spec)
  const answer =
    agent === null
      ? await askModel(call, context, { campaign, spec, prompt })
      : await askCommand(call, context, { agent, campaign, prompt })
  const { who, cost } = answer
  const spent = {
    kind: 'spent',
    what: 'propose',
    who,
    ok: answer.text !== null,
    minutes: 0,
    ...cost,
  } as const
  if (cost.requests > 0) await recordEvents(campaignContext, [spent])
  if (answer.text === null)
    throw new UserError(`${who} gave no ideas: ${answer.why}`, {
      fix: 'repeat, or name another with --model or --agent',
    })
  const found = parseGeneratedIdeas(answer.text, campaign)
  if (found === null || found.ideas.length === 0)
    throw new UserError(
      found === null ? `${who} answered with no list of ideas` : `all ideas of ${who} are known already`,
      { fix: 'repeat, or name another with --model or --agent' },
    )
  const drafts = found.ideas.map(
    idea => ({ kind: 'hypothesis-added', ...idea, source: who, suggested: true }) as const,
  )
  const ids = new Set((await recordEvents(campaignContext, drafts)).map(({ id }) => id))
  const { backlog } = (await requireCampaign(campaignContext)).loaded.campaign
  const added = backlog.filter(({ id }) => ids.has(id))
  if (call.given.flag('json')) {
    call.terminal.json({
      suggested: added.map(formatIdeaName),
      known: found.known,
      invalid: found.invalid,
      cost,
    })
    return
  }
  for (const hypothesis of found.known)
    call.terminal.err(`note: left out, it is known already: ${hypothesis}`)
  if (found.invalid > 0)
    call.terminal.err(`note: left out ${formatCount(found.invalid, 'line')} that are no ideas`)
  for (const idea of added) {
    const needs = idea.required_deps.length === 0 ? '' : ` (needs ${idea.required_deps.join(', ')})`
    call.terminal.out(
      `${formatIdeaName(idea)}  ${idea.priority}, ${idea.category}: ${idea.hypothesis}${needs}`,
    )
  }
  const few = added.length < WANTED_IDEAS.least ? ` of the ${WANTED_IDEAS.least} that it was asked for` : ''
  const paid = cost.requests === 0 ? '' : `, for ${formatUsd(cost.usd)}`
  call.terminal.out(
    `${who} suggested ${formatCount(added.length, 'idea')}${few}${paid}: ${countCategories(added)}.`,
  )
  call.terminal.out(
    'No proposer gets them yet. Next: winnow idea drop <idea>, then winnow idea approve --all',
  )
}

/** Earlier learnings come first, so that the list builds on them. */
async function buildPrompt(
  { campaignContext }: CommandContext,
  campaign: Campaign,
  spec: Spec,
): Promise<string> {
  const earlier = await readEarlierResults(campaignContext.repository, campaignContext.refs)
  const facts = renderBriefFacts({ campaign, spec, incumbentMetrics: getIncumbentMetrics(campaign) })
  const backlog = campaign.backlog.map(({ hypothesis }) => `- ${hypothesis}`)
  const open = backlog.length === 0 ? '' : `## In the backlog already\n${backlog.slice(-50).join('\n')}\n`
  return [renderEarlierResults(earlier, spec), facts, open, IDEAS_ANSWER]
    .filter(part => part !== '')
    .join('\n')
}

interface GeneratedText {
  who: string
  /** Null: no answer. */
  text: string | null
  why: string
  cost: ModelCost
}

async function askModel(
  { given, interrupt }: Call,
  { campaignContext: { env, clock, random } }: CommandContext,
  { campaign, spec, prompt }: { campaign: Campaign; spec: Spec; prompt: string },
): Promise<GeneratedText> {
  const web = createWebFetch(env)
  const wanted = given.text('model') ?? 'strong'
  const { endpoint, key, model, price } = await readModelAccess({ env, models: spec.models, web }, wanted)
  const cap = spec.stopping.max_total_cost_usd
  const capUsd = Math.min(MOST_USD, cap === null ? MOST_USD : Math.max(0, cap - campaign.spent.usd))
  const budget = openBudget({ model, capUsd, price })
  const models = createChatModels({ endpoint, key, budget, clock, random, web })
  const system = 'You suggest ideas for experiments that a program measures. You answer with one JSON object.'
  const answer = await models.ask({ model, system, user: prompt, maxTokens: ANSWER_TOKENS }, interrupt)
  const { requests, tokens, usd } = models.usage()
  const text = answer.is === 'answered' ? answer.text : null
  const why = answer.is === 'answered' ? '' : answer.reason
  return { who: model, text, why, cost: { requests, tokens, usd: usd ?? 0 } }
}

/** Null: a model is asked. Without an address of one, the first program of the spec is. */
function selectAgent({ given, environment }: Call, { propose }: Spec): NamedProposer | null {
  const name = given.text('agent')
  const commands = nameProposers(propose)
  if (name === undefined)
    return given.text('model') !== undefined || hasModelUrl(environment.env) ? null : (commands[0] ?? null)
  const found = commands.find(each => each.name === name || each.proposer.preset === name)
  if (found !== undefined) return found
  if (isPreset(name)) {
    const proposer: CommandProposer = { use: 'command', preset: name, timeout_seconds: TIMEOUT_SECONDS }
    return { name: getProposerName(proposer), proposer }
  }
  throw new UserError(`winnow knows no agent ${name}, and the spec has no proposer of that name`, {
    fix: 'name a proposer of the spec as winnow status shows it, or a preset',
  })
}

async function askCommand(
  { environment, interrupt }: Call,
  { campaignContext: { repository, dataDir, clock, env } }: CommandContext,
  { agent, campaign, prompt }: { agent: NamedProposer; campaign: Campaign; prompt: string },
): Promise<GeneratedText> {
  const { name: who, proposer } = agent
  const missing = await findMissingAgent([proposer], environment.env)
  if (missing !== null) throw new UserError(missing.what, { fix: missing.fix })
  const workDir = await claimFreeWorkDir(join(dataDir, 'generate'), 0)
  const answer = await askAgentForText({
    repo: repository,
    incumbent: campaign.incumbent,
    name: who,
    command: buildAgentCommand(proposer, { text: prompt, file: getBriefPath(workDir) }) ?? '',
    brief: prompt,
    timeoutSeconds: proposer.timeout_seconds,
    workDir,
    env,
    signal: interrupt,
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
  })
  return answer.ok
    ? { who, text: answer.text, why: '', cost: NO_COST }
    : { who, text: null, why: answer.reason, cost: NO_COST }
}
