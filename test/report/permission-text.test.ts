import { expect, it } from 'vitest'
import { buildCheckRun } from '../../src/report/check-run.ts'
import { renderPullBody } from '../../src/report/pull-request.ts'
import { campaignOf, opened } from './campaign-of.ts'

it('the check of a change that waits for permission says why, and who can do what', () => {
  const head = 'a'.repeat(40)
  const campaign = campaignOf(opened(1, { head, owned: false }), {
    kind: 'permission-requested',
    experiment: 'exp-001',
    author: 'eve',
    head,
  })
  const experiment = campaign.experiments['exp-001']
  if (!experiment) throw new Error('it was not opened')
  const sentence = `**Waiting for permission.** Its author has no write access to this repository. To have it measured, read the change, then comment \`/winnow measure ${head}\` (people with write access only).`
  expect(buildCheckRun(campaign, experiment)).toMatchObject({ state: 'neutral', summary: sentence })
  expect(renderPullBody(campaign, experiment)).toContain(sentence)
  // An earlier head was measured.
  expect(renderPullBody(campaign, { ...experiment, verdict: 'not proven' })).toContain(sentence)
})
