import { describe, expect, it } from 'vitest'
import { buildCheckMark } from '../../src/model/marks.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { createPullFinder, type PullFacts, type World } from '../../src/plan/world.ts'
import { updatePulls } from '../../src/plan/pulls.ts'
import { buildExternalProposals } from '../../src/ideas/external.ts'
import { renderEndedComment, renderReopenedComment } from '../../src/report/pull-request.ts'
import { campaign, type CampaignBuilder, oidOf } from './a-campaign.ts'
import { world } from './a-world.ts'

const HEAD = oidOf('head of exp-001')

function pullAt(rest: Partial<PullFacts> = {}): PullFacts {
  const words = { title: 'mine', body: '', ownComments: '' }
  return { number: 7, branch: 'mine', base: 'optimize/size', state: 'open', head: HEAD, ...words, ...rest }
}

/** Somebody's experiment that was refused, and closed. */
function refused(owned = false): CampaignBuilder {
  const about = owned ? {} : { branch: 'mine', pull: 7 }
  const ended = { experiment: 'exp-001', head: HEAD }
  return campaign()
    .withExperiment({ owned, ...about })
    .add(
      { kind: 'experiment-refused', cause: 'x', ...ended, code: 'out-of-scope', message: 'README.md' },
      { kind: 'closed', cause: 'x', ...ended, outcome: 'refused', reason: 'README.md', results: null },
    )
}

function changesOf(built: CampaignBuilder, pull: PullFacts, rest: Partial<World> = {}) {
  const seen = { ...world(built, { pulls: [pull], checks: true }), ...rest }
  return updatePulls(seen).flatMap(action => (action.do === 'pulls' ? action.changes : []))
}

function told(built: CampaignBuilder, experiment: Experiment = built.experiment('exp-001')): string {
  return buildCheckMark(built.campaign, experiment)
}

function proposalsOf(built: CampaignBuilder, pull: PullFacts) {
  const facts = { campaign: built.campaign, prefix: 'optimize', pulls: [pull], branches: new Map() }
  return buildExternalProposals(facts, new Map())
}

describe('a pull request whose experiment has ended and that is open', () => {
  it('is closed, and says how to go on there', () => {
    const built = refused()
    expect(changesOf(built, pullAt())).toEqual([{ change: 'close', number: 7, experiment: 'exp-001' }])
    expect(renderEndedComment(built.campaign, built.experiment('exp-001'))).toMatch(
      /^\*\*Refused: README\.md\*\*\n\nTo try again, push a new commit and reopen this pull request\./,
    )
  })

  it('again as it was is told why it is closed again, once, and then left alone', () => {
    const built = refused()
    const experiment = built.experiment('exp-001')
    const said = told(built)
    const again = { change: 'close', number: 7, experiment: 'exp-001', again: HEAD }
    expect(changesOf(built, pullAt({ ownComments: said, reopened: true }))).toEqual([again])
    const line = renderReopenedComment(built.campaign, experiment, { head: HEAD })
    expect(line.split('\n')[1]).toBe(
      'Closed again: exp-001 has ended with exactly this commit. To try again, push a new commit and reopen this pull request. It will be measured as a new experiment. winnow does not close it a second time.',
    )
    expect(changesOf(built, pullAt({ ownComments: `${said}\n${line}`, reopened: true }))).toEqual([])
    expect(proposalsOf(built, pullAt({ ownComments: said }))).toEqual([])
  })

  it('and was closed by nobody yet, since that failed, is closed without another word', () => {
    const built = refused()
    expect(changesOf(built, pullAt({ ownComments: told(built) }))).toEqual([
      { change: 'close', number: 7, experiment: 'exp-001' },
    ])
  })

  it('again as it was is told so also where nothing else may be said', () => {
    const built = refused()
    const { spec } = built
    const quiet = { spec: { ...spec, report: { ...spec.report, comment: 'never' } as const } }
    expect(changesOf(built, pullAt(), quiet)).toEqual([{ change: 'close', number: 7, experiment: 'exp-001' }])
    expect(changesOf(built, pullAt({ reopened: true }), quiet)).toMatchObject([{ again: HEAD }])
    const said = renderReopenedComment(built.campaign, built.experiment('exp-001'), { head: HEAD })
    expect(changesOf(built, pullAt({ reopened: true, ownComments: said }), quiet)).toEqual([])
  })

  it('with another head is the next experiment, and nobody closes it for the one before', () => {
    const built = refused()
    const pull = pullAt({ head: oidOf('fixed'), ownComments: told(built) })
    expect(changesOf(built, pull)).toEqual([])
    const [next, ...more] = proposalsOf(built, pull)
    expect(more).toEqual([])
    expect(next).toMatchObject({ pull: 7, branch: 'mine', source: { key: `pull:7@${oidOf('fixed')}` } })

    built.withExperiment({
      owned: false,
      pull: 7,
      branch: 'mine',
      head: oidOf('fixed'),
      source: next?.source ?? { use: '', key: '' },
    })
    const pullOf = createPullFinder(world(built, { pulls: [pull] }))
    expect(pullOf(built.experiment('exp-001'))).toBeUndefined()
    expect(pullOf(built.experiment('exp-002'))).toBe(pull)
    // While that one is under way, what is pushed is its new head.
    expect(proposalsOf(built, pullAt({ head: oidOf('third') }))).toEqual([])
    expect(changesOf(built, pull)).toEqual([{ change: 'describe', number: 7, experiment: 'exp-002' }])
  })

  it('with a head that it had before is nothing new', () => {
    const built = refused().withExperiment({ owned: false, pull: 7, branch: 'mine', head: oidOf('fixed') })
    const ended = { experiment: 'exp-002', head: oidOf('fixed') }
    built.add({ kind: 'closed', cause: 'y', ...ended, outcome: 'dropped', reason: 'no gain', results: null })
    expect(proposalsOf(built, pullAt())).toEqual([])
  })

  it('tells who withdrew it unmeasured that an empty commit will do', () => {
    const built = campaign().withExperiment({ owned: false, pull: 7, branch: 'mine' })
    const ended = { experiment: 'exp-001', head: HEAD, reason: 'retargeted', results: null }
    built.add({ kind: 'closed', cause: 'x', ...ended, outcome: 'withdrawn' })
    expect(renderReopenedComment(built.campaign, built.experiment('exp-001'), { head: HEAD })).toContain(
      'push a new commit (an empty one will do)',
    )
  })

  it('of winnow’s own is closed again with a word as well', () => {
    const built = refused(true)
    const own = {
      branch: 'optimize-exp/size/exp-001',
      body: told(built),
      head: oidOf('with results'),
      reopened: true as const,
    }
    expect(changesOf(built, pullAt(own))).toMatchObject([{ change: 'close', again: own.head }])
    const said = renderReopenedComment(built.campaign, built.experiment('exp-001'), { head: own.head })
    expect(said).toContain('from a branch of your own')
    expect(changesOf(built, pullAt({ ...own, ownComments: said }))).toEqual([])
  })
})
