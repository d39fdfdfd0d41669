import { getWhereabouts, isAway, requireHome } from '../engine/campaign/context.ts'
import {
  readCommittedSpec,
  requireStartable,
  requireSupportedSpec,
  startCampaign,
} from '../engine/campaign/start.ts'
import type { ControllerContext } from '../engine/observe/observe.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { openController, requireCampaign, runCampaign } from '../engine/controller/run.ts'
import { addAmendHint, UserError } from '../errors.ts'
import { readEndpoint } from '../judge/model-access.ts'
import { type CommandProposer, findMissingAgent, isPreset, PRESETS } from '../ideas/proposers.ts'
import type { Campaign } from '../model/campaign.ts'
import { EXIT_CODES, type VerdictWord, WAITING_EXIT_CODE } from '../model/verdict.ts'
import type { PlanWaiting } from '../plan/action.ts'
import { describeForbiddenSpending, listForbiddenSpenders } from '../plan/money.ts'
import { listAwaitingApproval } from '../report/approval.ts'
import { renderFinalSummary, renderRunSummary } from '../report/run-summary.ts'
import { buildStatusView, countVerdicts } from '../report/status.ts'
import { listKeptExperiments } from '../report/verdict-text.ts'
import { suggestWord } from '../spec/nearest-word.ts'
import { isJudgedMetric, isMetered, listUncappedSpenders } from '../spec/spec-facts.ts'
import type { Spec } from '../spec/schema.ts'
import { getCampaignSpec } from '../spec/load.ts'
import { listStatusNotes, READ_AS_CE } from '../spec/notes.ts'
import { runComments } from './comments.ts'
import { withCampaign } from './context.ts'
import type { KnownCampaign } from './known-campaigns.ts'
import { createLiveRenderer, showLive } from './live.ts'
import { confirmStake, estimateStake, readForecast } from './stake.ts'
import { listPullNumbers } from './subjects.ts'
import { tickWithoutMeasuring } from './tick.ts'
import { describeUnusedWork } from './default-branch.ts'
import type { Call, CommandContext, Option, Verb } from './verb.ts'

const AGENT: Option = {
  name: 'agent',
  value: 'name',
  many: true,
  summary: `ask this coding agent for ideas, in this run only: ${PRESETS.join(', ')}`,
}

export const ALLOW_UNCAPPED: Option = {
  name: 'allow-uncapped',
  summary: 'let this campaign spend money on models without a cap; recorded in the ledger',
}

const TIMEOUT_SECONDS = 3600

/** Exit codes for scripts, as shown in help. */
const RUN_EXITS: Readonly<Record<number, string>> = {
  [EXIT_CODES.kept]: 'the campaign stopped and kept at least one change',
  [EXIT_CODES['no gain']]: 'the campaign stopped and kept nothing',
  [EXIT_CODES['not proven']]: 'the campaign stopped and kept nothing; results are not proven',
  [EXIT_CODES.refused]: 'the campaign stopped; every idea was refused',
  [EXIT_CODES.broken]: 'the base, the harness or its calibration failed, or every idea was broken',
  [WAITING_EXIT_CODE]: 'waiting for ideas, a measurement elsewhere, or a person',
  [EXIT_CODES.worse]: 'the campaign stopped and kept nothing; results are worse',
}

const BEST_FIRST: readonly VerdictWord[] = ['no gain', 'not proven', 'worse', 'broken', 'refused']

export interface RunResult {
  campaign: Campaign
  waiting: PlanWaiting
}

export type ResultReporter = (call: Call, context: CommandContext, result: RunResult) => Promise<void>

export const runVerb: Verb = {
  name: 'run',
  group: 'start',
  summary: 'start or continue a campaign on this machine, until it stops or has to wait',
  access: 'write',
  arguments: [{ name: 'spec', summary: 'the spec file, if there are several' }],
  options: [
    {
      name: 'fresh',
      summary: 'close open experiments, archive the campaign, and start again from the default branch',
    },
    AGENT,
    ALLOW_UNCAPPED,
    { name: 'watch', summary: 'keep running while waiting for ideas or a person' },
    {
      name: 'yes',
      short: 'y',
      summary: 'do not ask before work that costs money or takes more than an hour',
    },
    {
      name: 'json',
      summary: 'print the status and what the campaign waits for as JSON; progress goes to stderr',
    },
  ],
  examples: [
    'winnow run',
    'winnow run .winnow/parser.yaml --watch',
    'winnow run --agent claude',
    'winnow run --fresh --dry-run',
  ],
  exits: { ...RUN_EXITS, 130: 'interrupted; run again to continue' },
  run(call) {
    return runAndReport(call, tellRunResult)
  },
}

export function runAndReport(call: Call, report: ResultReporter): Promise<number> {
  const [spec] = call.given.positionals
  const repeatable = !call.given.flag('fresh')
  const wanted = { access: 'write', startedOnly: false, spec, announce: true, repeatable } as const
  return withCampaign(call, wanted, context => startAndRun(call, context, report))
}

