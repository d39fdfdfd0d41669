import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeGuard } from '../../src/model/harness-guard.ts'
import type { Order } from '../../src/model/order.ts'
import type { ProbeName } from '../../src/model/probe.ts'
import type { Report } from '../../src/model/report.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import type { ProbeFacts } from '../../src/plan/world.ts'
import { buildProbeRule } from '../../src/probes/probe-rule.ts'
import { type CampaignBuilder, HARNESS, oidOf, SPEC, START, toResult, unprepared } from './a-campaign.ts'
import { gateRun } from '../decide/a-spec.ts'
import type { Behaviour } from './a-report.ts'
import { carryOut, draftsOf, draftsOfKind, settle, world } from './a-world.ts'
import { judgedSpec } from './judged-spec.ts'
import { answered } from './noisy.ts'

const NAMES = ['vanish', 'exit-at-load', 'exit-at-call'] as const

/** What an observation has while an order of probes is due. */
const FACTS = {
  candidates: NAMES.map(name => ({
    label: `probe-${name}` as const,
    head: START.commit,
    tree: oidOf(`probe ${name}`),
  })),
  probing: { version: 1, metrics: { bytes: 10 } },
} satisfies ProbeFacts
const OBSERVED = { probes: FACTS }

const AGENT = { source: { use: 'command', key: 'agent:1' } }
const GAIN = { base: { bytes: 100 }, candidate: { bytes: 90 } }

function agentIdea(built: CampaignBuilder): CampaignBuilder {
  return built.withExperiment(AGENT)
}

/** The ideas are measured, and better. */
function measureIdeas(built: CampaignBuilder): void {
  settle(built)
  built.measured(Object.fromEntries(Object.keys(built.campaign.experiments).map(id => [id, GAIN])))
  settle(built)
}

function findProbeOrder({ campaign }: CampaignBuilder): Order {
  const live = Object.values(campaign.orders).find(({ order }) => order.purpose === 'probe')
  if (live === undefined) throw new Error('no order of probes was issued')
  return live.order
}

/** Each named probe prints a better number; all others crash. */
function answerProbes(built: CampaignBuilder, ...kept: ProbeName[]): void {
  const order = findProbeOrder(built)
  const report = built.answer(order, { base: { bytes: 10 } })
  const executions = report.executions.filter(({ role }) => role === 'sample')
  const probed = executions.map(run => {
    if (run.side === 'base' || kept.some(name => run.side === `probe-${name}`)) return run
    return { ...run, status: 'crashed' as const, metrics: {} }
  })
  const better = probed.map(run => (run.side === 'base' ? run : { ...run, metrics: { bytes: 1 } }))
  const repeats = better
    .filter(({ side, status }) => side === 'base' || status === 'ok')
    .map(run => ({ ...run, role: 'repeat' as const }))
  built.add({
    kind: 'measured',
    cause: order.id,
    order: order.id,
    run_id: 'run-1',
    report: { ...report, gates: [], executions: [...better, ...repeats] },
  })
}

function approve(built: CampaignBuilder, id = 'exp-001'): void {
  const { digest = '', packages = [] } = built.experiment(id).approval ?? {}
  built.add({ kind: 'approved', cause: `nonce ${digest}`, experiment: id, digest, packages })
}

function listLanded({ campaign }: CampaignBuilder): string[] {
  return campaign.landings.map(({ experiment }) => experiment)
}

