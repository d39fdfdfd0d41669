import { describe, expect, it } from 'vitest'
import { plan } from '../../src/plan/plan.ts'
import { campaign, type CampaignBuilder, oidOf, SPEC } from './a-campaign.ts'
import { actionsOf, carryOut, world } from './a-world.ts'

const HEAD = oidOf('head of exp-001')
const EVE = { strangers: new Map([['exp-001', 'eve']]) }
const GOOD = { candidate: { bytes: 5 } }

/** What somebody brought who may not write, and somebody else allowed to be measured. */
function allowed(yaml: string): CampaignBuilder {
  const built = campaign(yaml).withExperiment({ branch: 'eve:faster', owned: false, pull: 1 })
  carryOut(built, EVE)
  return built.add({
    kind: 'measure-allowed',
    cause: 'comment',
    experiment: 'exp-001',
    head: HEAD,
    login: 'ada',
  })
}

function fate(built: CampaignBuilder): unknown {
  const steps = actionsOf(plan(world(built)), 'commit').flatMap(commit => commit.steps)
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
    expect(fate(built)).toEqual(expected)
  })
})

describe('what a stranger brought', () => {
  it.each([
    [
      'does not land without isolation',
      '',
      ['unisolated'],
      ['not_selected', expect.stringContaining('measured without isolation, and eve may not write here')],
    ],
    ['lands where that is allowed', 'merge: { unisolated: allow }\n', ['unisolated'], 'lands'],
    ['lands from a user of its own', '', [], 'lands'],
  ] as const)('%s', (_what, merge, flags, expected) => {
    const built = allowed(SPEC + merge)
    carryOut(built, EVE)
    built.measured({ 'exp-001': { ...GOOD, flags: [...flags] } })
    expect(fate(built)).toEqual(expected)
  })

  it('is somebody else’s once a head came that needs nobody’s word', () => {
    const built = allowed(SPEC)
    const head = oidOf('head of ada')
    carryOut(built, { branches: new Map([['eve:faster', head]]) })
    carryOut(built, {})
    built.measured({ 'exp-001': { ...GOOD, flags: ['unisolated'] } })
    expect(fate(built)).not.toContain('not_selected')
  })
})
