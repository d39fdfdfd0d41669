import type { Spec } from './schema.ts'

type Machinery = { used: (spec: Spec) => boolean; sentence: (spec: Spec) => string }

/** For an engine whose calibration of `mode: auto` found noise: the same refusal as for `mode: paired`. */
export const PAIRED_NOT_BUILT =
  'measurement.mode: paired evidence is not built yet; use mode: once with a deterministic metric, or measurement.stability.'

const measuring: readonly Machinery[] = [
  { used: ({ measurement }) => measurement.mode === 'paired', sentence: () => PAIRED_NOT_BUILT },
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
  {
    used: ({ measurement }) => measurement.holdout !== null,
    sentence: () =>
      'measurement.holdout: holdouts are not built yet; remove it and measure the holdout by hand before merging.',
  },
  {
    used: ({ measurement }) => !['json', 'metric-lines'].includes(measurement.output),
    sentence: ({ measurement }) =>
      `measurement.output ${measurement.output}: this format is not read yet; print json or metric-lines.`,
  },
]

const isolation: readonly Machinery[] = [
  {
    used: ({ measurement }) => !['auto', 'none'].includes(isolationName(measurement.isolation)),
    sentence: ({ measurement }) =>
      `measurement.isolation ${isolationName(measurement.isolation)}: this isolation is not built yet; use auto or none.`,
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
    used: ({ propose }) => propose.some(one => one.use === 'command' && one.preset !== undefined),
    sentence: () =>
      'propose.preset: presets are not built yet; write the program and its arguments as command.',
  },
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
  {
    used: ({ search }) => search.controller !== null,
    sentence: () =>
      'search.controller: turning knobs is not built yet; remove it and set the knobs in the spec.',
  },
  {
    used: ({ search }) => search.skills.length > 0,
    sentence: () =>
      'search.skills: skill files are not shown yet; put what proposers should know under advice.',
  },
]

const landing: readonly Machinery[] = [
  {
    used: ({ execution }) => !['auto', 'worktree'].includes(execution.backend),
    sentence: ({ execution }) =>
      `execution.backend ${execution.backend}: this backend is not built yet; use worktree or auto.`,
  },
  {
    used: ({ merge }) => merge.via === 'api',
    sentence: () => 'merge.via api: merging through the API is not built yet; use push.',
  },
  {
    used: ({ report }) => report.webhook !== null,
    sentence: () => 'report.webhook: webhooks are not built yet; remove it and read `winnow status`.',
  },
  {
    used: ({ report }) => report.pages_branch !== null,
    sentence: () =>
      'report.pages_branch: publishing is not built yet; remove it and open the dashboard from the ledger.',
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
export function unsupported(spec: Spec): string[] {
  const all = [...measuring, ...isolation, ...proposing, ...landing]
  return all.filter(({ used }) => used(spec)).map(({ sentence }) => sentence(spec))
}
