import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Campaign, createEmptyCampaign } from '../../src/model/campaign.ts'
import { type LedgerEvent, parseEvent } from '../../src/model/event.ts'
import { fold } from '../../src/model/fold/fold.ts'
import { renderCampaignPullBody } from '../../src/report/campaign-pull-request.ts'
import { renderPullBody } from '../../src/report/pull-request.ts'
import { resultsSchema } from '../../src/report/results.ts'
import { FILES, offer, type Project, project, proven, SHORT, SPEC } from './project.ts'

/** Everything below is calculated from the raw samples of the ledger, by nothing that winnow itself calculates with. */

type Measured = Extract<LedgerEvent, { kind: 'measured' }>
type Ordered = Extract<LedgerEvent, { kind: 'order-issued' }>

async function eventsIn(person: Project): Promise<LedgerEvent[]> {
  const { out } = await person.winnow('log', '--json')
  return out
    .trim()
    .split('\n')
    .map(line => parseEvent(JSON.parse(line)))
}

function ordersFor(events: readonly LedgerEvent[], wanted: (order: Ordered) => boolean): Ordered[] {
  return events.flatMap(event => (event.kind === 'order-issued' && wanted(event) ? [event] : []))
}

function reportOn(events: readonly LedgerEvent[], { id }: Ordered): Measured['report'] {
  const found = events.find(event => event.kind === 'measured' && event.order === id)
  if (found?.kind !== 'measured') throw new Error(`order ${id} has no report`)
  return found.report
}

/** Raw values of one side, in the order in which they were taken. */
function samples(report: Measured['report'], side: string): number[] {
  const own = report.executions.filter(run => run.side === side && run.role === 'sample')
  return own.map(run => Number(run.metrics['bytes']))
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [lower, upper] = [Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2)]
  return ((sorted[lower] ?? Number.NaN) + (sorted[upper] ?? Number.NaN)) / 2
}

/** Hodges-Lehmann: the median of the means of all two differences. Positive is better: less is. */
function estimate(pairs: readonly (readonly [base: number, candidate: number])[]): number {
  const gains = pairs.map(([base, candidate]) => Math.log(base) - Math.log(candidate))
  return middle(gains.flatMap((one, at) => gains.slice(at).map(other => (one + other) / 2)))
}

function pairsIn(
  events: readonly LedgerEvent[],
  orders: readonly Ordered[],
  label: string,
): [number, number][] {
  return orders.flatMap(order => {
    const report = reportOn(events, order)
    const candidate = samples(report, label)
    return samples(report, 'base').map((base, at): [number, number] => [base, candidate[at] ?? Number.NaN])
  })
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(1)} %`
}

function minutesOf({ started_at, finished_at }: Measured['report']): number {
  return (Date.parse(finished_at) - Date.parse(started_at)) / 60_000
}

function campaignOf(events: readonly LedgerEvent[]): Campaign {
  return fold(createEmptyCampaign(), [...events])
}

/** What each place shows about one experiment. */
async function shown(person: Project, id: string) {
  const campaign = campaignOf(await eventsIn(person))
  const experiment = campaign.experiments[id]
  if (experiment === undefined) throw new Error(`${id} is not there`)
  const status = (await person.json('status')) as { experiments: { id: string; metrics: object }[] }
  return {
    show: (await person.winnow('show', id)).out,
    status: status.experiments.find(one => one.id === id),
    results: resultsSchema.parse(parse((await person.winnow('results', id)).out)),
    stored: resultsSchema.parse(parse(person.git('show', `optimize-state/size:results/${id}.yaml`))),
    pull: renderPullBody(campaign, experiment).replaceAll('\\', ''),
  }
}

/** What each place shows about the campaign as a whole. */
async function whole(person: Project) {
  const view = (name: string) => person.git('show', `optimize-state/size:${name}`)
  return {
    status: (await person.winnow('status')).out,
    json: await person.json('status'),
    badge: view('badge.svg'),
    chart: view('chart.svg'),
    readme: view('README.md').replaceAll('\\', ''),
    digest: view('digest.md').replaceAll('\\', ''),
    pull: renderCampaignPullBody(campaignOf(await eventsIn(person))).replaceAll('\\', ''),
  }
}

describe('every number of a deterministic campaign', () => {
  it('is that of the raw samples, wherever it is shown', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    await person.winnow('run')
    await offer(person, `${'a'.repeat(79)}\n`, [], 'optimize/size')
    await person.winnow('run')
    const events = await eventsIn(person)

    const ends: [number, number][] = []
    for (const [id, word] of [
      ['exp-001', 'Kept'],
      ['exp-002', 'Worse'],
    ] as const) {
      const orders = ordersFor(events, ({ candidates }) => candidates.some(({ label }) => label === id))
      const [order] = orders
      if (order === undefined) throw new Error(`${id} was not ordered`)
      const report = reportOn(events, order)
      const [base, candidate] = [middle(samples(report, 'base')), middle(samples(report, id))]
      ends.push([base, candidate])
      const change = `bytes ${base} -> ${candidate} (${candidate < base ? '' : '+'}${percent(candidate / base - 1)})`
      const all = await shown(person, id)
      expect(all.show).toContain(`${id} ${word}: ${change}`)
      expect(all.pull.replaceAll('**', '')).toContain(`${word}: ${change.replace('->', '→')}`)
      expect(all.results.summary).toContain(`${word}: ${change}`)
      expect(all.status?.metrics).toMatchObject({ bytes: candidate })
      for (const one of [all.results, all.stored]) {
        expect(one.metrics['bytes']).toEqual({
          base,
          candidate,
          samples: { base: samples(report, 'base'), candidate: samples(report, id) },
        })
        expect(one.effect).toMatchObject({ scale: 'linear', value: base - candidate, interval: null })
        expect(one.cost.minutes).toBeCloseTo(
          orders.reduce((sum, each) => sum + minutesOf(reportOn(events, each)), 0),
          9,
        )
        expect(one.cost.executions).toBe(
          orders.reduce((sum, each) => sum + reportOn(events, each).executions.length, 0),
        )
      }
    }

    const [[start, now] = [0, 0]] = ends
    const gain = percent(now / start - 1)
    const all = await whole(person)
    for (const text of [all.status, all.readme, all.digest])
      expect(text).toContain(`bytes ${start} -> ${now} (${gain})`)
    expect(all.pull).toContain(
      `### bytes ${gain.replace('-', '')} lower than at the start\n\`bytes\` ${start} → ${now} · `,
    )
    expect(all.badge).toContain(`<title>size: ${gain} · running</title>`)
    expect(all.chart).toContain(gain)
    expect(all.json).toMatchObject({
      progress: { change: now / start - 1 },
      baseline: { metrics: { bytes: start } },
      incumbent: { metrics: { bytes: now } },
      verdicts: { kept: 1, worse: 1 },
    })
    const spent = events.flatMap(event => (event.kind === 'measured' ? [event.report] : []))
    const counted = all.json['spent'] as { minutes: number; executions: number }
    expect(counted.minutes).toBeCloseTo(
      spent.reduce((sum, report) => sum + minutesOf(report), 0),
      9,
    )
    expect(counted.executions).toBe(spent.reduce((sum, report) => sum + report.executions.length, 0))
    await proven(person)
  })
})

