import { expect } from 'vitest'
import { packageFiles } from '../support/package-files.ts'
import { letters } from '../support/size-repository.ts'
import { onGithub } from './on-github.ts'

export const LEFT_PAD = { 'left-pad': { version: '1.3.0' } }

/** A person's change that needs a package, waiting for an approval of it. */
export async function waitingForReview(approvers = 'write', more = '') {
  const there = await onGithub([], {
    files: packageFiles({}),
    spec: text =>
      `${text.replace('mutable: [src/]', 'mutable: [src/, package.json, package-lock.json]')}dependencies: { approvers: ${approvers} }\n${more}`,
  })
  const { client } = there
  for (const writer of ['ada', 'mia']) there.github.token(writer)
  await client.start()
  const files = { 'src/b.txt': letters('b', 5), ...packageFiles(LEFT_PAD) }
  const head = there.commit('small', files, [there.tip('main')])
  const mine = { title: 'mine', head: 'small', base: 'optimize/size' }
  await there.asks('mia', 'POST /pulls', mine)
  await client.run()
  const [experiment] = Object.values((await client.campaign()).experiments)
  expect(experiment).toMatchObject({ status: 'deferred', head })
  expect(there.github.world.comments).toMatchObject([
    { number: 1, author: { kind: 'actions' }, body: expect.stringContaining('| left-pad 1.3.0 |') },
  ])
  expect(there.github.world.checks).toMatchObject([{ head, conclusion: 'neutral' }])
  return { ...there, head, digest: experiment?.approval?.digest ?? '' }
}

export const APPROVE = { event: 'APPROVE' }
export const REVIEWS = 'POST /pulls/1/reviews'