describe('the probes of a campaign', () => {
  it('are ordered as soon as the base is known, and ideas are measured beside them', () => {
    const early = unprepared()
    expect(draftsOfKind(planCampaign(world(early, OBSERVED)), 'order-issued')).toMatchObject([
      { purpose: 'calibration' },
    ])
    const built = unprepared().based().withExperiment()
    const orders = draftsOfKind(planCampaign(world(built, OBSERVED)), 'order-issued')
    expect(orders).toMatchObject([
      {
        purpose: 'probe',
        candidates: FACTS.candidates,
        probing: FACTS.probing,
        stop: { rule: 'once' },
      },
      { purpose: 'experiment', candidates: [{ label: 'exp-001' }] },
    ])
  })

  it('are measured once for a harness, and read from the report', () => {
    const built = unprepared().based()
    settle(built, () => OBSERVED)
    expect(built.campaign.probes).toBeNull()
    answerProbes(built, 'exit-at-load')
    settle(built, () => OBSERVED)
    expect(built.campaign.probes).toMatchObject({ harness: HARNESS, not_probed: null })
    expect(describeGuard(built.campaign)).toBe('forgeable by: exit at load')
    expect(built.campaign.orders).toEqual({})
    const again = planCampaign(world(built, OBSERVED))
    expect(draftsOfKind(again, 'order-issued')).toEqual([])
  })

  it('show a guarded harness if each of them is noticed', () => {
    const built = unprepared().based()
    settle(built, () => OBSERVED)
    answerProbes(built)
    settle(built, () => OBSERVED)
    expect(describeGuard(built.campaign)).toBe('guarded')
  })

  it('are tried again when the runner fails, and then count as not probed', () => {
    const built = unprepared().based()
    const { max_attempts } = built.spec.execution
    for (let attempt = 1; attempt <= max_attempts; attempt++) {
      // No observation builds probes while an order has them.
      settle(built, () => (attempt === 1 ? OBSERVED : { probes: null }))
      expect(findProbeOrder(built)).toMatchObject({ attempt, candidates: FACTS.candidates })
      built.measured({ 'probe-vanish': { runner_error: 'no git' } })
    }
    settle(built)
    expect(built.campaign.probes).toMatchObject({
      results: [],
      not_probed: expect.stringContaining('no git'),
    })
    expect(describeGuard(built.campaign)).toBe('not probed')
  })

  it('show nothing where the base fails beside them', () => {
    const built = unprepared().based()
    settle(built, () => OBSERVED)
    built.measured({ 'probe-vanish': { base: 'crashes' } })
    settle(built)
    expect(findProbeOrder(built).attempt).toBe(2)
  })

  it('are not run where the spec says so or where there are none, which counts as not probed', () => {
    const off = unprepared(SPEC.replace('sh bench/run', 'sh bench/run, probes: off')).based()
    expect(draftsOfKind(planCampaign(world(off, OBSERVED)), 'order-issued')).toEqual([])
    const textless = unprepared().based()
    const none = { probes: { none: 'no code may change' } }
    settle(textless, () => none)
    expect(textless.campaign.probes?.not_probed).toBe('no code may change')
    for (const { campaign } of [off, textless]) expect(describeGuard(campaign)).toBe('not probed')
  })

  it('are not begun where a quarter of the money left does not pay for one run of each', () => {
    const metered = SPEC.replace('sh bench/run', 'sh bench/run, models: metered')
    const spec = `${metered}models: [{ id: m }]\nstopping: { max_total_cost_usd: 8 }\n`
    const built = unprepared(spec).based()
    const { executions } = built.campaign.spent
    const spend = (usd: number) =>
      built.add({
        kind: 'spent',
        cause: `${usd}`,
        what: 'measure',
        who: 'm',
        ok: true,
        minutes: 0,
        requests: 1,
        tokens: 1,
        usd,
      })
    spend(executions)
    const four = NAMES.length + 1
    settle(built, () => OBSERVED)
    if (four <= (8 - executions) / 4) throw new Error('the probes are affordable')
    expect(built.campaign.probes?.not_probed).toContain(
      `${four} executions of the harness cost about ${four} USD`,
    )
    expect(describeGuard(built.campaign)).toBe('not probed')
  })

  it('are lost for good after as many losses as other measurements that nothing depends on', () => {
    const built = unprepared().based()
    for (let losses = 0; losses < 5; losses++) {
      settle(built, () => OBSERVED)
      const { id: order } = findProbeOrder(built)
      built.add({ kind: 'order-lost', cause: order, order, started: true, reason: 'killed' })
    }
    settle(built, () => OBSERVED)
    expect(built.campaign.probes?.not_probed).toContain('interrupted 5 times')
  })

  it('pause the campaign if the commands do not use the files in scope', () => {
    const built = unprepared().based()
    settle(built, () => OBSERVED)
    const order = findProbeOrder(built)
    built.measured({ 'probe-vanish': { base: { bytes: 10 }, candidate: { bytes: 10 } } })
    settle(built, () => OBSERVED)
    expect(built.campaign).toMatchObject({ status: 'paused' })
    expect(built.campaign.status_reason).toContain('do not use those files: sh bench/run; sh bench/test')
    expect(built.campaign.probes?.order).toBe(order.id)
    built.add({ kind: 'campaign-resumed', cause: 'nonce', reason: 'fixed' })
    settle(built, () => OBSERVED)
    expect(findProbeOrder(built).id).not.toBe(order.id)
  })

  it('pause the campaign if only a gate uses the files in scope', () => {
    const built = unprepared().based()
    settle(built, () => OBSERVED)
    const gates = [gateRun('probe-vanish', 'tests', { passed: false, exit_code: 1 })]
    built.measured({ 'probe-vanish': { gates } })
    settle(built, () => OBSERVED)
    expect(built.campaign).toMatchObject({ status: 'paused', probes: { ignored_by: ['sh bench/run'] } })
    expect(built.campaign.status_reason).toContain('so it does not use those files: sh bench/run.\n')
  })

  it('may find the project without code infinitely better, which limits no gain', () => {
    const built = unprepared().based()
    settle(built, () => OBSERVED)
    built.measured({ 'probe-vanish': { base: { bytes: 10 }, candidate: { bytes: 0 } } })
    settle(built, () => OBSERVED)
    expect(describeGuard(built.campaign)).toContain('vanish')
    expect(built.campaign.probes).toMatchObject({ vanish_gain: null, ignored_by: null })
    expect(built.campaign.status).toBe('running')
  })

  it('are measured again with another harness or another scope, and not for another limit', () => {
    const scoped = SPEC.replace('[src/]', '[src/, lib/]')
    const limited = `${SPEC}stopping: { max_iterations: 7 }\n`
    const ready = () => unprepared().based().guarded()
    const amend = (built: CampaignBuilder, spec_yaml: string, harness: string) =>
      built.add({
        kind: 'campaign-amended',
        cause: spec_yaml,
        spec_sha256: 'a'.repeat(64),
        spec_yaml,
        harness,
        source: 'person',
        reason: 'amended',
      })
    expect(describeGuard(amend(ready(), limited, HARNESS).campaign)).toBe('guarded')
    expect(amend(ready(), scoped, HARNESS).campaign.probes).toBeNull()
    expect(amend(ready(), SPEC, 'b'.repeat(64)).campaign.probes).toBeNull()
  })

  it('are not ordered by a campaign that is about to stop', () => {
    const built = unprepared(`${SPEC}stopping: { max_failures: 1 }\n`).based()
    built.campaign.failures = 1
    const drafts = draftsOf(planCampaign(world(built, OBSERVED)))
    expect(drafts.map(({ kind }) => kind)).toEqual(['campaign-stopped'])
  })
})

