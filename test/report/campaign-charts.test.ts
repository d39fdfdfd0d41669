import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { describe, expect, it } from 'vitest'
import type { Campaign, EpochRun, MeasuredEpoch } from '../../src/model/campaign.ts'
import type { ArtifactHistory } from '../../src/report/artifacts.ts'
import { renderCampaignCharts } from '../../src/report/campaign-charts.ts'
import { buildEpochViews, renderEpochViews } from '../../src/report/epochs.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { baseline, campaignOf, decided, LANDS, NEXT, opened, POINT, withBytes } from './campaign-of.ts'

const { spec: SPEC } = parseSpec(
  `winnow: 1
name: size
metric: { primary: { name: loss, direction: minimize } }
measurement: { command: x, mode: once, probes: off }
gates: [{ name: t, command: x }]
scope: { mutable: [prompts/] }
artifacts: [{ name: worker_pitfalls }, { name: manager_planning_preamble }]
propose: [{ use: textgrad, model: local }]
epochs: { count: 500, learning_rate: 0.5, compat: awp }
stopping: { max_total_cost_usd: 1 }
`,
  { file: 'size.yaml' },
)

type Tasks = Readonly<Record<string, number | null>>

function toRuns(tasks: Tasks): EpochRun[] {
  return Object.entries(tasks).map(([task, score]) => {
    return { task, score, metrics: {}, error: null, feedback: null }
  })
}

/** A campaign that kept exp-001 after its first epoch; a pass for each of these. */
function learning(...passes: readonly { mean: number | null; tasks?: Tasks }[]): Campaign {
  const campaign = campaignOf(baseline(100), opened(1), decided(1), ...LANDS)
  campaign.epochs = passes.map(({ mean, tasks = {} }, index): MeasuredEpoch => {
    return {
      seq: 10 * (index + 1),
      at: '2026-01-02T03:04:05.000Z',
      order: '1'.repeat(64),
      tree: (index === 0 ? POINT : NEXT).tree,
      harness: campaign.harness,
      round: index,
      landings: index === 0 ? 0 : 1,
      mean,
      update: index === 1 ? { id: 'exp-001', replaced: POINT.tree } : null,
      runs: toRuns(tasks),
    }
  })
  return campaign
}

/** The two epochs of the worked trace, whose update is version 1 of the preamble. */
const TRACE = [
  { mean: 0.413, tasks: { octopi: 0.4, neutron_stars: 0.53, silk_road: 0.31 } },
  { mean: 0.343, tasks: { octopi: 0.045, neutron_stars: 0.62, silk_road: 0.365 } },
]
const WORSE = [TRACE[0] ?? { mean: 0 }, { mean: 0.48, tasks: { octopi: 0.5, neutron_stars: 0.46 } }]

function move(seq: number, from: number, to: number, rationale = 'ask for a checklist') {
  const at = '2026-01-02T03:04:05.000Z'
  return { seq, from, to, at, why: 'merged' as const, experiment: from < to ? 'exp-001' : null, rationale }
}

function historyOf(name: string, ...moves: ReturnType<typeof move>[]): ArtifactHistory {
  return { name, path: `prompts/${name}.md`, current: 0, versions: [], moves }
}

const PITFALLS = historyOf('worker_pitfalls')
const PREAMBLE = historyOf('manager_planning_preamble', move(15, 0, 1))

interface Mark {
  class: string
  title?: string
  cx?: string
  cy?: string
  d?: string
}

interface Text {
  '#text': string
  title?: string
  class: string
}

/** A file that is no well-formed XML fails here. */
function readSvg(svg: string): {
  title: string
  circles: Mark[]
  paths: Mark[]
  texts: Text[]
  bytes: number
} {
  expect(XMLValidator.validate(svg)).toBe(true)
  const lists = new Set(['circle', 'path', 'text'])
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseTagValue: false,
    htmlEntities: true,
    isArray: name => lists.has(name),
  })
  const { title, circle = [], path = [], text = [] } = parser.parse(svg).svg
  return { title, circles: circle, paths: path, texts: text, bytes: Buffer.byteLength(svg) }
}

function drawn(campaign: Campaign, histories: readonly ArtifactHistory[] = [PITFALLS, PREAMBLE]) {
  const svg = readSvg(renderCampaignCharts(campaign, SPEC, histories))
  const dots = svg.circles.flatMap(({ class: kind, title }) =>
    title === undefined ? [] : `${kind}: ${title}`,
  )
  return { ...svg, dots, words: svg.texts.map(text => text['#text']) }
}

