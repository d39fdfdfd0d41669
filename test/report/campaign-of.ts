import { type Campaign, createEmptyCampaign } from '../../src/model/campaign.ts'
import { type EventDraft, type EventKind, computeEventId, type LedgerEvent } from '../../src/model/event.ts'
import { fold } from '../../src/model/fold/fold.ts'

/** An event without its cause, which says nothing here. */
export type Told<K extends EventKind = EventKind> = { [P in K]: Omit<EventDraft<P>, 'cause'> }[K]
const AT = '2026-01-02T03:04:05.000Z'

export const POINT = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
export const NEXT = { commit: 'c'.repeat(40), tree: 'd'.repeat(40) }

/** Events as a ledger would number them, without the ledger. */
export function eventsOf(...drafts: readonly Told[]): LedgerEvent[] {
  return drafts.map((draft, seq) => {
    const caused = { ...draft, cause: `test ${seq}` } as EventDraft
    const by = { run_id: 'test', attempt: 1, actor: 'ada' }
    return { ...caused, seq, id: computeEventId(caused), at: AT, by, prev: null } as LedgerEvent
  })
}

export function campaignOf(...drafts: readonly Told[]): Campaign {
  return fold(createEmptyCampaign(), eventsOf(started(), ...drafts))
}

export function started(): Told<'campaign-started'> {
  return {
    kind: 'campaign-started',
    spec: 'size',
    spec_path: '.winnow/size.yaml',
    spec_sha256: 'e'.repeat(64),
    spec_yaml:
      'winnow: 1\nmetric: { primary: { type: hard, name: bytes, direction: minimize } }\nmeasurement: { command: x }\ngates: [{ name: t, command: x }]\nscope: { mutable: [src/] }\n',
    rule_version: '1',
    default_branch: 'refs/heads/main',
    object_format: 'sha1',
    start: POINT,
    harness: 'f'.repeat(64),
    first_number: 1,
    winnow: '0',
  }
}

export const NOISE = {
  pair_sd: 0.03,
  pair_sd_upper90: 0.045,
  between_job_sd: 0.01,
  pairs: 16,
  jobs: 2,
  execution_seconds: 2,
  overhead_seconds: 10,
}

export function calibrated(noise: Told<'calibrated'>['noise']): Told<'calibrated'> {
  const found =
    noise === null
      ? { deterministic: true, reason: 'equal in 3 runs' }
      : { deterministic: false, reason: 'bytes varies; pairs differ by 3.0 %' }
  return { kind: 'calibrated', order: '1'.repeat(64), scale: 'log', noise, ...found }
}

export function opened(
  number: number,
  more: Partial<Told<'experiment-opened'>> = {},
): Told<'experiment-opened'> {
  const experiment = `exp-${String(number).padStart(3, '0')}`
  return {
    kind: 'experiment-opened',
    experiment,
    purpose: 'idea',
    hypothesis: `idea ${number}`,
    category: 'general',
    priority: 'medium',
    required_deps: [],
    family: null,
    source: { use: 'patch', key: `patch:${number}` },
    branch: `optimize-exp/size/${experiment}`,
    owned: true,
    pull: null,
    head: 'a'.repeat(40),
    base: POINT,
    learnings: null,
    ...more,
  }
}

export function decided(number: number, more: Partial<Told<'decided'>> = {}): Told<'decided'> {
  return {
    kind: 'decided',
    experiment: `exp-${String(number).padStart(3, '0')}`,
    order: null,
    outcome: 'kept',
    verdict: 'kept',
    rule_version: '1',
    reason: 'bytes 100 -> 90 (-10.0 %), deterministic',
    failure_class: null,
    primary_delta: 10,
    rank_score: 0.1,
    improved: ['bytes'],
    violated: [],
    warnings: [],
    stays_open: false,
    given_up: null,
    ...more,
  }
}

export function baseline(bytes: unknown, tree = POINT.tree): Told<'baseline-measured'> {
  return {
    kind: 'baseline-measured',
    order: '1'.repeat(64),
    side: 'base',
    tree,
    machine: '2'.repeat(64),
    harness: 'f'.repeat(64),
    snapshot: { metrics: { bytes: { aggregate: bytes, samples: [bytes] } } },
  }
}

/** The landing of exp-001: its merge, and the branch that moved to it. */
export const LANDS = [
  {
    kind: 'merged',
    experiment: 'exp-001',
    ...NEXT,
    base: POINT,
    head: 'a'.repeat(40),
    results: null,
    pull: 7,
    decided: { seq: 3, sha256: '0'.repeat(64) },
  },
  { kind: 'incumbent-moved', from: POINT, to: NEXT, why: 'merged' },
] as const satisfies readonly Told[]

/** The revert of that landing. */
export const REVERTED_POINTS = { from: NEXT, to: { commit: 'f'.repeat(40), tree: POINT.tree } }
export const REVERTED: Told = {
  kind: 'reverted',
  experiment: 'exp-001',
  ...REVERTED_POINTS,
  by_experiment: null,
  measured_in: '1'.repeat(64),
}

export function refused(experiment: string): Told {
  return { kind: 'experiment-refused', experiment, head: null, code: 'scope', message: 'm' }
}

/** Sets what the orders of kept experiments measured of base and candidate, which no report here says. */
export function withBytes(campaign: Campaign, ...measured: readonly (readonly [number, number])[]): Campaign {
  for (const [index, [from, to]] of measured.entries()) {
    const step = campaign.steps[index]
    if (step === undefined) throw new Error('there are fewer steps')
    Object.assign(step.from, { metrics: { bytes: from } })
    Object.assign(step.to, { metrics: { bytes: to } })
  }
  return campaign
}
