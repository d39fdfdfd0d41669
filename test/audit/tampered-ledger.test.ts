import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { replayLedger } from '../../src/engine/verify/audit.ts'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import type { EventDraft } from '../../src/model/event.ts'
import type { Report } from '../../src/model/report.ts'
import {
  append,
  BROKEN,
  clearCopies,
  type Copy,
  copyOf,
  eventOf,
  fileOf,
  LONGER_B,
  originalOf,
  restorePoint,
  rewrite,
  SHORT_A,
  SHORTER_A,
  vandalise,
  whatAuditSays,
} from './tampering.ts'

let site: Copy
let restore: () => void
beforeAll(async () => {
  const original = await originalOf([SHORTER_A, SHORT_A, LONGER_B, BROKEN])
  site = await copyOf(original)
  restore = restorePoint(site)
})
afterEach(() => restore())
afterAll(clearCopies)

describe('an event file', () => {
  it('edited is named, and the landing that needs it is the first commit without evidence', async () => {
    const event = await eventOf(site, 'measured')
    const { path, text } = fileOf(event)
    const landing = await eventOf(site, 'merged')
    const commit = await vandalise(site, { [path]: text.replace('"bytes":22', '"bytes":99') })
    const { result, words } = await whatAuditSays(site)
    expect(words).toContain(`event ${event.seq} (${path}) does not fit: its id is ${event.id}`)
    expect(words).toContain(`commit ${commit} changed ${path}`)
    expect(result.problems[0]?.seq).toBe(event.seq)
    expect(result.unproven?.commit).toBe(landing.commit)
    await expect(replayLedger(site.place)).rejects.toThrow(`event ${event.seq} (${path}) does not fit`)
  })

  it('dropped is named as missing', async () => {
    const event = await eventOf(site, 'decided')
    const { path } = fileOf(event)
    await vandalise(site, { [path]: null })
    const { words } = await whatAuditSays(site)
    expect(words).toContain(`event ${event.seq} is missing: there is no ${path}`)
    await expect(replayLedger(site.place)).rejects.toThrow(`event ${event.seq} is missing`)
  })

  it('put in the place of another is named', async () => {
    const one = fileOf(await eventOf(site, 'merged'))
    const two = fileOf(await eventOf(site, 'incumbent-moved'))
    const { seq } = await eventOf(site, 'merged')
    await vandalise(site, { [one.path]: two.text, [two.path]: one.text })
    const { result, words } = await whatAuditSays(site)
    expect(words).toContain(`event ${seq} (${one.path}) does not fit: it says seq ${seq + 1}`)
    expect(result.ok).toBe(false)
    await expect(replayLedger(site.place)).rejects.toThrow(`it says seq ${seq + 1}`)
  })
})

describe('a chain made anew', () => {
  it('that changes nothing is the same ledger', async () => {
    await rewrite(site, draft => [draft])
    expect((await whatAuditSays(site)).result.ok).toBe(true)
    expect((await replayLedger(site.place)).differences).toEqual([])
  })

  it('without one event breaks the trailer of the landing after it', async () => {
    const gone = await eventOf(site, 'order-dispatched')
    const landing = await eventOf(site, 'merged')
    await rewrite(site, (draft, seq) => (seq === gone.seq ? [] : [draft]))
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.commit).toBe(landing.commit)
    expect(result.unproven?.what).toMatch(/event \d+, named as its verdict, keeps nothing|names verdict/)
  })

  it('with an event twice is named: two events never share an id', async () => {
    const twice = await eventOf(site, 'round-closed')
    await rewrite(site, (draft, seq) => (seq === twice.seq ? [draft, draft] : [draft]))
    const { result, words } = await whatAuditSays(site)
    expect(result.ok).toBe(false)
    expect(words).toContain(
      `event ${twice.seq + 1} (round-closed) has the id of event ${twice.seq}: ${twice.id}`,
    )
  })

  it('without a verdict is found by replay', async () => {
    const gone = await eventOf(site, 'decided', ({ outcome }) => outcome === 'dropped')
    await rewrite(site, (draft, seq) => (seq === gone.seq ? [] : [draft]))
    const { ok, differences } = await replayLedger(site.place)
    expect(ok).toBe(false)
    expect(differences).toContainEqual({
      seq: gone.seq,
      experiment: gone.experiment,
      field: 'decided',
      recorded: null,
      recomputed: 'dropped',
    })
  })
})