describe('the probes of a judged campaign', () => {
  const TEXTS = ['vanish', 'forge-text', 'instruct', 'stuff'] as const
  const observed = {
    probes: {
      ...FACTS,
      candidates: TEXTS.map(name => ({
        label: `probe-${name}` as const,
        head: START.commit,
        tree: oidOf(`probe ${name}`),
      })),
    },
  }
  const score =
    (salt: number): Behaviour =>
    nth => ({ quality: 3 + ((((nth + 1) * 37 + salt * 53) % 101) - 50) / 100 })

  /** Two jobs of the base and its copy: 48 scored items. */
  function calibrated(cap = 3, paid = 0.48): CampaignBuilder {
    const built = unprepared(judgedSpec(cap).replace(', probes: off', ''))
    for (let orders = 0; orders < 2; orders++) {
      settle(built)
      answered(built, { base: score(7), 'base-copy': score(2) })
    }
    settle(built)
    const cost = { minutes: 0, requests: 6, tokens: 10, usd: paid }
    return built.add({ kind: 'spent', cause: 'jobs', what: 'judge', who: 'm', ok: true, ...cost })
  }

  function answerOnce(built: CampaignBuilder, rest: Partial<Report>): void {
    const { id: order } = findProbeOrder(built)
    const report = { ...built.answer(findProbeOrder(built), { base: { quality: 3 } }), ...rest }
    built.add({ kind: 'measured', cause: order, order, run_id: 'run-1', report })
  }

  it('are one order, which sets a quarter of the money aside and asks for what an idea has to gain', () => {
    const built = calibrated()
    settle(built, () => observed)
    const order = findProbeOrder(built)
    const { spec, campaign } = built
    expect(order).toMatchObject({ candidates: observed.probes.candidates, may_cost_usd: (3 - 0.48) / 4 })
    expect(order.stop).toEqual(buildProbeRule(spec, campaign.calibration))
    expect(order.stop).toMatchObject({ rule: 'once', scale: 'linear', noisy: true })
  })

  it('are not begun where a quarter of the money left does not pay for a sample of each', () => {
    const built = calibrated(3, 0.8)
    settle(built, () => observed)
    expect(built.campaign.probes?.not_probed).toBe(
      '5 samples of 12 items cost about 1 USD, and of the money that is left probes may spend 0.55 USD (a quarter; metric.judge.max_total_cost_usd)',
    )
    expect(describeGuard(built.campaign)).toBe('not probed')
  })

  it('are not repeated once that quarter is spent', () => {
    const built = calibrated()
    settle(built, () => observed)
    const judging = { model: 'm', requests: 3, tokens: 9, usd: 0.7 }
    answerOnce(built, { judging, runner_error: 'judging ended: $0.70 of $0.63 are spent on m' })
    settle(built)
    expect(built.campaign.probes?.not_probed).toBe(
      'judging ended: $0.70 of $0.63 are spent on m (a quarter of what was left)',
    )
  })

  it('show nothing where an item of the base has no score', () => {
    const built = calibrated()
    settle(built, () => observed)
    const { executions } = built.answer(findProbeOrder(built), { base: { quality: 3 } })
    answerOnce(built, {
      executions: executions.map(run =>
        run.side === 'base' ? { ...run, metrics: { quality: null }, error: 'item q1 has no score' } : run,
      ),
    })
    settle(built)
    expect(findProbeOrder(built).attempt).toBe(2)
  })
})

