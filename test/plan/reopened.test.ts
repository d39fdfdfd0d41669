import { describe, expect, it } from 'vitest'
import { createPullFinder, type PullFacts, type World } from '../../src/plan/world.ts'
import { buildExternalProposals } from '../../src/ideas/external.ts'
import { renderEndedComment, renderReopenedComment } from '../../src/report/pull-request.ts'
import { campaign, type CampaignBuilder, oidOf } from './a-campaign.ts'
import { world } from './a-world.ts'
import { changesOf, withChanges } from './desired.ts'

const HEAD = oidOf('head of exp-001')

function pullAt(rest: Partial<PullFacts> = {}): PullFacts {
  const words = { title: 'mine', body: '', ownComments: [] }
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

function changesAt(built: CampaignBuilder, pull: PullFacts, rest: Partial<World> = {}) {
  return changesOf({ ...world(built, { pulls: [pull] }), ...rest })
}

const CLOSED = [{ kind: 'comment' }, { kind: 'close', number: 7 }]

/** The pull request once winnow has described the end there; a person opened it again. */
function openedAgain(built: CampaignBuilder, pull = pullAt()): PullFacts {
  return { ...withChanges(pull, changesAt(built, pull)), state: 'open', reopened: true }
}

function proposalsOf(built: CampaignBuilder, pull: PullFacts) {
  const facts = { campaign: built.campaign, prefix: 'optimize', pulls: [pull], branches: new Map() }
  return buildExternalProposals(facts, new Map())
}

describe('a pull request whose experiment has ended and that is open', () => {
  it('is closed, and says how to go on there', () => {
    const built = refused()
    expect(changesAt(built, pullAt())).toMatchObject(CLOSED)
    expect(renderEndedComment(built.campaign, built.experiment('exp-001'))).toMatch(
      /^\*\*Refused: README\.md\*\*\n\nTo try again, push a new commit and reopen this pull request\./,
    )
  })

  it('again as it was is told why it is closed again, once, and then left alone', () => {
    const built = refused()
    const again = openedAgain(built)
    const changes = changesAt(built, again)
    expect(changes).toMatchObject(CLOSED)
    expect(changes).toMatchObject([
      {
        body: expect.stringMatching(
          /^Closed again: exp-001 has ended with exactly this commit\. To try again, push a new commit and reopen this pull request\. It will be measured as a new experiment\. winnow does not close it a second time\.\n/,
        ),
      },
      {},
    ])
    expect(changesAt(built, { ...withChanges(again, changes), state: 'open' })).toEqual([])
    expect(proposalsOf(built, again)).toEqual([])
  })

  it('and was closed by nobody yet, since that failed, is closed without another word', () => {
    const built = refused()
    const { reopened: _, ...told } = openedAgain(built)
    expect(changesAt(built, told)).toEqual([{ kind: 'close', number: 7 }])
  })

  it('again as it was is told so also where nothing else may be said', () => {
    const built = refused()
    const { spec } = built
    const quiet = { spec: { ...spec, report: { ...spec.report, comment: 'never' } as const } }
    expect(changesAt(built, pullAt(), quiet)).toEqual([{ kind: 'close', number: 7 }])
    const again = pullAt({ reopened: true })
    const changes = changesAt(built, again, quiet)
    expect(changes).toMatchObject(CLOSED)
    expect(changesAt(built, { ...withChanges(again, changes), state: 'open' }, quiet)).toEqual([])
  })

  it('with another head is the next experiment, and nobody closes it for the one before', () => {
    const built = refused()
    const pull: PullFacts = { ...openedAgain(built), head: oidOf('fixed') }
    expect(changesAt(built, pull)).toEqual([])
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
    expect(changesAt(built, pull)).toMatchObject([{ kind: 'comment', number: 7 }])
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
    expect(renderReopenedComment(built.campaign, built.experiment('exp-001'))).toContain(
      'push a new commit (an empty one will do)',
    )
  })

  it('of winnow’s own is closed again with a word as well', () => {
    const built = refused(true)
    const pull = pullAt({ branch: 'optimize-exp/size/exp-001', head: oidOf('with results') })
    const again = openedAgain(built, pull)
    const changes = changesAt(built, again)
    expect(changes).toMatchObject([
      { kind: 'comment', body: expect.stringContaining('from a branch of your own') },
      { kind: 'close' },
    ])
    expect(changesAt(built, { ...withChanges(again, changes), state: 'open' })).toEqual([])
  })
})
