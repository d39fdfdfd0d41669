import { describe, expect, it } from 'vitest'
import { renderPullBody } from '../../src/report/pull-request.ts'
import { renderPausedComment } from '../../src/report/check-run.ts'
import { campaignOf, opened } from './campaign-of.ts'
import { renderPushRefusal } from '../../src/report/push-refusal.ts'

const OPTIMIZE = 'refs/heads/optimize/size'
const STATE = 'refs/heads/optimize-state/size'
const AROUND = {
  refs: [OPTIMIZE, STATE],
  optimize: OPTIMIZE,
  prefix: 'optimize',
  isStarted: true,
  couldMerge: true,
}

/** As judged from the answer of a push: each ref with its reason, then what the server printed. */
const PROTECTED = `${OPTIMIZE}: [remote rejected] (protected branch hook declined)
error: GH006: Protected branch update failed for ${OPTIMIZE}.
- Changes must be made through a pull request.
- Required status check "ci" is expected.`
const RULESET = `${OPTIMIZE}: [remote rejected] (push declined due to repository rule violations)
error: GH013: Repository rule violations found for ${OPTIMIZE}.
Review all repository rules at https://github.com/team/project/rules?ref=refs%2Fheads%2Foptimize%2Fsize
- Cannot update this protected ref.`
const WORKFLOW = `${OPTIMIZE}: [remote rejected] (refusing to allow a GitHub App to create or update workflow \`.github/workflows/ci.yml\` without \`workflows\` permission)`
const SCOPE = WORKFLOW.replace('a GitHub App', 'an OAuth App').replace(
  '`workflows` permission',
  '`workflow` scope',
)

const first = (text: string) => text.split('\n')[0]

describe('the explanation of a rejected push', () => {
  it('names the branch, its protection and merge.via: api', () => {
    const text = renderPushRefusal({ message: PROTECTED, rule: 'GH006' }, AROUND)
    expect(first(text)).toBe(
      'the remote rejected the push to optimize/size: GH006, the branch is protected: Changes must be made through a pull ' +
        'request; Required status check "ci" is expected. Exclude optimize*/** from that branch protection, or let the ' +
        'account that winnow pushes with bypass it, or set merge.via: api, so that GitHub merges pull requests, then ' +
        'run winnow resume',
    )
    expect(text.endsWith(PROTECTED)).toBe(true)
    const asked = renderPushRefusal({ message: PROTECTED, rule: 'GH006' }, { ...AROUND, couldMerge: false })
    expect(asked).not.toContain('merge.via')
  })

  it('names the rule of a ruleset without suggesting a merge', () => {
    expect(first(renderPushRefusal({ message: RULESET, rule: 'GH013' }, AROUND))).toBe(
      'the remote rejected the push to optimize/size: GH013, a repository rule forbids it: Cannot update this protected ' +
        'ref. Exclude optimize*/** from that ruleset, or let the account that winnow pushes with bypass it, then run winnow ' +
        'resume',
    )
  })

  it.each([
    [WORKFLOW, 'lacks the permission workflows', 'merge that file into the default branch yourself'],
    [SCOPE, 'lacks the scope workflow', 'Push with a token that has the scope workflow'],
  ])('names the workflow file that the token may not push: %s', (message, lacks, fix) => {
    const text = first(renderPushRefusal({ message }, AROUND)) ?? ''
    expect(text).toContain('a commit changes the workflow .github/workflows/ci.yml, and this token lacks')
    expect(text).toContain(lacks)
    expect(text).toContain(fix)
  })

  it('quotes an unknown message and names the branches', () => {
    const message = 'no'
    expect(renderPushRefusal({ message }, AROUND)).toBe(
      'the remote rejected the push to optimize/size, optimize-state/size: its answer is below. Allow winnow to push to its ' +
        'branches, then run winnow resume\nno',
    )
    const starting = { ...AROUND, isStarted: false }
    expect(first(renderPushRefusal({ message }, starting))).toMatch(/branches, then repeat the command$/)
  })
})

it('keeps the fix in every text of a paused campaign, without the raw message', () => {
  const reason = renderPushRefusal({ message: RULESET, rule: 'GH013' }, AROUND)
  const campaign = campaignOf(opened(1), { kind: 'campaign-paused', source: 'engine', reason })
  const experiment = campaign.experiments['exp-001']
  if (experiment === undefined) throw new Error('not opened')
  const greeted = { number: 7, head: 'a'.repeat(40), obstacle: null }
  for (const text of [renderPullBody(campaign, experiment), renderPausedComment(campaign, greeted)]) {
    expect(text).toContain('Exclude optimize\\*/\\*\\* from that ruleset')
    expect(text).toContain('then run winnow resume.')
    expect(text).not.toContain('[remote rejected]')
  }
})
