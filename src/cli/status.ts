import type { CampaignContext } from '../engine/campaign/context.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { readChangedPaths } from '../engine/controller/steps.ts'
import { findDefaultBranch } from '../engine/observe/observe.ts'
import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import type { LedgerEvent } from '../model/event.ts'
import { type Experiment, listSubjects } from '../model/experiment.ts'
import { findReachedLimit } from '../plan/stop.ts'
import { EventRenderer } from '../report/event-log.ts'
import { buildDiffSummary, type ChangedPath } from '../report/diff-summary.ts'
import { getEvidenceLine } from '../report/experiment-state.ts'
import { ExperimentRecord, isAboutExperiment, renderExperiment } from '../report/experiment.ts'
import { PairStories, type PairStory, renderPairChart, toPairView } from '../report/pair-chart.ts'
import { buildResults, type ExportedExperiment, renderResultsYaml, type Results } from '../report/results.ts'
import { describeLimitReached } from '../report/resume-hint.ts'
import {
  buildExperimentView,
  buildStatusView,
  type PullNumbers,
  renderStatus,
  renderStatusSentence,
} from '../report/status.ts'
import { collectTaskResults, renderTaskTable } from '../report/tasks.ts'
import { listStatusNotes } from '../spec/notes.ts'
import type { Spec } from '../spec/schema.ts'
import { withCampaign } from './context.ts'
import { findNamedExperiment, listPullNumbers, readLedgerEvents } from './subjects.ts'
import type { Call, CommandContext, Verb } from './verb.ts'

export const statusVerb: Verb = {
  name: 'status',
  group: 'see',
  summary: 'show the state of the campaign and the verdict of every experiment',
  access: 'read',
  examples: ['winnow status', 'winnow status --json --campaign parser'],
  comment: {
    options: [],
    run: call =>
      withCampaign(call, { access: 'read', startedOnly: true }, async ({ campaignContext }) => {
        const { loaded, spec } = await requireCampaign(campaignContext)
        const { campaign } = loaded
        const notes = describeLimitNotes(call, campaign, spec)
        call.terminal.out(renderStatusSentence(campaign, buildStatusView(campaign, new Map(), notes)))
        return 0
      }),
  },
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async ({ campaignContext }) => {
      const { loaded, spec } = await requireCampaign(campaignContext)
      const { campaign } = loaded
      const notes = [
        ...describeLimitNotes(call, campaign, spec),
        ...(await describeMissingBranch(campaignContext, campaign)),
        ...listStatusNotes(spec),
      ]
      const view = buildStatusView(campaign, await listPullNumbers(campaignContext, campaign), notes)
      if (call.given.flag('json')) call.terminal.json(view)
      else for (const line of renderStatus(campaign, view)) call.terminal.out(line)
      return 0
    }),
}

/** Predicts the next run without knowing its machine, so any machine's baseline counts. */
function describeLimitNotes({ environment }: Call, campaign: Campaign, spec: Spec): string[] {
  const now = new Date(environment.clock.now()).toISOString()
  const stop = findReachedLimit({ campaign, spec, now, runner: { machine: null } })
  return stop === null ? [] : [describeLimitReached(campaign, stop)]
}

/** The campaign cannot continue without its default branch. Only the remote knows whether it exists. */
async function describeMissingBranch(
  campaignContext: CampaignContext,
  campaign: Campaign,
): Promise<string[]> {
  try {
    await findDefaultBranch(campaignContext, new Map(), campaign)
    return []
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [`next: nothing, because ${error.message} (${error.fix ?? ''})`]
  }
}

export const logVerb: Verb = {
  name: 'log',
  group: 'see',
  summary: 'list every event of the campaign, oldest first; with --json one per line',
  access: 'read',
  examples: ['winnow log', 'winnow log --json'],
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async ({ campaignContext }) => {
      const lines = new EventRenderer()
      for await (const event of readLedgerEvents(campaignContext)) {
        if (call.given.flag('json')) call.terminal.json(event)
        else call.terminal.out(`${event.seq}  ${event.at}  ${lines.next(event)}`)
      }
      return 0
    }),
}

