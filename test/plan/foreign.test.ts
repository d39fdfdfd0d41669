import { describe, expect, it } from 'vitest'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import type { SyncFacts, World } from '../../src/plan/world.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { campaign, type CampaignBuilder, HARNESS, pointOf, SPEC, unprepared } from './a-campaign.ts'
import { carryOut, draftsOfKind, settle, stepsOf, world } from './a-world.ts'

const THEIRS = pointOf('their commit')

describe('a foreign tip', () => {
  const pushed = { optimizeTip: THEIRS, foreign: { tip: THEIRS, refusal: null } } satisfies Partial<World>
  const measured = (candidate: object | string, base: object = { bytes: 10 }) => {
    const built = campaign().withExperiment()
    carryOut(built, pushed)
    carryOut(built, pushed)
    return built.measured({ foreign: { base, candidate } as never })
  }

  it('is found, kept and alerted, and stops merging', () => {
    const built = campaign()
      .withExperiment()
      .ordered()
      .measured({ 'exp-001': { candidate: { bytes: 8 } } })
    const planned = carryOut(built, pushed)
    expect(stepsOf(planned)).toMatchObject([
      { draft: { kind: 'foreign-tip', state: 'found', to: THEIRS } },
      { step: 'keep', heads: [THEIRS.commit] },
      { draft: { kind: 'alert', code: 'foreign-tip' } },
    ])
    expect(draftsOfKind(carryOut(built, pushed), 'order-issued')).toMatchObject([
      {
        purpose: 'foreign',
        base: built.campaign.start,
        candidates: [{ label: 'foreign', tree: THEIRS.tree }],
      },
    ])
    expect(built.campaign.landings).toEqual([])
  })

  it.each([
    ['better', { bytes: 8 }],
    ['the same', { bytes: 10 }],
  ])('is adopted when it is %s', (_, candidate) => {
    const built = measured(candidate)
    const planned = carryOut(built, pushed)
    expect(draftsOfKind(planned, 'incumbent-moved')).toMatchObject([{ to: THEIRS, why: 'foreign' }])
    expect(built.campaign).toMatchObject({ incumbent: THEIRS, foreign: null })
  })

  it.each([
    ['worse', { bytes: 12 }],
    ['broken', 'gate-fails'],
    ['crashing', 'crashes'],
  ])('is moved back when it is %s', (_, candidate) => {
    const built = measured(candidate)
    expect(stepsOf(carryOut(built, pushed))).toMatchObject([
      {
        step: 'move',
        from: THEIRS,
        to: built.campaign.start,
        events: [{ kind: 'foreign-tip', state: 'moved-back' }],
      },
    ])
  })

  it('is moved back unmeasured when it touches what it must not', () => {
    const built = campaign()
    const refused = {
      ...pushed,
      foreign: { tip: THEIRS, refusal: { code: 'out-of-scope', message: 'bench/run' } },
    }
    carryOut(built, refused)
    expect(stepsOf(carryOut(built, refused))).toMatchObject([{ step: 'move', to: built.campaign.start }])
    expect(built.kinds()).not.toContain('foreign')
  })

  it('is measured again when the base or the runner failed, and then a person is asked', () => {
    const built = campaign()
    carryOut(built, pushed)
    for (const attempt of [1, 2, 3]) {
      expect(draftsOfKind(carryOut(built, pushed), 'order-issued')).toMatchObject([
        { purpose: 'foreign', attempt },
      ])
      built.measured({ foreign: { runner_error: 'disk full' } })
    }
    settle(built, () => pushed)
    expect(built.campaign).toMatchObject({
      status: 'paused',
      status_reason: expect.stringContaining('disk full'),
    })
    expect(built.campaign.foreign?.to).toEqual(THEIRS)
  })

  it('found before the campaign was calibrated does not stop the calibration', () => {
    const built = unprepared()
    carryOut(built, pushed)
    expect(draftsOfKind(carryOut(built, pushed), 'order-issued')).toMatchObject([{ purpose: 'calibration' }])
    built.measured()
    carryOut(built, pushed)
    expect(draftsOfKind(carryOut(built, pushed), 'order-issued')).toMatchObject([{ purpose: 'foreign' }])
  })

  it('that was taken away again is forgotten', () => {
    const built = campaign()
    carryOut(built, pushed)
    expect(draftsOfKind(carryOut(built), 'foreign-tip')).toMatchObject([{ state: 'moved-back' }])
    expect(built.campaign.foreign).toBeNull()
  })

  it('moves members of an open round onto what it made of the incumbent', () => {
    const built = campaign().withExperiment().ordered()
    carryOut(built, pushed)
    carryOut(built, pushed)
    built.measured({ foreign: { candidate: { bytes: 9 } }, 'exp-001': { candidate: { bytes: 8 } } })
    carryOut(built, pushed)
    expect(built.experiment('exp-001')).toMatchObject({ status: 'queued', attempts: 0 })
    settle(built)
    expect(built.order('exp-001')).toMatchObject({ base: THEIRS, round: 2 })
  })
})

