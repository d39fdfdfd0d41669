import { describe, expect, it } from 'vitest'
import type { EventDraft } from '../../src/model/event.ts'
import { describePullLimit, openExperiments } from '../../src/plan/intake.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import { describeWaiting } from '../../src/report/verdict-text.ts'
import { campaign, type CampaignBuilder, candidateTree, oidOf, SPEC } from './a-campaign.ts'
import { actionsOf, carryOut, draftsOf, draftsOfKind, endings, proposal, settle, world } from './a-world.ts'
import { changesOf } from './desired.ts'
import { longCampaign } from './many.ts'

describe('an idea', () => {
  it('becomes one experiment, with a number and a branch of its own, however often it is brought', () => {
    const built = campaign()
    const proposals = [proposal('a'), proposal('a'), proposal('b')]
    const planned = carryOut(built, { proposals })
    expect(draftsOfKind(planned, 'experiment-opened')).toMatchObject([
      { experiment: 'exp-001', branch: 'optimize-exp/size/exp-001', owned: true, hypothesis: 'a' },
      { experiment: 'exp-002', branch: 'optimize-exp/size/exp-002', owned: true, hypothesis: 'b' },
    ])
    expect(draftsOfKind(carryOut(built, { proposals }), 'experiment-opened')).toEqual([])
  })

  it('that comes while a kept change is asked for alone has a number of its own, and so has the change', () => {
    const built = campaign().withExperiment()
    built.add({ kind: 'steered', cause: 'please', action: 'pick', experiment: 'exp-001', reason: 'alone' })
    const wish = built.campaign.steered[0]?.event ?? ''
    const base = built.campaign.pin
    if (base === null) throw new Error('the campaign began nowhere')
    const made = { commit: oidOf('alone'), tree: oidOf('its tree') }
    const picks = new Map([[wish, { landing: 'exp-001', base, result: { made } }]])
    const planned = carryOut(built, { proposals: [proposal('a'), proposal('b')], picks })
    expect(draftsOfKind(planned, 'experiment-opened')).toMatchObject([
      { experiment: 'exp-002', purpose: 'idea', hypothesis: 'a' },
      { experiment: 'exp-003', purpose: 'idea', hypothesis: 'b' },
      { experiment: 'exp-004', purpose: 'pick', picks: 'exp-001' },
    ])
    expect(built.campaign.next_number).toBe(5)
  })

  it('is opened by category and priority among all that wait, not by the names of the files', () => {
    const kind = (name: string, category: string, priority: 'high' | 'medium' | 'low' = 'medium') =>
      proposal(name, { category, priority })
    const built = campaign(`${SPEC}execution: { max_concurrent: 3 }\n`)
    const proposals = [
      kind('a1', 'alg', 'low'),
      kind('a2', 'alg'),
      kind('e1', 'emb'),
      kind('a3', 'alg'),
      kind('d1', 'data'),
      kind('a4', 'alg', 'high'),
    ]
    const planned = carryOut(built, { proposals })
    expect(draftsOfKind(planned, 'experiment-opened').map(({ hypothesis }) => hypothesis)).toEqual([
      'a4',
      'e1',
      'd1',
      'a2',
    ])
    const [first] = [carryOut(built, { proposals })].map(next => draftsOfKind(next, 'order-issued'))
    expect(first?.flatMap(({ candidates }) => candidates.map(({ label }) => label))).toEqual([
      'exp-001',
      'exp-002',
      'exp-003',
    ])
  })

  it('that comes with a higher priority is measured before those that were opened and wait', () => {
    const built = campaign(`${SPEC}execution: { mode: serial }\n`).withExperiments(2)
    const planned = carryOut(built, { proposals: [proposal('urgent', { priority: 'high' })] })
    expect(draftsOfKind(planned, 'experiment-opened')).toHaveLength(1)
    expect(draftsOfKind(planned, 'order-issued')).toEqual([])
    expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([
      { candidates: [{ label: 'exp-003' }] },
    ])
  })

  it('of a person keeps its branch, and is not counted against max_open_experiments', () => {
    const built = campaign(`${SPEC}merge: { max_open_experiments: 2 }\n`)
    const theirs = proposal('theirs', { branch: 'feature', pull: 7 })
    const planned = carryOut(built, { proposals: [proposal('a'), proposal('b'), proposal('c'), theirs] })
    expect(draftsOfKind(planned, 'experiment-opened').map(({ hypothesis }) => hypothesis)).toEqual([
      'a',
      'b',
      'theirs',
    ])
    expect(built.experiment('exp-003')).toMatchObject({ branch: 'feature', owned: false, pull: 7 })
  })

  it('of the engine is opened no faster on GitHub than max_pull_requests_per_hour says', () => {
    const built = campaign(
      `${SPEC}merge: { max_pull_requests_per_hour: 2, max_open_experiments: 9 }\nexecution: { max_concurrent: 9 }\n`,
    )
    const broken = proposal('broken', { head: { rejected: 'does not apply' } })
    const proposals = [broken, proposal('a'), proposal('b'), proposal('c'), proposal('d')]
    const theirs = proposal('theirs', {
      branch: 'feature',
      pull: 7,
      source: { use: 'external', key: 'theirs' },
    })
    const at = (minutes: number) => Date.parse(built.campaign.updated_at ?? '') + minutes * 60_000
    const look = (minutes: number) => {
      const now = new Date(at(minutes)).toISOString()
      const { steps } = openExperiments(
        world(built, { proposals: [...proposals, theirs], hasPublicPulls: true, now }),
      )
      const drafts = steps.flatMap(step =>
        step.step === 'open' || step.step === 'event' ? [step.draft] : [],
      )
      built.add(...drafts)
      return drafts.flatMap(draft => (draft.kind === 'experiment-opened' ? [draft.hypothesis] : []))
    }
    expect(look(0)).toEqual(['broken', 'a', 'theirs'])
    expect(look(1)).toEqual(['b'])
    expect(look(2)).toEqual([])
    expect(look(61)).toEqual(['c', 'd'])
    const waiting = world(built, { proposals: [...proposals, proposal('e')], hasPublicPulls: true })
    expect(describePullLimit(waiting)).toMatch(
      /^1 idea waits: 2 pull requests were opened within an hour \(merge\.max_pull_requests_per_hour\)\. The next one is opened at \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
    )
    expect(describePullLimit({ ...waiting, hasPublicPulls: false })).toBe(null)
  })

  it('that waits for max_open_experiments says so, and for which experiments', () => {
    const built = campaign(`${SPEC}merge: { max_open_experiments: 1, auto: false }\n`).withExperiment()
    built.ordered().measured({ 'exp-001': { candidate: { bytes: 8 } } })
    carryOut(built)
    const { waiting } = settle(built, () => ({ unopened: 2 }))
    expect(built.experiment('exp-001').status).toBe('landing')
    const limit = describePullLimit(world(built, { unopened: 2 }))
    expect(limit).toBe(
      '2 ideas wait: 1 of at most 1 experiment is open (merge.max_open_experiments). The next one is opened when one of them ends: exp-001',
    )
    expect(waiting?.for).not.toBe('ideas')
    expect(describeWaiting({ for: 'limit', what: limit ?? '' })).toBe(`Waiting: ${limit}.`)
    expect(describePullLimit(world(built))).toBe(null)
    expect(describePullLimit(world(built, { askable: ['agent'] }))).toMatch(/^winnow asks no proposer: /)
  })

  it('is opened however many there were where nobody is told of each', () => {
    const built = campaign(`${SPEC}merge: { max_open_experiments: 9 }\n`)
    const proposals = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => proposal(name))
    expect(draftsOfKind(carryOut(built, { proposals }), 'experiment-opened')).toHaveLength(6)
  })

  it('that could not be made into a commit is opened and refused at once', () => {
    const built = campaign()
    carryOut(built, { proposals: [proposal('a', { head: { rejected: 'does not apply' } })] })
    expect(built.experiment('exp-001')).toMatchObject({
      outcome: 'refused',
      reason: 'does not apply',
      branch: null,
    })
  })
})

