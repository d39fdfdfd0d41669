import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { roundNumbers } from '../decide/wording.ts'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { requireHiddenPaths } from '../engine/campaign/hidden-paths.ts'
import { findStandIns, formatStandInText } from '../engine/campaign/start.ts'
import { findLocalIsolation } from '../engine/jobs/measure-job.ts'
import { buildProbeCandidates } from '../engine/observe/probe-candidates.ts'
import { UserError } from '../errors.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { listTreeFiles } from '../git/tree.ts'
import { applyPatchFile, type PatchFile, readPatches } from '../ideas/patch.ts'
import { watchResources } from '../measure/resource-watch.ts'
import { type Point, toShortRef } from '../model/ids.ts'
import { hasTextProbes } from '../probes/text-probes.ts'
import { describeDependencyPolicy } from '../report/approval.ts'
import { describeGuessedMetric, describeResourceConflicts, type HarnessTrial } from '../report/check-trial.ts'
import {
  type CheckView,
  describeIdeaSources,
  isBlocked,
  listComparedMetrics,
  renderCheck,
  renderCheckComparison,
  renderForecast,
} from '../report/check.ts'
import { computeMaxSeconds, selectComparisonMode } from '../report/check-effort.ts'
import { explainUntriedProbes, type ProbeTrial, renderProbes } from '../report/check-probes.ts'
import { formatClock } from '../report/terminal.ts'
import { suggestWord } from '../spec/nearest-word.ts'
import { parseSpec } from '../spec/load.ts'
import { type CampaignLocation, listPlannedFeatures, noteGithubOnlyKeys } from '../spec/planned-features.ts'
import type { Spec } from '../spec/schema.ts'
import { compilePathspec, compileScope } from '../spec/scope.ts'
import { isJudgedMetric, isMetered } from '../spec/spec-facts.ts'
import { isOnGithub } from './action-pin.ts'
import { withRepository } from './context.ts'
import { describeUnusedWork, readCommittedText, readDefaultTip } from './default-branch.ts'
import {
  createDuplicateNameError,
  DEFAULT_PREFIX,
  findUnpushedSpec,
  type KnownCampaign,
  listKnownCampaigns,
  PUSH_OR_LOCAL,
  toSpecName,
} from './known-campaigns.ts'
import { showLive } from './live.ts'
import { listWorkDirs } from './measure.ts'
import { tryProbes } from './probes.ts'
import { saveForecast } from './stake.ts'
import { readSpendingCap } from './harness-models.ts'
import { type HarnessRun, SPEC_HARNESS, withHarnessModels } from './harness-run.ts'
import { tryHarness } from './trial.ts'
import type { Call, Verb } from './verb.ts'

const EXAMPLES = 3

interface SpecCheck {
  repositoryContext: RepositoryContext
  text: SpecText
  base: Point
  warnings: string[]
  /** Printed number that `init` chose as the metric by its name alone. */
  guessed: string | null
}

interface SpecReading {
  spec: Spec
  view: CheckView
}

interface SpecText {
  /** Relative to the repository. */
  path: string
  yaml: string
  source: 'work tree' | 'default branch'
}

interface CheckedPatches {
  hypotheses: Map<string, string[]>
  /** One sentence per unusable patch, with its file and line. */
  problems: string[]
}

interface PatchCheckTarget {
  base: Point
  path: string
}

export const checkVerb: Verb = {
  name: 'check',
  group: 'start',
  summary: 'check a spec: whether it runs, what it costs, which gains it can detect',
  access: 'read',
  arguments: [{ name: 'spec', summary: 'the spec file, if there are several' }],
  options: [
    { name: 'no-try', summary: 'do not run setup, gates and harness on the default branch' },
    { name: 'no-probes', summary: 'do not measure changes that try to deceive the harness' },
    {
      name: 'spend',
      value: 'usd',
      summary:
        'ask models for this much at most: run a harness that asks models once, and estimate what a campaign costs; score attacks on a judged metric',
    },
  ],
  examples: ['winnow check', 'winnow check .winnow/parser.yaml --no-try', 'winnow check --spend 0.5'],
  exits: {
    2: 'the spec cannot be run as it is, or its harness is not fair or does not use the code',
    13: 'the harness or a gate failed',
  },
  run: call =>
    withRepository(call, DEFAULT_PREFIX, async repositoryContext => {
      const text = await readSpecToCheck(call, repositoryContext)
      const base = await readDefaultTip(repositoryContext, call.environment)
      const { spec } = parseSpec(text.yaml, { file: text.path })
      const warnings = await collectSpecWarnings(call, repositoryContext, text.path, spec)
      return checkSpec(call, { repositoryContext, text, base, warnings, guessed: null })
    }),
}

