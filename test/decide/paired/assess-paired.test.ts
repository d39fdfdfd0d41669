import { describe, expect, it } from 'vitest'
import { assessCandidate } from '../../../src/decide/assess.ts'
import { isPairNeeded } from '../../../src/decide/paired/assess.ts'
import type { PairedTerms } from '../../../src/model/order.ts'
import type { PairJob } from '../../../src/model/pairs.ts'
import type { Execution, Report } from '../../../src/model/report.ts'
import { campaign } from '../../plan/a-campaign.ts'
import { aReport, aSpec, gateRun, run } from '../a-spec.ts'
import { aJob, aRule, gainsOf, someTerms } from './a-case.ts'

type Raw = Record<string, unknown>
type Value = number | null | Record<string, number>

const SCREENED = aJob('1', gainsOf('bytes', 0.05, 6))

/** Executions of both sides, block by block; null: it crashed. */
function blocks(candidate: readonly Value[], base: readonly Value[] = candidate.map(() => 100)): Execution[] {
  return candidate.flatMap((value, at) => [execution('base', base[at] ?? null), execution('exp-001', value)])
}

function execution(side: 'base' | 'exp-001', value: Value): Execution {
  if (value === null) return run(side, {}, { status: 'crashed', exit_code: 1 })
  return run(side, typeof value === 'number' ? { bytes: value } : value)
}

interface Given {
  executions: Execution[]
  earlier_jobs?: PairJob[]
  metric?: Raw
  terms?: Partial<PairedTerms>
  metrics?: string[]
  rest?: Partial<Report>
  spec?: Raw
}

function assessed({
  executions,
  earlier_jobs = [],
  metric = {},
  terms = {},
  metrics = ['bytes'],
  rest = {},
  spec = {},
}: Given) {
  const primary = { type: 'hard', name: 'bytes', direction: 'minimize' }
  const stop = aRule({ metrics, terms: { 'exp-001': someTerms(terms) } })
  return assessCandidate({
    spec: aSpec({ metric: { primary, ...metric }, ...spec }),
    order: { id: 'a'.repeat(64), earlier_jobs: { 'exp-001': earlier_jobs }, stop },
    report: aReport(executions, rest),
    label: 'exp-001',
    baseline: null,
  })
}

const STEADY = [95, 95.1, 94.9, 95.05, 94.95, 95.2, 94.8, 95.15]
const gain = (pairs = 6) => STEADY.slice(0, pairs)