async function startAndRun(call: Call, context: CommandContext, report: ResultReporter): Promise<number> {
  const { campaign, repositoryContext, campaignContext } = context
  if (campaign.started) requireHome(campaignContext, (await requireCampaign(campaignContext)).loaded.campaign)
  const agents = await selectAgentProposers(call, context)
  const specPath = campaign.start?.spec_path ?? campaign.specPath
  for (const sentence of await describeUnusedWork(repositoryContext, specPath, call.environment.env)) {
    call.terminal.err(`note: ${sentence}`)
  }
  if (!(await confirmStart(call, context))) {
    call.terminal.err('Nothing was started.')
    return 130
  }
  const opened = call.given.flag('fresh')
    ? await restartCampaign(call, context)
    : await openOrStartCampaign(call, context)
  if (opened.dryRun) {
    await tickWithoutMeasuring(call, opened)
    return 0
  }
  await requireMeasurableHere(opened)
  await allowUncapped(call, opened)
  const controller = await openController(opened.campaignContext, call.interrupt, {
    extraProposers: agents,
    runComments: runComments(call, opened),
  })
  const watch = call.given.flag('watch')
  const running = () => runCampaign(controller, { signal: call.interrupt, watch })
  const waiting = await showLive(call, createLiveRenderer(controller), running)
  const result = { campaign: await readCurrentCampaign(controller), waiting }
  await report(call, opened, result)
  return call.interrupt.aborted ? 130 : toRunExitCode(result)
}

/** Returns the agents given with --agent. Fails before any money is spent if a program is not installed. */
async function selectAgentProposers(
  { given, environment }: Call,
  context: CommandContext,
): Promise<CommandProposer[]> {
  const agents = given.texts('agent').map(toAgentProposer)
  const { campaign, campaignContext } = context
  const spec =
    campaign.started && !given.flag('fresh') ? (await requireCampaign(campaignContext)).spec : campaign.spec
  const missing = await findMissingAgent([...(spec?.propose ?? []), ...agents], environment.env)
  if (missing !== null) throw new UserError(missing.what, { fix: missing.fix })
  return agents
}

function toAgentProposer(name: string): CommandProposer {
  if (isPreset(name)) return { use: 'command', preset: name, timeout_seconds: TIMEOUT_SECONDS }
  throw new UserError(`winnow knows no agent ${name}; it knows ${PRESETS.join(', ')}`, {
    fix: suggestWord(name, PRESETS, 'write it as a command: in propose of the spec'),
  })
}

/** Asks the person to accept time and cost before anything is recorded. A dry run fails where a real one would. */
async function confirmStart(call: Call, context: CommandContext): Promise<boolean> {
  const { campaign, repositoryContext, dryRun } = context
  if (campaign.started && !call.given.flag('fresh')) return true
  const campaignContext = { ...context.campaignContext, defaultBranch: context.currentDefault }
  const { spec, yaml, tip } = await readCommittedSpec(campaignContext, getSpecPath(context))
  requireCappedSpending(call, spec)
  // Fails before anything is recorded: nothing can be measured without the address.
  if (isJudgedMetric(spec) || isMetered(spec)) readEndpoint(call.environment.env)
  if (dryRun !== null) return true
  const seconds = readForecast(repositoryContext, { yaml, tree: tip.tree })
  return confirmStake(call, estimateStake(spec, seconds))
}

/** Refuses before anything is recorded. A file alone cannot lift a cap. */
function requireCappedSpending({ given }: Call, spec: Spec): void {
  const spenders = listUncappedSpenders(spec)
  if (spenders.length === 0 || given.flag(ALLOW_UNCAPPED.name)) return
  throw new UserError(describeForbiddenSpending(spenders), {
    place: { path: 'stopping.max_total_cost_usd' },
    fix: 'write a cap in US dollars, such as 5, or allow it: winnow run --allow-uncapped',
  })
}

/** Records once that the person who gave --allow-uncapped allows it, and continues a campaign that waits for that. */
export async function allowUncapped(call: Call, { campaignContext, dryRun }: CommandContext): Promise<void> {
  if (!call.given.flag(ALLOW_UNCAPPED.name)) return
  const { loaded, spec } = await requireCampaign(campaignContext)
  const { campaign } = loaded
  const [first, ...others] = listForbiddenSpenders(campaign, spec)
  if (first === undefined) return
  const spenders = [first, ...others]
  const waits = campaign.status === 'paused' && campaign.status_source === 'engine'
  const reason = `${campaignContext.by.actor} allowed ${spenders.join(' and ')} to spend without a cap`
  await recordEvents(campaignContext, [
    { kind: 'uncapped-allowed', spenders },
    ...(waits ? [{ kind: 'campaign-resumed', reason } as const] : []),
  ])
  if (dryRun === null) call.terminal.err(`Recorded: ${reason}.`)
}

