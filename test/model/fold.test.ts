import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildCheckpoint } from '../../src/ledger/checkpoint.ts'
import { type Campaign, createEmptyCampaign } from '../../src/model/campaign.ts'
import { toCanonicalJson } from '../../src/model/canonical-json.ts'
import type { EventDraft, LedgerEvent } from '../../src/model/event.ts'
import { fold, FoldedCopy } from '../../src/model/fold/fold.ts'
import { getCampaignSpec } from '../../src/spec/load.ts'
import { CampaignBuilder, campaign, HARNESS, oidOf, pointOf, SPEC, unprepared } from '../plan/a-campaign.ts'
import { carryOut } from '../plan/a-world.ts'
import { noisy } from '../plan/noisy.ts'
import { FILES, happen, happening, ideas, specs } from '../plan/happenings.ts'
import { Site } from '../plan/plan-site.ts'

/** Ledgers as campaigns really write them. */
const ledgers: fc.Arbitrary<LedgerEvent[]> = fc
  .tuple(specs, ideas, fc.array(happening, { maxLength: 40, size: 'max' }))
  .map(([spec, proposed, happenings]) => {
    const site = new Site({ spec, files: FILES, ideas: proposed })
    for (const [nonce, event] of happenings.entries()) happen(site, event, nonce)
    return site.ledger.events
  })

/** Any events at all, about things that exist and things that do not, in any order. */
const id = fc.constantFrom('exp-001', 'exp-002', 'exp-003')
const point = fc.constantFrom(...['start', 'a', 'b'].map(pointOf))
const digest = fc.constantFrom('1'.repeat(64), '2'.repeat(64))
const text = fc.constantFrom('one', 'two')
const packages = fc.subarray(['left-pad', 'right-pad'])
const drafts = fc.oneof(
  fc.record({ kind: fc.constant('order-lost' as const), order: digest, started: fc.boolean(), reason: text }),
  fc.record({ kind: fc.constant('report-rejected' as const), order: digest, run_id: text, reason: text }),
  fc.record({ kind: fc.constant('order-dispatched' as const), order: digest, run_id: text }),
  fc.record({
    kind: fc.constant('proposal-requested' as const),
    key: fc.constantFrom('command:a:1', 'command:a:2'),
    who: fc.constant('a'),
    base: fc.constant({ commit: oidOf('x'), tree: oidOf('y') }),
    until: fc.constant('2026-01-01T00:00:00.000Z'),
  }),
  fc.record({
    kind: fc.constant('proposal-answered' as const),
    key: fc.constantFrom('command:a:1', 'command:a:2'),
    hypothesis: text,
    category: text,
    priority: fc.constant('low' as const),
    required_deps: fc.array(text),
    family: fc.constant(null),
    learnings: fc.constant(null),
    patch: text,
  }),
  fc.record({
    kind: fc.constant('proposal-lost' as const),
    key: fc.constantFrom('command:a:1', 'command:a:2'),
    reason: text,
  }),
  fc.record({
    kind: fc.constant('head-moved' as const),
    experiment: id,
    from: fc.constant(null),
    to: fc.constant(oidOf('x')),
  }),
  fc.record({
    kind: fc.constant('closed' as const),
    experiment: id,
    outcome: fc.constantFrom('withdrawn' as const, 'inconclusive' as const),
    reason: text,
    head: fc.constant(null),
    results: fc.constant(null),
  }),
  fc.record({
    kind: fc.constant('experiment-refused' as const),
    experiment: id,
    head: fc.constant(null),
    code: text,
    message: text,
  }),
  fc.record({
    kind: fc.constant('approval-requested' as const),
    experiment: id,
    digest,
    packages,
    additions: fc.constant([]),
    why: text,
  }),
  fc.record({ kind: fc.constant('approved' as const), experiment: id, digest, packages }),
  fc.record({
    kind: fc.constant('steered' as const),
    action: fc.constantFrom('retry' as const, 'revert' as const, 'withdraw' as const),
    experiment: id,
    reason: text,
  }),
  fc.record({
    kind: fc.constant('foreign-tip' as const),
    from: point,
    to: point,
    state: fc.constantFrom('found' as const, 'adopted' as const, 'moved-back' as const, 'blocked' as const),
    order: fc.constant(null),
    reason: text,
  }),
  fc.record({
    kind: fc.constant('incumbent-moved' as const),
    from: point,
    to: point,
    why: fc.constantFrom('merged' as const, 'synced' as const, 'foreign' as const, 'reverted' as const),
  }),
  fc.record({
    kind: fc.constant('calibrated' as const),
    order: digest,
    deterministic: fc.boolean(),
    scale: fc.constant('log' as const),
    reason: text,
    noise: fc.constant(null),
  }),
  fc.record({
    kind: fc.constant('round-closed' as const),
    round: fc.nat(3),
    members: fc.constant([]),
    winner: fc.constant(null),
  }),
  fc.record({
    kind: fc.constant('campaign-paused' as const),
    reason: text,
    source: fc.constant('person' as const),
  }),
  fc.record(
    { kind: fc.constant('campaign-resumed' as const), reason: text, extra_round: fc.constant(true as const) },
    { requiredKeys: ['kind', 'reason'] },
  ),
  fc.record({ kind: fc.constant('campaign-stopped' as const), code: text, reason: text }),
  fc.record({ kind: fc.constant('alert' as const), code: text, message: text, about: fc.constant(null) }),
  fc.record({ kind: fc.constant('note' as const), text, experiment: fc.constant(null) }),
  fc.record({
    kind: fc.constant('spent' as const),
    what: fc.constant('propose'),
    who: text,
    ok: fc.boolean(),
    minutes: fc.nat(3),
    requests: fc.nat(3),
    tokens: fc.nat(3),
    usd: fc.nat(3),
  }),
)

