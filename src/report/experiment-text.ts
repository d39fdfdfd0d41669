import type { Experiment } from '../model/experiment.ts'
import type { LedgerEvent } from '../model/event.ts'
import { recordedSpec } from '../spec/recorded-spec.ts'
import { additionsText } from './approval-text.ts'
import { calibrationText } from './calibration-text.ts'
import { eventLine } from './event-line.ts'
import { failedPartText } from './failed-output-text.ts'
import { metricsText, shownMetrics } from './metrics-text.ts'
import { reportedEffect } from './reported-effect.ts'
import { standingSentence } from './sentence.ts'
import { evidenceIn, type StandingCampaign, standingIn } from './standing.ts'
import type { ExperimentView } from './status-view.ts'
import { table } from './table.ts'

/** Everything that happened to it, and the pairs it was decided by, drawn. */
export interface Told {
  events: readonly LedgerEvent[]
  charts?: readonly string[]
}

/** `winnow show`: the verdict, the idea, where it lives, and everything that happened to it. */
export function experimentText(
  campaign: StandingCampaign,
  experiment: Experiment,
  { pr, branch }: Pick<ExperimentView, 'pr' | 'branch'>,
  { events, charts = [] }: Told,
): string[] {
  const { id, hypothesis, category, priority, source, head, learnings, metrics, outcome } = experiment
  const effect = reportedEffect(campaign, experiment)
  const shown = shownMetrics(recordedSpec(campaign))
  const facts: [string, string | null][] = [
    ['idea', hypothesis],
    ['outcome', outcome],
    ['category', `${category}, priority ${priority}`],
    ['from', source.use],
    ['branch', branch],
    ['pull', pr === null ? null : `#${pr}`],
    ['head', head],
    ['reported effect', effect?.reported ?? null],
    ['so far', effect?.soFar == null ? null : `${effect.soFar} (what it was selected by, hence flattering)`],
    ['metrics', metricsText(metrics, shown) || null],
    ['learnings', learnings],
    ...warningsIn(events).map((warning): [string, string] => ['warning', warning]),
  ]
  const evidence = evidenceIn(campaign, experiment)
  const noise = evidence === null ? null : calibrationText(campaign.calibration)
  return [
    `${id} ${standingSentence(standingIn(campaign, experiment))}`,
    ...[evidence, noise].flatMap(line => (line === null ? [] : [`  ${line}`])),
    ...table(facts.flatMap(([name, value]) => (value === null ? [] : [[`  ${name}`, value]]))),
    ...additionsText(experiment),
    '',
    ...charts,
    ...failedPartText(experiment.failed),
    ...table(events.map(event => [`  ${event.seq}`, event.at, eventLine(event, shown)])),
  ]
}

/** Of the verdict in force, the last one. */
function warningsIn(events: readonly LedgerEvent[]): string[] {
  const verdict = events.findLast(event => event.kind === 'decided')
  return verdict?.kind === 'decided' ? verdict.warnings : []
}

/** Whether an event is about one experiment: by its name, or as a candidate of an order of its. */
export function concerns(event: LedgerEvent, id: string, orders: ReadonlySet<string>): boolean {
  if (event.kind === 'order-issued') return event.candidates.some(({ label }) => label === id)
  if ('experiment' in event && event.experiment === id) return true
  return 'order' in event && typeof event.order === 'string' && orders.has(event.order)
}