describe('the verdict of a job', () => {
  it('that screened is promising, and asks for another', () => {
    expect(assessed({ executions: blocks(gain()) })).toMatchObject({
      outcome: 'promising',
      retry: false,
      reason: expect.stringMatching(
        /^bytes probably 5\.0 % lower so far\.\nevidence 23 \(needed to be sure: 100\) .* 6 pairs in 1 job on this machine, 14 executions$/,
      ),
    })
  })

  it('that confirms what earlier ones screened is eligible, with effect and interval of all pairs', () => {
    const kept = assessed({ executions: blocks(gain(3)), earlier_jobs: [SCREENED] })
    expect(kept).toMatchObject({ outcome: 'eligible', improved_objectives: ['bytes'], worse: false })
    expect(kept.reason).toMatch(
      /^bytes 4\.9 % lower \(4\.\d to 5\.\d %\), on this machine\.\nevidence 157 \(needed to be sure: 100\) .* 9 pairs in 2 jobs on this machine, 22 executions$/,
    )
    expect(kept.primary_delta).toBeCloseTo(0.05, 2)
    expect(kept.rank_score).toBe(kept.primary_delta)
  })

  it('without a gain is dropped, and says why; shown harm is worse', () => {
    const none = assessed({ executions: blocks([100, 100.1, 99.9, 100.05, 99.95, 100.02, 99.97]) })
    expect(none).toMatchObject({ outcome: 'dropped', worse: false, failure_class: 'hypothesis' })
    expect(none.reason).toMatch(/^bytes differs by less than 2 % \(0\.0 % \w+, -0\.\d to 0\.\d %\)\.\n/)
    const worse = assessed({ executions: blocks([105, 105.1, 104.9, 105.05, 105.2, 104.8]) })
    expect(worse).toMatchObject({ outcome: 'dropped', worse: true, violated_objectives: ['bytes'] })
    expect(worse.reason).toMatch(/^bytes 5\.0 % higher \(at least \d\.\d % higher\)\.\n/)
  })

  it('given up early is not proven, for now where a large gain is still open, and never "no gain"', () => {
    const little = blocks([95, 104, 96, 103, 99.9, 100.3, 97, 103.5])
    expect(assessed({ executions: little })).toMatchObject({ outcome: 'inconclusive', given_up: 'for_now' })
    const losing = blocks([95, 104, 97, 103, 99.9, 101.3, 98, 104.5])
    expect(assessed({ executions: losing })).toMatchObject({
      outcome: 'inconclusive',
      worse: false,
      given_up: 'for_good',
      reason: expect.stringContaining('stopped early: a gain looks unlikely after the first job'),
    })
  })

  it('whose pairs are used up without a verdict is not proven', () => {
    const swaying = blocks([95, 102, 96, 101, 97, 94, 103, 98])
    expect(assessed({ executions: swaying, terms: { max_jobs: 1 } })).toMatchObject({
      outcome: 'inconclusive',
      reason: expect.stringMatching(/, but \d+ runs were not enough to be sure\.\n/),
    })
  })

  it('that ends before its rule allows it is measured again', () => {
    expect(assessed({ executions: blocks(gain(4)) })).toMatchObject({
      retry: true,
      reason: 'the report ends after 4 of 8 pairs, too early',
    })
  })

  it('without a pair gives no verdict', () => {
    const nothing = { retry: true, reason: 'the report has no pair of exp-001' }
    expect(assessed({ executions: [] })).toMatchObject(nothing)
    expect(assessed({ executions: [], earlier_jobs: [SCREENED] })).toMatchObject(nothing)
  })

  it('of a candidate without terms gives no verdict', () => {
    const stop = aRule({ terms: {} })
    const order = { id: 'a'.repeat(64), earlier_jobs: {}, stop }
    const report = aReport(blocks(gain()))
    expect(assessCandidate({ spec: aSpec(), order, report, label: 'exp-001', baseline: null })).toMatchObject(
      {
        retry: true,
        reason: 'the order has no terms for exp-001',
      },
    )
  })

  it('with a value without a logarithm is an error that names the fix', () => {
    expect(assessed({ executions: blocks([95, 0, 94]) })).toMatchObject({
      outcome: 'error',
      retry: false,
      reason:
        'scale violated: bytes was 0 or less, and this campaign compares it on a log scale since its calibration; set evidence.scale: linear if that can happen',
    })
  })
})

describe('executions that fail among pairs', () => {
  it('one of the candidate is a lost pair', () => {
    const { outcome, reason } = assessed({
      executions: blocks([95, null, 94.9, 95.1, 94.8, 95.2, 95.05, 94.95]),
    })
    expect([outcome, reason]).toEqual(['promising', expect.stringContaining('8 pairs in 1 job')])
  })

  it('two of the candidate end it', () => {
    expect(assessed({ executions: blocks([95, null, null]) })).toMatchObject({
      outcome: 'error',
      retry: false,
    })
    const slow = [run('exp-001', {}, { status: 'timeout' }), run('exp-001', {}, { status: 'timeout' })]
    expect(assessed({ executions: [...blocks([95]), ...slow] }).outcome).toBe('timeout')
  })

  it('two of the candidate end it in two jobs as well', () => {
    const earlier = aJob('1', [...gainsOf('bytes', 0.05, 5), null])
    expect(assessed({ executions: blocks([95, null]), earlier_jobs: [earlier] })).toMatchObject({
      outcome: 'error',
      reason: 'two of its executions failed, but those of the base ran',
    })
  })

  it('one of the base voids its pair; two give no verdict', () => {
    const once = assessed({ executions: blocks(STEADY, [100, null, 100, 100, 100, 100, 100, 100]) })
    expect([once.outcome, once.reason]).toEqual(['promising', expect.stringContaining('7 pairs')])
    expect(assessed({ executions: blocks(gain(3), [100, null, null]) }).retry).toBe(true)
  })
})

describe('gates and constraints', () => {
  const metric = { degenerate_gates: [{ name: 'bytes', check: '< 96' }] }

  it('hold in every execution of the candidate, of warm-ups too', () => {
    const warm = [
      run('base', { bytes: 100 }, { role: 'warmup' }),
      run('exp-001', { bytes: 97 }, { role: 'warmup' }),
    ]
    expect(assessed({ executions: blocks(gain()), metric }).outcome).toBe('promising')
    expect(assessed({ executions: [...warm, ...blocks(gain())], metric })).toMatchObject({
      outcome: 'degenerate',
      reason: 'does not hold in every execution: bytes < 96',
    })
    expect(assessed({ executions: blocks([...gain(5), 96.5]), metric }).outcome).toBe('degenerate')
  })

  it('that are commands run once, and have not passed without a run', () => {
    const gates = [{ name: 'tests', command: 'true' }]
    const executions = blocks(gain())
    expect(assessed({ executions, spec: { gates } })).toMatchObject({
      retry: true,
      reason: 'the report has no run of gate tests',
    })
    const passed = { gates: [gateRun('exp-001', 'tests')] }
    expect(assessed({ executions, spec: { gates }, rest: passed }).outcome).toBe('promising')
    const failed = { gates: [gateRun('exp-001', 'tests', { passed: false, exit_code: 1 })] }
    expect(assessed({ executions, spec: { gates }, rest: failed }).outcome).toBe('degenerate')
  })
})

