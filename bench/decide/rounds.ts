import { estimateHodgesLehmann } from '../../src/decide/evidence/interval.ts'
import type { EvidenceState } from '../../src/decide/evidence/state.ts'
import { getEvidenceStatus } from '../../src/decide/evidence/rules.ts'
import { measureTogether } from './blocks.ts'
import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import type { World } from './noise.ts'
import { weigh } from './our-rule.ts'
import { drawEffect, PROPOSALS_TEXT } from './proposals.ts'
import type { Random } from './random.ts'
import { times } from './rule.ts'
import { SCENARIOS, type ScenarioName } from './scenarios.ts'

const ROUNDS = 25
const WIDTH = 4
const PLAYS = { quick: 10, usual: 100, full: 300 }
const WHERE = ['typical', 'quiet', 'noisy'] as const satisfies ScenarioName[]
/** Of two real gains in one round, how often the second gives nothing on top of the first. */
const OVERLAP = 0.4

interface Engine {
  name: string
  together: boolean
  combines: boolean
}

const ENGINES: readonly Engine[] = [
  { name: 'separate jobs, merge every passer', together: false, combines: false },
  { name: 'separate jobs, re-measure combination', together: false, combines: true },
  { name: 'shared-base blocks, merge every passer', together: true, combines: false },
  { name: 'shared-base blocks, re-measure combination', together: true, combines: true },
]

export const rounds: Section = {
  name: 'rounds',
  cases: () => WHERE.flatMap(scenario => ENGINES.map(engine => caseOf(scenario, engine))),
  tables: results => WHERE.map(scenario => tableOf(scenario, results)),
}

function caseName(scenario: ScenarioName, { name }: Engine): string {
  return `rounds/${scenario}/${name}`
}

function caseOf(scenario: ScenarioName, engine: Engine): Case {
  return {
    name: caseName(scenario, engine),
    plays: PLAYS,
    play: random => campaign({ scenario: SCENARIOS[scenario], random, byRunner: 0 }, engine),
  }
}

interface Proposal {
  effect: number
  /** Proposals with the same source gain the same thing. */
  source: number
}

interface Book {
  kept: number
  idle: number
  harmful: number
  gain: number
  executions: number
  jobs: number
}

function campaign(world: World, engine: Engine): Tally {
  const book = { kept: 0, idle: 0, harmful: 0, gain: 0, possible: 0, executions: 0, jobs: 0 }
  for (let number = 0; number < ROUNDS; number++) {
    const proposals = roundOf(world.random)
    const measured = engine.together ? together(world, proposals) : apart(world, proposals)
    book.executions += measured.executions
    book.jobs += measured.jobs
    book.possible += possibleGain(proposals)
    merge(world, engine, proposals, measured.states, book)
  }
  return book
}

function roundOf(random: Random): Proposal[] {
  const round: Proposal[] = []
  for (const [source, effect] of times(WIDTH, () => drawEffect(random)).entries()) {
    const real = round.find(earlier => earlier.effect > 0)
    const shared = effect > 0 && real !== undefined && random.fraction() < OVERLAP
    round.push({ effect, source: shared ? real.source : source })
  }
  return round
}

/** What a proposal gives once `merged` is in. */
function onTop({ effect, source }: Proposal, merged: readonly Proposal[]): number {
  return merged.some(other => other.source === source) ? 0 : effect
}

/** All there was to gain: of what shares a source, the best. */
function possibleGain(proposals: readonly Proposal[]): number {
  const best = new Map<number, number>()
  for (const { effect, source } of proposals) best.set(source, Math.max(effect, best.get(source) ?? 0))
  return [...best.values()].reduce((sum, gain) => sum + gain, 0)
}

interface Measured {
  states: readonly EvidenceState[]
  executions: number
  jobs: number
}

function apart(world: World, proposals: readonly Proposal[]): Measured {
  const weighed = proposals.map(({ effect }) => weigh({ world, effect }, {}))
  return {
    states: weighed.map(({ state }) => state),
    executions: weighed.reduce((sum, { executions }) => sum + executions, 0),
    jobs: weighed.reduce((sum, { state }) => sum + state.jobs.length, 0),
  }
}

function together(world: World, proposals: readonly Proposal[]): Measured {
  return measureTogether(
    world,
    proposals.map(({ effect }) => effect),
  )
}

/** The largest estimate lands; the others land too, or only if they still gain on top of it. */
function merge(
  world: World,
  engine: Engine,
  proposals: readonly Proposal[],
  states: readonly EvidenceState[],
  book: Book,
): void {
  const passers = states
    .flatMap((state, index) => {
      const proposal = proposals[index]
      if (proposal === undefined || getEvidenceStatus(state).status !== 'keep') return []
      return [{ proposal, estimate: estimateHodgesLehmann(state.differences) }]
    })
    .toSorted((a, b) => b.estimate - a.estimate)
  const merged: Proposal[] = []
  for (const { proposal } of passers) {
    const effect = onTop(proposal, merged)
    if (merged.length > 0 && engine.combines) {
      const { state, executions } = weigh({ world, effect }, { combination: true })
      book.executions += executions
      book.jobs += state.jobs.length
      if (getEvidenceStatus(state).status !== 'keep') continue
    }
    merged.push(proposal)
    book.kept += 1
    book.idle += effect <= 0 ? 1 : 0
    book.harmful += effect < 0 ? 1 : 0
    book.gain += effect
  }
}

function tableOf(scenario: ScenarioName, results: Results): Table {
  return {
    title: `Rounds of ${WIDTH}, ${ROUNDS} of them, ${scenario} runner`,
    columns: ['engine', 'kept', 'false or redundant', 'harmful', 'net gain %', 'executions', 'jobs'],
    rows: ENGINES.map(engine => [engine.name, ...cells(tallyOf(results, caseName(scenario, engine)))]),
    notes: [
      PROPOSALS_TEXT,
      `a real gain is with chance ${OVERLAP} the same gain as an earlier one of its round, and nothing on top of it`,
    ],
  }
}

function cells(tally: Tally): string[] {
  return [
    per(tally, 'kept').toFixed(1),
    per(tally, 'idle').toFixed(2),
    per(tally, 'harmful').toFixed(2),
    (100 * per(tally, 'gain', 'possible')).toFixed(1),
    per(tally, 'executions').toFixed(0),
    per(tally, 'jobs').toFixed(0),
  ]
}
