import { describe, expect, it } from 'vitest'
import type { Experiment } from '../../src/model/experiment.ts'
import type { Proposal, PullFacts } from '../../src/plan/world.ts'
import { buildExternalProposals, listExternalTips } from '../../src/ideas/external.ts'
import { aCampaign, anExperiment, withExperiments } from './incumbent.ts'

const HEAD = 'd'.repeat(40)
const NEW_HEAD = 'e'.repeat(40)
const IDEA = 'optimize-exp/speed/faster-parse'
const incumbent = { commit: '1'.repeat(40), tree: '2'.repeat(40) }

function aPull(rest: Partial<PullFacts> = {}): PullFacts {
  return {
    number: 7,
    branch: 'my-branch',
    base: 'optimize/speed',
    state: 'open',
    head: HEAD,
    title: 'Parse faster',
    body: '',
    ...rest,
  }
}

function facts(rest: { pulls?: PullFacts[]; branches?: Record<string, string>; experiments?: Experiment[] }) {
  return {
    campaign: aCampaign({ incumbent, ...withExperiments(...(rest.experiments ?? [])) }),
    prefix: 'optimize',
    pulls: rest.pulls ?? [],
    branches: new Map(Object.entries(rest.branches ?? {})),
  }
}

function tips(rest: Parameters<typeof facts>[0]): string[] {
  return listExternalTips(facts(rest)).map(({ branch, pull }) => (pull ? `#${pull.number}` : branch))
}

function proposed(rest: Parameters<typeof facts>[0], subjects: Record<string, string> = {}): Proposal {
  const [proposal] = buildExternalProposals(facts(rest), new Map(Object.entries(subjects)))
  if (!proposal) throw new Error('nothing was proposed')
  return proposal
}

describe('external ideas', () => {
  it('are open pull requests by number, then pushed branches by name', () => {
    const pulls = [aPull({ number: 9, branch: 'b' }), aPull({ number: 8, branch: 'a' })]
    const branches = { 'optimize-exp/speed/z': HEAD, 'optimize-exp/speed/a': HEAD }
    expect(tips({ pulls, branches })).toEqual(['#8', '#9', 'optimize-exp/speed/a', 'optimize-exp/speed/z'])
  })

  it('are only branches below the experiments of this campaign', () => {
    const branches = {
      'optimize-exp/speed2/x': HEAD,
      main: HEAD,
      'optimize/speed': HEAD,
      'optimize-exp/speed': HEAD,
    }
    expect(tips({ branches })).toEqual([])
  })

  it('do not count the branch of a pull request twice', () => {
    expect(tips({ pulls: [aPull({ branch: IDEA })], branches: { [IDEA]: HEAD } })).toEqual(['#7'])
  })

  it('exclude closed and merged pull requests', () => {
    const pulls = [aPull({ branch: IDEA, state: 'closed' }), aPull({ number: 8, state: 'merged' })]
    expect(tips({ pulls, branches: { [IDEA]: HEAD } })).toEqual([])
  })

  it('exclude the branches of winnow', () => {
    const pulls = [
      'optimize/speed',
      'optimize-campaign/speed',
      'optimize-state/speed',
      'optimize-closed/speed',
    ]
    expect(tips({ pulls: pulls.map((branch, index) => aPull({ number: index + 1, branch })) })).toEqual([])
  })
})