describe('a change that would be kept', () => {
  it('waits for the probes, and one that would not be kept does not', () => {
    const built = unprepared().based().withExperiments(2)
    settle(built)
    built.measured({ 'exp-001': GAIN, 'exp-002': { base: { bytes: 100 }, candidate: { bytes: 110 } } })
    settle(built)
    expect(built.experiment('exp-001').status).toBe('measured')
    expect(built.experiment('exp-002').status).toBe('ended')
    built.guarded()
    settle(built)
    expect(listLanded(built)).toEqual(['exp-001'])
  })

  it('waits for none where the spec turns probes off', () => {
    const built = unprepared(SPEC.replace('sh bench/run', 'sh bench/run, probes: off')).based()
    measureIdeas(built.withExperiment())
    expect(listLanded(built)).toEqual(['exp-001'])
  })

  it('is answered by a run for it alone after the probes, which the end of the run would interrupt', () => {
    const built = unprepared().based().withExperiment()
    const targetBranch = built.experiment('exp-001').branch
    const only = { ...OBSERVED, targetBranch }
    settle(built, () => only)
    const probes = findProbeOrder(built)
    built.add({
      kind: 'closed',
      cause: 'x',
      experiment: 'exp-001',
      outcome: 'withdrawn',
      reason: 'x',
      head: null,
      results: null,
    })
    expect(settle(built, () => only).waiting).toEqual({ for: 'orders', orders: [probes.id] })
    answerProbes(built)
    expect(settle(built, () => only).waiting).toEqual({ for: 'ideas' })
  })
})