describe('dependencies that nobody approved', () => {
  const needing = proposal('dep', { required_deps: ['left-pad'] })

  it('defer the experiment until they are', () => {
    const built = campaign()
    carryOut(built, { proposals: [needing] })
    expect(draftsOfKind(carryOut(built), 'order-issued')).toEqual([])
    expect(built.experiment('exp-001').status).toBe('deferred')
    expect(settle(built).waiting).toEqual({
      for: 'person',
      what: 'approval of left-pad for exp-001. winnow approve lists what to review; winnow approve <exp> approves it',
    })
    const { digest = '', packages = [] } = built.events.findLast(
      ({ kind }) => kind === 'approval-requested',
    ) as never
    built.add({ kind: 'approved', cause: 'nonce', experiment: 'exp-001', digest, packages })
    expect(draftsOfKind(carryOut(built), 'order-issued')).toHaveLength(1)
  })

  it('refuse it where the spec says deny', () => {
    const built = campaign(`${SPEC}dependencies: { approval: deny }\n`)
    carryOut(built, { proposals: [needing] })
    expect(endings(carryOut(built))).toEqual({ 'exp-001': 'refused' })
  })

  it('are none where the spec approves them', () => {
    const built = campaign(`${SPEC}dependencies: { approved: [left-pad] }\n`)
    carryOut(built, { proposals: [needing] })
    expect(draftsOfKind(carryOut(built), 'order-issued')).toHaveLength(1)
  })
})

