import { meanError, per, type Results, type Table, type Tally, tallyOf } from './case.ts'
import { CAREFUL, CAREFUL_HALF, FIRST_KEEP, HYBRID, HYBRID_HALF, WINNOW } from './rules.ts'
import type { Rule } from './rule.ts'
import type { ScenarioName } from './scenarios.ts'
import { caseName, type Effect } from './single.ts'
import { shareError } from './statistics.ts'

/** A figure that the rule was specified to reach: % kept, and executions and jobs where they were given. */
interface Figure {
  rule: Rule
  scenario: ScenarioName
  effect: Effect
  kept: number
  executions: number | null
  jobs: number | null
}

/** The sample that the figures come from. */
const FIGURE_PLAYS = 4_000
/** Standard errors of the difference of two samples that count as chance. */
const CHANCE = 3

type Row = readonly [effect: Effect, kept: number, executions?: number, jobs?: number]

export const FIGURES: readonly Figure[] = [
  ...figures(WINNOW, 'dedicated', [
    ['-2 %', 0, 9, 1],
    ['null', 0, 9, 1],
    ['null*', 1.1, 12, 1.1],
    ['+1 %', 4.5, 15, 1.3],
    ['+2 %', 85.7, 25, 2.1],
    ['+3 %', 99.7, 23, 2.1],
    ['+5 %', 100, 22, 2],
  ]),
  ...figures(WINNOW, 'quiet', [
    ['-2 %', 0, 9, 1],
    ['null', 0, 12, 1.1],
    ['null*', 0.8, 15, 1.3],
    ['+1 %', 8.4, 25, 1.8],
    ['+2 %', 78.7, 34, 2.6],
    ['+3 %', 94.8, 27, 2.3],
    ['+5 %', 99.6, 24, 2.1],
  ]),
  ...figures(WINNOW, 'typical', [
    ['-2 %', 0, 11, 1],
    ['null', 0.2, 22, 1.5],
    ['null*', 0.6, 27, 1.8],
    ['+1 %', 3.8, 58, 3.4],
    ['+2 %', 47.7, 71, 4.4],
    ['+3 %', 88.3, 51, 3.6],
    ['+5 %', 98.7, 32, 2.5],
  ]),
  ...figures(WINNOW, 'noisy', [
    ['-2 %', 0, 19, 1.3],
    ['null', 0.3, 44, 2.6],
    ['null*', 0.6, 45, 2.6],
    ['+1 %', 1.7, 66, 3.8],
    ['+2 %', 10.3, 86, 4.9],
    ['+3 %', 33.3, 88, 5.2],
    ['+5 %', 82.7, 61, 4.1],
  ]),
  ...figures(FIRST_KEEP, 'typical', [
    ['null', 0, 22, 1.5],
    ['null*', 0.1],
    ['+1 %', 1, 60, 3.6],
    ['+2 %', 30.5, 91, 5.5],
    ['+3 %', 82.4, 71, 4.6],
    ['+5 %', 98.7, 45, 3.1],
  ]),
  ...figures(FIRST_KEEP, 'noisy', [['+5 %', 70.8, 85, 5.3]]),
  ...figures(FIRST_KEEP, 'quiet', [['+3 %', 94.7, 39, 2.7]]),
]

function figures(rule: Rule, scenario: ScenarioName, rows: readonly Row[]): Figure[] {
  return rows.map(([effect, kept, executions = null, jobs = null]) => ({
    rule,
    scenario,
    effect,
    kept,
    executions,
    jobs,
  }))
}

interface Compared {
  text: string
  met: boolean
}

/** Whether a share is as far on the good side as the figure, but for chance and the figure's rounding. */
export function keptCompared(tally: Tally, { kept, effect }: Pick<Figure, 'kept' | 'effect'>): Compared {
  const plays = tally['plays'] ?? Number.NaN
  const share = per(tally, 'kept')
  const rounding = 0.0005
  const least = 1 / FIGURE_PLAYS
  const pooled = Math.min(1 - least, Math.max(least, (share + kept / 100) / 2))
  const chance = rounding + CHANCE * Math.hypot(shareError(pooled, plays), shareError(pooled, FIGURE_PLAYS))
  const worse = effect.startsWith('+') ? kept / 100 - share : share - kept / 100
  return { text: (100 * share).toFixed(1), met: worse <= chance }
}