describe('a deleted optimize branch', () => {
  it('is restored at the recorded incumbent', () => {
    const built = campaign()
    const planned = carryOut(built, { optimizeTip: null })
    expect(stepsOf(planned)).toMatchObject([{ step: 'move', from: null, to: built.campaign.incumbent }])
    expect(draftsOfKind(planned, 'alert')).toMatchObject([{ code: 'optimize-restored' }])
  })
})

describe('a default branch that moved', () => {
  const to = pointOf('synced')
  const tip = pointOf('default tip').commit
  const clean = (yaml = SPEC, harness = HARNESS): SyncFacts => ({
    result: 'clean',
    tip,
    tipTree: to.tree,
    holds: [],
    to,
    spec: {
      yaml,
      sha256: hashSha256(yaml),
      changed: yaml !== SPEC,
      parsed: parseSpec(yaml, { file: '.winnow/size.yaml' }).spec,
    },
    harness,
    unread: false,
  })
  const synced = (built: CampaignBuilder, sync: SyncFacts, candidate: unknown = { bytes: 11 }) => {
    carryOut(built, { sync })
    built.measured({ sync: { candidate } as never })
    return carryOut(built, { sync, optimizeTip: built.campaign.incumbent })
  }

  it('is measured alone, with the ruler it brings, before anything new is', () => {
    const built = campaign().withExperiment()
    expect(draftsOfKind(carryOut(built, { sync: clean() }), 'order-issued')).toMatchObject([
      { purpose: 'sync', stop: { rule: 'alone' }, pin: to, candidates: [{ label: 'sync', tree: to.tree }] },
    ])
  })

  it('becomes incumbent, pin and baseline in one step', () => {
    const built = campaign()
    const planned = synced(built, clean())
    expect(stepsOf(planned)).toMatchObject([
      {
        step: 'move',
        to,
        events: [{ kind: 'synced' }, { kind: 'incumbent-moved' }, { kind: 'baseline-measured' }],
      },
    ])
    expect(built.campaign).toMatchObject({
      incumbent: to,
      pin: to,
      default_tip: tip,
      baseline: { tree: to.tree },
    })
    expect(built.campaign.calibration).not.toBeNull()
  })

  it('with another spec is an amendment: evidence of the old harness is not carried', () => {
    const built = campaign().withExperiment().ordered().measured()
    settle(built)
    const yaml = `${SPEC}stopping: { max_iterations: 7 }\n`
    const planned = synced(built, clean(yaml, hashSha256('another harness')))
    expect(draftsOfKind(planned, 'campaign-amended')).toMatchObject([
      { source: 'default-branch', spec_yaml: yaml },
    ])
    expect(built.campaign).toMatchObject({
      calibration: null,
      trees: {},
      proven: {},
      spec_yaml: yaml,
      orders: {},
    })
    expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([{ purpose: 'calibration' }])
  })

  it.each([
    ['conflicts', { result: 'conflict', tip, paths: ['src/a.txt'] }, 'sync-conflict', 'src/a.txt'],
    ['has a bad spec', { result: 'bad-spec', tip, message: 'line 3' }, 'sync-bad-spec', 'line 3'],
  ] as const)('that %s is alerted once, and nothing new starts', (_, facts, code, said) => {
    const built = campaign().withExperiment()
    const sync: SyncFacts = { ...facts, paths: ['src/a.txt'] } as SyncFacts
    expect(draftsOfKind(carryOut(built, { sync }), 'alert')).toMatchObject([{ code }])
    expect(draftsOfKind(carryOut(built, { sync }), 'order-issued')).toEqual([])
    const { actions, waiting } = planCampaign(world(built, { sync }))
    expect(actions).toEqual([])
    expect(waiting).toMatchObject({ for: 'person', what: expect.stringContaining(said) })
  })

  it('whose gates fail together with the incumbent is not taken', () => {
    const built = campaign()
    const planned = synced(built, clean(), 'gate-fails')
    expect(draftsOfKind(planned, 'alert')).toMatchObject([{ code: 'sync-failed' }])
    expect(built.campaign.incumbent).toEqual(built.campaign.start)
  })

  it('is measured again when the runner failed', () => {
    const built = campaign()
    carryOut(built, { sync: clean() })
    built.measured({ sync: { runner_error: 'disk full' } })
    expect(draftsOfKind(carryOut(built, { sync: clean() }), 'order-issued')).toMatchObject([
      { purpose: 'sync', attempt: 2 },
    ])
    expect(Object.keys(built.campaign.orders)).toHaveLength(1)
  })

  it('waits for an open round to end', () => {
    const built = campaign().withExperiment().ordered()
    expect(planCampaign(world(built, { sync: clean() })).actions).toEqual([])
  })
})