/** The campaign may have been started on GitHub, which supports features that this machine lacks. */
async function requireMeasurableHere({ campaignContext }: CommandContext): Promise<void> {
  const { loaded, spec } = await requireCampaign(campaignContext)
  const path = loaded.campaign.spec_path
  try {
    requireSupportedSpec({ spec, path }, getWhereabouts(campaignContext.forge))
  } catch (error) {
    throw error instanceof UserError ? addAmendHint(error, path) : error
  }
}

// Starting and closing

export async function openOrStartCampaign(call: Call, context: CommandContext): Promise<CommandContext> {
  const { campaign, campaignContext } = context
  if (campaign.started) {
    requireSamePath(call, campaign)
    return context
  }
  const committed = await readCommittedSpec(campaignContext, getSpecPath(context))
  if (committed.spec.rules === 'ce') call.terminal.err(`note: ${READ_AS_CE}`)
  await startCampaign(campaignContext, committed, { fresh: false })
  return context
}

/** Fails rather than silently ignoring a named spec that is not the one in force. */
function requireSamePath({ given }: Call, { name, start, specPath }: KnownCampaign): void {
  const named = given.positionals[0] !== undefined && given.positionals[0] !== name
  if (!named || start === null || specPath === null || specPath === start.spec_path) return
  throw new UserError(`campaign ${name} was started from ${start.spec_path}, not from ${specPath}`, {
    place: { file: specPath },
    fix: `move the spec back, or winnow run --fresh ${specPath}`,
  })
}

/** Reads the new spec before closing the old campaign, so that a mistake in it costs nothing. */
async function restartCampaign(call: Call, context: CommandContext): Promise<CommandContext> {
  const fresh = {
    ...context,
    campaignContext: { ...context.campaignContext, defaultBranch: context.currentDefault },
  }
  const committed = await readCommittedSpec(fresh.campaignContext, getSpecPath(context))
  requireStartable(committed, fresh.campaignContext)
  if (context.campaign.started) await closeCampaign(call, context, 'fresh', 'a fresh start was requested')
  await startCampaign(fresh.campaignContext, committed, { fresh: true })
  return fresh
}

export async function closeCampaign(
  call: Call,
  context: CommandContext,
  code: string,
  reason: string,
): Promise<void> {
  const { campaignContext } = context
  const { campaign } = (await requireCampaign(campaignContext)).loaded
  const isOpen = Object.values(campaign.experiments).some(({ status }) => status !== 'ended')
  const waits =
    code === 'person'
      ? listAwaitingApproval(campaign).length + campaign.approved_after_stop.length > 0
      : isOpen
  if (campaign.status !== 'stopped' || waits)
    await recordEvents(campaignContext, [{ kind: 'campaign-stopped', code, reason }])
  // Comments are run inside a tick, which continues anyway. A campaign on GitHub is closed by its next scheduled
  // run.
  if (!call.comment && !isAway(campaignContext, campaign)) await tickWithoutMeasuring(call, context)
}

export function getSpecPath({ campaign }: CommandContext): string {
  if (campaign.problem !== null) throw campaign.problem
  if (campaign.specPath !== null) return campaign.specPath
  throw new UserError(`the spec of ${campaign.name} is no longer on the default branch`, {
    fix: 'commit .winnow/<name>.yaml (and push it)',
  })
}

// The result

export function toRunExitCode({ campaign, waiting }: RunResult): number {
  if (waiting.for !== 'nothing') return hasFailingBase(campaign) ? EXIT_CODES.broken : WAITING_EXIT_CODE
  if (listKeptExperiments(campaign).length > 0) return EXIT_CODES.kept
  const verdicts = countVerdicts(campaign)
  const best = verdicts.reverted > 0 ? undefined : BEST_FIRST.find(word => verdicts[word] > 0)
  return EXIT_CODES[best ?? 'no gain']
}

/** The engine paused the campaign because calibration or baseline failed on the incumbent itself. */
export function hasFailingBase({ status, status_source, orders }: Campaign): boolean {
  if (status !== 'paused' || status_source !== 'engine') return false
  return Object.values(orders).some(
    ({ order, report }) =>
      report !== null && (order.purpose === 'calibration' || order.purpose === 'baseline'),
  )
}

export async function readCurrentCampaign({ memory, context }: ControllerContext): Promise<Campaign> {
  return memory.loaded?.campaign ?? (await requireCampaign(context)).loaded.campaign
}

export async function tellRunResult(
  { given, terminal }: Call,
  { campaignContext, repositoryContext, campaign: known }: CommandContext,
  { campaign, waiting }: RunResult,
) {
  if (given.flag('json')) {
    const notes = listStatusNotes(getCampaignSpec(campaign))
    const view = buildStatusView(campaign, await listPullNumbers(campaignContext, campaign), notes)
    terminal.json({ waiting, ...view })
    return
  }
  const astray = waiting.for === 'person' && waiting.astray === true
  const where = { prefix: known.prefix, remote: repositoryContext.remote, astray }
  for (const line of [...renderRunSummary(campaign, waiting), ...renderFinalSummary(campaign, where)])
    terminal.out(line)
}
