import { describe, expect, it } from 'vitest'
import { buildCampaignPullMark } from '../../src/model/marks.ts'
import { announceApprovals, recordCampaignPullEnd, updateCampaignPull } from '../../src/plan/pulls.ts'
import type { CampaignPullFacts } from '../../src/plan/world.ts'
import { renderApprovalComment } from '../../src/report/approval.ts'
import { renderCampaignPullBody } from '../../src/report/campaign-pull-request.ts'
import { campaign, oidOf } from './a-campaign.ts'
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
    expect(updateCampaignPull(world(campaign().ready(), { campaignPull: null }))).toEqual([])
    const built = kept()
    expect(updateCampaignPull(world(built, { campaignPull: null }))).toEqual([
      { do: 'campaign-pull', number: null, ready: false },
    ])
    expect(updateCampaignPull(world(built, { campaignPull: null, campaignTip: null }))).toEqual([])
    expect(
      updateCampaignPull(world(built, { campaignPull: null, defaultTip: built.campaign.incumbent })),
    ).toEqual([])
    expect(updateCampaignPull(world(built))).toEqual([])
  })

  it('is written anew when what it says is out of date, and only then', () => {
    const built = kept()
    const now = { do: 'campaign-pull', number: 9, ready: false }
    expect(updateCampaignPull(world(built, { campaignPull: shown(built) }))).toEqual([now])
    const body = renderCampaignPullBody(built.campaign)
    expect(body).toContain(buildCampaignPullMark(built.campaign))
    expect(updateCampaignPull(world(built, { campaignPull: shown(built, { body }) }))).toEqual([])
    built.add({ kind: 'campaign-stopped', cause: 'x', code: 'person', reason: 'enough' })
    expect(updateCampaignPull(world(built, { campaignPull: shown(built, { body }) }))).toEqual([
      { ...now, ready: true },
    ])
  })

  it('stops asking for a merge once it is merged, and says who stopped the campaign once', () => {
    const built = kept()
    built.add({ kind: 'campaign-stopped', cause: 'x', code: 'person', reason: 'stopped by ada' })
    const before = renderCampaignPullBody(built.campaign)
    expect(before).toContain('Merge this pull request to take all of it into main.')
    expect(before).toContain(' · stopped by ada\n')
    const merged = shown(built, { body: before, state: 'merged', closed_at: '2026-01-01T00:30:00Z' })
    const shows = { merged: true, pulls: {} }
    const [action] = updateCampaignPull(world(built, { campaignPull: merged }))
    expect(action).toEqual({ do: 'campaign-pull', number: 9, ready: false, shows })
    const body = renderCampaignPullBody(built.campaign, null, shows)
    expect(body).toContain('\nMerged into main.\n')
    expect(body).not.toMatch(/Merge this|on its own|\/winnow/)
    expect(updateCampaignPull(world(built, { campaignPull: { ...merged, body } }))).toEqual([])
    built.add({ kind: 'campaign-resumed', cause: 'y', reason: 'on' })
    expect(updateCampaignPull(world(built, { campaignPull: merged }))).not.toContainEqual(action)
  })

  it('names a change taken alone by its pull request, and follows ideas that are refused', () => {
    const built = kept()
    built.add({
      kind: 'experiment-opened',
      cause: 'pick',
      experiment: 'exp-002',
      purpose: 'pick',
      picks: 'exp-001',
      hypothesis: 'alone',
      category: 'unsorted',
      required_deps: [],
      family: null,
      source: { use: 'pick', key: 'exp-001' },
      branch: 'optimize-exp/size/exp-002',
      owned: true,
      pull: null,
      head: oidOf('head of exp-002'),
      base: built.campaign.incumbent,
      priority: 'medium',
      learnings: null,
    })
    const body = renderCampaignPullBody(built.campaign)
    expect(body).toContain('| exp-002: being measured |')
    const own = { number: 5, branch: 'optimize-exp/size/exp-002', base: 'main', title: '', body: '' }
    const pulls = [{ ...own, state: 'open' as const, head: oidOf('head of exp-002'), ownComments: '' }]
    const [action] = updateCampaignPull(world(built, { pulls, campaignPull: shown(built, { body }) }))
    const shows = { merged: false, pulls: { 'exp-002': 5 } }
    expect(action).toEqual({ do: 'campaign-pull', number: 9, ready: false, shows })
    const named = renderCampaignPullBody(built.campaign, null, shows)
    expect(named).toContain('| #5: being measured |')
    const current = { pulls, campaignPull: shown(built, { body: named }) }
    expect(updateCampaignPull(world(built, current))).toEqual([])

    built.withExperiment({ hypothesis: 'from a fork' })
    built.add({
      kind: 'experiment-refused',
      cause: 'late',
      experiment: 'exp-003',
      head: null,
      code: 'unisolated',
      message: 'eve has no write access',
    })
    expect(updateCampaignPull(world(built, current))).toContainEqual(action)
    expect(renderCampaignPullBody(built.campaign, null, shows)).toMatch(
      /1 idea not kept[^]*from a fork \| Refused: eve has no write access/,
    )
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
    const state = { merged: false, pulls: { 'exp-002': 2 } }
    const pull = () => shown(built, { body: buildCampaignPullMark(built.campaign, state), ownComments: '' })
    const tell = { do: 'tell', number: 9, experiment: 'exp-002' }
    expect(updateCampaignPull(world(built, { campaignPull: pull() }))).toEqual([tell])
    const said = renderApprovalComment(built.experiment('exp-002'))
    expect(updateCampaignPull(world(built, { campaignPull: { ...pull(), ownComments: said } }))).toEqual([])
    asked('b')
    expect(updateCampaignPull(world(built, { campaignPull: { ...pull(), ownComments: said } }))).toEqual([
      tell,
    ])
    const { spec } = world(built)
    const quiet = { ...spec, report: { ...spec.report, comment: 'never' } as const }
    expect(updateCampaignPull(world(built, { campaignPull: pull(), spec: quiet }))).toEqual([])
  })

  it('leaves it to an experiment’s own pull request before there is one of the campaign, and repeats nothing', () => {
    const built = campaign().withExperiment().withExperiment({ owned: false, branch: 'mine', pull: 8 })
    const needs = { digest: 'a'.repeat(64), packages: ['left-pad'], additions: [], why: '' }
    for (const experiment of ['exp-001', 'exp-002'])
      built.add({ kind: 'approval-requested', cause: experiment, experiment, ...needs })
    const own = { number: 5, branch: 'optimize-exp/size/exp-001', base: 'optimize/size', title: '', body: '' }
    const pull = (said: string) => ({
      ...own,
      state: 'open' as const,
      head: oidOf('head of exp-001'),
      ownComments: said,
    })
    const here = { do: 'tell', number: 5, experiment: 'exp-001', here: true }
    expect(announceApprovals(world(built, { pulls: [pull('')], campaignPull: null }))).toEqual([here])
    const said = renderApprovalComment(built.experiment('exp-001'), true)
    expect(said).toMatch(
      /^This change adds left-pad, listed above\. Review and approve it here to have it measured\./,
    )
    expect(announceApprovals(world(built, { pulls: [pull(said)] }))).toEqual([])
    expect(announceApprovals(world(built, { pulls: [{ ...pull(''), state: 'closed' }] }))).toEqual([])
    const { spec } = world(built)
    const quiet = { ...spec, report: { ...spec.report, comment: 'never' } as const }
    expect(announceApprovals(world(built, { pulls: [pull('')], spec: quiet }))).toEqual([])

    // It was opened since: who has heard of it hears it no second time.
    const opened = shown(built, { body: buildCampaignPullMark(built.campaign), ownComments: '' })
    expect(announceApprovals(world(built, { pulls: [pull('')], campaignPull: opened }))).toEqual([])
    const toldOf = (words: string) =>
      updateCampaignPull(world(built, { pulls: [pull(words)], campaignPull: opened })).flatMap(action =>
        action.do === 'tell' ? [action.experiment] : [],
      )
    expect(toldOf('')).toEqual(['exp-001', 'exp-002'])
    expect(toldOf(said)).toEqual(['exp-002'])
  })

  it('stops the campaign when merged and pauses it when closed, each once', () => {
    const built = kept()
    const closed_at = '2026-01-01T00:30:00Z'
    for (const state of ['merged', 'closed'] as const) {
      const campaignPull = shown(built, { state, closed_at })
      const [step] = recordCampaignPullEnd(world(built, { campaignPull }))
      const kind = state === 'merged' ? 'campaign-stopped' : 'campaign-paused'
      expect(step).toMatchObject({
        step: 'event',
        draft: { kind, cause: expect.stringMatching(/^campaign-pull:9 /) },
      })
      if (step?.step !== 'event') throw new Error('no event')
      built.add(step.draft)
      expect(recordCampaignPullEnd(world(built, { campaignPull }))).toEqual([])
      built.add({ kind: 'campaign-resumed', cause: state, reason: 'on' })
      expect(recordCampaignPullEnd(world(built, { campaignPull }))).toEqual([])
    }
  })

  it('says how to finish: what merging and closing do, how to take one alone, and what keeps checks waiting', () => {
    const body = renderCampaignPullBody(kept().campaign)
    for (const words of [
      'Merge this pull request',
      'closing it',
      'a single change',
      '*Approve workflows to run*',
    ])
      expect(body).toContain(words)
  })

  it('quotes what branches say', () => {
    const body = renderCampaignPullBody(kept().campaign)
    expect(body).toContain('faster \\| @\u200byou \\<b\\>')
  })
})