describe('a swapped verdict, with a chain that fits', () => {
  type Decided = EventDraft<'decided'>
  const swap = (which: string, change: Partial<Decided>) => (draft: EventDraft) =>
    draft.kind === 'decided' && draft.outcome === which ? [{ ...draft, ...change }] : [draft]

  it.each<[string, Partial<Decided>]>([
    ['dropped', { outcome: 'censored' }],
    [
      'dropped',
      { verdict: 'no gain', primary_delta: 7, warnings: ['noisy'], failure_class: null, rule_version: '0' },
    ],
    ['not_selected', { outcome: 'dropped', rank_score: 0.9, improved: [] }],
    ['degenerate', { reason: 'no idea', violated: [], order: null }],
  ])('is found by replay, field by field: the %s one made %j', async (which, change) => {
    const was = await eventOf(site, 'decided', ({ outcome }) => outcome === which)
    await rewrite(site, swap(which, change))
    const { ok, differences } = await replayLedger(site.place)
    expect(ok).toBe(false)
    const { seq, experiment } = was
    const known = new Map<string, unknown>(Object.entries(was))
    for (const [field, recorded] of Object.entries(change)) {
      expect(differences).toContainEqual({ seq, experiment, field, recorded, recomputed: known.get(field) })
    }
  })

  it('for the winner is found by both', async () => {
    const was = await eventOf(site, 'decided', ({ outcome }) => outcome === 'kept')
    await rewrite(site, swap('kept', { primary_delta: 21 }))
    expect((await replayLedger(site.place)).differences[0]).toMatchObject({
      seq: was.seq,
      field: 'primary_delta',
    })
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.what).toContain('has no evidence')
  })

  it('and another winner is found, because the best of the round is computed too', async () => {
    const winner = await eventOf(site, 'decided', ({ outcome }) => outcome === 'kept')
    const other = await eventOf(site, 'decided', ({ outcome }) => outcome === 'not_selected')
    const names = new Map([
      [winner.experiment, other.experiment],
      [other.experiment, winner.experiment],
    ])
    await rewrite(site, draft => {
      if (draft.kind !== 'decided') return [draft]
      const experiment = names.get(draft.experiment) ?? draft.experiment
      return [{ ...draft, experiment, order: experiment === draft.experiment ? draft.order : other.order }]
    })
    const { differences } = await replayLedger(site.place)
    expect(differences).toContainEqual({
      seq: other.seq,
      experiment: winner.experiment,
      field: 'outcome',
      recorded: 'not_selected',
      recomputed: 'kept',
    })
  })

  it('of the round or the calibration is found too', async () => {
    const calibrated = await eventOf(site, 'calibrated')
    const round = await eventOf(site, 'round-closed')
    await rewrite(site, draft => {
      if (draft.kind === 'calibrated') return [{ ...draft, scale: 'linear', reason: 'trust me' }]
      if (draft.kind === 'round-closed') return [{ ...draft, winner: 'exp-003' }]
      if (draft.kind === 'baseline-measured' && draft.side === 'base')
        return [{ ...draft, snapshot: { ...draft.snapshot, metrics: { bytes: 30 } } }]
      return [draft]
    })
    const found = (await replayLedger(site.place)).differences.map(({ seq, field }) => [seq, field])
    expect(found).toContainEqual([calibrated.seq, 'reason'])
    expect(found).toContainEqual([calibrated.seq + 1, 'snapshot'])
    expect(found).toContainEqual([round.seq, 'winner'])
  })
})

