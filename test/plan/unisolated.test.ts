import { describe, expect, it } from 'vitest'
import { planCampaign } from '../../src/plan/stages.ts'
import { campaign, type CampaignBuilder, oidOf, SPEC } from './a-campaign.ts'
import { actionsOf, carryOut, world } from './a-world.ts'

const HEAD = oidOf('head of exp-001')
const EVE = { outsiders: new Map([['exp-001', 'eve']]) }
const GOOD = { candidate: { bytes: 5 } }

/** What somebody brought who may not write, and somebody else allowed to be measured. */
function allowed(yaml: string): CampaignBuilder {
  const built = campaign(yaml).withExperiment({ branch: 'eve:faster', owned: false, pull: 1 })
  carryOut(built, EVE)
  return built.add({
    kind: 'permission-granted',
    cause: 'comment',
    experiment: 'exp-001',
    head: HEAD,
    login: 'ada',
  })
}

function pick_end(built: CampaignBuilder): unknown {
  const steps = actionsOf(planCampaign(world(built)), 'commit').flatMap(commit => commit.steps)
  const landing = steps.some(({ step }) => step === 'land')
  return landing ? 'lands' : steps.flatMap(step => (step.step === 'close' ? [step.outcome, step.reason] : []))
}

describe('what was measured without isolation', () => {
  it.each([
    ['lands unless the spec says otherwise', '', ['unisolated'], 'lands'],
    ['lands where it is allowed', 'merge: { unisolated: allow }\n', ['unisolated'], 'lands'],
    [
      'does not land where it is denied, and says why',
      'merge: { unisolated: deny }\n',
      ['unisolated'],
      ['not_selected', expect.stringContaining('measured without isolation, which merge.unisolated denies')],
    ],
    ['is not what has users of its own', 'merge: { unisolated: deny }\n', [], 'lands'],
  ] as const)('%s', (_what, merge, flags, expected) => {
    const built = campaign(SPEC + merge)
      .withExperiment()
      .ordered()
    built.measured({ 'exp-001': { ...GOOD, flags: [...flags] } })
    expect(pick_end(built)).toEqual(expected)
  })
})

/** Brought by eve, and measured by nobody yet; the baseline was, with or without isolation. */
function offered(yaml: string, isolated: boolean | null): CampaignBuilder {
  const built = campaign(yaml).withExperiment({ branch: 'eve:faster', owned: false, pull: 1 })
  const { harness } = built.campaign
  if (isolated === null) delete built.campaign.isolated[harness]
  else built.campaign.isolated[harness] = isolated
  return built
}

const ends = (built: CampaignBuilder, given = {}) => {
  const planned = planCampaign(world(built, { ...EVE, ...given }))
  const steps = actionsOf(planned, 'commit').flatMap(commit => commit.steps)
  expect(
    steps.flatMap(each => (each.step === 'event' && each.draft.kind === 'order-issued' ? [each] : [])),
  ).toEqual([])
  const closed = steps.find(each => each.step === 'close')
  return closed?.step === 'close' ? [closed.outcome, closed.reason] : 'waits for a word'
}

it('the first report of a harness tells whether it is measured with isolation, and later ones change nothing', () => {
  const built = campaign().withExperiment().ordered()
  const { harness } = built.campaign
  built.campaign.isolated = {}
  built.measured({ 'exp-001': { ...GOOD, flags: [] } })
  expect(built.campaign.isolated).toEqual({ [harness]: true })
  built.withExperiment().ordered()
  built.measured({ 'exp-002': { ...GOOD, flags: ['unisolated'] } })
  expect(built.campaign.isolated).toEqual({ [harness]: true })
})

describe('what an outsider offers, before anything of it is measured', () => {
  const NONE = SPEC.replace('measurement: {', 'measurement: { isolation: none,')
  const UID = SPEC.replace('measurement: {', 'measurement: { isolation: uid,')
  const refused = [
    'refused',
    expect.stringMatching(/^eve has no write access, and this campaign measures without/),
  ]

  it.each([
    ['is refused at once where measuring jobs are known to have no isolation', SPEC, false, refused],
    ['is refused at once where the spec says none', NONE, null, refused],
    ['waits for a word where they have', SPEC, true, 'waits for a word'],
    ['waits for a word where it is not known yet', SPEC, null, 'waits for a word'],
    ['waits for a word where it is measured with users or not at all', UID, false, 'waits for a word'],
    [
      'waits for a word where it may land all the same',
      `${SPEC}merge: { unisolated: allow }\n`,
      false,
      'waits for a word',
    ],
  ] as const)('%s', (_what, yaml, isolated, expected) => {
    expect(ends(offered(yaml, isolated))).toEqual(expected)
  })

  it('is refused also where somebody had allowed it before that was known', () => {
    const built = allowed(SPEC)
    built.campaign.isolated[built.campaign.harness] = false
    expect(ends(built, { outsiders: new Map() })).toEqual(refused)
  })

  it('is refused whatever the spec says by a process that cannot keep its own secrets from it', () => {
    const outsidersDenied = 'this job holds a token that such code could read'
    const why = ['refused', expect.stringContaining(`eve has no write access, and ${outsidersDenied}.`)]
    expect(ends(offered(`${SPEC}merge: { unisolated: allow }\n`, null), { outsidersDenied })).toEqual(why)
  })

  it('of people with write access is measured as before', () => {
    const built = offered(SPEC, false)
    const steps = actionsOf(planCampaign(world(built)), 'commit').flatMap(commit => commit.steps)
    expect(steps.flatMap(each => (each.step === 'event' ? [each.draft.kind] : []))).toContain('order-issued')
  })
})

describe('what a stranger brought', () => {
  it.each([
    [
      'does not land without isolation',
      '',
      ['unisolated'],
      ['not_selected', expect.stringContaining('measured without isolation, and eve has no write access')],
    ],
    ['lands where that is allowed', 'merge: { unisolated: allow }\n', ['unisolated'], 'lands'],
    ['lands from a user of its own', '', [], 'lands'],
  ] as const)('%s', (_what, merge, flags, expected) => {
    const built = allowed(SPEC + merge)
    carryOut(built, EVE)
    built.measured({ 'exp-001': { ...GOOD, flags: [...flags] } })
    expect(pick_end(built)).toEqual(expected)
  })

  it('is somebody else’s once a head came that needs nobody’s word', () => {
    const built = allowed(SPEC)
    const head = oidOf('head of ada')
    carryOut(built, { branches: new Map([['eve:faster', head]]) })
    carryOut(built, {})
    built.measured({ 'exp-001': { ...GOOD, flags: ['unisolated'] } })
    expect(pick_end(built)).not.toContain('not_selected')
  })
})
