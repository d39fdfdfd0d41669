import type { ActionsTick } from '../engine/actions/session.ts'
import type { Campaign } from '../model/campaign.ts'
import type { PlanWaiting } from '../plan/action.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import { describeWaiting } from '../report/sentence.ts'
import type { Tally } from '../report/tally.ts'
import type { Task } from './commands.ts'
import type { ActionEnv } from './inputs.ts'
import type { DryRunTurn } from './rehearsed-turn.ts'
import { type Outputs, toLogLine, setOutputs, appendSummary } from './runner-protocol.ts'

/** What one campaign came to in this job. */
export interface CampaignTurn {
  campaign: string
  status: Campaign['status']
  waiting: PlanWaiting
  verdicts: Tally
  /** What this run's own jobs measure. */
  orders: ActionsTick['orders']
  /** Runs that it has started. */
  started: ActionsTick['started']
  /** Where pull requests bring ideas. */
  branch: string
  /** Whether the propose job of this run has something to do. */
  propose: boolean
  /** Whether the judge job of this run has something to do. */
  judge: boolean
  /** What GitHub refused. */
  refused: string[]
  /** What a person does so that it goes on, where a limit of the spec has stopped it. */
  to_go_on?: string
}

/** Campaigns by name: left for the next run, or ended by an error. */
export type SkippedCampaigns = Record<'later' | 'broken', readonly string[]>

/** A reason that a person gave, or several things that are waited for. */
const SUMMARY_LENGTH = 2_000

export function reportTurns(
  { env }: Task,
  turns: readonly CampaignTurn[],
  { later, broken, outputs }: SkippedCampaigns & { outputs: Outputs },
): void {
  for (const turn of turns) {
    const line = `${turn.campaign}: ${[describeWaiting(turn.waiting), ...describeNextTurn(turn)].join(' ')}`
    console.log(toLogLine(line))
    const links = turn.started.map(started => formatRunLink(env, started))
    appendSummary(env, [escapeMarkdown(line, SUMMARY_LENGTH), ...links].join('\n'))
  }
  if (later.length > 0) {
    const line = toLogLine(`Left for another run: ${later.join(', ')}.`)
    console.log(line)
    appendSummary(env, line)
  }
  const measuring = turns.find(({ orders }) => orders.length > 0)
  setOutputs(env, {
    ...outputs,
    'result-json': JSON.stringify({ paused: false, campaigns: turns, later, broken }),
    propose: turns.find(({ propose }) => propose)?.campaign ?? '',
    campaign: measuring?.campaign ?? '',
    orders: measuring === undefined ? '' : JSON.stringify(measuring.orders),
  })
}

/** What comes next of itself, or what a person can do. */
function describeNextTurn({ orders, started, waiting, branch, to_go_on: way }: CampaignTurn): string[] {
  const titles = [...new Set(orders.map(({ title }) => title))].join('; ')
  return [
    ...(orders.length === 0 ? [] : [`The next jobs of this run measure ${titles}.`]),
    ...started.map(({ run, title }) => `Started run${run === null ? '' : ` ${run}`} (${title}).`),
    ...(waiting.for === 'ideas' ? [`To bring one, open a pull request against ${branch}.`] : []),
    ...(way === undefined ? [] : [`To go on, ${way}.`]),
  ]
}

function formatRunLink(
  { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository }: ActionEnv,
  { run, title }: ActionsTick['started'][number],
): string {
  const text = escapeMarkdown(title, SUMMARY_LENGTH)
  const isKnown = run !== null && server !== undefined && repository !== undefined
  return isKnown ? `- [${text}](${server}/${repository}/actions/runs/${run})` : `- ${text}`
}

/** No job that would follow is started: nothing was written that it could work on. */
export function reportDryRun({ env }: Task, campaigns: readonly DryRunTurn[], rest: SkippedCampaigns): void {
  appendSummary(env, 'A dry run: nothing was written. The log says what would be.')
  const result = { paused: false, dry_run: true, campaigns, ...rest }
  setOutputs(env, { 'result-json': JSON.stringify(result) })
}

export function reportPaused({ env }: Task): number {
  const line = 'WINNOW_PAUSED is set: nothing was looked at.'
  console.log(line)
  appendSummary(env, line)
  setOutputs(env, { 'result-json': JSON.stringify({ paused: true, campaigns: [], later: [], broken: [] }) })
  return 0
}