/** Returns 2 if `winnow run` would refuse the spec. */
export async function checkSpec(call: Call, check: SpecCheck): Promise<number> {
  const { env } = call.environment
  const where = isOnGithub(check.repositoryContext, env) ? 'github' : 'local'
  const { spec, view } = await readSpecView(check, where)
  const print = (lines: string[]) => {
    if (!call.given.flag('json')) for (const line of lines) call.terminal.out(line)
  }
  print(renderCheck(view))
  const cap = readSpendingCap(call, spec, isMetered(spec) || isJudgedMetric(spec))
  const tries = !isBlocked(view) && !call.given.flag('no-try') && (!isMetered(spec) || cap !== null)
  const harness = { ...SPEC_HARNESS, what: 'winnow check', call, spec, ...check }
  const run = { check, view, capUsd: cap?.usd ?? null, print }
  const metered = isMetered(spec) ? cap : null
  const { tried, probes, not_probed } = tries
    ? (await withHarnessModels(harness, metered, each => tryAndAttack(each, run))).result
    : { tried: view, probes: null, not_probed: null }
  if (!tries && !isBlocked(view)) print(renderCheckComparison(spec, tried))
  if (call.given.flag('json')) call.terminal.json(roundNumbers({ ...tried, probes, not_probed }))
  return isBlocked(view) || (probes?.ignored_by ?? null) !== null ? 2 : 0
}

interface CheckTrial {
  tried: CheckView
  probes: ProbeTrial | null
  /** Why the harness was not attacked, where a person would expect it. */
  not_probed: string | null
}

interface CheckRun {
  check: SpecCheck
  view: CheckView
  /** Null: no model may be asked. */
  capUsd: number | null
  print: (lines: string[]) => void
}

async function tryAndAttack(
  harness: HarnessRun,
  { check, view, capUsd, print }: CheckRun,
): Promise<CheckTrial> {
  const { spec, base, call } = harness
  const found = addGuessWarning(await tryWithResourceWatch(harness), check)
  const { repository } = check.repositoryContext
  const attacks = !call.given.flag('no-probes')
  const candidates = attacks ? await buildProbeCandidates(repository, { spec, base, ...found }) : []
  // A campaign measures them only where its spec does not turn them off.
  const trial = { ...found, attacks: spec.measurement.probes === 'on' ? candidates.length : 0 }
  const tried = addTrial(spec, view, trial)
  const about = { yaml: check.text.yaml, tree: check.base.tree }
  saveForecast(check.repositoryContext, about, estimateCampaignSeconds(spec, trial))
  print(renderCheckComparison(spec, tried))
  // Where the harness asks models, one run of it was allowed; a suite has cheap attacks on its texts.
  if (!attacks || (capUsd !== null && !hasTextProbes(spec))) return { tried, probes: null, not_probed: null }
  const live = (seconds: number) => `attacking the harness ${formatClock(seconds)}`
  const untried = explainUntriedProbes(trial, { attacks: candidates.length, capUsd })
  const attack = { candidates, capUsd }
  const probes = untried === null ? await showLive(call, live, () => tryProbes(harness, trial, attack)) : null
  print(
    untried === null
      ? renderProbes(spec, probes).map(line => `  ${line}`)
      : [`  attacks: not tried: ${untried}`],
  )
  return { tried, probes, not_probed: untried }
}

function addGuessWarning(trial: HarnessTrial, { guessed }: SpecCheck): HarnessTrial {
  const warning = guessed === null ? null : describeGuessedMetric(trial, guessed)
  return warning === null ? trial : { ...trial, warnings: [...trial.warnings, warning] }
}

/** Watches ports, files and devices meanwhile: parallel measurements would collide on them. */
async function tryWithResourceWatch(harness: HarnessRun): Promise<HarnessTrial> {
  const watch = watchResources(
    ...listWorkDirs(harness.repositoryContext, harness.spec, harness.workspaceName),
  )
  try {
    const live = (seconds: number) => `trying the harness ${formatClock(seconds)}`
    const trial = await showLive(harness.call, live, () => tryHarness(harness))
    return {
      ...trial,
      warnings: [...trial.warnings, ...describeResourceConflicts(watch.end(), harness.spec)],
    }
  } finally {
    watch.end()
  }
}

function estimateCampaignSeconds(spec: Spec, { prospects, seconds }: HarnessTrial): number {
  return prospects === null ? computeMaxSeconds(spec, seconds) : 60 * Math.max(...prospects.campaign.minutes)
}

// Checks without running anything