describe('a head is refused on its objects alone', () => {
  it.each([
    ['conflict', { conflict: ['src/a.txt'] }, 'conflict in src/a.txt'],
    ['empty', { refusal: { code: 'empty', message: 'changes nothing' } }, 'changes nothing'],
    ['reverted', { contains: 'exp-009' }, 'contains exp-009, which was reverted'],
  ])('%s', (code, facts, reason) => {
    const built = campaign().withExperiment()
    const planned = carryOut(built, { candidates: { 'exp-001': facts } })
    expect(draftsOfKind(planned, 'experiment-refused')).toMatchObject([{ code }])
    expect(built.experiment('exp-001').reason).toContain(reason)
  })

  it('the same tree as an earlier experiment: the duplicate is named', () => {
    const built = campaign().withExperiment().ordered().measured()
    const { tree } = built.order('exp-001').candidates[0] ?? { tree: '' }
    settle(built)
    built.withExperiment()
    carryOut(built, { candidates: { 'exp-002': { tree } } })
    expect(built.experiment('exp-002')).toMatchObject({
      outcome: 'refused',
      reason: 'the same files as exp-001',
    })
  })

  it('the same tree as another queued one: the first is measured', () => {
    const built = campaign().withExperiments(2)
    const tree = candidateTree(built.campaign, 'exp-001')
    expect(endings(carryOut(built, { candidates: { 'exp-002': { tree } } }))).toEqual({
      'exp-002': 'refused',
    })
  })

  it('one that is ahead of the incumbent waits for the sync', () => {
    const built = campaign().withExperiment()
    const planned = planCampaign(
      world(built, { candidates: { 'exp-001': { aheadOfSync: true, contains: 'exp-009' } } }),
    )
    expect(planned.actions).toEqual([])
  })
})

describe('an approval by the spec', () => {
  it('lets what waited for it go on', () => {
    const built = campaign()
    carryOut(built, { proposals: [proposal('a', { required_deps: ['left-pad'] })] })
    settle(built)
    expect(built.experiment('exp-001').status).toBe('deferred')
    const seen = world(built)
    const dependencies = { ...seen.spec.dependencies, approved: ['left-pad'] }
    const [commit] = actionsOf(planCampaign({ ...seen, spec: { ...seen.spec, dependencies } }), 'commit')
    expect(commit?.steps).toContainEqual({
      step: 'event',
      draft: expect.objectContaining({ kind: 'approved', experiment: 'exp-001', packages: ['left-pad'] }),
    })
  })
})

