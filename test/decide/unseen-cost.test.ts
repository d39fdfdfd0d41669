import { describe, expect, it } from 'vitest'
import { describeUnseenCost } from '../../src/decide/unseen-cost.ts'
import { aReport, aSpec, run } from './a-spec.ts'

const label = 'exp-001'
type Costs = Record<string, number>

function describeCost(base: Costs[], own: Costs[], metric = 'steps') {
  const runs = [...base.map(costs => run('base', costs)), ...own.map(costs => run(label, costs))]
  const spec = aSpec({ metric: { primary: { name: metric, direction: 'minimize' } } })
  return describeUnseenCost(spec, aReport(runs), label)
}

describe('what a run costs that its metric does not see', () => {
  const base = [
    { cpu_seconds: 0.2, wall_seconds: 0.2, max_rss_mb: 50 },
    { cpu_seconds: 0.3, wall_seconds: 0.4, max_rss_mb: 60 },
  ]

  it('is more than twice the time or memory of each run of the base', () => {
    const slow = { cpu_seconds: 0.7, wall_seconds: 0.4, max_rss_mb: 60 }
    expect(describeCost(base, [slow, slow])).toBe(
      'each run takes at least 0.7 s of processor time, and at most 0.3 on the base',
    )
    const asleep = { cpu_seconds: 0.2, wall_seconds: 1.5, max_rss_mb: 60 }
    expect(describeCost(base, [asleep, asleep])).toBe(
      'each run takes at least 1.5 s, and at most 0.4 on the base',
    )
    const large = { cpu_seconds: 0.2, wall_seconds: 0.4, max_rss_mb: 200 }
    expect(describeCost(base, [large, large])).toBe(
      'each run takes at least 200 MB of memory, and at most 60 on the base',
    )
  })

  it('is nothing where one run was slow, the difference is small or the metric sees it', () => {
    const slow = { cpu_seconds: 0.7, wall_seconds: 0.4, max_rss_mb: 60 }
    expect(describeCost(base, [slow, { ...slow, cpu_seconds: 0.3 }])).toBeNull()
    expect(describeCost(base, [slow])).toBeNull()
    expect(
      describeCost(
        [{ cpu_seconds: 0.01 }, { cpu_seconds: 0.01 }],
        [{ cpu_seconds: 0.05 }, { cpu_seconds: 0.05 }],
      ),
    ).toBeNull()
    expect(describeCost(base, [slow, slow], 'wall_seconds')).toBeNull()
    const disturbed = { cpu_seconds: 0.2, wall_seconds: 1.3, max_rss_mb: 60 }
    expect(describeCost(base, [disturbed, disturbed])).toBeNull()
    expect(describeCost(base, [{ steps: 1 }, { steps: 1 }])).toBeNull()
  })
})