/** Runs nothing. Accepts keys that only work on GitHub if the repository is on GitHub. */
async function readSpecView(
  { repositoryContext, text, base, warnings }: SpecCheck,
  where: CampaignLocation,
): Promise<SpecReading> {
  const { path, yaml, source } = text
  const { spec, notes } = parseSpec(yaml, { file: path })
  await requireOwnName(repositoryContext, spec.name, path)
  const { hypotheses, problems } = await checkPatches(repositoryContext, spec, { base, path })
  await requireHiddenPaths(repositoryContext.repository, { spec, file: path }, base.tree)
  const standIns = await findStandIns(repositoryContext.repository, base.tree, spec)
  const view = {
    file: path,
    campaign: spec.name,
    rules: spec.rules,
    source,
    scope: await buildScopeView(repositoryContext, spec, base),
    notes: where === 'github' ? [...notes, ...noteGithubOnlyKeys(spec)] : notes,
    unsupported: listPlannedFeatures(spec, where),
    unfinished: standIns.map(formatStandInText),
    warnings: [...warnings, ...problems, ...checkMinEffect(spec), ...checkIsolation(spec, where)],
    ideas: describeIdeaSources(spec, hypotheses),
    dependencies: describeDependencyPolicy(spec),
    forecast: renderForecast(spec, where, findLocalIsolation(spec) !== null),
    metrics: listComparedMetrics(spec, null),
    tried: null,
  }
  return { spec, view }
}

function addTrial(spec: Spec, view: CheckView, trial: HarnessTrial): CheckView {
  const deterministic = trial.calibration?.deterministic ?? null
  return { ...view, metrics: listComparedMetrics(spec, deterministic), tried: trial }
}

async function requireOwnName(
  repositoryContext: RepositoryContext,
  name: string,
  path: string,
): Promise<void> {
  const known = (await listKnownCampaigns(repositoryContext, { specPath: path })).find(
    each => each.name === name,
  )
  const paths = new Set([path, ...(known?.spec === null ? [] : (known?.paths ?? []))])
  if (paths.size > 1) throw createDuplicateNameError(name, [...paths])
}

/** Fails here rather than after a calibration that would refuse the spec anyway. */
function checkMinEffect(spec: Spec): string[] {
  const mode = selectComparisonMode(spec, null)
  if (spec.evidence.min_effect !== 0 || mode === 'once' || mode === 'stored score') return []
  const what = 'evidence.min_effect is 0, and a noisy metric can never show that'
  const fix = 'give the smallest gain worth having, such as 0.02'
  if (mode === 'pairs') throw new UserError(what, { place: { path: 'evidence.min_effect' }, fix })
  return [`${what}: unless ${spec.metric.primary.name} repeats exactly, ${fix}`]
}

/** On a machine without users of sides `isolation: auto` means no isolation. */
function checkIsolation(spec: Spec, where: CampaignLocation): string[] {
  const { measurement, merge } = spec
  if (where !== 'local' || merge.unisolated !== 'deny' || measurement.isolation !== 'auto') return []
  if (findLocalIsolation(spec) !== null) return []
  const what =
    'merge.unisolated is deny, but without users of sides isolation: auto means none here, so winnow could merge nothing'
  return [`${what}: use measurement.isolation: uid, or merge.unisolated: allow`]
}

async function collectSpecWarnings(
  call: Call,
  repositoryContext: RepositoryContext,
  path: string,
  spec: Spec,
): Promise<string[]> {
  const committed = await repositoryContext.repository.findEntry(
    (await readDefaultTip(repositoryContext, call.environment)).tree,
    path,
  )
  const where = toShortRef(repositoryContext.defaultBranch ?? '')
  const unpushed = await findUnpushedSpec(repositoryContext, call.environment.env, {
    wanted: each => each === path,
    pushed: [],
  })
  const absent =
    unpushed === null
      ? `${path} is not committed on ${where}${repositoryContext.local ? '' : ' of the remote'}, so winnow run does not use it`
      : `${unpushed.message}, so winnow run does not use it: ${PUSH_OR_LOCAL}`
  const unused = await describeUnusedWork(repositoryContext, path, call.environment.env, compileScope(spec))
  return committed === null ? [absent, ...unused] : unused
}

/** Resolves patterns against committed files, because experiments start from commits. */
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

/** Finds a broken patch before anything is measured. */
async function checkPatches(
  { repository }: RepositoryContext,
  spec: Spec,
  { base, path }: PatchCheckTarget,
): Promise<CheckedPatches> {
  const hypotheses = new Map<string, string[]>()
  const problems: string[] = []
  for (const proposer of spec.propose) {
    if (proposer.use !== 'patch') continue
    const usable: string[] = []
    for (const patch of await readCheckedPatches(repository, base, { dir: proposer.dir, path })) {
      const changed = await applyPatchFile(
        { repo: repository, incumbent: base, named: 'the default branch' },
        patch,
      )
      if ('tree' in changed) usable.push(patch.idea.hypothesis)
      else problems.push(`this patch cannot be used: ${changed.rejected}`)
    }
    hypotheses.set(proposer.dir, usable)
  }
  return { hypotheses, problems }
}