describe('the sentence of a verdict', () => {
  it('names open and harmed guardrails', () => {
    const metric = { objectives: [{ name: 'guard', direction: 'minimize', role: 'guardrail' }] }
    const given = { metric, metrics: ['bytes', 'guard'] }
    const earlier_jobs = [
      aJob(
        '1',
        gainsOf('bytes', 0.05, 6).map((gains, at) => ({ ...gains, guard: at % 2 === 0 ? 0.05 : -0.06 })),
      ),
    ]
    const swaying = STEADY.map((bytes, at) => ({ bytes, guard: at % 2 === 0 ? 95 : 106 }))
    const open = assessed({
      ...given,
      earlier_jobs,
      executions: blocks(
        swaying,
        STEADY.map(() => ({ bytes: 100, guard: 100 })),
      ),
    })
    expect([open.outcome, open.reason]).toEqual([
      'promising',
      expect.stringContaining('guard not proven harmless yet'),
    ])
    const harmed = STEADY.map(bytes => ({ bytes, guard: 107 + bytes / 100 }))
    const worse = assessed({
      ...given,
      executions: blocks(
        harmed,
        STEADY.map(() => ({ bytes: 100, guard: 100 })),
      ),
      earlier_jobs: [SCREENED],
    })
    expect(worse).toMatchObject({ outcome: 'dropped', worse: true, violated_objectives: ['guard'] })
    expect(worse.reason).toContain('guard proven worse')
  })

  it('needs the cautious end of the interval for a target', () => {
    const at = (target: number) => {
      const metric = { primary: { type: 'hard', name: 'bytes', direction: 'minimize', target } }
      return assessed({ executions: blocks(gain(3)), earlier_jobs: [SCREENED], metric }).target_reached
    }
    expect([at(96), at(95.05), at(90)]).toEqual([true, false, false])
  })
})

describe('the next pair of a job', () => {
  const built = campaign()
  const order = built.issue({ purpose: 'experiment', candidates: [] })
  const wants = (
    values: readonly Value[],
    earlier_jobs: PairJob[] = [],
    terms: Partial<PairedTerms> = {},
  ) => {
    const stop = aRule({ terms: { 'exp-001': someTerms(terms) } })
    const asking = {
      spec: aSpec(),
      order: { ...order, stop, earlier_jobs: { 'exp-001': earlier_jobs } },
      stop,
    }
    return isPairNeeded(asking, { executions: blocks(values), runner: 'boot' }, 'exp-001')
  }

  it('is always needed first', () => {
    expect([wants([]), wants([], [SCREENED])]).toEqual([true, true])
    const proven = { ...SCREENED, order: 'b'.repeat(64) }
    const single = { 'exp-001': [SCREENED, proven] }
    const stop = aRule({ single_machine: true, terms: { 'exp-001': someTerms({}) } })
    const asking = { spec: aSpec(), order: { ...order, stop, earlier_jobs: single }, stop }
    expect(isPairNeeded(asking, { executions: [], runner: 'boot' }, 'exp-001')).toBe(true)
  })

  it('is not needed after a screen, a drop or a keep', () => {
    expect([wants(gain(5)), wants(gain(6))]).toEqual([true, false])
    const idle = [100, 100.1, 99.9, 100.05, 99.95, 100.02, 99.97]
    expect([wants(idle.slice(0, 4)), wants(idle)]).toEqual([true, false])
    const harm = [105, 105.1, 104.9, 105.05, 105.2, 104.8]
    expect([wants(harm.slice(0, 4)), wants(harm)]).toEqual([true, false])
    expect([wants(gain(2), [SCREENED]), wants(gain(3), [SCREENED])]).toEqual([true, false])
  })

  it('is not needed without comparable values or terms', () => {
    expect(wants([95, 0])).toBe(false)
    const stop = aRule()
    const asking = { spec: aSpec(), order: { ...order, stop }, stop }
    expect(isPairNeeded(asking, { executions: [], runner: 'boot' }, 'exp-001')).toBe(false)
  })
})