/** As a reader of the ledger finds it. */
function readBack(folded: Campaign): Campaign {
  const { state }: { state: Campaign } = JSON.parse(buildCheckpoint(folded, 'f'.repeat(64)))
  return state
}

/** By a tick of this run of GitHub Actions. */
function writeNote(built: CampaignBuilder, run: number): void {
  built.by = { run_id: `actions:${run}`, attempt: 1, actor: 'github-actions[bot]' }
  built.add({ kind: 'note', cause: `note ${built.events.length}`, text: 'looked', experiment: null })
}

describe('folding', () => {
  it('never throws for valid events in any order', () => {
    fc.assert(
      fc.property(fc.array(drafts, { maxLength: 40 }), fc.boolean(), (made, begun) => {
        const built = begun ? campaign().withExperiments(2).ordered() : new CampaignBuilder(SPEC)
        for (const [nonce, draft] of made.entries())
          built.add({ ...draft, cause: `cause ${nonce}` } as EventDraft)
        expect(built.campaign.seq).toBe(built.events.length)
      }),
      { numRuns: 150 },
    )
  })

  it('in two parts through a checkpoint equals folding at once', () => {
    fc.assert(
      fc.property(ledgers, fc.nat(), (events, cut) => {
        const whole = fold(createEmptyCampaign(), events)
        const at = cut % (events.length + 1)
        const resumed = fold(readBack(fold(createEmptyCampaign(), events.slice(0, at))), events.slice(at))
        expect(resumed).toEqual(whole)
        expect(JSON.stringify(resumed), 'the order of keys').toBe(JSON.stringify(whole))
      }),
      { numRuns: 40 },
    )
  })

  it('through a checkpoint forgets the oldest of many runs, whatever their names', () => {
    const built = unprepared()
    for (let run = 960; run < 1020; run++) writeNote(built, run)
    const resumed = readBack(built.campaign)
    for (let run = 1020; run < 1060; run++) writeNote(built, run)
    writeNote(built, 1005)
    fold(resumed, built.events.slice(resumed.seq))
    expect(resumed.spent.minutes).toBe(built.campaign.spent.minutes)
    expect(Object.keys(resumed.jobs)).toEqual(Object.keys(built.campaign.jobs))
  })

  it('into copies gives the same result and leaves the originals unchanged', () => {
    fc.assert(
      fc.property(ledgers, fc.nat(), (events, cut) => {
        const at = cut % (events.length + 1)
        const before = fold(createEmptyCampaign(), events.slice(0, at))
        const unchanged = toCanonicalJson(before)
        const copy = new FoldedCopy(before)
        for (const [index, event] of events.slice(at).entries()) {
          copy.applyEvent(event)
          if (index % 3 === 0) copy.finish()
        }
        const copied = copy.finish()
        const whole = fold(createEmptyCampaign(), events)
        expect(copied).toEqual(whole)
        expect(JSON.stringify(copied), 'the order of keys').toBe(JSON.stringify(whole))
        expect(toCanonicalJson(before)).toBe(unchanged)
      }),
      { numRuns: 40 },
    )
  })

  it('a repeated or unknown measured or order-lost event changes nothing but the count', () => {
    fc.assert(
      fc.property(ledgers, events => {
        const repeated = events.flatMap((event): LedgerEvent[] =>
          event.kind === 'measured' || event.kind === 'order-lost'
            ? [event, structuredClone(event)]
            : [event],
        )
        expect(fold(createEmptyCampaign(), repeated)).toEqual(fold(createEmptyCampaign(), events))
      }),
      { numRuns: 40 },
    )
  })
})

