import type { Spec } from './schema.ts'
import { refusedKeys, type Whereabouts } from './unread-keys.ts'

type Machinery = { used: (spec: Spec) => boolean; sentence: (spec: Spec) => string }

const measuring: readonly Machinery[] = [
  {
    used: ({ measurement, policy }) => measurement.stability !== null && policy.tie_breakers.length > 0,
    sentence: () =>
      'policy.tie_breakers: a tie-breaker for a comparison with a stored score is not built yet; remove it, or make it an objective.',
  },
  {
    used: ({ metric }) => metric.primary.type === 'judge',
    sentence: () =>
      'metric.primary.type judge: model-graded metrics are not built yet; let the harness print a score and use type: hard.',
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

const isolation: readonly Machinery[] = [
  {
    used: ({ measurement }) => !['auto', 'uid', 'none'].includes(isolationName(measurement.isolation)),
    sentence: ({ measurement }) =>
      `measurement.isolation ${isolationName(measurement.isolation)}: this isolation is not built yet; use auto, uid or none.`,
  },
  {
    used: ({ measurement }) => measurement.network === 'off',
    sentence: () => 'measurement.network off: cutting the network is not built yet; use network: on.',
  },
]

const proposing: readonly Machinery[] = [
  proposer('sweep', 'parameter sweeps are'),
  proposer('textgrad', 'rewriting of artifacts is'),
  proposer('dispatch', 'dispatching a workflow is'),
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
    used: ({ search }) => frontierName(search.frontier) !== 'incumbent',
    sentence: ({ search }) =>
      `search.frontier ${frontierName(search.frontier)}: this strategy is not built yet; use incumbent.`,
  },
]

function proposer(use: Spec['propose'][number]['use'], missing: string): Machinery {
  return {
    used: ({ propose }) => propose.some(one => one.use === use),
    sentence: () => `propose.use ${use}: ${missing} not built yet; use external, patch or command.`,
  }
}

function isolationName(isolation: Spec['measurement']['isolation']): string {
  return typeof isolation === 'string' ? isolation : 'container'
}

function frontierName(frontier: Spec['search']['frontier']): string {
  return typeof frontier === 'string' ? frontier : frontier.use
}

/** What is valid but not built: one sentence each, to be refused before anything runs and never ignored. */
export function unsupported(spec: Spec, where: Whereabouts = 'local'): string[] {
  const machinery = [...measuring, ...isolation, ...proposing].filter(({ used }) => used(spec))
  return [...machinery.map(({ sentence }) => sentence(spec)), ...refusedKeys(spec, where)]
}
