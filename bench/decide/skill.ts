import { type PairedRule, evaluatePairs } from '../../src/decide/paired/evaluate.ts'
import { buildBatches, drawFreshSample } from '../../src/judge/batch.ts'
import { buildJudgedPairs } from '../../src/judge/evidence.ts'
import { computeCaseScore, SKILL_QUALITIES } from '../../src/judge/skill-rule.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import type { PairJob } from '../../src/model/pairs.ts'
import { computeAlpha } from '../../src/plan/paired-order.ts'
import { parseSpec } from '../../src/spec/load.ts'
import type { Spec } from '../../src/spec/schema.ts'
import { resolveEvidence } from '../../src/spec/spec-facts.ts'
import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import type { Random } from './random.ts'

const QUALITIES = SKILL_QUALITIES.map(({ name }) => name)

/** The parts of `fixtures/skill` that decide, with samples of this size. A test compares them. */
export function buildSkillSpec(sample: number): Spec {
  const strata = QUALITIES.map(name => `{ bucket: ${name}, count: ${sample / QUALITIES.length} }`)
  const text = `winnow: 1
metric:
  primary: { type: judge, name: quality, direction: maximize }
  degenerate_gates: [{ name: length_tokens, check: <= 400 }]
  judge:
    rubric: Score 1 to 5 how well an agent does.
    scoring: { primary: quality }
    sample_size: ${sample}
    stratification: [${strata.join(', ')}]
measurement: { command: node bench/skill.mjs }
scope: { mutable: [skills/] }
stopping: { max_iterations: 4 }
`
  return parseSpec(text, { file: 'skill.yaml' }).spec
}

/** Of the fixture. Half of it is the sample of a first run. */
export const FIXTURE_SAMPLE = 20
const SAMPLES = [FIXTURE_SAMPLE / 2, FIXTURE_SAMPLE]
const PLAYS = { quick: 100, usual: 1_000, full: 4_000 }

/** Of a judge that gives whole scores, as most rubrics ask. */
interface JudgeNoise {
  name: string
  /** Standard deviation of one score. */
  score: number
  /** How generous a request is, drawn once for each. */
  mood: number
}

const NOISES: readonly JudgeNoise[] = [
  { name: 'steady judge (.3, moods of .1)', score: 0.3, mood: 0.1 },
  { name: 'usual judge (.5, moods of .2)', score: 0.5, mood: 0.2 },
  { name: 'unsure judge (.8, moods of .4)', score: 0.8, mood: 0.4 },
]

/** What the skill has before, and what one idea of the campaign adds. The other ideas only change words. */
export interface SkillCase {
  name: string
  /** Cases of one sample. */
  sample: number
  noise: JudgeNoise
  before: readonly string[]
  added: readonly string[]
}

export const SKILL_CASES: readonly SkillCase[] = SAMPLES.flatMap(sample =>
  NOISES.flatMap(noise => [
    { name: 'only changes of words', sample, noise, before: QUALITIES.slice(0, 2), added: [] },
    { name: 'one quality more, of none', sample, noise, before: [], added: QUALITIES.slice(0, 1) },
    { name: 'one quality more, of two', sample, noise, before: QUALITIES.slice(0, 2), added: ['limits'] },
  ]),
)

/** Campaigns of the skill fixture, decided as the engine does, before a judge that errs. */
export const skill: Section = {
  name: 'skill',
  cases: () => SKILL_CASES.map(toCase),
  tables: results => [buildTable(results)],
}

function toCase(each: SkillCase): Case {
  const name = `skill/${each.sample}/${each.noise.name}/${each.name}`
  return { name, plays: PLAYS, play: random => playSkillCampaign(each, random) }
}

/** `false`: an idea was kept that only changes words. `real`: the idea that adds a quality was kept. */
export function playSkillCampaign(each: SkillCase, random: Random): Tally {
  const terms = buildTerms(each.sample)
  const ideas = terms.spec.stopping.max_iterations
  const place = Math.floor(random.fraction() * ideas)
  let [falseKeeps, realKeeps, samples] = [0, 0, 0]
  for (let idea = 0; idea < ideas; idea++) {
    const isReal = each.added.length > 0 && idea === place
    const after = isReal ? [...each.before, ...each.added] : each.before
    const played = playIdea({ ...each, after }, terms, random)
    samples += played.samples
    if (played.kept && isReal) realKeeps += 1
    if (played.kept && !isReal) falseKeeps += 1
  }
  return { false: falseKeeps > 0 ? 1 : 0, real: realKeeps, samples }
}

interface CampaignTerms {
  spec: Spec
  rule: PairedRule
  alpha: number
  maxJobs: number
}