describe('a change by a program that would be kept', () => {
  it('is held on a forgeable harness, with what the probes did, until a person approves that head', () => {
    const built = agentIdea(
      unprepared()
        .based()
        .probed([toResult('exit-at-load', null)]),
    )
    measureIdeas(built)
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'deferred',
      guard: null,
      approval: {
        findings: [
          {
            name: 'the harness is forgeable by: exit at load',
            path: null,
            text: 'exit-at-load would be kept',
          },
        ],
      },
    })
    approve(built)
    measureIdeas(built)
    expect(listLanded(built)).toEqual(['exp-001'])
    expect(built.experiment('exp-001').guard).toBe('forgeable by: exit at load')
  })

  it('is held where the harness could not be probed, or the spec turns probes off', () => {
    const failed = agentIdea(unprepared().based().probed([], { not_probed: 'no git (3 attempts)' }))
    measureIdeas(failed)
    expect(failed.experiment('exp-001').approval?.findings).toMatchObject([
      { name: 'the harness is not probed', text: 'no git (3 attempts)' },
    ])
    const off = agentIdea(unprepared(SPEC.replace('sh bench/run', 'sh bench/run, probes: off')).based())
    measureIdeas(off)
    expect(off.experiment('exp-001').status).toBe('deferred')
  })

  it('is held where only empty files could be tried', () => {
    const built = agentIdea(
      unprepared()
        .based()
        .probed([toResult('vanish', 'gate tests')]),
    )
    measureIdeas(built)
    expect(built.experiment('exp-001').approval?.findings).toMatchObject([
      { name: 'the harness is not probed' },
    ])
  })

  it('is asked about only where it would be kept', () => {
    const built = agentIdea(
      unprepared()
        .based()
        .probed([toResult('exit-at-load', null)]),
    )
    settle(built)
    built.measured({ 'exp-001': { base: { bytes: 100 }, candidate: { bytes: 110 } } })
    settle(built)
    expect(built.experiment('exp-001')).toMatchObject({ status: 'ended', approval: null })
  })

  it('lands or is closed where the spec says so', () => {
    const withRule = (forgeable: string) => {
      const yaml = `${SPEC}merge: { forgeable: ${forgeable} }\n`
      const built = agentIdea(
        unprepared(yaml)
          .based()
          .probed([toResult('exit-at-load', null)]),
      )
      measureIdeas(built)
      return built
    }
    expect(listLanded(withRule('allow'))).toEqual(['exp-001'])
    const denied = withRule('deny')
    expect(denied.experiment('exp-001')).toMatchObject({ status: 'ended', outcome: 'not_selected' })
    expect(denied.experiment('exp-001').reason).toContain(
      'the harness is forgeable by: exit at load (merge.forgeable: deny)',
    )
  })

  it('is held like one by an author without write access', () => {
    const built = unprepared()
      .based()
      .probed([toResult('exit-at-load', null)])
      .withExperiment()
    const { head } = built.experiment('exp-001')
    const about = { experiment: 'exp-001', head: head ?? '' }
    built.add({ kind: 'permission-requested', cause: 'asked', author: 'stranger', ...about })
    built.add({ kind: 'permission-granted', cause: 'nonce', login: 'maintainer', ...about })
    measureIdeas(built)
    expect(built.experiment('exp-001').status).toBe('deferred')
  })

  it('is asked about again when the probes of another harness find something else', () => {
    const built = agentIdea(
      unprepared()
        .based()
        .probed([toResult('exit-at-load', null)]),
    )
    measureIdeas(built)
    approve(built)
    built.probed([toResult('remember', null)])
    measureIdeas(built)
    expect(listLanded(built)).toEqual([])
    expect(built.experiment('exp-001').approval?.findings).toMatchObject([
      { name: 'the harness is forgeable by: remember' },
    ])
  })
})