describe('the charts of epochs', () => {
  it('show the losses, the update and the range of the tasks of the worked trace', () => {
    const { title, dots, words } = drawn(learning(...TRACE))
    expect(title).toBe('loss of size, by epoch')
    expect(dots).toEqual([
      'update: epoch 1: mean 0.413; manager_planning_preamble v0 -> v1 (exp-001)',
      'same: epoch 2: mean 0.343',
      'update: manager_planning_preamble v0 -> v1 (exp-001) after epoch 1: ask for a checklist',
      'same: epoch 1: 0.31 to 0.53, median 0.4: neutron_stars 0.53, octopi 0.4, silk_road 0.31',
      'same: epoch 2: 0.045 to 0.62, median 0.365: neutron_stars 0.62, octopi 0.045, silk_road 0.365',
    ])
    expect(words).toEqual(expect.arrayContaining(['worker_pitfalls', 'mean of the last 3', 'rollback']))
  })

  it('show a rollback as a red cross, and its epoch as a red dot', () => {
    const campaign = learning(...WORSE, { mean: 0.413 })
    for (const landing of campaign.landings) landing.reverted = NEXT.commit
    const { dots, paths } = drawn(campaign, [
      historyOf('manager_planning_preamble', move(15, 0, 1), move(25, 1, 0, 'reverts exp-001')),
    ])
    expect(dots.slice(0, 3)).toEqual([
      'update: epoch 1: mean 0.413; manager_planning_preamble v0 -> v1 (exp-001)',
      'rollback: epoch 2: mean 0.48; regression, limit 0.413; manager_planning_preamble v1 -> v0',
      'same: epoch 3: mean 0.413; mean of the last 3 0.4353',
    ])
    const crosses = paths.filter(path => path.class === 'cross')
    expect(crosses).toMatchObject([
      { title: 'manager_planning_preamble v1 -> v0 after epoch 2: reverts exp-001' },
    ])
    // Without the histories, the campaign itself tells what followed each epoch.
    expect(
      drawn(campaign, [])
        .dots.slice(0, 3)
        .map(dot => dot.split(':')[0]),
    ).toEqual(['update', 'rollback', 'same'])
  })

  it('average three epochs, and leave a gap where one has no mean', () => {
    const means = [0.6, 0.5, 0.4, 0.3, null, 0.2]
    const campaign = learning(...means.map(mean => ({ mean })))
    const views = buildEpochViews(campaign, SPEC, [])
    expect(views.map(({ average }) => average)).toEqual([
      null,
      null,
      expect.closeTo(0.5),
      expect.closeTo(0.4),
      null,
      null,
    ])
    const { paths, dots } = drawn(campaign, [])
    const [averages, curve] = ['from', 'line'].map(kind =>
      paths.filter(path => path.class === kind).map(({ d = '' }) => d.replace(/[\d. ]/g, '')),
    )
    expect(averages).toEqual(['Mh', 'ML'])
    expect(curve).toEqual(['MLLLM'])
    expect(dots).toHaveLength(5)
  })

  it('work for one epoch, and for none with a mean', () => {
    const { dots, paths } = drawn(learning({ mean: 0.5, tasks: { a: 0.5 } }), [])
    expect(dots).toEqual(['update: epoch 1: mean 0.5', 'same: epoch 1: 0.5 to 0.5, median 0.5: a 0.5'])
    expect(JSON.stringify(paths)).not.toMatch(/NaN|Infinity|undefined/)
    expect(drawn(learning({ mean: null }), []).words).toContain('No epoch has a mean.')
  })

  it('say which task has no score, without counting it', () => {
    const { dots } = drawn(learning({ mean: null, tasks: { a: 0.5, b: null } }), [])
    expect(dots).toEqual(['same: epoch 1: 0.5 to 0.5, median 0.5: a 0.5, b missing'])
  })

  it('have room for 200 epochs with many tasks, and show the latest of more', () => {
    const tasks = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`task ${at}`, at / 100]))
    const passes = Array.from({ length: 230 }, (_, at) => ({ mean: 1 / (at + 1), tasks }))
    const full = drawn(learning(...passes.slice(0, 200)))
    expect(full.title).toBe('loss of size, by epoch')
    expect(full.dots).toHaveLength(401)
    expect(full.dots.at(-1)).toContain('and 38 more')
    expect(full.bytes).toBeLessThan(200_000)
    const across = full.circles.map(({ cx }) => Number(cx))
    expect(Math.max(...across)).toBeLessThanOrEqual(700)
    const more = drawn(learning(...passes))
    expect(more.title).toBe('loss of size, by epoch, the latest 200 of 230')
    expect(more.dots[0]).toContain('epoch 31: mean')
  })

  it('keep untrusted names and texts as text, on one line', () => {
    const evil = '</title><script>alert(1)</script>&"\'\u0000\u0007\n\ud800]]>'
    const campaign = learning({ mean: 0.5, tasks: { [evil]: 0.5 } }, { mean: 0.4 })
    campaign.name = evil
    const svg = renderCampaignCharts(campaign, SPEC, [historyOf(evil, move(15, 0, 1, evil))])
    expect(svg).not.toContain('<script')
    expect(svg).not.toContain('\u0007')
    const { dots } = drawn(campaign, [historyOf(evil, move(15, 0, 1, evil))])
    expect(dots.filter(dot => dot.includes(`<script>alert(1)</script>&"'`))).toHaveLength(3)
  })

  it('are the same bytes each time, with colours for light and dark pages', () => {
    const render = () => renderCampaignCharts(learning(...TRACE), SPEC, [PREAMBLE])
    expect(render()).toBe(render())
    const [light = '', dark = ''] =
      render()
        .split(/\.update\{fill:#1a7f37\}/)[1]
        ?.split('@media') ?? []
    for (const kind of ['rollback', 'cross', 'same', 'range'])
      for (const style of [light, dark]) expect(style).toContain(`.${kind}{`)
  })
})

