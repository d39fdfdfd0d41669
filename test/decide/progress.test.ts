import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CampaignProgress,
  computeProgress,
  formatGain,
  formatProgress,
} from '../../src/decide/progress.ts'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import type { EffectMeasurement } from '../../src/model/campaign.ts'
import type { Point } from '../../src/model/ids.ts'
import { buildMachineKey } from '../../src/model/report.ts'
import { MACHINE } from '../model/a-machine.ts'
import {
  type CampaignBuilder,
  candidateTree,
  HARNESS,
  pointOf,
  SPEC,
  unprepared,
} from '../plan/a-campaign.ts'

const PROVED = { seq: 0, sha256: hashSha256('proof') }
const ORDER = hashSha256('an order')
const MEAN = SPEC.replace(
  'measurement: { command: sh bench/run }',
  'measurement: { command: sh bench/run, baseline: cached, stability: { mode: repeat, repeat_count: 4, aggregation: mean } }',
)

/** A campaign as its events tell it, with the number that each tree of the optimize branch has. */
class Story {
  readonly built: CampaignBuilder
  #harness = HARNESS
  #moves = 0

  constructor(
    public value: number,
    yaml = SPEC,
  ) {
    this.built = unprepared(yaml)
    this.#baseline()
  }

  get campaign() {
    return this.built.campaign
  }

  get progress(): CampaignProgress {
    return computeProgress(this.campaign, this.built.spec)
  }

  /** One idea is measured beside the incumbent, and kept. */
  keep(value: number): string {
    const base = this.campaign.incumbent
    const id = this.#measured(value)
    const experiment = this.built.experiment(id)
    const to = { commit: pointOf(`landing ${this.#moves++}`).commit, tree: experiment.measured_tree ?? '' }
    const head = experiment.head ?? ''
    this.built.add({
      kind: 'decided',
      cause: 'r',
      experiment: id,
      order: experiment.order,
      outcome: 'kept',
      verdict: 'kept',
      rule_version: '1',
      reason: '',
      failure_class: null,
      primary_delta: null,
      rank_score: 0,
      improved: [],
      violated: [],
      warnings: [],
      stays_open: false,
      given_up: null,
    })
    const merged = { experiment: id, ...to, base, head, results: null, pull: null, decided: PROVED }
    this.built.add({ kind: 'merged', cause: 'r', ...merged })
    this.#move(to, 'merged', value)
    this.#baseline()
    return id
  }

  /** The default branch is merged in, and changes the number by a factor of its own. */
  sync(factor: number, holds: string[] = []): void {
    const to = pointOf(`sync ${this.#moves++}`)
    const tip = pointOf(`tip ${this.#moves}`)
    const { incumbent: from } = this.campaign
    const default_branch = { default_tip: tip.commit, default_tree: tip.tree, holds }
    const about = { cause: 'r', order: ORDER, from, to, harness: this.#harness }
    this.built.add({ kind: 'synced', ...about, ...default_branch })
    this.#move(to, 'synced', this.value * factor)
    this.#baseline()
  }

  /** Taken back at once: the tree without it was measured before, or makes do with what its own order measured. */
  takeBack(id: string): void {
    const { landings, incumbent: from } = this.campaign
    const landing = landings.find(({ experiment }) => experiment === id)
    const last = landings.findLast(({ reverted }) => reverted === null) === landing
    const before = last && landing?.commit === from.commit ? landing.base.tree : pointOf(`back ${id}`).tree
    const to = { commit: pointOf(`revert ${this.#moves++}`).commit, tree: before }
    const step = this.campaign.steps.find(({ experiment }) => experiment === id)
    const [gained, lost] = [step?.to.metrics['bytes'], step?.from.metrics['bytes']]
    this.built.add({
      kind: 'reverted',
      cause: 'r',
      experiment: id,
      by_experiment: null,
      from,
      to,
      measured_in: ORDER,
    })
    this.#move(to, 'reverted', (this.value / Number(gained)) * Number(lost))
    this.#baseline()
  }

  /** Another ruler: everything has to be measured anew, and the same tree has another number. */
  amend(factor: number): void {
    this.#harness = hashSha256(`harness ${this.#moves++}`)
    const spec = { spec_sha256: hashSha256(this.built.yaml), spec_yaml: this.built.yaml }
    this.built.add({
      kind: 'campaign-amended',
      cause: 'r',
      ...spec,
      harness: this.#harness,
      source: 'person',
      reason: '',
    })
    this.value *= factor
    this.#baseline()
  }

  noisy(): void {
    const noise = { pair_sd: 0.1, pair_sd_upper90: null, between_job_sd: null, pairs: 8, jobs: 2 }
    const seconds = { execution_seconds: 1, overhead_seconds: 0 }
    const found = { deterministic: false, scale: 'log', reason: '', noise: { ...noise, ...seconds } } as const
    this.built.add({ kind: 'calibrated', cause: 'r', order: ORDER, ...found })
  }

  /** Fresh pairs of one landing, or of everything between the default branch and the incumbent. */
  measured(of: string, effect: number, metric = 'bytes'): void {
    const { reference: from, incumbent: to } = this.campaign
    const what = of === 'everything' ? 'progression' : 'landing'
    const experiment = of === 'everything' ? null : of
    const found: Omit<EffectMeasurement, 'order'> = {
      metric,
      effect,
      interval: [effect - 0.1, effect + 0.2],
      pairs: 8,
      scale: 'log',
    }
    const about = { what, experiment, from, to, order: ORDER, state: null, reason: '' } as const
    this.built.add({ kind: 'effect-measured', cause: 'r', ...about, ...found })
  }

  #measured(value: number): string {
    this.built.withExperiment()
    const id = Object.keys(this.campaign.experiments).at(-1) ?? ''
    const head = this.built.experiment(id).head ?? ''
    const tree = candidateTree(this.campaign, id)
    const { stability } = this.built.spec.measurement
    const stop =
      stability === null
        ? ({ rule: 'once', min_effect: 0, scale: 'log' } as const)
        : ({ rule: 'stability', baseline: this.campaign.baseline?.snapshot ?? null } as const)
    this.built.issue({ purpose: 'experiment', round: 1, candidates: [{ label: id, head, tree }], stop })
    this.built.measured({ [id]: { base: { bytes: this.value }, candidate: { bytes: value } } })
    return id
  }