function answer(built: CampaignBuilder, ok: boolean): void {
  const cost = { minutes: 1, requests: 0, tokens: 0, usd: 0 }
  built.add({ kind: 'spent', cause: 'x', what: 'propose', who: 'agent', ok, ...cost })
}

describe('the folded state', () => {
  it('keeps the reason of a stop', () => {
    const built = unprepared().add({
      kind: 'campaign-stopped',
      cause: 'x',
      code: 'plateau',
      reason: 'no gain',
    })
    expect(built.campaign).toMatchObject({ status: 'stopped', status_reason: 'no gain' })
  })

  it('stays stopped after a pause, and runs after a resume', () => {
    const built = unprepared().add(
      { kind: 'campaign-stopped', cause: 'x', code: 'plateau', reason: 'no gain' },
      { kind: 'campaign-paused', cause: 'x', reason: 'lunch', source: 'person' },
    )
    expect(built.campaign.status).toBe('stopped')
    expect(built.add({ kind: 'campaign-resumed', cause: 'x', reason: '' }).campaign.status).toBe('running')
  })

  it('drops the alert about rejected dispatches at the next dispatch, and no other alert', () => {
    const about = null
    const built = unprepared().add(
      { kind: 'alert', cause: 'a', code: 'dispatch-refused', message: 'no such workflow', about },
      { kind: 'alert', cause: 'b', code: 'other', message: 'something else', about },
    )
    expect(built.campaign.alerts.map(({ code }) => code)).toEqual(['dispatch-refused', 'other'])
    const order = 'f'.repeat(64)
    built.add({ kind: 'order-dispatched', cause: order, order, run_id: 'actions-1-1' })
    expect(built.campaign.alerts.map(({ code }) => code)).toEqual(['other'])
  })

  it('counts experiments that crashed or timed out, also with successes in between', () => {
    const built = campaign().withExperiments(3)
    const outcome = (experiment: string, how: 'error' | 'timeout' | 'dropped') =>
      built.add({
        kind: 'closed',
        cause: how,
        experiment,
        outcome: how,
        reason: '',
        head: null,
        results: null,
      })
    outcome('exp-001', 'error')
    outcome('exp-002', 'dropped')
    expect(built.campaign.failures).toBe(1)
    outcome('exp-003', 'timeout')
    expect(built.campaign).toMatchObject({ failures: 2, ended: 3, since_incumbent: 3 })
  })

  it('disables a proposer after three failures; an answer alone is no success', () => {
    const built = campaign()
    answer(built, false)
    answer(built, false)
    expect(built.campaign.proposers['agent']).toMatchObject({ failures: 2, disabled: false })
    answer(built, true)
    expect(built.campaign.proposers['agent']).toMatchObject({ failures: 2, disabled: false })
    answer(built, false)
    expect(built.campaign.proposers['agent']).toMatchObject({ failures: 3, disabled: true })
    built.add({ kind: 'alert', cause: 'agent', code: 'proposer-disabled', about: 'agent', message: 'x' })
    built.add({ kind: 'campaign-resumed', cause: 'nonce', reason: 'the program was mended' })
    expect(built.campaign.proposers['agent']).toMatchObject({ failures: 0, disabled: false })
    expect(built.campaign).toMatchObject({ status: 'running', alerts: [] })
  })

  it('does not disable a proposer with a kept idea among its last ten answers', () => {
    const built = campaign()
    answer(built, true)
    built.withExperiment({ source: { use: 'command', key: 'command:agent:1' } })
    built.ordered().measured({ 'exp-001': { candidate: { bytes: 8 } } })
    carryOut(built)
    expect(built.campaign.proposers['agent']).toMatchObject({ failures: 0, since_kept: 0 })
    for (let times = 0; times < 9; times++) answer(built, false)
    expect(built.campaign.proposers['agent']).toMatchObject({ failures: 9, disabled: false })
    answer(built, false)
    expect(built.campaign.proposers['agent']).toMatchObject({ failures: 10, disabled: true })
  })

  it('never disables a text gradient, which is asked once an epoch', () => {
    const built = campaign()
    for (let times = 0; times < 12; times++) {
      const spent = {
        kind: 'spent',
        cause: `t${times}`,
        what: 'propose',
        who: 'textgrad',
        ok: false,
      } as const
      built.add({ ...spent, minutes: 1, requests: 1, tokens: 0, usd: 0 })
    }
    expect(built.campaign.proposers['textgrad']).toMatchObject({ failures: 0, disabled: false })
  })

  it('keeps what pairs showed of a tree when one more run of it is measured, and no other numbers', () => {
    const built = noisy()
    const { baseline } = built.campaign
    if (baseline === null) throw new Error('no baseline')
    const add = (changes: Partial<typeof baseline>, sample_count: number) => {
      const snapshot = { metrics: { bytes: 7 }, sample_count }
      built.add({ kind: 'baseline-measured', cause: 'x', side: 'base', ...baseline, snapshot, ...changes })
      return built.campaign.baseline
    }
    expect(add({}, 1)).toEqual(baseline)
    expect(add({}, 999)).toMatchObject({ snapshot: { sample_count: 999 } })
    expect(add({ tree: 'f'.repeat(40) }, 1)).toMatchObject({ tree: 'f'.repeat(40) })
  })

  it('drops all evidence after an amendment with another harness, and none with the same one', () => {
    const amend = (harness: string): EventDraft => ({
      kind: 'campaign-amended',
      cause: harness,
      spec_sha256: 'a'.repeat(64),
      spec_yaml: SPEC,
      harness,
      source: 'person',
      reason: 'because',
    })
    const built = campaign().withExperiment().ordered()
    built.issue({ purpose: 'calibration', stop: { rule: 'calibrate', runs: 3 }, candidates: [] })
    built.add(amend(HARNESS))
    expect(Object.keys(built.campaign.orders)).toHaveLength(2)
    built.add(amend('b'.repeat(64)))
    expect(built.campaign).toMatchObject({ orders: {}, calibration: null, baseline: null })
    expect(built.experiment('exp-001')).toMatchObject({ status: 'queued', order: null })
  })
})