describe('a forged report', () => {
  const forge = (change: (report: Report) => Report, order: string) => (draft: EventDraft) =>
    draft.kind === 'measured' && draft.order === order
      ? [{ ...draft, report: change(draft.report) }]
      : [draft]

  it('that does not follow the coins of its order is named', async () => {
    const kept = await eventOf(site, 'decided', ({ outcome }) => outcome === 'kept')
    const { order } = kept
    if (order === null) throw new Error('no order')
    const measured = await eventOf(site, 'measured', event => event.order === order)
    const landing = await eventOf(site, 'merged')
    await rewrite(
      site,
      forge(report => ({ ...report, executions: report.executions.toReversed() }), order),
    )
    const { result, words } = await whatAuditSays(site)
    expect(words).toContain(
      `event ${measured.seq} (measured): its report (event ${measured.seq}) is not an answer to it: its executions do not follow the coins of the order`,
    )
    expect(result.unproven?.commit).toBe(landing.commit)
  })

  it('with better numbers makes its verdict another one', async () => {
    const dropped = await eventOf(site, 'decided', ({ outcome }) => outcome === 'dropped')
    if (dropped.order === null) throw new Error('no order')
    const better = (report: Report): Report => ({
      ...report,
      executions: report.executions.map(run => ({ ...run, metrics: { ...run.metrics, bytes: 23 } })),
    })
    await rewrite(site, forge(better, dropped.order))
    const { differences } = await replayLedger(site.place)
    expect(differences.filter(({ seq }) => seq === dropped.seq).map(({ field }) => field)).toEqual(
      expect.arrayContaining(['reason', 'primary_delta']),
    )
  })
})

describe('a ruler that is not the pinned one', () => {
  it('is named where the campaign starts', async () => {
    await rewrite(site, draft =>
      draft.kind === 'campaign-started' ? [{ ...draft, harness: 'a'.repeat(64) }] : [draft],
    )
    const { result, words } = await whatAuditSays(site)
    expect(result.problems[0]?.seq).toBe(0)
    expect(words).toMatch(
      /^event 0 \(campaign-started\): the harness of its commit is [0-9a-f]{64}, it says aaaa/,
    )
  })

  it('is named where the spec is amended', async () => {
    const { spec_yaml, spec_sha256, harness } = await eventOf(site, 'campaign-started')
    const looser = spec_yaml.replace('max_changed_lines: 20', 'max_changed_lines: 9999')
    const amended = {
      kind: 'campaign-amended',
      cause: 'x',
      spec_yaml: looser,
      spec_sha256,
      harness,
      source: 'person',
      reason: 'x',
    } as const
    const [sealed] = await append(site, [amended])
    const { words } = await whatAuditSays(site)
    expect(words).toMatch(
      new RegExp(
        `^event ${sealed?.event.seq} \\(campaign-amended\\): the sha256 of its spec is [0-9a-f]{64}`,
      ),
    )
  })

  it('is named when it claims to come from the default branch and no sync brings it', async () => {
    const { spec_yaml, harness } = await eventOf(site, 'campaign-started')
    const looser = spec_yaml.replace('max_changed_lines: 20', 'max_changed_lines: 9999')
    const spec = { spec_yaml: looser, spec_sha256: hashSha256(looser) }
    const source = 'default-branch'
    const amended = { kind: 'campaign-amended', cause: 'x', ...spec, harness, source, reason: 'x' } as const
    const [sealed] = await append(site, [amended])
    const { words } = await whatAuditSays(site)
    expect(words).toBe(
      `event ${sealed?.event.seq} (campaign-amended): it takes a spec from the default branch without a sync
spec.yaml in the ledger is not the spec that its events put in force`,
    )
  })

  it('is named in an order that asks with it', async () => {
    const issued = await eventOf(site, 'order-issued', ({ purpose }) => purpose === 'experiment')
    const { seq: _seq, id: _id, at: _at, by: _by, prev: _prev, ...terms } = issued
    await append(site, [
      { ...terms, harness: 'b'.repeat(64), stop: { rule: 'once', min_effect: 0.5, scale: 'linear' } },
    ])
    const { words } = await whatAuditSays(site)
    expect(words).toContain('its harness is bbbbbbbbbbbb, not ')
    expect(words).toContain('its min_effect is 0.5, the spec says 0')
    expect(words).toContain('its base is ')
  })
})
