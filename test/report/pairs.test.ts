import { describe, expect, it } from 'vitest'
import { observePair, startEvidence, computeEvidenceVerdict } from '../../src/index.ts'
import { renderPairChart, toPairView } from '../../src/report/pair-chart.ts'
import {
  FIRST,
  lastOrder,
  ledgerOf,
  measured,
  paired,
  SECOND,
  storiesOf,
  twoJobs,
} from './pairs-of-a-story.ts'

describe('the pairs of an experiment', () => {
  it('are collected from the ledger, job by job', () => {
    const [story, ...others] = storiesOf(twoJobs())
    expect(others).toEqual([])
    expect(story?.jobs.map(({ pairs }) => pairs.length)).toEqual([FIRST.length, SECOND.length])
    expect(story?.jobs[0]?.pairs[0]).toEqual({
      first: 'base',
      base: { bytes: 1.25 },
      candidate: { bytes: 1.25 * 0.95 },
    })
    expect(story?.jobs[0]?.pairs[1]?.first).toBe('candidate')
  })

  it('start again on another base', () => {
    const events = ledgerOf(
      () => paired(),
      before => measured(lastOrder(before), FIRST),
      () => ({ ...paired(), round: 2 }),
      before => measured(lastOrder(before), SECOND),
    )
    expect(storiesOf(events).map(({ jobs }) => jobs.length)).toEqual([1, 1])
  })

  it('leave out reports of lost orders, second reports and other experiments', () => {
    const lost = ledgerOf(
      () => paired(),
      before => ({ kind: 'order-lost', order: lastOrder(before), started: true, reason: 'gone' }),
      before => measured(lastOrder(before), FIRST),
    )
    expect(storiesOf(lost)).toEqual([])
    const twice = ledgerOf(
      () => paired(),
      before => measured(lastOrder(before), FIRST),
      before => measured(lastOrder(before), SECOND),
    )
    expect(storiesOf(twice).map(({ jobs }) => jobs.length)).toEqual([1])
    expect(storiesOf(twoJobs(), 'exp-008')).toEqual([])
  })

  it('leave out orders of a spec that this release cannot read', () => {
    const old = twoJobs().map(event =>
      event.kind === 'campaign-started' ? { ...event, spec_yaml: 'winnow: 99' } : event,
    )
    expect(storiesOf(old)).toEqual([])
  })
})

describe('the chart', () => {
  const lines = storiesOf(twoJobs()).flatMap(renderPairChart)

  it('fits into 80 columns', () => {
    expect(lines.filter(line => line.length > 80)).toEqual([])
  })

  it('shows the terms of the verdict', () => {
    expect(lines.slice(0, 3)).toEqual([
      'Pairs of bytes: lower is better, log scale',
      '  as an idea: continued at 20, kept at 1000 (error budget 0.001)',
      '  smallest gain: 2.0 %; counts as no effect below: 0.5 %',
    ])
  })

  it('shows the first side, the gain and the evidence so far', () => {
    expect(lines).toContainEqual(
      expect.stringMatching(/^ {5}1 {7}1\.25 {5}1\.1875 {3}\+5\.0 % {2}base {3}\s+1\.8 {2}▕█[▏▎▍▌▋▊▉]?·+▏$/),
    )
    expect(lines).toContainEqual(expect.stringMatching(/-0\.5 % {2}cand\./))
    const bars = lines.flatMap(line => /▕(.*)▏/.exec(line)?.[1] ?? [])
    expect(bars).toHaveLength(FIRST.length + SECOND.length)
    expect(bars.at(-1)).toBe('█'.repeat(20))
  })

  it('shows counts in full in aligned columns', () => {
    const counted = storiesOf(twoJobs()).map(story => ({
      ...story,
      jobs: story.jobs.map(job => ({
        ...job,
        pairs: job.pairs.map(pair => ({ ...pair, base: { bytes: 33_163_861_234 } })),
      })),
    }))
    const rows = counted.flatMap(renderPairChart).filter(line => /^ {2} *(pair|\d+) /.test(line))
    expect(rows[1]).toMatch(/^ {5}1 {2}33163861234 {7}1\.1875 {2}/)
    expect(rows[0]).toMatch(/^ {2}pair {9}base {4}candidate {2}/)
  })

  it('marks fresh jobs', () => {
    const jobs = lines.filter(line => line.startsWith('job '))
    expect(jobs.map(line => line.replace(/; order .*/, ''))).toEqual([
      'job 1: new build on this machine, passed the screen',
      'job 2: new build on this machine, fresh',
    ])
  })

  it('ends with the estimate, its interval and the cost', () => {
    expect(lines.at(-2)).toMatch(
      /^ {2}Hodges-Lehmann: bytes 5\.\d % lower \(.* to .* %\), 95 % interval in brackets$/,
    )
    expect(lines.at(-1)).toBe('  cost: 32 executions in 2 jobs of 3 min, with all candidates of these jobs')
  })
})

describe('the raw pairs', () => {
  it('suffice to recompute the evidence', () => {
    const [view] = storiesOf(twoJobs()).map(toPairView)
    if (!view) throw new Error('no pairs')
    const { rule, terms, jobs } = JSON.parse(JSON.stringify(view)) as typeof view
    let state = startEvidence({
      direction: 'minimize',
      scale: rule.scale,
      minEffect: rule.min_effect,
      nullEffect: rule.null_effect,
      alpha: terms.alpha,
      pairsPerJob: rule.pairs,
      singleMachine: rule.single_machine,
    })
    for (const { order: job, pairs } of jobs) {
      for (const { first, base, candidate, evidence, difference } of pairs) {
        const values = { base: base?.['bytes'] ?? null, candidate: candidate?.['bytes'] ?? null }
        state = observePair(state, {
          ...values,
          job,
          order: first === 'base' ? 'base-first' : 'candidate-first',
        })
        expect(computeEvidenceVerdict(state).evidence).toBeCloseTo(evidence, 9)
        expect(state.differences.at(-1)).toBe(difference)
      }
    }
    expect(computeEvidenceVerdict(state).status).toBe('keep')
  })

  it('name their trees, rule and terms', () => {
    const [view] = storiesOf(
      ledgerOf(
        () => paired(),
        before => measured(lastOrder(before), FIRST),
      ),
    ).map(toPairView)
    expect(view).toMatchObject({
      purpose: 'experiment',
      tree: '2'.repeat(40),
      rule: { rule: 'paired', single_machine: true },
      terms: { as: 'idea', alpha: 0.001 },
      jobs: [{ runner: 'b00710ad-1', fresh: false, screened: true, minutes: 1.5 }],
    })
  })
})
