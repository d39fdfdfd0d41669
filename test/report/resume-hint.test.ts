import { describe, expect, it } from 'vitest'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { describeWaitingIdeas, describeWaitWhenStopped } from '../../src/report/resume-hint.ts'

const queued = (id: string, about: Partial<Experiment> = {}) =>
  [id, { id, status: 'queued', measured_tree: null, evidence: null, ...about } as Experiment] as const

const landed = [{ experiment: 'exp-001' }] as ReturnType<typeof createEmptyCampaign>['landings']

const stopped = {
  ...createEmptyCampaign(),
  incumbent: { commit: 'commit', tree: 'tree of the incumbent' },
  status: 'stopped',
  stop_code: 'max_iterations',
  spec_path: '.winnow/size.yaml',
  default_branch: 'refs/heads/main',
} as const

const RAISE = 'To continue, raise stopping.max_iterations in .winnow/size.yaml on main'

describe('a campaign that a limit stopped', () => {
  it('distinguishes ideas measured on an earlier base from unmeasured ones', () => {
    const said = (experiments: ReturnType<typeof queued>[], fresh = 0, landings = landed) =>
      describeWaitingIdeas({ ...stopped, landings, experiments: Object.fromEntries(experiments) }, fresh) ??
      ''
    const carried = queued('exp-003', { measured_tree: 'tree' })
    expect(said([carried])).toContain(
      `1 idea waits to be measured on top of what was merged (exp-003). ${RAISE}`,
    )
    expect(said([queued('exp-002'), carried], 1)).toContain(
      `2 ideas were not measured (exp-002, 1 new). 1 idea waits to be measured on top of what was merged (exp-003). ${RAISE}`,
    )
    expect(said([carried], 0, [])).toContain('1 idea was not measured (exp-003)')
    const base = stopped.incumbent.tree
    const evidence = { base } as Experiment['evidence']
    expect(said([queued('exp-003', { measured_tree: 'tree', evidence })])).toContain('was not measured')
  })

  it('names a requested revert, and does not count it as an idea', () => {
    const steered = [{ event: 'e', action: 'revert', experiment: 'exp-001', reason: 'wrong' }] as const
    expect(describeWaitingIdeas({ ...stopped, steered: [...steered] }, 0)).toContain(
      `exp-001 is not reverted yet. ${RAISE}`,
    )
  })

  it.each([
    ['max_iterations', 'a raised stopping.max_iterations'],
    ['max_total_cost_usd', 'a raised stopping.max_total_cost_usd'],
    ['max_judge_cost_usd', 'a raised metric.judge.max_total_cost_usd'],
    ['epochs', 'a raised epochs.count'],
    ['target_reached', 'a further target'],
    ['level_used_up', 'another campaign'],
    ['person', '`winnow resume`'],
  ])('after %s, queued ideas wait for %s', (stop_code, expected) => {
    expect(describeWaitWhenStopped({ status: 'stopped', stop_code })).toBe(expected)
  })
})
