import { describe, expect, it } from 'vitest'
import { recordCampaignPullEnd } from '../../src/plan/pulls.ts'
import type { EventDraft } from '../../src/model/event.ts'
import type { ForgeChange } from '../../src/github/port.ts'
import type { CampaignPullFacts, PullFacts, World } from '../../src/plan/world.ts'
import { renderCampaignPullBody } from '../../src/report/campaign-pull-request.ts'
import { campaign, oidOf } from './a-campaign.ts'
import { carryOut, world } from './a-world.ts'
import { changesOf, withChanges } from './desired.ts'

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

/** What is written on the campaign's own pull request. */
function changesThere(seen: World) {
  const about = (each: ForgeChange) =>
    each.kind === 'open' ? each.branch === 'optimize-campaign/size' : each.number === 9
  return changesOf(seen).filter(about)
}

const approvalOf = (experiment: string, digest = 'a'): EventDraft<'approval-requested'> => ({
  kind: 'approval-requested',
  cause: `${experiment} ${digest}`,
  experiment,
  digest: digest.repeat(64),
  packages: ['left-pad'],
  additions: [],
  why: '',
})

describe('the campaign’s own pull request', () => {
  it('is opened with the first thing kept, never before and never empty', () => {
    expect(changesThere(world(campaign().ready(), { campaignPull: null }))).toEqual([])
    const built = kept()
    expect(changesThere(world(built, { campaignPull: null }))).toMatchObject([
      { kind: 'open', base: 'main', draft: true },
    ])
    expect(changesThere(world(built, { campaignPull: null, campaignTip: null }))).toEqual([])
    expect(changesThere(world(built, { campaignPull: null, defaultTip: built.campaign.incumbent }))).toEqual(
      [],
    )
    expect(changesThere(world(built))).toEqual([])
  })

  it('is written anew when what it says is out of date, and only then', () => {
    const built = kept()
    const seen = () => world(built, { campaignPull: shown(built) })
    const now = withChanges(shown(built), changesThere(seen()))
    expect(now.body).toBe(renderCampaignPullBody(built.campaign))
    const body = `${now.body.trim().replaceAll('\n', '\r\n')}\r\n`
    expect(changesThere(world(built, { campaignPull: { ...now, body } }))).toEqual([])
    built.add({ kind: 'campaign-stopped', cause: 'x', code: 'person', reason: 'enough' })
    expect(changesThere(world(built, { campaignPull: now }))).toMatchObject([
      { kind: 'update', number: 9, draft: false },
    ])
  })

  it('is restored after a person edited it', () => {
    const built = kept()
    const now = withChanges(shown(built), changesThere(world(built, { campaignPull: shown(built) })))
    const changes = changesThere(world(built, { campaignPull: { ...now, body: 'mine', title: 'mine' } }))
    expect(changes).toEqual([{ kind: 'update', number: 9, title: now.title, body: now.body }])
  })

  it('is not edited for its running totals alone while a round is open', () => {
    const built = kept()
    const now = withChanges(shown(built), changesThere(world(built, { campaignPull: shown(built) })))
    built.campaign.spent.minutes += 60
    expect(changesThere(world(built, { campaignPull: now }))).toHaveLength(1)
    if (built.campaign.round) built.campaign.round.open = true
    expect(changesThere(world(built, { campaignPull: now }))).toEqual([])
  })

  it('stops asking for a merge once it is merged, and says who stopped the campaign once', () => {
    const built = kept()
    built.add({ kind: 'campaign-stopped', cause: 'x', code: 'person', reason: 'stopped by ada' })
    const before = renderCampaignPullBody(built.campaign)
    expect(before).toContain('Merge this pull request to take all of it into main.')
    expect(before).toContain(' · stopped by ada\n')
    const merged = shown(built, { body: before, state: 'merged', closed_at: '2026-01-01T00:30:00Z' })
    const now = withChanges(merged, changesThere(world(built, { campaignPull: merged })))
    expect(now.body).toContain('\nMerged into main.\n')
    expect(now.body).not.toMatch(/Merge this|on its own|\/winnow/)
    expect(changesThere(world(built, { campaignPull: now }))).toEqual([])
    built.add({ kind: 'campaign-resumed', cause: 'y', reason: 'on' })
    expect(
      changesThere(world(built, { campaignPull: merged })).filter(({ kind }) => kind === 'update'),
    ).toEqual([])
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
    expect(renderCampaignPullBody(built.campaign)).toContain('| exp-002: being measured |')
    const own = { number: 5, branch: 'optimize-exp/size/exp-002', base: 'main', title: '', body: '' }
    const pulls = [{ ...own, state: 'open' as const, head: oidOf('head of exp-002') }]
    const seen = (campaignPull: CampaignPullFacts) => world(built, { pulls, campaignPull })
    const now = withChanges(shown(built), changesThere(seen(shown(built))))
    expect(now.body).toContain('| #5: being measured |')
    expect(changesThere(seen(now))).toEqual([])

    built.withExperiment({ hypothesis: 'from a fork' })
    built.add({
      kind: 'experiment-refused',
      cause: 'late',
      experiment: 'exp-003',
      head: null,
      code: 'unisolated',
      message: 'eve has no write access',
    })
    expect(withChanges(now, changesThere(seen(now))).body).toMatch(
      /1 idea not kept[^]*from a fork \| Refused: eve has no write access/,
    )
  })

  it('asks for an approval in a comment, once, and edits it for a set that took the place of another', () => {
    const built = kept().withExperiment().add(approvalOf('exp-002'))
    const seen = (campaignPull: CampaignPullFacts) => world(built, { campaignPull })
    const changes = changesThere(seen(shown(built)))
    expect(changes.filter(({ kind }) => kind === 'comment')).toMatchObject([
      { body: expect.stringContaining('adds left-pad'), marker: 'approval exp-002' },
    ])
    const now = withChanges(shown(built), changes)
    expect(changesThere(seen(now))).toEqual([])
    const { spec } = world(built)
    const quiet = { ...spec, report: { ...spec.report, comment: 'never' } as const }
    const silent = changesThere({ ...seen(shown(built)), spec: quiet })
    expect(silent.filter(({ kind }) => kind === 'comment')).toEqual([])
  })

  it('leaves it to an experiment’s own pull request before there is one of the campaign, and repeats nothing', () => {
    const built = campaign()
      .withExperiment()
      .withExperiment({ owned: false, branch: 'mine', pull: 8 })
      .add(approvalOf('exp-001'), approvalOf('exp-002'))
    const own = {
      number: 5,
      branch: 'optimize-exp/size/exp-001',
      base: 'optimize/size',
      title: '',
      body: '',
      state: 'open' as const,
      head: oidOf('head of exp-001'),
    }
    const commentsOf = (seen: World) =>
      changesOf(seen).flatMap(each => (each.kind === 'comment' ? [each] : []))
    const asked = commentsOf(world(built, { pulls: [own], campaignPull: null }))
    expect(asked).toMatchObject([
      {
        number: 5,
        body: expect.stringMatching(
          /^This change adds left-pad, listed above\. Review and approve it here to have it measured\./,
        ),
      },
    ])
    const told = withChanges<PullFacts>(own, asked)
    expect(commentsOf(world(built, { pulls: [told] }))).toEqual([])
    expect(commentsOf(world(built, { pulls: [{ ...own, state: 'closed' }] }))).toEqual([])
    const { spec } = world(built)
    const quiet = { ...spec, report: { ...spec.report, comment: 'never' } as const }
    expect(commentsOf(world(built, { pulls: [own], spec: quiet }))).toEqual([])

    // It was opened since: who has heard of it hears it no second time.
    const toldOf = (pull: PullFacts) =>
      commentsOf(world(built, { pulls: [pull], campaignPull: shown(built) })).map(({ marker }) => marker)
    expect(toldOf(own)).toEqual(['approval exp-001', 'approval exp-002'])
    expect(toldOf(told)).toEqual(['approval exp-002'])
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
