import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import { ALL_RULES } from './rules.ts'
import { drawRunner, type World } from './noise.ts'
import type { Random } from './random.ts'
import { type Memory, type Outcome, type Rule, type StoredRule, times } from './rule.ts'
import { SCENARIO_NAMES, SCENARIOS, type ScenarioName } from './scenarios.ts'

export const EFFECTS = ['-2 %', 'null', 'null*', '+1 %', '+2 %', '+3 %', '+5 %', '+10 %'] as const
export type Effect = (typeof EFFECTS)[number]

const PLAYS = { quick: 400, usual: 4_000, full: 10_000 }
/** null*: nothing on average, this much by runner. */
const BY_RUNNER = 0.01
/** Earlier scores a rule has seen that judges by their spread. */
const EARLIER = 10

export const single: Section = {
  name: 'single',
  cases: () => SCENARIO_NAMES.flatMap(scenario => ALL_RULES.flatMap(rule => casesOf(scenario, rule))),
  tables: results => SCENARIO_NAMES.map(scenario => tableOf(scenario, results)),
}

export function caseName(scenario: ScenarioName, { name }: Pick<Rule, 'name'>, effect: Effect): string {
  return `single/${scenario}/${name}/${effect}`
}

function casesOf(scenario: ScenarioName, rule: Rule): Case[] {
  return EFFECTS.map(effect => ({
    name: caseName(scenario, rule, effect),
    plays: PLAYS,
    play: random => tallied(decide(rule, scenario, effect, random)),
  }))
}

export function decide(rule: Rule, scenario: ScenarioName, effect: Effect, random: Random): Outcome {
  const world = { scenario: SCENARIOS[scenario], random, byRunner: effect === 'null*' ? BY_RUNNER : 0 }
  if (rule.kind === 'side-by-side') return rule.decide({ world, effect: gainOf(effect) })
  return rule.judge(remembered(rule, world), () => candidateRun(world, gainOf(effect)))
}

function gainOf(effect: Effect): number {
  return effect.startsWith('null') ? 0 : Number.parseFloat(effect) / 100
}

function candidateRun(world: World, effect: number): () => number {
  const runner = drawRunner(world)
  const [job, gain] = [runner.startJob(), runner.gainOf(effect)]
  return () => job(gain, false)
}

/** The base as it was measured once, in a job of another day. */
function remembered({ samples }: StoredRule, world: World): Memory {
  const baseRun = () => {
    const job = drawRunner(world, true).startJob()
    return () => job(0, false)
  }
  const best = times(samples, baseRun())
  return { best, history: times(EARLIER, () => baseRun()()) }
}

function tallied({ kept, executions, jobs, search = { executions, jobs } }: Outcome): Tally {
  return {
    kept: kept ? 1 : 0,
    executions,
    'executions²': executions ** 2,
    jobs,
    'jobs²': jobs ** 2,
    'search executions': search.executions,
    'search executions²': search.executions ** 2,
    'search jobs': search.jobs,
    'search jobs²': search.jobs ** 2,
  }
}

function tableOf(scenario: ScenarioName, results: Results): Table {
  return {
    title: `Single decisions, ${scenario} runner: % kept (executions/jobs used)`,
    columns: ['rule', ...EFFECTS],
    rows: ALL_RULES.map(rule => [
      rule.name,
      ...EFFECTS.map(effect => cell(tallyOf(results, caseName(scenario, rule, effect)))),
    ]),
    notes: scenario === 'typical' ? ALL_RULES.map(rule => `${rule.name}: ${rule.source}`) : [],
  }
}

function cell(tally: Tally): string {
  const [kept, executions, jobs] = [per(tally, 'kept'), per(tally, 'executions'), per(tally, 'jobs')]
  return `${(100 * kept).toFixed(1)} (${executions.toFixed(0)}/${jobs.toFixed(1)})`
}