async function readCheckedPatches(
  repository: RepositoryContext['repository'],
  base: Point,
  { dir, path }: { dir: string; path: string },
): Promise<PatchFile[]> {
  try {
    return await readPatches(repository, base.tree, dir)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const { message, place, fix } = error
    throw new UserError(message, { place: { ...place, file: path }, fix, cause: error })
  }
}

// Finding the spec

/** Prefers the text in the work tree, so that a spec can be checked before it is committed. */
async function readSpecToCheck(call: Call, repositoryContext: RepositoryContext): Promise<SpecText> {
  const { topLevel } = repositoryContext.checkout
  const path = await selectSpecPath(call, repositoryContext)
  const here = topLevel === null ? null : await readWorkTreeText(topLevel, path)
  if (here !== null) return { path, yaml: here, source: 'work tree' }
  const committed = await readCommittedText(repositoryContext, path)
  if (committed !== null) return { path, yaml: committed, source: 'default branch' }
  const specs = await listWorkTreeSpecs(repositoryContext)
  throw new UserError(`there is no spec ${path}, neither in the work tree nor on the default branch`, {
    place: { file: path },
    fix: suggestWord(path, specs, 'write it: four lines are enough'),
  })
}

async function readWorkTreeText(topLevel: string, path: string): Promise<string | null> {
  const file = join(topLevel, path)
  const found = await stat(file).catch(toNullIfMissing)
  if (found?.isDirectory() !== true) return readFile(file, 'utf8').catch(toNullIfMissing)
  const specs = (await readdir(file)).filter(name => /\.ya?ml$/.test(name)).toSorted()
  throw new UserError(`${path === '' ? '.' : path} is a directory, not a spec`, {
    place: { file: path },
    fix: `name a file: winnow check ${join(path, specs[0] ?? 'spec.yaml')}`,
  })
}

async function selectSpecPath(
  { given, environment }: Call,
  repositoryContext: RepositoryContext,
): Promise<string> {
  const { checkout } = repositoryContext
  const [spec] = given.positionals
  const name = given.text('campaign')
  const { progress } = environment
  const known = await listKnownCampaigns(repositoryContext, { progress })
  const paths = new Set([
    ...(await listWorkTreeSpecs(repositoryContext)),
    ...known.flatMap(each => each.paths),
  ])
  if (spec !== undefined) {
    const path = toSpecPath(repositoryContext, environment.directory, spec)
    const named = [...paths].filter(each => findSpecName(known, each) === spec)
    const isFile = checkout.topLevel !== null && existsSync(join(checkout.topLevel, path))
    const found = named.length === 1 && !isFile && !paths.has(path) ? (named[0] ?? path) : path
    if (name === undefined || name === findSpecName(known, found)) return found
    throw new UserError(`${spec} is campaign ${findSpecName(known, found)}, but --campaign says ${name}`, {
      fix: 'give one of the two',
    })
  }
  const candidates =
    name === undefined ? [...paths] : [...paths].filter(path => findSpecName(known, path) === name)
  const [only, another] = candidates
  if (only === undefined) {
    throw new UserError(
      name === undefined ? 'there is no spec here' : `there is no spec of campaign ${name}`,
      {
        place: { file: '.winnow/<name>.yaml' },
        fix: 'winnow init writes one; or name a file: winnow check path/to/spec.yaml',
      },
    )
  }
  if (another === undefined) return only
  throw new UserError(`there are several specs: ${candidates.toSorted().join(', ')}`, {
    fix: `name one: winnow check ${only}`,
  })
}

function findSpecName(known: readonly KnownCampaign[], path: string): string {
  return known.find(({ paths }) => paths.includes(path))?.name ?? toSpecName(path)
}

function toSpecPath({ checkout }: RepositoryContext, directory: string, spec: string): string {
  if (checkout.topLevel === null) return spec
  const path = relative(checkout.topLevel, resolve(directory, spec))
  if (!path.startsWith('..') && !isAbsolute(path)) return path
  throw new UserError(`${spec} is outside the repository`, {
    place: { file: spec },
    fix: `put it below ${checkout.topLevel}/.winnow`,
  })
}

async function listWorkTreeSpecs({ checkout }: RepositoryContext): Promise<string[]> {
  if (checkout.topLevel === null) return []
  const names = await readdir(join(checkout.topLevel, '.winnow')).catch(toNullIfMissing)
  return (names ?? []).filter(name => /\.ya?ml$/.test(name)).map(name => `.winnow/${name}`)
}
