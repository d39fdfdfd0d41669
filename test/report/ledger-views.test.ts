import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Campaign } from '../../src/model/campaign.ts'
import { escapeSvg, isBadgeCurrent, listChartTicks, renderBadge } from '../../src/report/charts.ts'
import { renderFinalSummary } from '../../src/report/run-summary.ts'
import { renderLedgerViews } from '../../src/report/ledger-views.ts'
import { computeProgress } from '../../src/decide/progress.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { baseline, campaignOf, decided, NEXT, opened, POINT, type Told, withBytes } from './campaign-of.ts'

const specOf = ({ spec_yaml, spec_path }: Campaign) => parseSpec(spec_yaml, { file: spec_path }).spec

const VIEWS = ['README.md', 'digest.md', 'summary.md', 'chart.svg', 'badge.svg'] as const

function viewsOf(campaign: Campaign): Record<(typeof VIEWS)[number], string> {
  const views = renderLedgerViews(campaign, specOf(campaign))
  expect(Object.keys(views).toSorted()).toEqual([...VIEWS].toSorted())
  return Object.fromEntries(VIEWS.map(name => [name, views[name] ?? ''])) as ReturnType<typeof viewsOf>
}

function merged(number: number): Told<'merged'> {
  return {
    kind: 'merged',
    experiment: `exp-${String(number).padStart(3, '0')}`,
    commit: NEXT.commit,
    tree: NEXT.tree,
    base: POINT,
    head: POINT.commit,
    results: null,
    pull: null,
    decided: { seq: 0, sha256: '0'.repeat(64) },
  }
}

/** A campaign that began with 100 bytes; each number is an experiment that was kept, null one that was not. */
function tried(...bytes: readonly (number | null)[]): Campaign {
  const drafts = bytes.flatMap((value, index): Told[] => {
    const lost = { outcome: 'dropped', verdict: 'no gain', reason: 'bytes 100 -> 100' } as const
    return value === null
      ? [opened(index + 1), decided(index + 1, lost)]
      : [opened(index + 1), decided(index + 1), merged(index + 1)]
  })
  const kept = bytes.filter(value => value !== null)
  const steps = kept.map((value, index) => [kept[index - 1] ?? 100, value] as const)
  return withBytes(campaignOf(baseline(100), ...drafts), ...steps)
}

describe('the views of a ledger', () => {
  it('are the same bytes for the same campaign', () => {
    const campaigns = fc.array(fc.option(fc.float({ noNaN: true, min: -1e9, max: 1e9 })), { maxLength: 12 })
    fc.assert(
      fc.property(campaigns, bytes => {
        const [once, again] = [viewsOf(tried(...bytes)), viewsOf(tried(...bytes))]
        expect(again).toEqual(once)
        for (const text of Object.values(once)) expect(text).not.toMatch(/NaN|Infinity|undefined/)
      }),
      { numRuns: 50 },
    )
  })

  it('run nothing, load nothing and escape foreign text', () => {
    const evil = '<script>alert(1)</script>"&\u202e'
    const campaign = tried(90)
    campaign.name = evil
    for (const experiment of Object.values(campaign.experiments)) experiment.hypothesis = evil
    const { 'chart.svg': chart, 'badge.svg': badge, 'digest.md': text } = viewsOf(campaign)
    for (const svg of [chart, badge]) {
      expect(svg).not.toMatch(/<script|<foreignObject|<image|href|url\(|@import|@font-face|\bon\w+=/i)
      expect(svg.replaceAll('http://www.w3.org/2000/svg', '')).not.toContain('http')
      expect(svg).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;')
    }
    expect(text).not.toContain('<script>')
    expect(viewsOf(campaign)['summary.md']).not.toContain('<script>')
    expect(escapeSvg('x'.repeat(200))).toHaveLength(60)
  })

  it('stay small in long campaigns', () => {
    const bytes = Array.from({ length: 2_000 }, (_, index) => (index % 2 === 0 ? 5_000 - index : null))
    const views = viewsOf(tried(...bytes))
    expect(Buffer.byteLength(views['chart.svg'])).toBeLessThan(40_000)
    expect(Buffer.byteLength(views['badge.svg'])).toBeLessThan(1_500)
    expect(Buffer.byteLength(views['digest.md'])).toBeLessThan(10_000)
    expect(Buffer.byteLength(views['summary.md'])).toBeLessThan(10_000)
    expect(views['chart.svg']).toContain('<title>exp-1999: 3002</title>')
    // A dashed line would show a change that no kept change caused.
    expect(views['chart.svg']).not.toMatch(/<path class="from" d="[^"]*V/)
  })
})

/** Marks of kept experiments, in their order. */
function marks(svg: string): string[] {
  return [...svg.matchAll(/<circle class="(\w+)".*?<title>(.*?)<\/title>/g)].map(
    ([, kind, of]) => `${kind} ${of}`,
  )
}