  #move(to: Point, why: 'merged' | 'synced' | 'reverted', value: number): void {
    this.built.add({ kind: 'incumbent-moved', cause: 'r', from: this.campaign.incumbent, to, why })
    this.value = value
  }

  #baseline(): void {
    const { tree } = this.campaign.incumbent
    const snapshot = { metrics: { bytes: { aggregate: this.value, samples: [this.value] } } }
    const about = { cause: 'r', order: ORDER, side: 'base', machine: buildMachineKey(MACHINE) } as const
    this.built.add({ kind: 'baseline-measured', ...about, tree, harness: this.#harness, snapshot })
  }
}

const factor = fc.double({ min: 0.5, max: 2, noNaN: true })
const happening = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('keep' as const),
      factor: fc.double({ min: 0.5, max: 0.99, noNaN: true }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sync' as const), factor }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('take back' as const), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('amend' as const), factor }) },
)

function changeIn(progress: CampaignProgress): number {
  if (progress.is === 'nothing kept') return 0
  if (!('effect' in progress)) throw new Error('it was measured')
  return progress.effect
}

describe('the progress of a deterministic campaign', () => {
  it('is composed of kept steps, without changes of the default branch', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 14 }), story => {
        const told = new Story(1000)
        const kept = new Map<string, number>()
        for (const each of story) {
          if (each.do === 'keep') kept.set(told.keep(told.value * each.factor), each.factor)
          if (each.do === 'sync') told.sync(each.factor)
          if (each.do === 'amend') told.amend(each.factor)
          const id = each.do === 'take back' ? [...kept.keys()][each.at % kept.size] : undefined
          if (id === undefined) continue
          told.takeBack(id)
          kept.delete(id)
        }
        const product = [...kept.values()].reduce((all, one) => all * one, 1)
        expect(Math.exp(-changeIn(told.progress))).toBeCloseTo(product, 9)
      }),
      { numRuns: 100 },
    )
  })

  it('is not affected by a sync that changes nothing', () => {
    const told = new Story(900)
    told.keep(500)
    told.sync(1)
    expect(formatProgress(told.progress)).toBe('bytes 900 -> 500 (-44.4 %)')
    told.keep(400)
    expect(formatProgress(told.progress)).toBe('bytes 900 -> 400 (-55.6 %)')
    expect(formatGain(told.progress)).toBe('-55.6 %')
  })

  it.each([
    [1.2, 'bytes 900 -> 500, 600 -> 480 (-55.6 % in all)', 'its losses'],
    [0.5, 'bytes 900 -> 500, 250 -> 200 (-55.6 % in all)', 'its gains'],
  ])('shows both stretches when the default branch changed the number by %d: %s', (by, said) => {
    const told = new Story(900)
    told.keep(500)
    told.sync(by)
    told.keep(told.value * 0.8)
    expect(formatProgress(told.progress)).toBe(said)
    expect(formatGain(told.progress)).toBe('-55.6 %')
  })

  it('starts at the incumbent before the first landing', () => {
    const told = new Story(900)
    told.sync(0.5)
    expect(formatProgress(told.progress)).toBe('bytes 450, no gain yet')
    told.keep(225)
    expect(formatProgress(told.progress)).toBe('bytes 450 -> 225 (-50.0 %)')
  })

  it('adds differences when a share is meaningless', () => {
    const told = new Story(4)
    told.keep(-2)
    told.sync(3)
    told.keep(-7)
    expect(formatProgress(told.progress)).toBe('bytes 4 -> -2, -6 -> -7 (-7 in all)')
    expect(formatGain(told.progress)).toBe('-7')
  })

  it('is no gain after all landings are reverted', () => {
    const told = new Story(900)
    told.takeBack(told.keep(500))
    expect(told.progress.is).toBe('nothing kept')
  })

  it('names and omits changes kept by another metric', () => {
    const told = new Story(900)
    told.keep(500)
    told.keep(400)
    const [first] = told.campaign.steps
    if (first) first.from.metrics = { other: 1 }
    expect(formatProgress(told.progress)).toBe(
      'bytes 500 -> 400 (-20.0 %), without exp-001: not measured yet',
    )
  })

  it('uses the compared numbers with stored scores', () => {
    const told = new Story(30, MEAN)
    told.keep(22)
    expect(formatProgress(told.progress)).toBe('bytes 30 -> 22 (-26.7 %)')
  })
})

