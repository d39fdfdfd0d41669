import type { LedgerEvent } from '../../src/model/event.ts'
import type { Report } from '../../src/model/report.ts'
import { PairStories, type PairStory } from '../../src/report/pair-chart.ts'
import { aJob, aRule, GAINS } from '../decide/paired/a-score-case.ts'
import { run } from '../decide/a-spec.ts'
import { eventsOf, POINT, started, type Told } from './campaign-of.ts'

const LABEL = 'exp-007'
const AT = '2026-01-02T03:04:05.000Z'
const LATER = '2026-01-02T03:05:35.000Z'
const SPEC = 'e'.repeat(64)

const TERMS = {
  as: 'idea',
  alpha: 0.001,
  alpha_share: 0.01,
  variant: 0,
  touched: null,
  max_jobs: 8,
  give_up: 'early',
} as const

export const FIRST = GAINS.slice(0, 6)
export const SECOND = [...GAINS.slice(0, 4), -0.5, 5.9, 6.2, 8.1]

export function paired(carried: ReturnType<typeof aJob>[] = []): Told<'order-issued'> {
  return {
    kind: 'order-issued',
    purpose: 'experiment',
    round: 1,
    attempt: 1,
    spec_sha256: SPEC,
    harness: 'f'.repeat(64),
    pin: POINT,
    base: POINT,
    candidates: [{ label: LABEL, head: '1'.repeat(40), tree: '2'.repeat(40) }],
    coins: '0'.repeat(64),
    earlier_jobs: carried.length === 0 ? {} : { [LABEL]: carried },
    stop: { ...aRule({ metrics: ['bytes'], single_machine: true }), terms: { [LABEL]: TERMS } },
    deadline: AT,
  }
}

export function measured(order: string, gains: readonly number[]): Told<'measured'> {
  const executions = gains.flatMap((gain, at) => {
    const both = [run('base', { bytes: 1.25 }), run(LABEL, { bytes: 1.25 * (1 - gain / 100) })]
    return at % 3 === 0 ? both : both.toReversed()
  })
  return reported({ executions }, order)
}

export function reported(more: Partial<Report>, order = '1'.repeat(64)): Told<'measured'> {
  const machine = {
    boot_id: 'b00710ad-1',
    hostname_sha256: '0'.repeat(64),
    os: 'linux',
    kernel: '6',
    cpu_model: 'cpu',
    cores: 2,
    memory_mb: 1,
    image: null,
    node: '20',
  }
  const report: Report = {
    order,
    run_id: 'r',
    started_at: AT,
    finished_at: LATER,
    harness: 'f'.repeat(64),
    trees: {},
    machine,
    flags: [],
    setups: [],
    gates: [],
    executions: [],
    tampered: null,
    runner_error: null,
    ...more,
  }
  return { kind: 'measured', order, run_id: 'r', report }
}

/** Ids are hashes of what an event says: each event can name the one before it. */
export function ledgerOf(...tell: ((before: readonly LedgerEvent[]) => Told)[]): LedgerEvent[] {
  const drafts: Told[] = [started()]
  for (const one of tell) drafts.push(one(eventsOf(...drafts)))
  return eventsOf(...drafts)
}

export function lastOrder(events: readonly LedgerEvent[]): string {
  return events.findLast(({ kind }) => kind === 'order-issued')?.id ?? ''
}

export function storiesOf(events: readonly LedgerEvent[], id = LABEL): PairStory[] {
  const pairs = new PairStories(id)
  for (const event of events) pairs.take(event)
  return pairs.stories
}

/** Screened in its first job, confirmed in its second. */
export function twoJobs(): LedgerEvent[] {
  return ledgerOf(
    () => paired(),
    before => measured(lastOrder(before), FIRST),
    () => paired([aJob('a', FIRST)]),
    before => measured(lastOrder(before), SECOND),
  )
}
