import { describe, expect, it } from 'vitest'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import { listForbiddenSpenders } from '../../src/plan/money.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { listUncappedSpenders } from '../../src/spec/spec-facts.ts'
import { winnowSpec } from '../spec/problems-of.ts'
import { type CampaignBuilder, HARNESS, oidOf, pointOf, SPEC, unprepared } from './a-campaign.ts'
import { carryOut, draftsOfKind } from './a-world.ts'
import { judgedSpec } from './judged-spec.ts'

const UNCAPPED = judgedSpec(5).replace('max_total_cost_usd: 5', 'max_total_cost_usd: null')
const CAPPED = `${UNCAPPED}stopping: { max_total_cost_usd: 9 }\n`
const TEXTGRAD = `propose: [{ use: textgrad }]
epochs: { count: 2 }
artifacts: [{ name: notes, path: src/notes.md }]
`
const spendersOf = (yaml: string) => listUncappedSpenders(parseSpec(yaml, { file: 'a.yaml' }).spec)

describe('spending that nothing caps', () => {
  it('is that of judges without a cap of their own, and of whatever else asks models', () => {
    expect([spendersOf(judgedSpec(5)), spendersOf(UNCAPPED), spendersOf(CAPPED)]).toEqual([
      [],
      ['judges'],
      [],
    ])
    const textgrad = {
      propose: [{ use: 'textgrad' }],
      artifacts: [{ name: 'notes', path: 'src/notes.md' }],
      epochs: { count: 2 },
    }
    expect(listUncappedSpenders(winnowSpec(textgrad))).toEqual(['textgrad'])
    expect(listUncappedSpenders(winnowSpec({ ...textgrad, 'stopping.max_total_cost_usd': 1 }))).toEqual([])
    expect(spendersOf(SPEC)).toEqual([])
  })

  function paused(): CampaignBuilder {
    const built = unprepared(UNCAPPED)
    const [pause] = draftsOfKind(carryOut(built), 'campaign-paused')
    expect(pause?.reason).toBe(
      'nothing caps what judges may spend on models (stopping.max_total_cost_usd, metric.judge.max_total_cost_usd). To continue, set the cap on main and run winnow resume; or allow it: winnow resume --allow-uncapped',
    )
    expect(built.events.map(({ kind }) => kind)).not.toContain('order-issued')
    return built
  }

  it('pauses a campaign before anything is spent, until a person allows it', () => {
    const built = paused()
    built.add({ kind: 'campaign-resumed', cause: 'r1', reason: 'go on' })
    expect(draftsOfKind(carryOut(built), 'campaign-paused')).toHaveLength(1)
    built.add({ kind: 'uncapped-allowed', cause: 'a', spenders: ['judges'] })
    built.add({ kind: 'campaign-resumed', cause: 'r2', reason: 'go on' })
    const [order] = draftsOfKind(carryOut(built), 'order-issued')
    expect(order).toMatchObject({ purpose: 'calibration' })
    expect(order).not.toHaveProperty('may_cost_usd')
  })

  it('is allowed for what was named, and for nothing that a later spec adds', () => {
    const { spec } = parseSpec(`${UNCAPPED}${TEXTGRAD}`, { file: 'a.yaml' })
    expect(listForbiddenSpenders({ uncapped: ['judges'] }, spec)).toEqual(['textgrad'])
  })

  it('ends with a cap on the default branch, which is adopted first', () => {
    const built = paused()
    built.add({ kind: 'campaign-resumed', cause: 'r1', reason: 'capped' })
    const { spec: parsed } = parseSpec(CAPPED, { file: '.winnow/size.yaml' })
    const spec = { yaml: CAPPED, sha256: hashSha256(CAPPED), changed: true, parsed }
    const known = { tip: pointOf('capped').commit, tipTree: oidOf('main'), holds: [], to: pointOf('synced') }
    const sync = { result: 'clean', ...known, spec, harness: HARNESS, unread: true } as const
    const planned = carryOut(built, { sync })
    expect(draftsOfKind(planned, 'campaign-paused')).toEqual([])
    expect(draftsOfKind(planned, 'synced').length + draftsOfKind(planned, 'order-issued').length).toBe(1)
  })
})