describe('a proposer', () => {
  const askable: [string, string] = ['command:agent', 'command:other']

  const [agent, other] = askable
  const askedBy = (built: CampaignBuilder, different: Parameters<typeof world>[1] = {}) =>
    actionsOf(planCampaign(world(built, { askable, ...different })), 'propose').flatMap(({ requests }) =>
      requests.map(({ who }) => who),
    )

  it('is asked for as many ideas at once as the next round has room for, taking turns', () => {
    expect(askedBy(campaign())).toEqual([agent, other, agent, other])
    expect(askedBy(campaign().withExperiments(3))).toEqual([agent])
    expect(askedBy(campaign(`${SPEC}execution: { max_concurrent: 3 }\n`))).toEqual([agent, other, agent])
    expect(askedBy(campaign(`${SPEC}execution: { mode: serial }\n`))).toEqual([agent])
    expect(askedBy(campaign(`${SPEC}merge: { max_open_experiments: 2 }\n`))).toEqual([agent, other])
  })

  it('counts while it is being asked, and the round waits for it', () => {
    const one = campaign().withExperiments(2)
    expect(askedBy(one, { asking: [agent] })).toEqual([other])
    const waits = planCampaign(world(one, { askable, asking: [agent, other] }))
    expect(waits).toEqual({ actions: [], waiting: { for: 'proposers', who: [agent, other] } })
    const full = planCampaign(world(campaign().withExperiments(4), { askable, asking: [agent] }))
    expect(draftsOfKind(full, 'order-issued')).toHaveLength(4)
  })

  it('takes turns: whoever was asked longest ago is next', () => {
    const built = campaign(`${SPEC}execution: { mode: serial }\n`)
    const asked: string[] = []
    for (let turn = 0; turn < 4; turn++) {
      const [next = ''] = askedBy(built)
      asked.push(next)
      built.add(spentAsking(next))
    }
    expect(asked).toEqual([...askable, ...askable])
  })

  it('that has failed is asked no oftener at once than it may fail before it is disabled', () => {
    const built = campaign().add({ ...spentAsking(agent), ok: false })
    expect(askedBy(built, { askable: [agent] })).toEqual([agent, agent])
    expect(askedBy(built, { askable: [agent], asking: [agent] })).toEqual([agent])
    expect(askedBy(built, { askable: [agent], asking: [agent, agent] })).toEqual([])
  })

  it('is not asked any further once the campaign has stopped, and not for the last time before', () => {
    const patient = campaign(`${SPEC}propose: [{ use: command, command: think }]\n`)
    const waiting = planCampaign(world(patient, { asking: [agent], runner: { ...LOCAL, external: false } }))
    expect(waiting).toEqual({ actions: [], waiting: { for: 'proposers', who: [agent] } })
    const stopped = campaign().add({ kind: 'campaign-stopped', cause: 'n', code: 'person', reason: 'enough' })
    expect(planCampaign(world(stopped, { asking: [agent] })).actions).toMatchObject([{ do: 'stop-asking' }])
  })

  it.each(['running', 'paused', 'stopped'] as const)('has its cost recorded once while %s', status => {
    const built = campaign()
    if (status === 'paused')
      built.add({ kind: 'campaign-paused', cause: 'n', reason: 'lunch', source: 'person' })
    if (status === 'stopped')
      built.add({ kind: 'campaign-stopped', cause: 'n', code: 'person', reason: 'enough' })
    const answers = [{ key: `${agent}:1`, who: agent, ok: true, minutes: 7 }]
    expect(draftsOfKind(carryOut(built, { answers }), 'spent')).toMatchObject([{ minutes: 7, who: agent }])
    expect(built.campaign.answered).toEqual({ [`${agent}:1`]: true })
  })

  it('has its cost and its idea in one transaction', () => {
    const built = campaign()
    const source = { use: 'command', key: `${agent}:1` }
    const answers = [{ key: source.key, who: agent, ok: true, minutes: 7 }]
    const planned = carryOut(built, { answers, proposals: [proposal('a', { source })] })
    expect(draftsOf(planned).map(({ kind }) => kind)).toEqual(['spent', 'experiment-opened'])
    expect(built.campaign).toMatchObject({ answered: {}, sources: { [source.key]: 'exp-001' } })
  })

  it('is asked no more when its ideas are refused three times before they run, and that is said once', () => {
    const built = campaign()
    for (let idea = 0; idea < 3; idea++) {
      built.add(spentAsking('command:agent'))
      const source = { use: 'command', key: `command:agent:${idea}` }
      carryOut(built, { proposals: [proposal(`idea ${idea}`, { source })] })
      carryOut(built, { candidates: { [`exp-00${idea + 1}`]: { conflict: ['a'] } } })
    }
    expect(built.campaign.proposers['command:agent']).toMatchObject({ failures: 3, disabled: true })
    settle(built)
    expect(built.campaign.alerts.filter(({ code }) => code === 'proposer-disabled')).toHaveLength(1)
  })

  it.each([
    [
      'the round is full',
      () => world(campaign(`${SPEC}execution: { mode: serial }\n`).withExperiment(), { askable }),
    ],
    ['an experiment is measured', () => world(campaign().withExperiment().ordered(), { askable })],
    ['an idea is waiting', () => world(campaign(), { askable, proposals: [proposal('a')] })],
    [
      'an experiment has just been refused',
      () => world(campaign().withExperiment(), { askable, candidates: { 'exp-001': { conflict: ['a'] } } }),
    ],
  ])('is not asked while %s', (_, look) => {
    expect(actionsOf(planCampaign(look()), 'propose')).toEqual([])
  })
})