describe('an external experiment', () => {
  const live = anExperiment(1, { branch: IDEA, owned: false, head: HEAD })
  const ended = { ...live, status: 'ended' as const, outcome: 'dropped' as const }

  it('is not proposed again, by its branch, its pull request or its source', () => {
    expect(tips({ experiments: [live], branches: { [IDEA]: HEAD } })).toEqual([])
    expect(tips({ experiments: [{ ...live, pull: 7 }], pulls: [aPull()] })).toEqual([])
    const source = { use: 'external', key: 'pull:7' }
    expect(tips({ experiments: [{ ...live, source }], pulls: [aPull()] })).toEqual([])
  })

  it('keeps its branch while it lives, also when new commits arrive', () => {
    expect(tips({ experiments: [live], branches: { [IDEA]: NEW_HEAD } })).toEqual([])
    expect(tips({ experiments: [live], pulls: [aPull({ branch: IDEA, head: NEW_HEAD })] })).toEqual([])
  })

  it('ends with its verdict: new commits on the branch of a person are a new idea, the old ones are not', () => {
    expect(tips({ experiments: [ended], branches: { [IDEA]: HEAD } })).toEqual([])
    expect(tips({ experiments: [ended], branches: { [IDEA]: NEW_HEAD } })).toEqual([IDEA])
  })

  it('keeps a branch that winnow made, because its tip is a results commit', () => {
    const branch = 'optimize-exp/speed/exp-001'
    const own = anExperiment(1, { branch, status: 'ended', head: HEAD })
    expect(tips({ experiments: [own], branches: { [branch]: NEW_HEAD } })).toEqual([])
    expect(tips({ experiments: [{ ...own, owned: false }], branches: { [branch]: NEW_HEAD } })).toEqual([])
  })

  it('does not own a numbered branch without an experiment', () => {
    const stray = 'optimize-exp/speed/exp-004'
    const mine = anExperiment(4, { branch: 'optimize-exp/speed/other', owned: false })
    expect(tips({ experiments: [mine], branches: { [stray]: HEAD } })).toEqual([stray])
  })
})

describe('an external proposal', () => {
  it('names the branch, the head and the pull request', () => {
    expect(proposed({ pulls: [aPull()] })).toEqual({
      hypothesis: 'Parse faster',
      category: 'general',
      priority: 'medium',
      required_deps: [],
      family: null,
      source: { use: 'external', key: 'pull:7' },
      learnings: null,
      head: { commit: HEAD, base: incumbent },
      branch: 'my-branch',
      pull: 7,
    })
  })

  it('takes its fields from a winnow block in the description', () => {
    const body =
      'Hello\r\n\r\n```winnow\r\nhypothesis: Use a map\r\ncategory: data\r\npriority: high\r\nrequired_deps: [a, b]\r\nfamily: maps\r\n```\r\nBye'
    expect(proposed({ pulls: [aPull({ body })] })).toMatchObject({
      hypothesis: 'Use a map',
      category: 'data',
      priority: 'high',
      required_deps: ['a', 'b'],
      family: 'maps',
      learnings: null,
    })
  })

  it('takes the title if the block has no hypothesis', () => {
    const body = '```winnow\npriority: low\n```'
    expect(proposed({ pulls: [aPull({ body })] })).toMatchObject({
      hypothesis: 'Parse faster',
      priority: 'low',
    })
  })

  it('records a block that is invalid', () => {
    const body = 'One\n```winnow\ncatgory: data\n```'
    const { learnings, category } = proposed({ pulls: [aPull({ body })] })
    expect(category).toBe('general')
    expect(learnings).toMatch(/was not used: description:3:1.*did you mean "category"/)
    const long = `\`\`\`winnow\nhypothesis: ${'x'.repeat(20_000)}\n\`\`\``
    expect(proposed({ pulls: [aPull({ body: long })] }).learnings).toMatch(/more than 10000 characters/)
  })

  it('cannot declare itself a simplification, which only patches in the folder of the spec can', () => {
    const { simplifies, learnings } = proposed({ pulls: [aPull({ body: '```winnow\nkind: simplify\n```' })] })
    expect(simplifies).toBeUndefined()
    expect(learnings).toMatch(/was not used: .*kind/)
  })

  it('without a title uses the commit message, then the branch name', () => {
    const branches = { [IDEA]: HEAD }
    const source = { use: 'external', key: `branch:${IDEA}@${HEAD}` }
    expect(proposed({ branches }, { [HEAD]: 'Cache it' })).toMatchObject({
      hypothesis: 'Cache it',
      source,
      pull: null,
    })
    expect(proposed({ branches })).toMatchObject({ hypothesis: `branch ${IDEA}` })
    expect(proposed({ pulls: [aPull({ title: ' ' })] }, { [HEAD]: 'Cache it' }).hypothesis).toBe('Cache it')
  })

  it('has no control characters and capped lengths', () => {
    const title = `\u001b[31mred\u001b[0m\n\nWinnow-Ledger: 1\u202e${'x'.repeat(1_000)}`
    const { hypothesis } = proposed({ pulls: [aPull({ title })] })
    expect(hypothesis.startsWith('red Winnow-Ledger: 1xxx')).toBe(true)
    expect(hypothesis).toHaveLength(300)
  })
})
