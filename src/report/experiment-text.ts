import type { Experiment } from '../model/experiment.ts'
import type { LedgerEvent } from '../model/event.ts'
import { readCampaignSpec } from '../spec/recorded-spec.ts'
import { renderAdditions } from './approval-text.ts'
import { describeCalibrationNoise } from './calibration-text.ts'
import { renderEvent } from './event-line.ts'
import { renderFailedPart } from './failed-output-text.ts'
import { formatMetrics, selectShownMetrics } from './metrics-text.ts'
import { describeReportedEffect } from './reported-effect.ts'
import { renderStateSentence } from './sentence.ts'
import { getEvidenceLine, type StateCampaign, getExperimentState } from './standing.ts'
import type { ExperimentView } from './status-view.ts'
import { formatTable } from './table.ts'

/** Everything that happened to it, and the pairs it was decided by, drawn. */
export interface ExperimentHistory {
  events: readonly LedgerEvent[]
  charts?: readonly string[]
}

/** `winnow show`: the verdict, the idea, where it lives, and everything that happened to it. */
export function renderExperiment(
  campaign: StateCampaign,
  experiment: Experiment,
  { pr, branch }: Pick<ExperimentView, 'pr' | 'branch'>,
  { events, charts = [] }: ExperimentHistory,
): string[] {
  const { id, hypothesis, category, priority, source, head, learnings, metrics, outcome } = experiment
  const effect = describeReportedEffect(campaign, experiment)
  const shown = selectShownMetrics(readCampaignSpec(campaign))
  const facts: [string, string | null][] = [
    ['idea', hypothesis],
    ['outcome', outcome],
    ['category', `${category}, priority ${priority}`],
    ['from', source.use],
    ['branch', branch],
    ['pull', pr === null ? null : `#${pr}`],
    ['head', head],
    ['reported effect', effect?.reported ?? null],
    [
      'so far',
      effect?.selectedBy == null ? null : `${effect.selectedBy} (what it was selected by, hence flattering)`,
    ],
    ['metrics', formatMetrics(metrics, shown) || null],
    ['learnings', learnings],
    ...findWarnings(events).map((warning): [string, string] => ['warning', warning]),
  ]
  const evidence = getEvidenceLine(campaign, experiment)
  const noise = evidence === null ? null : describeCalibrationNoise(campaign.calibration)
  return [
    `${id} ${renderStateSentence(getExperimentState(campaign, experiment))}`,
    ...[evidence, noise].flatMap(line => (line === null ? [] : [`  ${line}`])),
    ...formatTable(facts.flatMap(([name, value]) => (value === null ? [] : [[`  ${name}`, value]]))),
    ...renderAdditions(experiment),
    '',
    ...charts,
    ...renderFailedPart(experiment.failed),
    ...formatTable(events.map(event => [`  ${event.seq}`, event.at, renderEvent(event, shown)])),
  ]
}

/** Of the verdict in force, the last one. */
function findWarnings(events: readonly LedgerEvent[]): string[] {
  const verdict = events.findLast(event => event.kind === 'decided')
  return verdict?.kind === 'decided' ? verdict.warnings : []
}

/** Whether an event is about one experiment: by its name, or as a candidate of an order of its. */
export function isAboutExperiment(event: LedgerEvent, id: string, orders: ReadonlySet<string>): boolean {
  if (event.kind === 'order-issued') return event.candidates.some(({ label }) => label === id)
  if ('experiment' in event && event.experiment === id) return true
  return 'order' in event && typeof event.order === 'string' && orders.has(event.order)
}