describe('pull requests and branches follow the ledger', () => {
  it('one is opened for a branch of ours that has none', () => {
    expect(changesOf(world(campaign().withExperiment(), { pulls: [] }))).toMatchObject([
      { kind: 'open', branch: 'optimize-exp/size/exp-001', base: 'optimize/size', draft: true },
    ])
  })

  it('what ended is closed, and its branch deleted after that', () => {
    const built = campaign().withExperiment().ordered().measured()
    settle(built)
    const pull = {
      number: 1,
      branch: 'optimize-exp/size/exp-001',
      base: 'optimize/size',
      head: '',
      title: '',
      body: '',
    }
    const branches = new Map([['optimize-exp/size/exp-001', oidOf('results')]])
    const seen = (state: 'open' | 'closed') =>
      world(built, { branches, hasPublicPulls: true, pulls: [{ ...pull, state }] })
    expect(changesOf(seen('open'))).toMatchObject([
      { kind: 'update', number: 1 },
      { kind: 'close', number: 1 },
    ])
    const before = planCampaign(seen('open'))
    expect(actionsOf(before, 'delete-branches')).toEqual([])
    const after = planCampaign(seen('closed'))
    expect(actionsOf(after, 'delete-branches')[0]?.branches).toEqual([
      { name: 'optimize-exp/size/exp-001', oid: oidOf('results') },
    ])
  })

  it('are deleted by pushes of at most 300, one after the other', () => {
    const built = longCampaign(400)
    const ended = Object.values(built.campaign.experiments).filter(({ closed }) => closed)
    const branches = new Map(ended.map(({ branch, head }) => [branch ?? '', head ?? '']))
    const counts: number[] = []
    while (branches.size > 0) {
      const [deleted] = actionsOf(planCampaign({ ...world(built), branches }), 'delete-branches')
      counts.push(deleted?.branches.length ?? 0)
      for (const { name } of deleted?.branches ?? []) branches.delete(name)
      if (counts.length > 9) break
    }
    expect(counts).toEqual([300, ended.length - 300])
  })

  it('the campaign branch follows the incumbent once a round', () => {
    const built = campaign()
      .withExperiment()
      .ordered()
      .measured({ 'exp-001': { candidate: { bytes: 8 } } })
    carryOut(built)
    const planned = planCampaign(world(built, { campaignTip: null }))
    expect(actionsOf(planned, 'advance-campaign-branch')).toMatchObject([
      { from: null, to: built.campaign.incumbent.commit },
    ])
  })
})

const LOCAL = { runId: 'run-1', machine: null, external: true }

function spentAsking(who: string): EventDraft<'spent'> {
  const nothing = { minutes: 0, requests: 0, tokens: 0, usd: 0 }
  return { kind: 'spent', cause: who, what: 'propose', who, ok: true, ...nothing }
}
