import { describe, expect, it } from 'vitest'
import { campaignPullMark } from '../../src/model/campaign-pull.ts'
import { campaignPullActions, campaignPullSteps } from '../../src/plan/campaign-pull.ts'
import type { CampaignPullFacts } from '../../src/plan/world.ts'
import { waitingText } from '../../src/report/approval-text.ts'
import { campaignPullBody } from '../../src/report/campaign-pull-text.ts'
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

function shown(
  { campaign: { incumbent } }: Kept,
  differs: Partial<CampaignPullFacts> = {},
): CampaignPullFacts {
  const pull = { number: 9, branch: 'optimize-campaign/size', head: incumbent.commit, title: '', body: '' }
  return { ...pull, base: 'main', state: 'open', draft: true, closed_at: null, ...differs }
}

describe('the campaign’s own pull request', () => {
  it('is opened with the first thing kept, never before and never empty', () => {
    expect(campaignPullActions(world(campaign().ready(), { campaignPull: null }))).toEqual([])
    const built = kept()
    expect(campaignPullActions(world(built, { campaignPull: null }))).toEqual([
      { do: 'campaign-pull', number: null, ready: false },
    ])
    expect(campaignPullActions(world(built, { campaignPull: null, campaignTip: null }))).toEqual([])
    expect(
      campaignPullActions(world(built, { campaignPull: null, defaultTip: built.campaign.incumbent })),
    ).toEqual([])
    expect(campaignPullActions(world(built))).toEqual([])
  })

  it('is written anew when what it says is out of date, and only then', () => {
    const built = kept()
    const now = { do: 'campaign-pull', number: 9, ready: false }
    expect(campaignPullActions(world(built, { campaignPull: shown(built) }))).toEqual([now])
    const body = campaignPullBody(built.campaign)
    expect(body).toContain(campaignPullMark(built.campaign))
    expect(campaignPullActions(world(built, { campaignPull: shown(built, { body }) }))).toEqual([])
    built.add({ kind: 'campaign-stopped', cause: 'x', code: 'person', reason: 'enough' })
    expect(campaignPullActions(world(built, { campaignPull: shown(built, { body }) }))).toEqual([
      { ...now, ready: true },
    ])
  })

  it('tells of an experiment that waits for an approval, once, and of a set that took the place of another', () => {
    const built = kept().withExperiment()
    const asked = (digest: string) =>
      built.add({
        kind: 'approval-requested',
        cause: digest,
        experiment: 'exp-002',
        digest: digest.repeat(64),
        packages: ['left-pad'],
        additions: [],
        why: '',
      })
    asked('a')
    const pull = () => shown(built, { body: campaignPullMark(built.campaign), said: '' })
    const tell = { do: 'tell', number: 9, experiment: 'exp-002' }
    expect(campaignPullActions(world(built, { campaignPull: pull() }))).toEqual([tell])
    const said = waitingText(built.experiment('exp-002'))
    expect(campaignPullActions(world(built, { campaignPull: { ...pull(), said } }))).toEqual([])
    asked('b')
    expect(campaignPullActions(world(built, { campaignPull: { ...pull(), said } }))).toEqual([tell])
    const { spec } = world(built)
    const quiet = { ...spec, report: { ...spec.report, comment: 'never' } as const }
    expect(campaignPullActions(world(built, { campaignPull: pull(), spec: quiet }))).toEqual([])
  })

  it('stops the campaign when merged and pauses it when closed, each once', () => {
    const built = kept()
    const closed_at = '2026-01-01T00:30:00Z'
    for (const state of ['merged', 'closed'] as const) {
      const campaignPull = shown(built, { state, closed_at })
      const [step] = campaignPullSteps(world(built, { campaignPull }))
      const kind = state === 'merged' ? 'campaign-stopped' : 'campaign-paused'
      expect(step).toMatchObject({
        step: 'event',
        draft: { kind, cause: expect.stringMatching(/^campaign-pull:9 /) },
      })
      if (step?.step !== 'event') throw new Error('no event')
      built.add(step.draft)
      expect(campaignPullSteps(world(built, { campaignPull }))).toEqual([])
      built.add({ kind: 'campaign-resumed', cause: state, reason: 'on' })
      expect(campaignPullSteps(world(built, { campaignPull }))).toEqual([])
    }
  })

  it('says how to finish: what merging and closing do, how to take one alone, and what keeps checks waiting', () => {
    const [, ...ways] = campaignPullBody(kept().campaign).split('`winnow audit` shows it')
    expect(ways).toHaveLength(1)
    for (const words of ['Merge it into main', 'Close it', 'one change alone', '*Approve workflows to run*'])
      expect(ways[0]).toContain(words)
  })

  it('quotes what branches say', () => {
    const body = campaignPullBody(kept().campaign)
    expect(body).toContain('faster \\| @\u200byou \\<b\\>')
  })
})
