import { describe, expect, it } from 'vitest'
import { offerMark } from '../../src/model/offer.ts'
import { offerActions, offerSteps } from '../../src/plan/offer.ts'
import type { OfferFacts } from '../../src/plan/world.ts'
import { offerBody } from '../../src/report/offer-text.ts'
import { campaign } from './a-campaign.ts'
import { carryOut, world } from './a-world.ts'

function kept() {
  const built = campaign()
    .withExperiment({ hypothesis: 'faster | @you <b>' })
    .ordered()
    .measured({ 'exp-001': { candidate: { bytes: 8 } } })
  carryOut(built)
  if (built.campaign.round) built.campaign.round.open = false
  return built
}

type Kept = ReturnType<typeof kept>

function offered({ campaign: { incumbent } }: Kept, differs: Partial<OfferFacts> = {}): OfferFacts {
  const pull = { number: 9, branch: 'optimize-campaign/size', head: incumbent.commit, title: '', body: '' }
  return { ...pull, base: 'main', state: 'open', draft: true, closed_at: null, ...differs }
}

describe('the campaign’s own pull request', () => {
  it('is opened with the first thing kept, never before and never empty', () => {
    expect(offerActions(world(campaign().ready(), { offer: null }))).toEqual([])
    const built = kept()
    expect(offerActions(world(built, { offer: null }))).toEqual([{ do: 'offer', number: null, ready: false }])
    expect(offerActions(world(built, { offer: null, campaignTip: null }))).toEqual([])
    expect(offerActions(world(built, { offer: null, defaultTip: built.campaign.incumbent }))).toEqual([])
    expect(offerActions(world(built))).toEqual([])
  })

  it('is written anew when what it says is out of date, and only then', () => {
    const built = kept()
    const now = { do: 'offer', number: 9, ready: false }
    expect(offerActions(world(built, { offer: offered(built) }))).toEqual([now])
    const body = offerBody(built.campaign)
    expect(body).toContain(offerMark(built.campaign))
    expect(offerActions(world(built, { offer: offered(built, { body }) }))).toEqual([])
    built.add({ kind: 'campaign-stopped', cause: 'x', code: 'person', reason: 'enough' })
    expect(offerActions(world(built, { offer: offered(built, { body }) }))).toEqual([{ ...now, ready: true }])
  })

  it('stops the campaign when merged and pauses it when closed, each once', () => {
    const built = kept()
    const closed_at = '2026-01-01T00:30:00Z'
    for (const state of ['merged', 'closed'] as const) {
      const offer = offered(built, { state, closed_at })
      const [step] = offerSteps(world(built, { offer }))
      const kind = state === 'merged' ? 'campaign-stopped' : 'campaign-paused'
      expect(step).toMatchObject({
        step: 'event',
        draft: { kind, cause: expect.stringMatching(/^offer:9 /) },
      })
      if (step?.step !== 'event') throw new Error('no event')
      built.add(step.draft)
      expect(offerSteps(world(built, { offer }))).toEqual([])
      built.add({ kind: 'campaign-resumed', cause: state, reason: 'on' })
      expect(offerSteps(world(built, { offer }))).toEqual([])
    }
  })

  it('quotes what branches say', () => {
    const body = offerBody(kept().campaign)
    expect(body).toContain('faster \\| @\u200byou \\<b\\>')
  })
})
