import { expect, it } from 'vitest'
import { describeDependencyPolicy } from '../../src/report/approval.ts'
import { aSpec } from '../decide/a-spec.ts'

it.each<[Record<string, unknown>, string]>([
  [{}, 'new packages wait for winnow approve; those with install scripts are refused'],
  [{ approval: 'deny' }, 'new packages are refused'],
  [
    { approved: ['left-pad', 'react'], allow_scripts: true },
    'left-pad, react may be added; other packages wait for winnow approve',
  ],
  [
    { approved: ['left-pad'], approval: 'deny', min_release_age_days: 7 },
    'left-pad may be added once they are 7 days old; other packages are refused',
  ],
])('the policy %j is described in one line', (dependencies, said) => {
  expect(describeDependencyPolicy(aSpec({ dependencies }))).toBe(said)
})
