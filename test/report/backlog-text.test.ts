import { expect, it } from 'vitest'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { renderBacklog, toIdeaView } from '../../src/report/backlog.ts'
import { anIdea } from '../plan/an-idea.ts'

it('the list of ideas names the programs that no longer receive an idea, and the next step', () => {
  const idea = anIdea(1)
  const refused = (id: string, nonce: string) => {
    const source = { use: 'command', key: `command:claude:${nonce}` }
    return { id, source, carries: idea.id, outcome: 'refused', measured_tree: null } as unknown as Experiment
  }
  const proposers = { claude: { failures: 2, disabled: false, asked: 9, since_kept: null } }
  const experiments = { 'exp-005': refused('exp-005', 'a'), 'exp-006': refused('exp-006', 'b') }
  const campaign = { ...createEmptyCampaign(), backlog: [idea], proposers, experiments }
  expect(renderBacklog(campaign).join('\n')).toContain(
    'claude was refused 2 times (exp-005, exp-006); it waits until another program or winnow try --idea idea-001 implements it',
  )
  expect(toIdeaView(campaign, idea)).toMatchObject({
    id: 'idea-001',
    rests_for: { claude: ['exp-005', 'exp-006'] },
  })
  const once = { ...campaign, experiments: { 'exp-005': refused('exp-005', 'a') } }
  expect(renderBacklog(once).join('\n')).not.toContain('rests')
  expect(toIdeaView(once, idea).rests_for).toEqual({})
})
