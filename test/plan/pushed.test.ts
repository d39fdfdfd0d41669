import { describe, expect, it } from 'vitest'
import type { PullFacts } from '../../src/plan/world.ts'
import { renderPushedBranchBody } from '../../src/report/pull-request.ts'
import { campaign, oidOf } from './a-campaign.ts'
import { world } from './a-world.ts'
import { changesOf } from './desired.ts'

const BRANCH = 'optimize-exp/size/pads'

/** Somebody pushed a branch below winnow's prefix, without a pull request, and it needs a package. */
function pushed(branch = BRANCH) {
  const built = campaign().withExperiment({ owned: false, branch, pull: null })
  const needs = { digest: 'a'.repeat(64), packages: ['left-pad'], additions: [], why: '' }
  const branches = new Map([[branch, oidOf('head of exp-001')]])
  return {
    built,
    asked: () => built.add({ kind: 'approval-requested', cause: 'x', experiment: 'exp-001', ...needs }),
    offered: (pulls: PullFacts[] = []) => changesOf(world(built, { branches, pulls })),
  }
}

describe('a branch that was pushed without a pull request', () => {
  it('has none before it needs one, and then a draft to be approved at', () => {
    const { built, asked, offered } = pushed()
    expect(offered()).toEqual([])
    asked()
    expect(offered()).toMatchObject([{ kind: 'open', branch: BRANCH, draft: true }])
    expect(renderPushedBranchBody(built.experiment('exp-001'))).toMatch(
      /^The branch optimize-exp\/size\/pads \(exp-001\) was pushed without a pull request, and waits for approval of left-pad\./,
    )
    const draft = { number: 3, branch: BRANCH, base: 'optimize/size', title: '', body: '' }
    expect(offered([{ ...draft, state: 'open', head: oidOf('head of exp-001') }])).not.toContainEqual(
      expect.objectContaining({ kind: 'open' }),
    )
  })

  it('has none where the branch is somebody’s own', () => {
    const own = pushed('mine')
    own.asked()
    expect(own.offered()).toEqual([])
  })
})