type Cost = 'executions' | 'jobs' | 'search executions' | 'search jobs'

export function costCompared(
  tally: Tally,
  key: Cost,
  figure: number | null,
): { text: string; met: boolean | null } {
  const digits = key.endsWith('jobs') ? 1 : 0
  const cost = per(tally, key)
  const text = cost.toFixed(digits)
  if (figure === null) return { text, met: null }
  const plays = tally['plays'] ?? Number.NaN
  const error = meanError(tally, key) * Math.sqrt(1 + plays / FIGURE_PLAYS)
  return { text, met: cost <= figure + 0.5 * 10 ** -digits + CHANCE * error }
}

/** Cost until the search for a gain ends, and in all: the figures were set before there were proofs of harm and of no gain. */
export function figureTable(results: Results): Table {
  const unit = (name: string) => [`search ${name}`, 'figure', '', `all ${name}`, '']
  return {
    title: 'Figures to reach',
    columns: ['rule', 'runner', 'effect', 'kept %', 'figure', '', ...unit('executions'), ...unit('jobs')],
    rows: FIGURES.map(figure => {
      const tally = tallyOf(results, caseName(figure.scenario, figure.rule, figure.effect))
      return [
        figure.rule.name,
        figure.scenario,
        figure.effect,
        ...compared(keptCompared(tally, figure), figure.kept.toFixed(1)),
        ...costs(tally, 'executions', figure.executions),
        ...costs(tally, 'jobs', figure.jobs),
      ]
    }),
    notes: [
      'met: not worse than the figure by more than three standard errors of the two samples and its rounding',
      'search: until the search for a gain ends; all: with the pairs after it that prove harm or no gain',
    ],
  }
}

function costs(tally: Tally, unit: 'executions' | 'jobs', figure: number | null): string[] {
  const [search, all] = [costCompared(tally, `search ${unit}`, figure), costCompared(tally, unit, figure)]
  const digits = unit === 'jobs' ? 1 : 0
  return [search.text, figure?.toFixed(digits) ?? '', word(search), all.text, word(all)]
}

function compared({ text, met }: Compared, figure: string): string[] {
  return [text, figure, word({ met })]
}

function word({ met }: { met: boolean | null }): string {
  if (met === null) return ''
  return met ? 'met' : 'MISSED'
}

/** Whether the hybrids keep no more of what does nothing than the rule's own figures, and than alpha. */
export function hybridTable(results: Results): Table {
  const asked = FIGURES.filter(({ rule, effect }) => rule === WINNOW && effect.startsWith('null'))
  const shares = (figure: Figure, rule: Rule) => {
    const tally = tallyOf(results, caseName(figure.scenario, rule, figure.effect))
    const { met } = keptCompared(tally, figure)
    return [(100 * per(tally, 'kept')).toFixed(2), met ? 'met' : 'MISSED']
  }
  const hybrids = [HYBRID, HYBRID_HALF, CAREFUL, CAREFUL_HALF]
  return {
    title: 'No-ops kept by the hybrids (%), against the figures of the rule without',
    columns: [
      'runner, change',
      'figure',
      'winnow',
      '',
      ...hybrids.flatMap(({ name }) => [name.slice(7), '']),
    ],
    rows: asked.map(figure => [
      `${figure.scenario}, ${figure.effect}`,
      figure.kept.toFixed(1),
      ...[WINNOW, ...hybrids].flatMap(rule => shares(figure, rule)),
    ]),
    notes: [
      'hybrid: half of the evidence by the upper limit of the calibrated noise',
      'careful hybrid: a tenth of it, by one and a half times that limit',
    ],
  }
}
