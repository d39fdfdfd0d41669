import type { RepositoryContext } from '../engine/open.ts'
import { findStandIns, formatStandInText } from '../engine/stand-ins.ts'
import { listTreeFiles } from '../git/tree-walk.ts'
import { UserError } from '../errors.ts'
import { watchResources } from '../measure/holdings.ts'
import type { Point } from '../model/ids.ts'
import { toShortRef } from '../model/refs.ts'
import { renderForecast, computeMaxSeconds } from '../report/check-forecast.ts'
import { listComparedMetrics, selectComparisonMode } from '../report/check-compared.ts'
import { describeDependencyPolicy } from '../report/dependency-policy.ts'
import {
  type CheckView,
  renderCheck,
  renderCheckComparison,
  describeIdeaSources,
  isBlocked,
} from '../report/check-text.ts'
import { formatClock } from '../report/live-text.ts'
import { describeGuessedMetric, type HarnessTrial } from '../report/check-trial.ts'
import { describeResourceConflicts } from '../report/holdings-text.ts'
import { parseSpec } from '../spec/parse.ts'
import { compilePathspec } from '../spec/pathspec.ts'
import type { Spec } from '../spec/schema.ts'
import { compileScope } from '../spec/scope.ts'
import { type CampaignLocation, noteGithubOnlyKeys } from '../spec/unread-keys.ts'
import { listPlannedFeatures } from '../spec/unsupported.ts'
import { withRepository } from './at-campaign.ts'
import type { Call } from './call.ts'
import { readDefaultTip } from './default-branch.ts'
import { findUnpushedSpec, PUSH_OR_LOCAL } from './not-pushed.ts'
import { createDuplicateNameError } from './committed-specs.ts'
import { DEFAULT_PREFIX, listKnownCampaigns } from './known-campaigns.ts'
import { locateWorkspace } from './measuring.ts'
import { saveForecast } from './forecast-file.ts'
import { checkPatches } from './check-patches.ts'
import { type SpecText, readSpecToCheck } from './spec-to-check.ts'
import { showLive } from './live.ts'
import { tryHarness } from './trial.ts'
import type { HarnessRun } from './trying.ts'
import { describeUnusedWork } from './unused-work.ts'
import { isOnGithub } from './github-of.ts'
import type { Verb } from './verb.ts'

export const checkVerb: Verb = {
  name: 'check',
  group: 'start',
  summary: 'say whether a spec would run, what it costs and what it can show',
  access: 'read',
  arguments: [{ name: 'spec', summary: 'a spec file, where there are several', required: false }],
  options: [
    { name: 'no-try', summary: 'only read: run neither set-up, gates nor harness on the default branch' },
  ],
  examples: ['winnow check', 'winnow check .winnow/parser.yaml --no-try'],
  exits: {
    2: 'the spec cannot be run as it is, or its harness is not fair',
    13: 'the harness or a gate failed',
  },
  run: call =>
    withRepository(call, DEFAULT_PREFIX, async workshop => {
      const text = await readSpecToCheck(call, workshop)
      const base = await readDefaultTip(workshop, call.around)
      const { spec } = parseSpec(text.yaml, { file: text.path })
      const warnings = await collectSpecWarnings(call, workshop, text.path, spec)
      return checkSpec(call, { workshop, text, base, warnings, guessed: null })
    }),
}

export interface SpecCheck {
  workshop: RepositoryContext
  text: SpecText
  /** What would be measured. */
  base: Point
  warnings: string[]
  /** A printed number that init took for the metric, from its name alone. */
  guessed: string | null
}

/** Says everything about one spec, and tries it unless told not to; 2 where a run would refuse it. */
export async function checkSpec(call: Call, asked: SpecCheck): Promise<number> {
  const { env } = call.around
  const where = isOnGithub(asked.workshop, env) ? 'github' : 'local'
  const { spec, view } = await readSpecView(asked, where)
  const says = (lines: string[]) => {
    if (!call.given.flag('json')) for (const line of lines) call.terminal.out(line)
  }
  says(renderCheck(view))
  const tries = !isBlocked(view) && !call.given.flag('no-try')
  const trial = tries
    ? addGuessWarning(await tryWithResourceWatch({ ...HARNESS, call, spec, ...asked }), asked)
    : null
  const whole = trial === null ? view : addTrial(spec, view, trial)
  const about = { yaml: asked.text.yaml, tree: asked.base.tree }
  if (trial !== null) await saveForecast(call, asked.workshop, about, estimateCampaignSeconds(spec, trial))
  if (!isBlocked(view)) says(renderCheckComparison(spec, whole))
  if (call.given.flag('json')) call.terminal.json(whole)
  return isBlocked(view) ? 2 : 0
}

function addGuessWarning(trial: HarnessTrial, { guessed }: SpecCheck): HarnessTrial {
  const warning = guessed === null ? null : describeGuessedMetric(trial, guessed)
  return warning === null ? trial : { ...trial, warnings: [...trial.warnings, warning] }
}

/** Tried, and looked at meanwhile: what it holds would stand in the way of others beside it. */
async function tryWithResourceWatch(trying: HarnessRun): Promise<HarnessTrial> {
  const watch = watchResources(locateWorkspace(trying.workshop, trying.spec, trying.place).workDir)
  try {
    const live = (seconds: number) => `trying the harness ${formatClock(seconds)}`
    const trial = await showLive(trying.call, live, () => tryHarness(trying))
    return { ...trial, warnings: [...trial.warnings, ...describeResourceConflicts(watch.end(), trying.spec)] }
  } finally {
    watch.end()
  }
}