describe('the host of a campaign', () => {
  const builder = () => new CampaignBuilder(SPEC).started()
  const of = ({ events }: CampaignBuilder, run_id: string, more: object = {}) =>
    fold(
      createEmptyCampaign(),
      events.map(event => ({ ...event, ...more, by: { ...event.by, run_id } }) as LedgerEvent),
    )

  it('is the one in its first event', () => {
    for (const host of ['local', 'github'] as const) {
      expect(of(builder(), 'actions:1', { host })).toMatchObject({ host, private_repository: false })
      expect(of(builder(), 'cli:1', { host, private_repository: true })).toMatchObject({
        host,
        private_repository: true,
      })
    }
  })

  it('is GitHub in an older ledger as soon as a job of GitHub Actions writes to it', () => {
    const built = builder().add({ kind: 'note', cause: 'x', text: 'x', experiment: null })
    expect(of(built, 'cli:1').host).toBeNull()
    const [started, note] = built.events
    if (started === undefined || note === undefined) throw new Error('no events')
    const later = { ...note, by: { ...note.by, run_id: 'actions:12' } }
    expect(fold(createEmptyCampaign(), [started, later]).host).toBe('github')
  })

  it('determines the limits that a spec does not set', () => {
    const limits = (more: object) => {
      const { max_hours, max_runner_minutes } = getCampaignSpec(of(builder(), 'cli:1', more)).stopping
      return [max_hours, max_runner_minutes]
    }
    expect(limits({})).toEqual([8, null])
    expect(limits({ host: 'local' })).toEqual([8, null])
    expect(limits({ host: 'github', private_repository: false })).toEqual([null, null])
    expect(limits({ host: 'github', private_repository: true })).toEqual([null, 600])
    const built = builder()
    const { spec_sha256, spec_yaml, harness } = built.campaign
    const text = { spec_sha256, spec_yaml, harness, source: 'default-branch', reason: 'x' } as const
    built.add({ kind: 'campaign-amended', cause: 'x', ...text, private_repository: true })
    expect(of(built, 'actions:1').private_repository).toBe(true)
    built.add({ kind: 'campaign-amended', cause: 'y', ...text })
    expect(of(built, 'actions:1').private_repository).toBe(true)
  })
})
