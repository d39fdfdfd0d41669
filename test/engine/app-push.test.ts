import { expect, test } from 'vitest'
import { requireCampaign } from '../../src/engine/controller/run.ts'
import { Transaction } from '../../src/engine/controller/transaction.ts'
import type { RefUpdate } from '../../src/git/push.ts'
import { shorter, createSizeRepository } from '../support/size-repository.ts'

const WORKFLOW =
  'refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission'

/** A transaction that brings a sync, whose remote says no to all but the ledger; the refs of each push by an App's token. */
async function refused({
  message = WORKFLOW,
  canPushWorkflows = true,
  brings = 'synced' as 'synced' | 'nothing',
  moves = (_refs: { optimize: string; experiments: string }): string[] => [],
}) {
  const there = await createSizeRepository([shorter('a', 3)])
  await there.start()
  const { place } = there
  const { loaded } = await requireCampaign(place)
  const { repository } = place
  const byApp: string[][] = []
  const push: typeof repository.push = async (updates: readonly RefUpdate[], how) => {
    const refs = updates.map(({ ref }) => ref)
    if (how?.bringsWorkflows === true) byApp.push(refs)
    const isLedger = refs.every(ref => ref === place.refs.state)
    return isLedger ? repository.push(updates) : { ok: false, reason: 'refused', message }
  }
  const { refs } = await repository.remoteRefs()
  const own = { ...place, repository: { ...repository, canPushWorkflows, push } }
  const transaction = new Transaction(own, { loaded, refs })
  const { incumbent: to, start, harness } = loaded.campaign
  if (brings === 'synced')
    transaction.addEvent({
      kind: 'synced',
      cause: 'test',
      order: '0'.repeat(64),
      from: to,
      to,
      default_tip: start.commit,
      default_tree: start.tree,
      holds: [],
      harness,
    })
  else transaction.addEvent({ kind: 'alert', cause: 'test', code: 'push-refused', message: 'x', about: null })
  const next = await repository.writeCommit({
    tree: to.tree,
    parents: [to.commit],
    message: 'next\n',
    date: 1,
  })
  for (const ref of [place.refs.optimize, ...moves(place.refs)]) transaction.move(ref, next)
  await transaction.push()
  return { byApp, optimize: place.refs.optimize, state: place.refs.state }
}

test("a sync refused for its workflow files is pushed once more, by the App's token", async () => {
  const { byApp, optimize, state } = await refused({})
  expect(byApp).toEqual([[optimize, state]])
})

test.each([
  ['moves the branch of an experiment too', { moves: refs => [`${refs.experiments}exp-001`] }],
  ['was refused for anything else', { message: 'GH006: Protected branch update failed' }],
  ['brings no sync', { brings: 'nothing' }],
  ['comes where there is no such token', { canPushWorkflows: false }],
] satisfies [string, Parameters<typeof refused>[0]][])(
  'pushes no sync with the App token that %s',
  async (_what, push) => {
    expect((await refused(push)).byApp).toEqual([])
  },
)