describe('the chart', () => {
  it('has a step and a mark for each kept change only', () => {
    const chart = viewsOf(tried(90, null, 70))['chart.svg']
    expect(marks(chart)).toEqual(['kept exp-001: 90', 'kept exp-003: 70'])
    expect(
      chart.match(/<path class="line" d="M[^H]*((?:H[\d.]+V[\d.]+)+)H700"/)?.[1]?.match(/V/g),
    ).toHaveLength(2)
    expect(chart).toContain('<path class="from"')
    expect(chart).toContain('bytes of size, by experiment')
  })

  it('marks reverted changes beside the line', () => {
    const campaign = tried(90, 70)
    for (const landing of campaign.landings.slice(1)) landing.reverted = 'e'.repeat(40)
    const chart = viewsOf(campaign)['chart.svg']
    expect(marks(chart)).toEqual(['kept exp-001: 90', 'back exp-002: 70, reverted'])
    expect(chart.match(/<path class="line" [^>]*>/)?.[0].match(/V/g)).toHaveLength(1)
  })

  it('omits changes without a number, and says so when there are none', () => {
    const campaign = tried(90, 70)
    for (const { to } of campaign.steps.slice(1)) to.metrics = { bytes: null }
    expect(marks(viewsOf(campaign)['chart.svg'])).toEqual(['kept exp-001: 90'])
    expect(viewsOf(campaignOf())['chart.svg']).toContain('Nothing is measured yet.')
  })

  it('has colours for light and dark mode', () => {
    const chart = viewsOf(tried(90))['chart.svg']
    const [light = '', dark = ''] = chart.split('@media (prefers-color-scheme:dark)')
    for (const kind of ['ground', 'grid', 'from', 'line', 'kept', 'back'])
      for (const style of [light, dark]) expect(style).toContain(`.${kind}{`)
  })

  it.each([
    [0, 10],
    [-3, 3],
    [0.001, 0.0012],
    [99_999, 100_001],
  ])('has round values between %d and %d', (first, last) => {
    const ticks = listChartTicks(first, last, 5)
    expect(ticks.length).toBeGreaterThan(1)
    expect(ticks.length).toBeLessThan(7)
    expect(ticks.every(tick => tick >= first && tick <= last)).toBe(true)
  })
})

describe('the badge', () => {
  const titleOf = (campaign: Campaign) => /<title>(.*?)<\/title>/.exec(viewsOf(campaign)['badge.svg'])?.[1]

  it('shows gain and state', () => {
    expect(titleOf(campaignOf())).toBe('size: not measured · running')
    expect(titleOf(tried(null))).toBe('size: no gain yet · running')
    expect(titleOf(tried(null, 75))).toBe('size: -25.0 % · running')
    expect(titleOf({ ...tried(75), status: 'stopped' })).toBe('size: -25.0 % · stopped')
  })

  it('can be recognized as current by its state', () => {
    const campaign = tried(75)
    const badge = renderBadge(campaign, computeProgress(campaign, specOf(campaign)))
    expect([
      isBadgeCurrent(badge, 'running'),
      isBadgeCurrent(badge, 'paused'),
      isBadgeCurrent('', 'running'),
    ]).toEqual([true, false, false])
  })
})

describe('a verdict and its reason', () => {
  it('state the verdict once, and the idea like the status', () => {
    const campaign = tried(null)
    for (const one of Object.values(campaign.experiments)) {
      one.reason = 'no gain: bytes 100 -> 100'
      one.hypothesis = 'wrong'
    }
    expect(viewsOf(campaign)['README.md']).toContain('| exp-001 | no gain | Wrong | bytes 100 -> 100 |')
    expect(viewsOf(campaign)['digest.md']).toContain('- exp-001, no gain: wrong (bytes 100 -> 100)')
  })
})

describe('the digest', () => {
  it('formats measuring time like the summary of a run', () => {
    const campaign = tried(90)
    campaign.spent.minutes = 0.27
    expect(viewsOf(campaign)['digest.md']).toContain('less than a minute spent.')
    const where = { prefix: 'optimize', remote: null }
    expect(renderFinalSummary(campaign, where).join('\n')).toContain('executions in less than a minute')
  })

  it('shows the state, recent experiments and tasks for people', () => {
    const campaign = tried(90, null, 75)
    campaign.alerts.push({ code: 'x', about: null, message: 'look here', at: '2026-01-02T03:04:05.000Z' })
    campaign.proposers['thinker'] = { failures: 3, disabled: true, asked: 1, since_kept: null }
    expect(viewsOf(campaign)['digest.md']).toBe(`# size

The campaign is running. Progress: bytes 100 -> 75 (-25.0 %).
3 experiments: 2 kept, 1 no gain; 0 min spent.

## Recently kept

- exp-003, kept: idea 3 (bytes 100 -> 90 (-10.0 %), deterministic)
- exp-001, kept: idea 1 (bytes 100 -> 90 (-10.0 %), deterministic)

## Recently tried and not kept

- exp-002, no gain: idea 2 (bytes 100 -> 100)

## What to try next, by category

- general: 2 of 3 kept: more ideas of this kind may help

## Needs you

- thinker is disabled: it failed to produce a usable idea several times in a row
- 2026-01-02: look here
`)
  })
})
