import { describe, test } from 'vitest'
import { BEGINNING } from '../support/campaign-client.ts'
import { packageFiles } from '../support/package-files.ts'
import { letters, shorter } from '../support/size-repository.ts'
import { life } from '../github/life.ts'
import { onGithub } from '../github/on-github.ts'
import { fixReport } from './fixed-runner.ts'
import { compareGithub, compareLife } from './golden-github.ts'
import { FIXED, runInTurn } from './golden-repository.ts'

const SERIAL = 'execution: { mode: serial }\n'

describe('a campaign on GitHub', () => {
  test('pick: a comment takes one kept change alone, and a person merges it', async () => {
    const there = await onGithub([shorter('a', 3), shorter('b', 5)], { ...FIXED, spec: SERIAL })
    const { github, client, winnow, say, asks, number } = there
    github.token('ada')
    await client.start()
    await runInTurn(client)
    await say('ada', number('b5'), '/winnow pick')
    await say('mallory', number('b5'), '/winnow pick')
    await winnow('tick')
    await runInTurn(client)
    const picked = github.world.pulls.findLast(
      ({ base, branch }) => base === 'main' && branch.includes('-exp/'),
    )
    await asks('ada', `PUT /pulls/${picked?.number}/merge`, {})
    await winnow('tick')
    await runInTurn(client)
    await compareGithub('pick', there)
  })

  test('approvals: a package that a change adds waits for a review of somebody else', async () => {
    const there = await onGithub([], {
      ...FIXED,
      files: packageFiles({}),
      spec: text =>
        `${text.replace('mutable: [src/]', 'mutable: [src/, package.json, package-lock.json]')}dependencies: { approvers: write }\n`,
    })
    const { client, asks, say, winnow } = there
    for (const writer of ['ada', 'mia']) there.github.token(writer)
    await client.start()
    const added = packageFiles({ 'left-pad': { version: '1.3.0' } })
    there.commit('small', { 'src/b.txt': letters('b', 5), ...added }, [there.tip('main')])
    await asks('mia', 'POST /pulls', { title: 'mine', head: 'small', base: 'optimize/size' })
    await runInTurn(client)
    await say('mia', 1, '/winnow approve')
    await winnow('tick')
    await asks('ada', 'POST /pulls/1/reviews', { event: 'APPROVE', commit_id: there.tip('small') })
    await winnow('tick')
    await runInTurn(client)
    await compareGithub('approvals', there)
  })

  test('commands: people ask, retry, pause, resume and stop by comments', async () => {
    const there = await onGithub([shorter('a', 3), shorter('b', 16)], { ...FIXED, spec: SERIAL })
    const { github, client, winnow, say, number } = there
    github.token('ada')
    await client.start()
    await runInTurn(client)
    for (const text of ['status', 'retry', 'priority high', 'nonsense', 'pause']) {
      await say('ada', number('b16'), `/winnow ${text}`)
      await winnow('tick')
    }
    await runInTurn(client)
    await say('ada', number('a3'), '/winnow resume')
    await winnow('tick')
    await runInTurn(client)
    await say('ada', number('a3'), '/winnow stop')
    await winnow('tick')
    await runInTurn(client)
    await compareGithub('commands', there)
  })

  test('whole-life: jobs of workflow runs, a fork, a permission, a closed pull request, a merge of it all', async () => {
    let at = Date.parse(BEGINNING)
    const machine = { now: () => at, monotonic: () => 0, fix: fixReport }
    const here = await life({ now: () => at, machine: () => machine })
    for (const { does } of here.deeds) {
      // GitHub's clock is not behind, or a comment would be older than what it is about.
      here.github.world.clock = Math.max(here.github.world.clock, at + 1_000)
      const job = await does()
      at += 60_000
      const { code, out } = await here.wake(job)
      if (code !== 0) throw new Error(out)
    }
    await compareLife('whole-life', here)
    await here.end()
  })
})