const HARNESS = {
  named: 'the default branch',
  short: 'the base',
  what: 'winnow check',
  place: 'trial',
  keys: {
    setup: 'measurement.setup:',
    timeout: 'measurement.timeout_seconds',
    share: 'parallel.shared_files',
  },
} as const

interface SpecReading {
  spec: Spec
  view: CheckView
}

function estimateCampaignSeconds(spec: Spec, { prospects, seconds }: HarnessTrial): number {
  return prospects === null ? computeMaxSeconds(spec, seconds) : 60 * Math.max(...prospects.campaign.minutes)
}

/** All that can be said without running anything; what is for GitHub alone is fine where there is one. */
async function readSpecView(
  { workshop, text, base, warnings }: SpecCheck,
  where: CampaignLocation,
): Promise<SpecReading> {
  const { path, yaml, source } = text
  const { spec, notes } = parseSpec(yaml, { file: path })
  await requireOwnName(workshop, spec.name, path)
  const { hypotheses, problems } = await checkPatches(workshop, spec, { base, path })
  const standIns = await findStandIns(workshop.repository, base.tree, spec)
  const view = {
    file: path,
    campaign: spec.name,
    rules: spec.rules,
    source,
    scope: await buildScopeView(workshop, spec, base),
    notes: where === 'github' ? [...notes, ...noteGithubOnlyKeys(spec)] : notes,
    unsupported: listPlannedFeatures(spec, where),
    unfinished: standIns.map(formatStandInText),
    warnings: [...warnings, ...problems, ...checkMinEffect(spec), ...checkIsolation(spec, where)],
    ideas: describeIdeaSources(spec, hypotheses),
    dependencies: describeDependencyPolicy(spec),
    forecast: renderForecast(spec, where),
    metrics: listComparedMetrics(spec, null),
    tried: null,
  }
  return { spec, view }
}

function addTrial(spec: Spec, view: CheckView, trial: HarnessTrial): CheckView {
  const deterministic = trial.calibration?.deterministic ?? null
  return { ...view, metrics: listComparedMetrics(spec, deterministic), tried: trial }
}

/** A run would not know which of the two is meant. */
async function requireOwnName(workshop: RepositoryContext, name: string, path: string): Promise<void> {
  const known = (await listKnownCampaigns(workshop, path)).find(each => each.name === name)
  const paths = new Set([path, ...(known?.spec === null ? [] : (known?.paths ?? []))])
  if (paths.size > 1) throw createDuplicateNameError(name, [...paths])
}

/** Said here and not after the calibration that would refuse it. */
function checkMinEffect(spec: Spec): string[] {
  const way = selectComparisonMode(spec, null)
  if (spec.evidence.min_effect !== 0 || way === 'once' || way === 'stored score') return []
  const what = 'evidence.min_effect is 0, and a noisy metric can never show that'
  const fix = 'give the smallest gain worth having, such as 0.02'
  if (way === 'pairs') throw new UserError(what, { place: { path: 'evidence.min_effect' }, fix })
  return [`${what}: unless ${spec.metric.primary.name} repeats exactly, ${fix}`]
}

/** A machine of its own accord isolates nothing. */
function checkIsolation({ measurement, merge }: Spec, where: CampaignLocation): string[] {
  if (where !== 'local' || merge.unisolated !== 'deny' || measurement.isolation !== 'auto') return []
  const what =
    'merge.unisolated is deny, and on one machine isolation auto is none, so that nothing would land'
  return [`${what}: use measurement.isolation: uid, or merge.unisolated: allow`]
}

async function collectSpecWarnings(
  call: Call,
  workshop: RepositoryContext,
  path: string,
  spec: Spec,
): Promise<string[]> {
  const committed = await workshop.repository.findEntry(
    (await readDefaultTip(workshop, call.around)).tree,
    path,
  )
  const where = toShortRef(workshop.defaultBranch ?? '')
  const unpushed = await findUnpushedSpec(workshop, call.around.env, {
    wanted: each => each === path,
    pushed: [],
  })
  const absent =
    unpushed === null
      ? `${path} is not committed on ${where}${workshop.local ? '' : ' of the remote'}: a run does not see it`
      : `${unpushed.message}, so a run does not see it: ${PUSH_OR_LOCAL}`
  const unused = await describeUnusedWork(workshop, path, call.around.env, compileScope(spec))
  return committed === null ? [absent, ...unused] : unused
}

const EXAMPLES = 3

/** Patterns are resolved against what is committed: that is what experiments start from. */
async function buildScopeView(
  { repository }: RepositoryContext,
  spec: Spec,
  base: Point,
): Promise<CheckView['scope']> {
  const files = (await listTreeFiles(repository, base.tree)).map(({ path }) => path)
  const scope = compileScope(spec)
  const mutable = files.filter(path => scope.isMutable(path))
  const outside = files.filter(path => !scope.isMutable(path))
  const unmatched = spec.scope.mutable.filter(pattern => !files.some(compilePathspec(pattern)))
  const examples = { mutable: mutable.slice(0, EXAMPLES), outside: outside.slice(0, EXAMPLES) }
  return { mutable: mutable.length, outside: outside.length, unmatched, examples }
}
