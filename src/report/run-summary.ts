import { formatProgress } from '../decide/progress.ts'
import { formatCount } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import { buildCampaignRefs, toShortRef } from '../model/ids.ts'
import { quoteShell, toOneLine } from '../model/text.ts'
import { summarizeProbes } from '../model/harness-guard.ts'
import type { PlanWaiting } from '../plan/action.ts'
import { listAwaitingApproval, renderKeptPackageLines } from './approval.ts'
import { renderProbeResults } from './check-probes.ts'
import { toShortId } from './event-log.ts'
import { renderPersonalTasks } from './experiment-state.ts'
import { SINGLE_MACHINE_LIMIT } from './metrics.ts'
import { describeResumeHint, describeWaitingIdeas } from './resume-hint.ts'
import {
  buildCampaignResult,
  type CampaignResult,
  computeCampaignProgress,
  describeVerdictCounts,
  formatCampaignCost,
  renderExperimentSentence,
  renderTally,
} from './status.ts'
import { formatClock, formatTable, limitLines } from './terminal.ts'
import { describeWaiting, listKeptExperiments } from './verdict-text.ts'

export function renderRunSummary(campaign: Campaign, waiting: PlanWaiting): string[] {
  const machine = describeSingleMachine(campaign)
  const ideas = describeWaitingIdeas(campaign, waiting.for === 'nothing' ? (waiting.ideas ?? 0) : 0)
  const progress = computeCampaignProgress(campaign)
  return [
    describeWaiting(waiting),
    ...(ideas === null ? [] : [ideas]),
    `${campaign.name}: ${renderTally(campaign)}; the incumbent is ${toShortId(campaign.incumbent.commit)}.`,
    ...(progress.is === 'nothing kept' ? [] : [`Since the baseline: ${formatProgress(progress)}.`]),
    ...(machine === null ? [] : [machine]),
  ]
}

interface ResultLocation {
  prefix: string
  /** Name of the remote in the user's repository; null if winnow stores everything in that repository. */
  remote: string | null
  /** The optimize branch differs from the ledger, so it must not be merged. */
  astray?: boolean
}

const MAX_LISTED = 5

export function renderFinalSummary(campaign: Campaign, where: ResultLocation): string[] {
  const result = buildCampaignResult(campaign)
  const rows = [
    ...labelRows('verdicts', describeVerdictCounts(campaign)),
    ...labelRows(
      'kept',
      ...limitLines(
        result.improvements.map(({ id }) => describeKeptExperiment(campaign, id)),
        MAX_LISTED,
      ),
    ),
    ...labelRows('packages', ...limitLines(renderKeptPackageLines(campaign), MAX_LISTED)),
    ...labelRows('waiting', ...limitLines(renderPersonalTasks(campaign), MAX_LISTED)),
    ...labelRows('took', describeTimeTaken(campaign, result)),
    ...labelRows('to continue', describeResumeHint(campaign) ?? ''),
    ...labelRows('next', ...formatTable(listNextSteps(campaign, result, where))),
  ]
  return ['', ...formatTable(rows)]
}

function labelRows(label: string, ...lines: readonly string[]): string[][] {
  return lines.filter(line => line !== '').map((line, index) => [index === 0 ? `  ${label}` : '', line])
}

function describeKeptExperiment(campaign: Campaign, id: string): string {
  const experiment = campaign.experiments[id]
  if (experiment === undefined) return ''
  const sentence = toOneLine(renderExperimentSentence(campaign, experiment), 160).replace(/^Kept: /, '')
  return `${id}  ${sentence} (${toOneLine(experiment.hypothesis, 80)})`
}

function describeTimeTaken(campaign: Campaign, { duration_seconds, waited_seconds }: CampaignResult): string {
  const working = duration_seconds === null ? null : Math.max(0, duration_seconds - waited_seconds)
  const waited = waited_seconds < 1 ? '' : `, plus ${formatClock(waited_seconds)} waiting for other processes`
  const since = working === null ? [] : [`${formatClock(working)} since the campaign began${waited}`]
  return [...since, formatCampaignCost(campaign)].join(', ')
}