export const showVerb: Verb = {
  name: 'show',
  group: 'see',
  summary: 'show one experiment: its verdict, its measurements and its events',
  access: 'read',
  arguments: [{ name: 'exp', summary: 'the experiment, exp-007 or 7', required: true }],
  examples: ['winnow show exp-007', 'winnow show 7 --json'],
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async context => {
      const { campaign } = (await requireCampaign(context.campaignContext)).loaded
      const experiment = findNamedExperiment(campaign, call.given.positionals[0] ?? '')
      const pulls = await listPullNumbers(context.campaignContext, campaign)
      const view = buildExperimentView(campaign, experiment, pulls)
      const { events, stories, record, diff } = await readHistory(context, experiment.id)
      const tasks = collectTaskResults(record)
      if (call.given.flag('json')) {
        const evidence = getEvidenceLine(campaign, experiment)
        const summary = diff === null ? null : buildDiffSummary(diff)
        const results = tasks.length === 0 ? {} : { task_results: tasks }
        const pairs = stories.map(toPairView)
        call.terminal.json({ ...view, evidence, diff: summary, ...results, pairs, events })
        return 0
      }
      const charts = stories.flatMap(story => [...renderPairChart(story), ''])
      const history = { events, charts, diff, tasks: renderTaskTable(tasks) }
      for (const line of renderExperiment(campaign, experiment, view, history)) call.terminal.out(line)
      return 0
    }),
}

async function readHistory(
  { campaignContext }: CommandContext,
  id: string,
): Promise<{
  events: LedgerEvent[]
  stories: PairStory[]
  record: ExperimentRecord
  diff: ChangedPath[] | null
}> {
  const orders = new Set<string>()
  const record = new ExperimentRecord(id)
  const events: LedgerEvent[] = []
  const pairs = new PairStories(id)
  for await (const event of readLedgerEvents(campaignContext)) {
    pairs.take(event)
    record.take(event)
    if (!isAboutExperiment(event, id, orders)) continue
    if (event.kind === 'order-issued') orders.add(event.id)
    events.push(event)
  }
  return { events, stories: pairs.stories, record, diff: await readChangedPaths(campaignContext, record) }
}

export const resultsVerb: Verb = {
  name: 'results',
  group: 'more',
  summary: 'print all measurements of one experiment, or of all, as results.yaml',
  access: 'read',
  arguments: [{ name: 'exp', summary: 'the experiment, exp-007 or 7; by default all' }],
  examples: ['winnow results exp-007', 'winnow results --json'],
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async context => {
      const { campaign } = (await requireCampaign(context.campaignContext)).loaded
      const [named] = call.given.positionals
      const wanted = named === undefined ? listSubjects(campaign) : [findNamedExperiment(campaign, named)]
      const pulls = await listPullNumbers(context.campaignContext, campaign)
      const found = (await gatherResults(context, wanted, pulls)).map(({ results }) => results)
      if (call.given.flag('json')) call.terminal.json(named === undefined ? found : found[0])
      else
        for (const [at, one] of found.entries()) {
          if (at > 0) call.terminal.out('---')
          for (const line of renderResultsYaml(one).trimEnd().split('\n')) call.terminal.out(line)
        }
      return 0
    }),
}

/** Reads the ledger once for all experiments. */
export async function gatherResults(
  { campaignContext }: Pick<CommandContext, 'campaignContext'>,
  experiments: readonly Experiment[],
  pulls: PullNumbers,
): Promise<ExportedExperiment[]> {
  const records = experiments.map(experiment => ({ experiment, record: new ExperimentRecord(experiment.id) }))
  for await (const event of readLedgerEvents(campaignContext))
    for (const { record } of records) record.take(event)
  const found: ExportedExperiment[] = []
  for (const { experiment, record } of records) {
    const diff = await readChangedPaths(campaignContext, record)
    const { outcome, reason, status } = experiment
    const ending = status === 'ended' && outcome !== null ? { outcome, reason: reason ?? '' } : null
    const one = buildResults({ spec: campaignContext.name, experiment, record, ending, diff })
    const results = addPullNumber(one, pulls.get(experiment.branch ?? '') ?? null)
    found.push({ experiment, results, diff })
  }
  return found
}

/** Only GitHub knows some pull request numbers. */
function addPullNumber(one: Results, number: number | null): Results {
  return { ...one, links: { ...one.links, pull_request: one.links.pull_request ?? number } }
}
