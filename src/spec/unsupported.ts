import { isJudgedMetric } from './judged.ts'
import type { Spec } from './schema.ts'
import { refusePlannedKeys, type CampaignLocation } from './unread-keys.ts'

type PlannedFeature = { used: (spec: Spec) => boolean; sentence: (spec: Spec) => string }

const plannedMeasuring: readonly PlannedFeature[] = [
  {
    used: ({ measurement, policy }) => measurement.stability !== null && policy.tie_breakers.length > 0,
    sentence: () =>
      'policy.tie_breakers: a tie-breaker for a comparison with a stored score is not built yet; remove it, or make it an objective.',
  },
  {
    used: ({ metric }) => metric.primary.type === 'loss',
    sentence: () =>
      'metric.primary.type loss: losses over a suite are not built yet; let the harness print its mean loss and use type: hard.',
  },
  {
    used: ({ measurement }) => measurement.suite !== null,
    sentence: () =>
      'measurement.suite: suites are not built yet; run every task in measurement.command and print one metric.',
  },
]

/** What a judged metric cannot be combined with yet. */
const plannedJudging: readonly PlannedFeature[] = [
  planJudgedCombination(
    'measurement.stability',
    ({ measurement }) => measurement.stability !== null,
    'comparing judged scores with stored ones is',
    'remove it; items of both sides are then judged in pairs (with winnow: 1)',
  ),
  planJudgedCombination(
    'measurement.holdout',
    ({ measurement }) => measurement.holdout !== null,
    'judging a holdout is',
    'remove it',
  ),
  planJudgedCombination(
    'measurement.score',
    ({ measurement }) => measurement.score !== null,
    'items of a separate scorer are',
    'let measurement.command print them',
  ),
  planJudgedCombination(
    'measurement.output',
    ({ measurement }) => measurement.output !== 'json',
    'items in this form are',
    'use json',
  ),
  planJudgedCombination(
    'metric.objectives',
    ({ metric }) => metric.objectives.some(({ role }) => role !== 'secondary'),
    'measuring other objectives in pairs is',
    'use metric.degenerate_gates, metric.constraints or role: secondary',
  ),
  planJudgedCombination(
    'policy.tie_breakers',
    ({ policy }) => policy.tie_breakers.length > 0,
    'measuring a tie-breaker in pairs is',
    'remove it',
  ),
  planJudgedCombination(
    'metric.judge.singleton_sample',
    ({ metric }) => (metric.judge?.singleton_sample ?? 0) > 0,
    'scoring singletons is',
    'set it to 0',
  ),
  planJudgedCombination(
    'metric.judge.calibration',
    ({ metric }) => metric.judge?.calibration != null,
    'comparing judges with labels first is',
    'remove it',
  ),
]

function planJudgedCombination(
  key: string,
  used: PlannedFeature['used'],
  missing: string,
  instead: string,
): PlannedFeature {
  return {
    used: spec => spec.metric.primary.type === 'judge' && used(spec),
    sentence: () => `${key}: ${missing}, beside a judged metric, not built yet; ${instead}.`,
  }
}

const plannedIsolation: readonly PlannedFeature[] = [
  {
    used: ({ measurement }) => !['auto', 'uid', 'none'].includes(getIsolationName(measurement.isolation)),
    sentence: ({ measurement }) =>
      `measurement.isolation ${getIsolationName(measurement.isolation)}: this isolation is not built yet; use auto, uid or none.`,
  },
  {
    used: ({ measurement }) => measurement.network === 'off',
    sentence: () => 'measurement.network off: cutting the network is not built yet; use network: on.',
  },
]

const plannedProposing: readonly PlannedFeature[] = [
  planProposer('sweep', 'parameter sweeps are'),
  planProposer('textgrad', 'rewriting of artifacts is'),
  planProposer('dispatch', 'dispatching a workflow is'),
  {
    used: ({ artifacts }) => artifacts.length > 0,
    sentence: () => 'artifacts: versioned artifacts are not built yet; list the files under scope.mutable.',
  },
  {
    used: ({ epochs }) => epochs !== null,
    sentence: () =>
      'epochs: epochs are not built yet; remove the section, each idea is then measured on its own.',
  },
  {
    used: ({ search }) => getFrontierName(search.frontier) !== 'incumbent',
    sentence: ({ search }) =>
      `search.frontier ${getFrontierName(search.frontier)}: this strategy is not built yet; use incumbent.`,
  },
]

function planProposer(use: Spec['propose'][number]['use'], missing: string): PlannedFeature {
  return {
    used: ({ propose }) => propose.some(one => one.use === use),
    sentence: () => `propose.use ${use}: ${missing} not built yet; use external, patch or command.`,
  }
}

function getIsolationName(isolation: Spec['measurement']['isolation']): string {
  return typeof isolation === 'string' ? isolation : 'container'
}

function getFrontierName(frontier: Spec['search']['frontier']): string {
  return typeof frontier === 'string' ? frontier : frontier.use
}

const JUDGED_IN_SINGLE_JOB =
  'metric.primary.type judge: in single-job mode the key of the models would lie beside the code that is measured; use the workflows of winnow init --github, or let the harness print a score and use type: hard.'

/** What is valid but not built: one sentence each, to be refused before anything runs and never ignored. */
export function listPlannedFeatures(spec: Spec, where: CampaignLocation = 'local'): string[] {
  const machinery = [...plannedMeasuring, ...plannedJudging, ...plannedIsolation, ...plannedProposing].filter(
    ({ used }) => used(spec),
  )
  const elsewhere = where === 'single-job' && isJudgedMetric(spec) ? [JUDGED_IN_SINGLE_JOB] : []
  return [...elsewhere, ...machinery.map(({ sentence }) => sentence(spec)), ...refusePlannedKeys(spec, where)]
}