/** Bytes in thousandths, off by what the seed of the pair says. */
const NOISY = `printf '{"bytes": %s}' "$(( $(wc -c < src/value) * 1000 + WINNOW_SEED % 9973 ))"\n`

describe('every number of a paired campaign', () => {
  it('is that of the raw samples, wherever it is shown', { timeout: 120_000 }, async () => {
    const spec = `${SPEC}stopping: { max_iterations: 1 }\n`
    const person = project({ ...FILES, '.winnow/size.yaml': spec, 'bench/size.sh': NOISY })
    await person.winnow('run')
    await offer(person, SHORT)
    await person.winnow('run')
    const events = await eventsIn(person)
    const own = ordersFor(events, ({ candidates }) => candidates.some(({ label }) => label === 'exp-001'))
    const raw = pairsIn(events, own, 'exp-001')
    const effect = estimate(raw)
    const size = percent(1 - Math.exp(-effect))

    const all = await shown(person, 'exp-001')
    expect(all.results.summary).toMatch(new RegExp(`^Kept: bytes (?:probably )?${size} lower`))
    expect(all.show).toContain(`bytes ${size} lower`)
    expect(all.pull).toContain(`bytes ${size} lower`)
    expect(all.show).toContain(`${raw.length} pairs in ${own.length} jobs`)
    for (const one of [all.results, all.stored]) {
      expect(one.effect).toMatchObject({ scale: 'log', pairs: raw.length })
      expect(one.effect?.value).toBeCloseTo(effect, 9)
      // A few pairs bound nothing yet.
      const [low, high] = one.effect?.interval ?? [effect, effect]
      expect(low).toBeLessThanOrEqual(effect)
      expect(high).toBeGreaterThanOrEqual(effect)
      expect(one.metrics['bytes']).toEqual({
        base: middle(raw.map(([base]) => base)),
        candidate: middle(raw.map(([, candidate]) => candidate)),
        samples: { base: raw.map(([base]) => base), candidate: raw.map(([, candidate]) => candidate) },
      })
      expect(one.evidence?.reached).toBeGreaterThanOrEqual(one.evidence?.needed ?? Number.NaN)
    }
    const view = await person.json('show', '1')
    const stories = view['pairs'] as { jobs: { pairs: { base: object; candidate: object }[] }[] }[]
    expect(stories.flatMap(({ jobs }) => jobs.flatMap(({ pairs }) => pairs))).toMatchObject(
      raw.map(([base, candidate]) => ({ base: { bytes: base }, candidate: { bytes: candidate } })),
    )

    const headline = ordersFor(events, ({ purpose }) => purpose === 'progression')
    const label = headline[0]?.candidates[0]?.label ?? ''
    const progressPairs = pairsIn(events, headline, label)
    expect(progressPairs.length).toBeGreaterThan(0)
    const progress = estimate(progressPairs)
    const gain = percent(1 - Math.exp(-progress))
    const everywhere = await whole(person)
    for (const text of [everywhere.status, everywhere.readme, everywhere.digest, everywhere.pull])
      expect(text).toContain(`bytes ${gain} lower`)
    expect(everywhere.badge).toContain(`-${gain}`)
    const json = everywhere.json['progress'] as { effect: number; pairs: number }
    expect(json.pairs).toBe(progressPairs.length)
    expect(json.effect).toBeCloseTo(progress, 9)
    await proven(person)
  })
})