/** Without credit for earlier keeps, which would make later ideas easier to keep. */
function buildTerms(sample: number): CampaignTerms {
  const spec = buildSkillSpec(sample)
  const evidence = resolveEvidence(spec, { singleMachine: true, scale: 'linear', deterministic: false })
  const { min_effect, null_effect, screen, fresh_runners, max_jobs: maxJobs } = evidence
  const campaign = { experiments: {}, error_budget: { alpha_spent: 0, tests: 0 } }
  const share = 1 / spec.stopping.max_iterations
  return {
    spec,
    rule: {
      rule: 'paired',
      scale: 'linear',
      metrics: ['quality'],
      pairs: sample,
      min_effect,
      null_effect,
      screen,
      fresh_runners,
      single_machine: true,
      terms: {},
    },
    alpha: computeAlpha(campaign, spec.evidence, { share, variant: 0 }),
    maxJobs,
  }
}

interface PlayedIdea extends SkillCase {
  after: readonly string[]
}

function playIdea(played: PlayedIdea, { spec, rule, alpha, maxJobs }: CampaignTerms, random: Random) {
  const terms = { as: 'idea', alpha, max_jobs: maxJobs, give_up: 'early' } as const
  const jobs: PairJob[] = []
  for (;;) {
    jobs.push(scoreSample(played, { spec, number: jobs.length }, random))
    const { status } = evaluatePairs({ spec, rule, terms, jobs })
    if (status !== 'new-job') return { kept: status === 'keep', samples: jobs.length }
  }
}

interface DueSample {
  spec: Spec
  number: number
}

function scoreSample(
  { before, after, noise }: PlayedIdea,
  { spec, number }: DueSample,
  random: Random,
): PairJob {
  const { judge } = spec.metric
  if (judge === null) throw new Error('the spec has no judge')
  const { sample_size: sampleSize, stratification, sample_seed: seed, batch_size: batchSize } = judge
  // The fixture has as many cases as two samples need.
  const numbers = Array.from({ length: (2 * sampleSize) / QUALITIES.length }, (_, at) => at)
  const listItems = (side: string) =>
    QUALITIES.flatMap(about =>
      numbers.map(at => ({ id: `${about}-${at}`, bucket: about, content: `${side} ${about}-${at}` })),
    )
  const { pairs } = drawFreshSample(listItems('base'), listItems('candidate'), {
    sampleSize,
    stratification,
    seeds: [seed, ...Array.from({ length: number }, () => seed + 1)],
  })
  const coins = Array.from({ length: 64 }, () => Math.floor(16 * random.fraction()).toString(16)).join('')
  const judging = { coins, batchSize, judges: 1 }
  const records = buildBatches(pairs, judging).flatMap(({ entries }): ScoreRecord[] => {
    const mood = noise.mood * random.normal()
    return entries.map(({ item, side }) => {
      const score = computeCaseScore(side === 'base' ? before : after, item.replace(/-\d+$/, ''))
      const felt = Math.round(score + mood + noise.score * random.normal())
      return { judge: 0, item, side, time: 1, scores: { quality: Math.min(5, Math.max(1, felt)) } }
    })
  })
  return toPairJob({ number, sampleSize }, buildJudgedPairs({ pairs, judging, records }))
}

/** A case that was scored before is not scored again: its pair is void. */
function toPairJob(
  { number, sampleSize }: { number: number; sampleSize: number },
  scored: ReturnType<typeof buildJudgedPairs>,
): PairJob {
  const missing = { first: 'base' as const, base: null, candidate: null }
  const pairs = scored.map(({ first, base, candidate }) => ({ first, base, candidate }))
  while (pairs.length < sampleSize) pairs.push(missing)
  const order = number.toString(16).padStart(64, '0')
  return { order, runner: `sample ${number}`, complete: true, pairs }
}

function buildTable(results: Results): Table {
  return {
    title: 'Campaigns of 4 ideas for a skill, judged by a model: % of campaigns',
    columns: [
      'cases of a sample, judge',
      'ideas',
      'keep a change of words',
      'keep the improvement',
      'samples',
    ],
    rows: SKILL_CASES.map(each => {
      const tally = tallyOf(results, toCase(each).name)
      const percent = (key: string) => (100 * per(tally, key)).toFixed(1)
      const real = each.added.length === 0 ? '' : percent('real')
      const judge = `${each.sample}, ${each.noise.name}`
      return [judge, each.name, percent('false'), real, per(tally, 'samples').toFixed(1)]
    }),
    notes: [
      'scores are whole numbers; one idea adds the quality, and the others only change words',
      `the rule that scores and the settings are those of fixtures/skill, which samples ${FIXTURE_SAMPLE} cases`,
    ],
  }
}