describe('a gain', () => {
  it('is held above what the harness prints without the code, where that is less than merge.hold_above', () => {
    const built = unprepared().based()
    built.probed([toResult('vanish', 'gate tests')], { vanish_gain: 1.05 }).withExperiment()
    measureIdeas(built)
    expect(built.experiment('exp-001').approval?.findings).toMatchObject([
      { name: 'its gain is larger than 1.05x, what the harness prints when the files in scope are empty' },
    ])
    const large = unprepared().based()
    large.probed([toResult('vanish', 'gate tests')], { vanish_gain: 8 }).withExperiment()
    measureIdeas(large)
    expect(listLanded(large)).toEqual(['exp-001'])
  })
})

describe('whatever the probes show', () => {
  const missed = fc.subarray(['vanish', 'exit-at-load', 'remember'] as const)
  const cases = fc.record({
    forgeable: fc.constantFrom('hold', 'allow', 'deny'),
    probes: fc.constantFrom('on', 'off'),
    probed: fc.constantFrom('pending', 'failed', 'results'),
    missed,
    isUnbuilt: fc.boolean(),
    isStranger: fc.boolean(),
    approved: fc.boolean(),
  })

  it('no change by a program or a stranger lands without approval, unless the harness is guarded or the spec allows it', () => {
    fc.assert(
      fc.property(cases, each => {
        const yaml = SPEC.replace('sh bench/run', `sh bench/run, probes: ${each.probes}`)
        const built = unprepared(`${yaml}merge: { forgeable: ${each.forgeable} }\n`).based()
        const results = NAMES.map(name => ({
          ...toResult(name, each.missed.some(other => other === name) ? null : 'gate tests'),
          applicable: !each.isUnbuilt,
        }))
        if (each.probed === 'results') built.probed(results)
        if (each.probed === 'failed') built.probed([], { not_probed: 'no git' })
        built.withExperiment(each.isStranger ? {} : AGENT)
        const head = built.experiment('exp-001').head ?? ''
        if (each.isStranger)
          built.add(
            { kind: 'permission-requested', cause: 'asked', experiment: 'exp-001', head, author: 'stranger' },
            { kind: 'permission-granted', cause: 'nonce', experiment: 'exp-001', head, login: 'maintainer' },
          )
        measureIdeas(built)
        const held = built.experiment('exp-001').status === 'deferred'
        if (held && each.approved) {
          approve(built)
          measureIdeas(built)
        }
        const guarded = describeGuard(built.campaign) === 'guarded'
        const landed = listLanded(built).length > 0
        const waits = each.probes === 'on' && each.probed === 'pending'
        const free = each.forgeable === 'allow' || guarded || (held && each.approved)
        expect(landed).toBe(!waits && free)
      }),
      { numRuns: 150 },
    )
  })

  it('replays: the same plan comes from the ledger without what only an observation knows', () => {
    const built = agentIdea(unprepared().based())
    settle(built, () => OBSERVED)
    answerProbes(built, 'exit-at-call')
    const [probed] = draftsOfKind(planCampaign(world(built)), 'probed')
    expect(probed).toEqual(draftsOfKind(planCampaign(world(built, OBSERVED)), 'probed')[0])
    carryOut(built)
    expect(built.campaign.probes?.results).toEqual(probed?.results)
  })
})
