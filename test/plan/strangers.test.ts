import { describe, expect, it } from 'vitest'
import { planCampaign } from '../../src/plan/stages.ts'
import { allowMeasure } from '../../src/plan/permissions.ts'
import { describeVerdict } from '../../src/report/verdict-text.ts'
import { getExperimentState } from '../../src/report/experiment-state.ts'
import { campaign, type CampaignBuilder, oidOf } from './a-campaign.ts'
import { actionsOf, carryOut, draftsOfKind, endings, settle, world } from './a-world.ts'
import { changesOf } from './desired.ts'

const HEAD = oidOf('head of exp-001')
const BRANCH = 'eve:faster'
const EVE = { outsiders: new Map([['exp-001', 'eve']]) }

function brought(): CampaignBuilder {
  return campaign().withExperiment({ branch: BRANCH, owned: false, pull: 1 })
}

function allowed(head: string) {
  return {
    kind: 'permission-granted',
    cause: `comment ${head}`,
    experiment: 'exp-001',
    head,
    login: 'ada',
  } as const
}

describe('what somebody brings who may not write here', () => {
  it('is not measured: the ledger says once who waits for which word', () => {
    const built = brought()
    const first = carryOut(built, EVE)
    expect(draftsOfKind(first, 'permission-requested')).toMatchObject([
      { experiment: 'exp-001', head: HEAD, author: 'eve' },
    ])
    expect(draftsOfKind(first, 'order-issued')).toEqual([])
    const then = planCampaign(world(built, EVE))
    expect(then.actions).toEqual([])
    expect(then.waiting).toEqual({ for: 'person', what: expect.stringContaining(`/winnow measure ${HEAD}`) })
    const standing = getExperimentState(built.campaign, built.experiment('exp-001'))
    expect(describeVerdict(standing)).toBe('waiting for permission to be measured')
    expect(standing.next).toBe(`/winnow measure ${HEAD}`)
  })

  it('is measured once that head is allowed, and that head alone', () => {
    const built = brought()
    carryOut(built, EVE)
    built.add(allowed(oidOf('another head')))
    expect(draftsOfKind(planCampaign(world(built, EVE)), 'order-issued')).toEqual([])
    built.add(allowed(HEAD))
    expect(draftsOfKind(planCampaign(world(built, EVE)), 'order-issued')).toMatchObject([
      { candidates: [{ label: 'exp-001', head: HEAD }] },
    ])
  })

  it('is asked about anew when another head takes its place, and back again', () => {
    const built = brought()
    carryOut(built, EVE)
    built.add(allowed(HEAD))
    const next = oidOf('next head')
    for (const head of [next, oidOf('third head'), next]) {
      carryOut(built, { ...EVE, branches: new Map([[BRANCH, head]]) })
      const asked = carryOut(built, { ...EVE, branches: new Map([[BRANCH, head]]) })
      expect(draftsOfKind(asked, 'permission-requested')).toMatchObject([{ head }])
      expect(draftsOfKind(asked, 'order-issued')).toEqual([])
    }
    const ids = built.events.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('waits in nobody’s way, and is not asked about before it is known who brought it', () => {
    const built = campaign().withExperiments(3)
    const strangers = new Map([['exp-001', null]])
    const planned = planCampaign(world(built, { outsiders: strangers }))
    const ordered = draftsOfKind(planned, 'order-issued').flatMap(({ candidates }) => candidates)
    expect(ordered.map(({ label }) => label)).toEqual(['exp-002', 'exp-003'])
    expect(draftsOfKind(planned, 'permission-requested')).toEqual([])
  })

  it('is measured like anything else once its author may write', () => {
    const built = brought()
    carryOut(built, EVE)
    settle(built)
    expect(built.experiment('exp-001').status).not.toBe('queued')
  })
})

describe('a word for a head', () => {
  const word = (built: CampaignBuilder, sha: string) => allowMeasure(built.campaign, sha)

  it('is about the head that was meant, by all of its digits', () => {
    const built = brought()
    carryOut(built, EVE)
    expect(word(built, HEAD)).toEqual({ experiment: 'exp-001', head: HEAD })
  })

  it.each([
    ['missing', '', 'the full commit id', `/winnow measure ${HEAD}`],
    ['not whole', HEAD.slice(0, 39), 'the full commit id', `/winnow measure ${HEAD}`],
    ['of another length', `${HEAD}0`, 'the full commit id', 'shows the whole command'],
    ['no digits', 'latest', 'the full commit id', 'shows the whole command'],
    ['moved on', oidOf('older'), 'no experiment waits for permission', 'shows the whole command'],
  ])('that is %s says why it does nothing, and what would', (_, sha, reason, fix) => {
    const built = brought()
    carryOut(built, EVE)
    expect(word(built, sha)).toEqual({
      refused: expect.stringContaining(reason),
      fix: expect.stringContaining(fix),
    })
  })

  it('is not needed for what its own people brought', () => {
    expect(word(campaign().withExperiment(), HEAD)).toMatchObject({ refused: 'exp-001 needs no permission' })
  })
})

describe('a head with another experiment’s head in it', () => {
  it('is refused by that name before anything of it runs', () => {
    const built = campaign().withExperiments(2)
    const planned = carryOut(built, { stacked: new Map([['exp-002', 'exp-001']]) })
    expect(endings(planned)).toEqual({ 'exp-002': 'refused' })
    expect(built.experiment('exp-002').reason).toMatch(/contains the head of exp-001/)
    expect(draftsOfKind(planned, 'order-issued').flatMap(({ candidates }) => candidates)).toMatchObject([
      { label: 'exp-001' },
    ])
  })

  it('is refused as the same commit where it brings nothing of its own', () => {
    const built = campaign()
      .withExperiments(1)
      .withExperiment({ head: oidOf('head of exp-001') })
    const [first, second] = [built.experiment('exp-001'), built.experiment('exp-002')]
    expect(second.head).toBe(first.head)
    const planned = carryOut(built, { stacked: new Map([['exp-002', 'exp-001']]) })
    expect(endings(planned)).toEqual({ 'exp-002': 'refused' })
    expect(built.experiment('exp-002').reason).toBe('the same commit as exp-001')
  })
})

describe('a pull request that is meant for another branch now', () => {
  it('is withdrawn, its order cancelled, and left alone', () => {
    const built = campaign().withExperiment({ branch: 'mine', owned: false, pull: 1 }).ordered()
    const pull = {
      number: 1,
      branch: 'mine',
      base: 'main',
      state: 'open',
      head: HEAD,
      title: '',
      body: '',
    } as const
    const planned = carryOut(built, { pulls: [pull] })
    expect(endings(planned)).toEqual({ 'exp-001': 'withdrawn' })
    expect(built.experiment('exp-001').reason).toMatch(/#1 was retargeted to main/)
    expect(actionsOf(planned, 'cancel')).toHaveLength(1)
    expect(changesOf(world(built, { pulls: [pull] }))).toEqual([])
  })
})