/** Rows of a command and what it does. */
export function listNextSteps(
  campaign: Campaign,
  { improvements }: CampaignResult,
  where: ResultLocation,
): string[][] {
  const some = Object.keys(campaign.experiments)
  const last = improvements.at(-1)?.id ?? some.at(-1)
  const steps = [
    ['winnow status', 'every experiment'],
    [`winnow show ${last}`, 'its evidence'],
  ]
  const review = last === undefined ? [] : steps
  const taken = campaign.incumbent.tree === campaign.reference.tree
  const take =
    improvements.length === 0 || taken || where.astray === true ? [] : listMergeSteps(campaign, where)
  return [...review, ...take, ...listFinishSteps(campaign)]
}

function listFinishSteps({ status, experiments }: Campaign): string[][] {
  if (status === 'stopped') return [['winnow archive', 'archive the campaign']]
  if (status === 'paused') return [['winnow resume', 'continue, once the cause of the pause is fixed']]
  if (Object.keys(experiments).length > 0) return [['winnow stop', 'end the campaign']]
  return [
    ['winnow try -m "…"', 'measure your uncommitted change'],
    ['winnow propose -m "…"', 'submit HEAD as an idea'],
  ]
}

function listMergeSteps({ name, reference }: Campaign, { prefix, remote }: ResultLocation): string[][] {
  const own = toShortRef(buildCampaignRefs(prefix, name).optimize)
  const branch = remote === null ? own : `${remote}/${own}`
  const fetch = remote === null ? '' : `git fetch ${remote} && `
  return [
    ['winnow audit', 'verify from git that everything was measured'],
    [`${fetch}git diff ${toShortId(reference.commit)}..${branch}`, 'what changed'],
    [`git merge ${branch}`, 'merge it'],
  ]
}

/** No second machine has confirmed these changes (docs/deciding.md, One machine). */
export function describeSingleMachine(campaign: Pick<Campaign, 'experiments' | 'landings'>): string | null {
  const kept = listKeptExperiments(campaign)
  const single = kept.filter(({ single_machine }) => single_machine).length
  if (single === 0) return null
  const all = single === 1 ? 'The kept change was' : `All ${single} kept changes were`
  const which =
    single === kept.length ? all : `${single} of ${kept.length} kept changes ${single === 1 ? 'was' : 'were'}`
  return `${which} measured on a single machine: ${SINGLE_MACHINE_LIMIT}.`
}

// The demo

interface DemoPlace {
  directory: string
  /** `winnow`, or the command that the user typed instead. */
  called: string
  /** Everything that the demo left on this machine. */
  leftovers: readonly string[]
  /** Commands to try first, each with what it shows. */
  first: readonly (readonly [words: string, why: string])[]
}

export function renderDemoAttacks({ probes }: Campaign): string[] {
  if (probes === null) return []
  const { results } = probes
  return [
    'Before the ideas, winnow attacked the harness with changes of its own:',
    ...renderProbeResults(results, summarizeProbes(results)),
    '',
  ]
}

/** At the assumed price. A program that winnow asks for ideas pays for its questions itself. */
export function renderDemoModelCost({ spent }: Campaign, questions: number): string[] {
  const counted = `winnow counted ${formatCount(spent.requests, 'request')} and ${spent.tokens} tokens`
  return [
    `The local model answered ${formatCount(questions, 'question')}: ${counted}, $${spent.usd.toFixed(4)} at $0.4 and $1.6 for a million tokens. Nothing was paid.`,
    '',
  ]
}

export function renderDemoNextSteps(
  campaign: Campaign,
  { directory, called, leftovers, first }: DemoPlace,
): string[] {
  const next = [...first, ...listDemoCommands(campaign)].map(([words, why]) => [
    `  ${called} ${words}`,
    `# ${why}`,
  ])
  return [
    'Next:',
    `  cd ${quoteShell(directory)}`,
    ...formatTable(next),
    'To remove all of it:',
    `  rm -rf ${leftovers.map(quoteShell).join(' ')}`,
  ]
}

function listDemoCommands(campaign: Campaign): [words: string, why: string][] {
  const runnerUp = Object.values(campaign.experiments).find(({ outcome }) => outcome === 'runner_up_dropped')
  const [deferred] = listAwaitingApproval(campaign)
  const commands: [string, string][] = [['audit', 'check from git that every kept change was measured']]
  if (runnerUp)
    commands.unshift([`show ${runnerUp.id}`, 'promising alone, but harmful on top of the kept changes'])
  if (deferred) {
    commands.push(
      ['approve', 'what waits for a person, and why'],
      [`approve ${deferred.id}`, 'approve it'],
      ['run', 'measure it'],
    )
  }
  return commands
}
