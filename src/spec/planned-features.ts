import { getGivenValue } from './rule-context.ts'
import { buildSpecSchema, type ParsedSpec, type Spec, type SpecRules } from './schema.ts'
import { isJudgedMetric } from './spec-facts.ts'

/**
 * `local`: everything runs on one machine. `single-job`: pull requests are on GitHub and all work runs in one job.
 * `github`: orders run in measuring jobs of their own.
 */
export type CampaignLocation = 'local' | 'single-job' | 'github'

/** Returns the sentence that refuses the spec; false when the spec does not use the feature. */
type PlannedFeature = (spec: Spec) => string | false

/** A key that is validated but not read yet. A value other than its default is refused. */
interface PlannedKey {
  path: string
  /** The missing feature with its verb: `… is`. */
  missing: string
  instead: string
  /** Values besides the default that request no feature. */
  harmless?: readonly unknown[]
  /** ce specs set the key (or these values) for ce's own tools. There it is noted, not refused. */
  inCe?: { values?: readonly unknown[]; says: string }
  /** Locations that do read the key. */
  readIn?: readonly CampaignLocation[]
}

type MeasurementSpec = Pick<Spec, 'measurement'>

const JUDGED_IN_SINGLE_JOB =
  'metric.primary.type judge: in single-job mode the code under measurement would run on the machine that holds the key of the models; use the workflows of winnow init --github, or let the harness print a score and use type: hard.'

/** One sentence for each. Callers refuse them before anything runs; none is ignored. */
export function listPlannedFeatures(spec: Spec, where: CampaignLocation = 'local'): string[] {
  const judging = where === 'single-job' && isJudgedMetric(spec) ? [JUDGED_IN_SINGLE_JOB] : []
  const features = PLANNED_FEATURES.flatMap(describe => describe(spec) || [])
  return [...judging, ...features, ...refuseJudgedKeys(spec), ...refusePlannedKeys(spec, where)]
}

// Features that a spec uses in a combination of values

const PLANNED_FEATURES: readonly PlannedFeature[] = [
  ({ measurement: { isolation } }) =>
    isolation !== 'auto' &&
    isolation !== 'uid' &&
    isolation !== 'none' &&
    `measurement.isolation ${isolation === 'bwrap' ? isolation : 'container'}: this isolation is not built yet; use auto, uid or none.`,
  ({ measurement }) =>
    measurement.network === 'off' &&
    'measurement.network off: cutting the network is not built yet; use network: on.',
  spec => refuseProposer(spec, 'sweep', 'parameter sweeps are'),
  spec => refuseProposer(spec, 'dispatch', 'dispatching a workflow is'),
  ({ search: { frontier } }) => {
    const name = typeof frontier === 'string' ? frontier : frontier.use
    return name !== 'incumbent' && `search.frontier ${name}: this strategy is not built yet; use incumbent.`
  },
]

function refuseProposer({ propose }: Spec, use: Spec['propose'][number]['use'], missing: string) {
  return (
    propose.some(proposer => proposer.use === use) &&
    `propose.use ${use}: ${missing} not built yet; use external, patch or command.`
  )
}

// Single keys

const REMOVE_IT = 'remove it'
const OWN_AGENT =
  'winnow starts no agent by itself; propose: [{ use: command, command }] does, with the flags you give it'

/** Keys that a judged metric does not support yet. */
const JUDGED_KEYS: readonly PlannedKey[] = [
  { path: 'measurement.output', missing: 'items in this form are', instead: 'use json' },
]

