import { describe, expect, it } from 'vitest'
import { computeEventId } from '../../src/model/event.ts'
import { computeProposeMinutes } from '../../src/plan/proposals.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { SPEC } from '../cli/size-spec.ts'
import { renderBrief } from '../../src/ideas/brief.ts'
import { type CampaignBuilder, campaign, candidateTree } from './a-campaign.ts'
import { actionsOf, carryOut, draftsOf, draftsOfKind, proposal, world } from './a-world.ts'

const askable = ['command:agent', 'other']
const elsewhere = { askable, asks: 'elsewhere' as const }
const names = (built: CampaignBuilder) =>
  Object.values(built.campaign.proposal_requests).map(({ who }) => who)
const asking = (built: CampaignBuilder) => ({ ...elsewhere, asking: names(built) })
const IDEA_BROUGHT = {
  hypothesis: 'h',
  category: 'general',
  priority: 'medium' as const,
  required_deps: [],
  family: null,
  learnings: null,
  patch: '',
}
const IDEA = { category: 'general', required_deps: [], family: null, source: 'person' }

describe('proposers that a job of its own asks', () => {
  it('stand in the ledger before anybody asks: as many as the round has room for, each asking with a key of its own', () => {
    const built = campaign()
    const planned = carryOut(built, elsewhere)
    expect(actionsOf(planned, 'propose')).toEqual([])
    const asked = draftsOfKind(planned, 'proposal-requested')
    expect(asked.map(({ who }) => who)).toEqual([...askable, ...askable])
    expect(new Set(asked.map(({ key }) => key)).size).toBe(4)
    for (const { key } of asked) expect(key).toMatch(/^command:(?:agent|other):[0-9a-f]{16}$/)
    expect(asked.every(({ base }) => base === built.campaign.incumbent)).toBe(true)
  })

  it('are asked once, whoever looks again', () => {
    const built = campaign()
    const twice = [1, 2].map(() => draftsOf(planCampaign(world(built, elsewhere))).map(computeEventId))
    expect(twice[0]).toEqual(twice[1])
    carryOut(built, elsewhere)
    expect(planCampaign(world(built, asking(built)))).toEqual({
      actions: [],
      waiting: { for: 'proposers', who: names(built) },
    })
  })

  it('are told to look somewhere else each, where no idea is written down', () => {
    const built = campaign()
    const angles = draftsOfKind(carryOut(built, elsewhere), 'proposal-requested').map(({ angle }) => angle)
    expect(angles.every(angle => angle !== undefined)).toBe(true)
    expect(new Set(angles).size).toBe(4)
    const spec = { ...built.spec }
    const texts = Object.values(built.campaign.proposal_requests).map(({ angle }) =>
      renderBrief({ campaign: built.campaign, spec, incumbentMetrics: {}, angle }),
    )
    expect(new Set(texts).size).toBe(4)
  })

  it('that give one answer are one experiment, and what came later knew of it', () => {
    const built = campaign()
    carryOut(built, elsewhere)
    const [first, second, third] = Object.values(built.campaign.proposal_requests)
    const answer = (key = '', first_unseen = 1) =>
      proposal(key, {
        source: { use: 'command', key },
        first_unseen,
        head: {
          commit: 'a'.repeat(40),
          base: built.campaign.incumbent,
          tree: candidateTree(built.campaign, 'exp-001'),
        },
      })
    const opened = carryOut(built, { proposals: [answer(first?.key), answer(second?.key)] })
    expect(draftsOfKind(opened, 'experiment-opened')).toHaveLength(1)
    expect(draftsOfKind(opened, 'answer-repeated')).toMatchObject([
      { key: second?.key, experiment: 'exp-001' },
    ])
    const later = carryOut(built, { proposals: [answer(third?.key)] })
    expect(draftsOfKind(later, 'answer-repeated')).toMatchObject([{ key: third?.key, experiment: 'exp-001' }])
    const aware = planCampaign(world(built, { proposals: [answer('command:agent:late', 2)] }))
    expect(draftsOfKind(aware, 'experiment-opened')).toHaveLength(1)
    expect(draftsOfKind(aware, 'answer-repeated')).toEqual([])
  })

  it('that give one refused answer at different looks have failed once, and once more when asked again', () => {
    const built = campaign()
    const failuresAfter = (keys: string[], first_unseen: number) => {
      for (const key of keys) {
        carryOut(built, { answers: [{ key, who: 'command:agent', ok: true, minutes: 1 }] })
        const head = { commit: 'a'.repeat(40), base: built.campaign.incumbent, tree: 'b'.repeat(40) }
        const source = { use: 'command', key }
        carryOut(built, { proposals: [proposal(key, { source, first_unseen, head })] })
        const refusal = { code: 'scope', message: 'outside scope.mutable' }
        const [id] = Object.keys(built.campaign.experiments).slice(-1)
        if (id !== undefined) carryOut(built, { candidates: { [id]: { refusal } } })
      }
      return built.campaign.proposers['command:agent']
    }
    const set = (name: string) => [1, 2, 3, 4].map(nonce => `command:agent:${name}${nonce}`)
    expect(failuresAfter(set('a'), 1)).toMatchObject({ failures: 1, disabled: false })
    expect(Object.values(built.campaign.experiments)).toMatchObject([{ outcome: 'refused' }])
    expect(built.kinds().filter(kind => kind === 'answer-repeated')).toHaveLength(3)
    // Its brief named the refused one this time.
    expect(failuresAfter(set('b'), 2)).toMatchObject({ failures: 2, disabled: false })
    expect(failuresAfter(set('c'), 3)).toMatchObject({ failures: 3, disabled: true })
  })

  it('are handed one idea of the backlog each, and none that somebody has', () => {
    const built = campaign()
    for (const cause of ['a', 'b'])
      built.add({ kind: 'hypothesis-added', cause, hypothesis: cause, priority: 'medium', ...IDEA })
    carryOut(built, elsewhere)
    const handed = Object.values(built.campaign.proposal_requests).map(({ carries }) => carries)
    expect(handed).toEqual([...built.campaign.backlog.map(({ id }) => id), null, null])
    const [first] = Object.values(built.campaign.proposal_requests)
    const brought = { ...IDEA_BROUGHT, key: first?.key ?? '', cause: first?.key ?? '' }
    built.add({ kind: 'proposal-answered', ...brought })
    const paused = planCampaign(world(built, { ...elsewhere, asking: names(built).slice(1) }))
    expect(draftsOfKind(paused, 'proposal-requested').map(({ carries }) => carries)).toEqual([undefined])
  })

  it('are asked by nobody where no such job follows, and the campaign does not stop for want of ideas', () => {
    const later = campaign(`${SPEC}propose: [{ use: command, command: think }]\n`)
    const runner = { runId: null, machine: null, external: false }
    expect(planCampaign(world(later, { askable, asks: 'later', runner }))).toEqual({
      actions: [],
      waiting: { for: 'ideas' },
    })
    const queued = campaign().withExperiments(2)
    const begun = planCampaign(world(queued, { askable, asks: 'later' }))
    expect(draftsOfKind(begun, 'order-issued')).toHaveLength(2)
  })

  it('are waited for until their time is over, and that is no failure of theirs', () => {
    const built = campaign()
    carryOut(built, elsewhere)
    const [until = ''] = Object.values(built.campaign.proposal_requests).map(each => each.until)
    expect(Date.parse(until) - Date.parse('2026-01-01T01:00:00.000Z')).toBe(60 * 60_000)
    const lost = carryOut(built, { ...asking(built), asks: 'later', now: until })
    expect(draftsOfKind(lost, 'proposal-lost')).toHaveLength(4)
    expect(built.campaign).toMatchObject({ proposal_requests: {}, proposers: {} })
  })

  it('answer a campaign that has stopped as well: their cost is recorded, and nobody waits for it', () => {
    const built = campaign()
    carryOut(built, elsewhere)
    built.add({ kind: 'campaign-stopped', cause: 'n', code: 'person', reason: 'enough' })
    const stopped = planCampaign(world(built, asking(built)))
    expect(stopped).toEqual({ actions: [], waiting: { for: 'nothing', reason: 'enough' } })
    const both = planCampaign(world(built, { ...asking(built), asking: ['here', ...names(built)] }))
    expect(both.actions).toMatchObject([{ do: 'stop-asking' }])
    const [one] = Object.values(built.campaign.proposal_requests)
    const answers = [{ key: one?.key ?? '', who: one?.who ?? '', ok: false, minutes: 3 }]
    expect(draftsOfKind(carryOut(built, { ...asking(built), answers }), 'spent')).toHaveLength(1)
    expect(names(built)).toHaveLength(3)
  })

  it.each([
    ['', 30],
    ['propose: [{ use: command, command: a, timeout_seconds: 90 }]', 32],
    ['propose: [{ use: command, command: a }, { use: command, command: b, timeout_seconds: 7200 }]', 150],
    ['propose: [{ use: command, command: a, timeout_seconds: 999999 }]', 350],
  ])('have a job that is as long as the slowest may take: %s', (lines, minutes) => {
    expect(computeProposeMinutes(parseSpec(`${SPEC}${lines}\n`, { file: 'size.yaml' }).spec)).toBe(minutes)
  })
})
