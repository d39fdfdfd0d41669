import type { Workshop } from '../engine/open.ts'
import { treeFiles } from '../git/tree-walk.ts'
import type { Point } from '../model/ids.ts'
import { shortRef } from '../model/refs.ts'
import { forecast } from '../report/check-forecast.ts'
import { comparedMetrics } from '../report/check-compared.ts'
import { type CheckView, checkText, comparisonText, ideaSources, isBlocked } from '../report/check-text.ts'
import type { Trial } from '../report/check-trial.ts'
import { parseSpec } from '../spec/parse.ts'
import { compilePathspec } from '../spec/pathspec.ts'
import type { Spec } from '../spec/schema.ts'
import { compileScope } from '../spec/scope.ts'
import { unsupported } from '../spec/unsupported.ts'
import { atRepository } from './at-campaign.ts'
import type { Call } from './call.ts'
import { defaultTip } from './default-branch.ts'
import { twins } from './committed-specs.ts'
import { DEFAULT_PREFIX, knownCampaigns } from './known-campaigns.ts'
import { type SpecText, specToCheck } from './spec-to-check.ts'
import { tryHarness } from './trial.ts'
import { unusedWork } from './unused-work.ts'
import type { Verb } from './verb.ts'

export const check: Verb = {
  name: 'check',
  group: 'start',
  summary:
    'say whether a spec would run and what it can show: every mistake, then noise, time, visible gains',
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
    atRepository(call, DEFAULT_PREFIX, async workshop => {
      const text = await specToCheck(call, workshop)
      const base = await defaultTip(workshop, call.around)
      const warnings = await warningsOf(call, workshop, text.path)
      return checkSpec(call, { workshop, text, base, warnings })
    }),
}

export interface ToCheck {
  workshop: Workshop
  text: SpecText
  /** What would be measured. */
  base: Point
  warnings: string[]
}

/** Says everything about one spec, and tries it unless told not to; 2 where a run would refuse it. */
export async function checkSpec(call: Call, asked: ToCheck): Promise<number> {
  const { spec, view } = await reading(asked)
  const says = (lines: string[]) => {
    if (!call.given.flag('json')) for (const line of lines) call.terminal.out(line)
  }
  says(checkText(view))
  const tries = !isBlocked(view) && !call.given.flag('no-try')
  const whole = tries ? tried(spec, view, await tryHarness({ call, spec, ...asked })) : view
  if (!isBlocked(view)) says(comparisonText(spec, whole))
  if (call.given.flag('json')) call.terminal.json(whole)
  return isBlocked(view) ? 2 : 0
}

interface Reading {
  spec: Spec
  view: CheckView
}

/** All that can be said without running anything. */
async function reading({ workshop, text, base, warnings }: ToCheck): Promise<Reading> {
  const { path, yaml, source } = text
  const { spec, notes } = parseSpec(yaml, { file: path })
  await requireOwnName(workshop, spec.name, path)
  const view = {
    file: path,
    campaign: spec.name,
    rules: spec.rules,
    source,
    scope: await scopeOf(workshop, spec, base),
    notes,
    unsupported: unsupported(spec),
    warnings,
    ideas: ideaSources(spec),
    forecast: forecast(spec),
    metrics: comparedMetrics(spec, null),
    tried: null,
  }
  return { spec, view }
}

function tried(spec: Spec, view: CheckView, trial: Trial): CheckView {
  const deterministic = trial.calibration?.deterministic ?? null
  return { ...view, metrics: comparedMetrics(spec, deterministic), tried: trial }
}

/** A run would not know which of the two is meant. */
async function requireOwnName(workshop: Workshop, name: string, path: string): Promise<void> {
  const known = (await knownCampaigns(workshop, path)).find(each => each.name === name)
  const paths = new Set([path, ...(known?.spec === null ? [] : (known?.paths ?? []))])
  if (paths.size > 1) throw twins(name, [...paths])
}

async function warningsOf(call: Call, workshop: Workshop, path: string): Promise<string[]> {
  const committed = await workshop.repository.entryAt((await defaultTip(workshop, call.around)).tree, path)
  const where = shortRef(workshop.defaultBranch ?? '')
  const absent = `${path} is not committed on ${where}${workshop.local ? '' : ' of the remote'}: a run does not see it`
  const unused = await unusedWork(workshop, path, call.around.env)
  return committed === null ? [absent, ...unused] : unused
}

/** Patterns are resolved against what is committed: that is what experiments start from. */
async function scopeOf({ repository }: Workshop, spec: Spec, base: Point): Promise<CheckView['scope']> {
  const files = (await treeFiles(repository, base.tree)).map(({ path }) => path)
  const scope = compileScope(spec)
  const mutable = files.filter(path => scope.isMutable(path)).length
  const unmatched = spec.scope.mutable.filter(pattern => !files.some(compilePathspec(pattern)))
  return { mutable, outside: files.length - mutable, unmatched }
}