describe('the table of epochs', () => {
  it('has the moving average and the range of the tasks', () => {
    const views = buildEpochViews(learning(...TRACE, { mean: 0.33 }), SPEC, [PREAMBLE])
    const table = renderEpochViews(views, 'loss')
    expect(table[0]).toMatch(/^epoch\s+loss\s+last 3\s+least\/median\/most\s+neutron_stars/)
    expect(table[1]).toMatch(/^1\s+0\.413\s+█+\s+0\.31\/0\.4\/0\.53\s/)
    expect(table[3]).toMatch(/^3\s+0\.33\s+█+\s+0\.362\s/)
  })
})

describe('the charts of a campaign without epochs', () => {
  const bytes = parseSpec(campaignOf().spec_yaml, { file: 'size.yaml' }).spec
  const draw = (campaign: Campaign) => {
    const svg = readSvg(renderCampaignCharts(campaign, bytes, []))
    const dots = svg.circles.map(({ class: kind, title }) => `${kind}: ${title}`)
    return { ...svg, dots, words: svg.texts.map(text => text['#text']) }
  }
  const kept = () => {
    const campaign = withBytes(
      campaignOf(baseline(100), opened(1), opened(2), decided(1), ...LANDS),
      [100, 90],
    )
    for (const [at, experiment] of Object.values(campaign.experiments).entries()) experiment.round = at + 1
    return campaign
  }

  it('show the incumbent after each round, and the ideas that were kept', () => {
    const { title, dots, words } = draw(kept())
    expect(title).toBe('bytes of size, by round: -10.0 %')
    expect(dots).toEqual([
      'same: start: 100',
      'update: round 1: 90; 1 experiment; kept exp-001',
      'same: round 2: 90; 1 experiment',
    ])
    expect(words).toContain('round 1, exp-001: 100 -> 90, idea 1')
  })

  it('mark a change that was reverted, and do not count it', () => {
    const campaign = kept()
    for (const landing of campaign.landings) landing.reverted = NEXT.commit
    expect(draw(campaign).dots[1]).toBe('rollback: round 1: 100; 1 experiment; reverted exp-001')
  })

  it('say so where nothing is measured', () => {
    expect(draw(campaignOf()).words).toContain('Nothing is measured yet.')
  })

  it('keep the text of ideas as text', () => {
    const campaign = kept()
    for (const experiment of Object.values(campaign.experiments)) experiment.hypothesis = '<b>&amp;</b>'
    expect(draw(campaign).words).toContain('round 1, exp-001: 100 -> 90, <b>&amp;</b>')
  })
})