const PLANNED_KEYS: readonly PlannedKey[] = [
  {
    path: 'merge.via',
    missing: 'merging through the API is, but on GitHub,',
    readIn: ['github', 'single-job'],
    instead: 'use push',
  },
  {
    path: 'merge.max_pull_requests_per_hour',
    missing: 'a rate of opening pull requests is, but on GitHub,',
    readIn: ['github', 'single-job'],
    instead: 'remove it and set merge.max_open_experiments',
  },
  {
    path: 'ledger.sign',
    missing: 'signing in jobs of GitHub, which have no key of yours, is',
    readIn: ['local'],
    instead: 'remove it; winnow init --github --attest has GitHub attest the ledger',
  },
  {
    path: 'measurement.models',
    missing:
      'asking models from jobs of GitHub, where none that runs code of experiments holds a key of models, is',
    readIn: ['local'],
    instead: 'run this campaign on one machine with winnow run',
  },
  { path: 'search.stall_rounds', missing: 'noticing a stall is', instead: REMOVE_IT },
  { path: 'search.ideate_every', missing: 'asking for fresh ideas by rounds is', instead: REMOVE_IT },
  { path: 'search.ideate_stall', missing: 'asking for fresh ideas in a stall is', instead: REMOVE_IT },
  {
    path: 'search.controller',
    missing: 'turning knobs is',
    instead: 'remove it and set the knobs in the spec',
  },
  {
    path: 'search.skills',
    missing: 'showing skill files is',
    instead: 'put what proposers should know under advice',
  },
  {
    path: 'execution.backend',
    missing: 'this backend is',
    instead: 'use worktree or auto',
    harmless: ['worktree'],
    inCe: { values: ['codex'], says: `winnow measures in work trees; ${OWN_AGENT}` },
  },
  {
    path: 'execution.runs_on',
    missing: 'choosing a runner is, but for measuring jobs on GitHub,',
    readIn: ['github'],
    instead: 'remove it: this machine measures',
  },
  {
    path: 'execution.services',
    missing: 'starting service containers is, but for measuring jobs on GitHub,',
    readIn: ['github'],
    instead: 'remove it and start them before winnow run',
  },
  {
    path: 'execution.sanctioned_env',
    missing: 'passing variables to proposers by name is',
    instead: 'remove it; measurement.env names what the harness sees',
  },
  {
    path: 'execution.codex_security',
    missing: 'running codex is',
    instead: 'remove it and give the flags in propose: [{ use: command, command }]',
    inCe: { says: OWN_AGENT },
  },
  {
    path: 'dependencies.approvers',
    missing: 'checking who approves is, but on GitHub,',
    readIn: ['github', 'single-job'],
    instead: 'remove it: every person who may write the ledger may approve, and winnow log shows who did',
  },
  {
    path: 'report.comment',
    missing: 'commenting on pull requests is, but on GitHub,',
    readIn: ['github', 'single-job'],
    instead: 'remove it: winnow posts no comments here',
  },
  {
    path: 'report.dashboard',
    missing: 'a dashboard that could be left out is',
    instead: 'remove it: none is written',
  },
  { path: 'report.pages_branch', missing: 'publishing is', instead: 'remove it and read winnow status' },
  { path: 'report.webhook', missing: 'calling a webhook is', instead: 'remove it and read winnow status' },
]

/** For the spec reference: the keys that accept only their default in this location. */
export function listPlannedKeyPaths(where: CampaignLocation): string[] {
  return PLANNED_KEYS.filter(({ readIn = [] }) => !readIn.includes(where)).map(({ path }) => path)
}

/** Notes the keys that only campaigns on GitHub read, for a person who checks the spec elsewhere. */
export function noteGithubOnlyKeys(spec: MeasurementSpec): string[] {
  return listRequestedKeys(PLANNED_KEYS, spec)
    .filter(({ readIn = [] }) => readIn.includes('github'))
    .map(({ path }) => `${path} is for campaigns on GitHub: on this machine winnow run refuses it`)
}

/** Notes the keys that a ce spec carries along. */
export function noteCeLeftovers(spec: MeasurementSpec, rules: SpecRules): string[] {
  return listRequestedKeys(PLANNED_KEYS, spec)
    .filter(key => isCeLeftover(key, spec, rules))
    .map(({ path, inCe }) => `${path} changes nothing: ${inCe?.says ?? ''}`)
}

function refuseJudgedKeys(spec: Spec): string[] {
  if (!isJudgedMetric(spec)) return []
  return listRequestedKeys(JUDGED_KEYS, spec).map(
    ({ path, missing, instead }) => `${path}: ${missing}, beside a judged metric, not built yet; ${instead}.`,
  )
}

function refusePlannedKeys(spec: Spec, where: CampaignLocation): string[] {
  return listRequestedKeys(PLANNED_KEYS, spec)
    .filter(({ readIn = [] }) => !readIn.includes(where))
    .filter(key => !isCeLeftover(key, spec, spec.rules))
    .map(({ path, missing, instead }) => {
      const value = getGivenValue(spec, path)
      const plain = ['string', 'number', 'boolean'].includes(typeof value) ? ` ${String(value)}` : ''
      return `${path}${plain}: ${missing} not built yet; ${instead}.`
    })
}

function listRequestedKeys(keys: readonly PlannedKey[], spec: MeasurementSpec): PlannedKey[] {
  return keys.filter(({ path, harmless = [] }) => {
    const value = JSON.stringify(getGivenValue(spec, path))
    return [getDefaultValue(path), ...harmless].every(each => JSON.stringify(each) !== value)
  })
}

let specDefaults: ParsedSpec | null = null

/** Reads the default from the schema, its single source. */
function getDefaultValue(path: string): unknown {
  specDefaults ??= buildSpecSchema('winnow').parse({
    winnow: 1,
    measurement: { command: 'x' },
    scope: { mutable: ['x'] },
  })
  return getGivenValue(specDefaults, path)
}

/** True when a ce spec only carries the key along. */
function isCeLeftover({ inCe, path }: PlannedKey, spec: unknown, rules: SpecRules): boolean {
  if (rules !== 'ce' || inCe === undefined) return false
  return inCe.values === undefined || inCe.values.includes(getGivenValue(spec, path))
}
