import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import { drawRunner, type World } from './noise.ts'
import { reportedEffect } from './our-rule.ts'
import { drawEffect, PROPOSALS_TEXT } from './proposals.ts'
import { type Memory, type Outcome, type SideBySideRule, type StoredRule, times } from './rule.ts'
import { atCampaignLevel, CAREFUL, HYBRID, WINNOW } from './rules.ts'
import { SCENARIO_NAMES, SCENARIOS, type ScenarioName } from './scenarios.ts'
import { SIDE_BY_SIDE_RULES } from './side-by-side-rules.ts'
import { STORED_RULES } from './stored-rules.ts'

const PROPOSALS = 100
const PLAYS = { quick: 10, usual: 150, full: 400 }

/** What one campaign came to. */
interface Book {
  kept: number
  false: number
  harmful: number
  claimed: number
  reported: number
  gain: number
  executions: number
  jobs: number
}

/** A rule as a campaign uses it; `discoveries` is how many it has kept so far. */
interface Player {
  name: string
  start: (world: World) => (effect: number, gained: number, discoveries: number) => Outcome
  /** Only ours measures again after a keep, to report an effect that was not selected. */
  reports: boolean
}

const PLAYERS: readonly Player[] = [
  ...STORED_RULES.map(storedPlayer),
  ...SIDE_BY_SIDE_RULES.map(rule => sideBySide(rule.name, () => rule, false)),
  sideBySide('winnow, alpha .01 for each', () => WINNOW, true),
  sideBySide('winnow (e-LOND, q .1)', discoveries => atCampaignLevel(PROPOSALS, discoveries), true),
  sideBySide('winnow hybrid, alpha .01 for each', () => HYBRID, true),
  sideBySide('winnow careful hybrid, alpha .01 for each', () => CAREFUL, true),
]

export const campaigns: Section = {
  name: 'campaigns',
  cases: () => SCENARIO_NAMES.flatMap(scenario => PLAYERS.map(player => caseOf(scenario, player))),
  tables: results => SCENARIO_NAMES.map(scenario => tableOf(scenario, results)),
}

export function campaignName(scenario: ScenarioName, player: string): string {
  return `campaigns/${scenario}/${player}`
}

function caseOf(scenario: ScenarioName, player: Player): Case {
  return {
    name: campaignName(scenario, player.name),
    plays: PLAYS,
    play: random => campaign(player, { scenario: SCENARIOS[scenario], random, byRunner: 0 }),
  }
}

function campaign(player: Player, world: World): Tally {
  const judge = player.start(world)
  const book = { kept: 0, false: 0, harmful: 0, claimed: 0, reported: 0, gain: 0, executions: 0, jobs: 0 }
  let possible = 0
  for (let proposal = 0; proposal < PROPOSALS; proposal++) {
    const effect = drawEffect(world.random)
    possible += Math.max(0, effect)
    entered(book, judge(effect, book.gain, book.kept), effect, player.reports ? world : null)
  }
  return { ...book, possible, falseShare: book.kept > 0 ? book.false / book.kept : 0 }
}

function entered(book: Book, outcome: Outcome, effect: number, reporting: World | null): void {
  book.executions += outcome.executions
  book.jobs += outcome.jobs
  if (!outcome.kept) return
  book.kept += 1
  book.false += effect <= 0 ? 1 : 0
  book.harmful += effect < 0 ? 1 : 0
  book.gain += effect
  book.claimed += outcome.claimed
  if (reporting === null) return
  const report = reportedEffect({ world: reporting, effect })
  book.reported += report.effect
  book.executions += report.executions
  book.jobs += 1
}

function sideBySide(name: string, rule: (discoveries: number) => SideBySideRule, reports: boolean): Player {
  return {
    name,
    reports,
    start: world => (effect, _gained, discoveries) => rule(discoveries).decide({ world, effect }),
  }
}

/** The ratchet: what is kept leaves its own lucky score behind, to be compared with on another day. */
function storedPlayer(rule: StoredRule): Player {
  return {
    name: rule.name,
    reports: false,
    start: world => {
      const later = (scores: readonly number[]) => {
        const shift = world.scenario.calendar * world.random.normal()
        return scores.map(score => score + shift)
      }
      const run = candidateRun(world, 0, 0)
      const first = times(rule.samples, run)
      let memory: Memory = { best: later(first), history: first }
      return (effect, gained) => {
        const outcome = rule.judge(memory, () => candidateRun(world, effect, gained))
        const best = outcome.kept ? later(outcome.scores) : memory.best
        memory = { best, history: [...memory.history, ...outcome.scores] }
        return outcome
      }
    },
  }
}

function candidateRun(world: World, effect: number, gained: number): () => number {
  const runner = drawRunner(world)
  const [job, gain] = [runner.startJob(), gained + runner.gainOf(effect)]
  return () => job(gain, false)
}

function tableOf(scenario: ScenarioName, results: Results): Table {
  return {
    title: `Campaigns of ${PROPOSALS} proposals, ${scenario} runner`,
    columns: [
      'rule',
      'kept',
      'false',
      'harmful',
      'FDR %',
      'gain %',
      'claimed:real',
      'reported:real',
      'executions',
      'jobs',
    ],
    rows: PLAYERS.map(player => [
      player.name,
      ...cells(tallyOf(results, campaignName(scenario, player.name)), player),
    ]),
    notes: [
      PROPOSALS_TEXT,
      'gain: of all there was to gain, net of harm; winnow measures each keep once more, counted here',
    ],
  }
}

function cells(tally: Tally, { reports }: Player): string[] {
  return [
    per(tally, 'kept').toFixed(1),
    per(tally, 'false').toFixed(2),
    per(tally, 'harmful').toFixed(2),
    (100 * per(tally, 'falseShare')).toFixed(0),
    (100 * per(tally, 'gain', 'possible')).toFixed(0),
    per(tally, 'claimed', 'gain').toFixed(2),
    reports ? per(tally, 'reported', 'gain').toFixed(2) : '',
    per(tally, 'executions').toFixed(0),
    per(tally, 'jobs').toFixed(0),
  ]
}