describe('the progress of a noisy campaign', () => {
  function noisy(): Story {
    const told = new Story(900)
    told.noisy()
    return told
  }

  it('is not confirmed with only the deciding pairs', () => {
    const told = noisy()
    told.keep(500)
    expect(told.progress).toMatchObject({ is: 'not measured', missing: ['exp-001'] })
    expect([formatProgress(told.progress), formatGain(told.progress)]).toEqual([
      '1 change kept, not measured again yet',
      'not confirmed',
    ])
    const decided = { ...told.progress, scale: 'log', decided: Math.log(900 / 500) } as CampaignProgress
    expect([formatProgress(decided), formatGain(decided)]).toEqual([
      'bytes 44.4 % lower when it was kept, not measured again yet',
      'about -44.4 %',
    ])
  })

  it('adds the effects and interval ends of kept changes across syncs', () => {
    const told = noisy()
    told.measured(told.keep(500), 0.3)
    told.sync(0.2)
    told.measured(told.keep(90), 0.1)
    expect(told.progress).toMatchObject({ is: 'composed', parts: 2, pairs: 16, missing: [] })
    expect(changeIn(told.progress)).toBeCloseTo(0.4)
    const { interval } = told.progress as { interval: [number, number] }
    expect(interval).toEqual([expect.closeTo(0.2), expect.closeTo(0.8)])
    expect(formatProgress(told.progress)).toMatch(
      /^bytes 33\.0 % lower \(18\.1 to 55\.1 %\), composed of 2 measurements, 16 pairs$/,
    )
  })

  it('names changes without a measured effect', () => {
    const told = noisy()
    told.measured(told.keep(500), 0.3)
    told.keep(400)
    expect(formatProgress(told.progress)).toMatch(/, without exp-002: not measured yet$/)
  })

  it('is the progression test, plus changes kept later', () => {
    const told = noisy()
    told.measured(told.keep(500), 0.9)
    told.measured('everything', 0.3)
    expect(told.progress).toMatchObject({ is: 'tested', effect: 0.3, against: told.campaign.start.commit })
    expect(formatGain(told.progress)).toBe('-25.9 %')
    told.measured(told.keep(400), 0.1)
    expect(told.progress).toMatchObject({ is: 'composed', parts: 2, effect: 0.4 })
  })

  it('keeps the result of a test across a sync', () => {
    const told = noisy()
    told.keep(500)
    told.measured('everything', 0.3)
    told.sync(1.5)
    expect(told.progress).toMatchObject({ is: 'tested', effect: 0.3 })
  })

  it('ignores a test that covers a reverted change', () => {
    const told = noisy()
    told.measured(told.keep(500), 0.2)
    const second = told.keep(400)
    told.measured('everything', 0.3)
    told.takeBack(second)
    expect(told.progress).toMatchObject({ is: 'composed', effect: 0.2, parts: 1 })
  })

  it('adds landings that the default branch already contains', () => {
    const told = noisy()
    const first = told.keep(500)
    told.measured(first, 0.3)
    told.sync(1, [first])
    told.keep(400)
    told.measured('everything', 0.1)
    expect(told.progress).toMatchObject({ is: 'composed', effect: 0.4, parts: 2 })
  })

  it('uses the current primary metric', () => {
    const told = noisy()
    told.measured(told.keep(500), 0.3, 'seconds')
    expect(told.progress.is).toBe('not measured')
  })

  it('equals the sum of the measured effects of current landings for any history', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 12 }), story => {
        const told = noisy()
        const kept = new Map<string, number>()
        for (const each of story) {
          if (each.do === 'keep') {
            const id = told.keep(told.value * each.factor)
            kept.set(id, 1 - each.factor)
            told.measured(id, 1 - each.factor)
          }
          if (each.do === 'sync') told.sync(each.factor)
          const id = each.do === 'take back' ? [...kept.keys()][each.at % kept.size] : undefined
          if (id === undefined) continue
          told.takeBack(id)
          kept.delete(id)
        }
        const sum = [...kept.values()].reduce((all, one) => all + one, 0)
        expect(changeIn(told.progress)).toBeCloseTo(sum, 9)
      }),
      { numRuns: 200 },
    )
  })
})
