import { describe, expect, test } from 'vitest'
import { letters, shorter, SIZE_SPEC } from '../support/size-repository.ts'
import { packageFiles } from '../support/package-files.ts'
import { proven } from '../support/repository.ts'
import { type CampaignOnGithub, campaignOnGithub } from './campaign-on-github.ts'
import type { Waking } from './job-in-process.ts'
import { releaseTest } from '../support/cases.ts'

const APP = 'of-ours[bot]'
const CI = { '.github/workflows/ci.yml': 'on: [push, pull_request]\njobs: {}\n' }
type Grants = Record<string, 'read' | 'write'>

/** A campaign whose jobs hold an App's token beside their own. */
async function withApp(
  grants: Grants = { contents: 'write', workflows: 'write' },
  ...given: Parameters<typeof campaignOnGithub>
) {
  const there = await campaignOnGithub(...given)
  const { world } = there.github
  const appToken = there.github.token(APP, { kind: 'app', grants })
  const wake = () => there.wake({ appToken })
  const machines = (around: Waking['around'] = {}) => there.machines({ appToken, around })
  return {
    ...there,
    appToken,
    wake,
    machines,
    async settle() {
      for (let wakes = 0; wakes < 20; wakes++) {
        const { code, out } = await wake()
        if (code !== 0) throw new Error(out)
        if (there.waiting().length === 0) return
        await machines()
      }
      throw new Error('it never came to rest')
    },
    movedBy: (who: string) => new Set(world.pushed.flatMap(({ by, branch }) => (by === who ? [branch] : []))),
  }
}

/** One change is about to be measured when the default branch brings a workflow file, and another idea. */
async function changed(there: Awaited<ReturnType<typeof withApp>>): Promise<string> {
  await there.wake()
  await there.machines()
  expect(there.waiting().map(({ branch }) => branch)).toEqual(['optimize/size'])
  return there.commit('main', { ...CI, 'ideas/02.patch': shorter('b', 5) })
}

async function alertsOf({ openClient }: Pick<CampaignOnGithub, 'openClient'>) {
  return (await (await openClient()).campaign()).alerts.filter(({ code }) => code === 'sync-workflows')
}

const IDEA = { 'ideas/01.patch': shorter('a', 3) }

describe("an App's token", () => {
  releaseTest('brings a default branch that changed workflow files, and does nothing else', async () => {
    const there = await withApp(undefined, IDEA)
    const { github } = there
    const brought = await changed(there)
    await there.settle()
    const client = await there.openClient()
    expect(await client.outcomes()).toEqual({ a3: 'kept', b5: 'kept' })
    expect(await client.campaign()).toMatchObject({ default_tip: brought, status: 'running' })
    expect(await alertsOf(there)).toEqual([])

    // The branches that an App moves have an empty tree, and the ledger: nothing could run there.
    expect(there.movedBy(APP)).toEqual(new Set(['optimize-state/size', 'optimize-closed/size']))
    for (const branch of ['optimize/size', 'optimize-exp/size/exp-001', 'optimize-exp/size/exp-002'])
      expect(there.movedBy('github-actions[bot]')).toContain(branch)
    expect(github.world.runs.filter(({ actor }) => actor === APP)).toEqual([])
    expect(github.api.log.filter(({ who }) => who === APP)).toEqual([])
    const drafts = github.world.pulls.filter(({ branch }) => branch.startsWith('optimize-exp/'))
    expect(drafts).toHaveLength(2)
    for (const { author } of drafts) expect(author.kind).toBe('actions')
    for (const { author } of github.world.comments) expect(author.kind).toBe('actions')
    await proven(client.place)
  })

  releaseTest(
    'moves the optimize branch where GitHub refuses that move as well, and no branch of an experiment',
    async () => {
      const there = await withApp(undefined, IDEA)
      const { github } = there
      const brought = await changed(there)
      await there.machines()
      const before = there.tip('optimize/size')
      // A workflow file that the branch itself has not, wherever else it lies.
      github.refuseWorkflows(true)
      const asApp = (point: string) => point === 'commit:before-app-push' && github.refuseWorkflows(false)
      await there.machines({ faults: { reach: point => void asApp(point) } })
      expect(there.tip('optimize/size')).not.toBe(before)
      const started = github.world.runs.filter(({ actor }) => actor === APP)
      expect(started).toMatchObject([{ event: 'push', branch: 'optimize/size' }])
      for (const run of started) github.finish(run, 'success')
      await there.settle()
      const client = await there.openClient()
      expect(await client.campaign()).toMatchObject({ default_tip: brought, status: 'running' })
      expect(await client.outcomes()).toEqual({ a3: 'kept', b5: 'kept' })
      expect(there.movedBy(APP)).toEqual(
        new Set(['optimize/size', 'optimize-state/size', 'optimize-closed/size']),
      )
      await proven(client.place)
    },
  )

  releaseTest(
    'that may not bring them either is named in what is said, and the campaign goes on without',
    async () => {
      const there = await withApp({ contents: 'write' }, IDEA)
      const brought = await changed(there)
      await there.settle()
      const [alert, ...more] = await alertsOf(there)
      expect(more).toEqual([])
      expect(alert).toMatchObject({ about: brought })
      expect(alert?.message).toContain('changes workflow files, which app-token may not push')
      expect(alert?.message).toContain('Or give that App `workflows`')
      expect(await (await there.openClient()).outcomes()).toEqual({ a3: 'kept', b5: 'kept' })
      expect(there.movedBy(APP)).toEqual(new Set())
    },
  )

  test('that has ended fails the job that needed it, by its name, and is in nothing that is printed', async () => {
    const there = await withApp({}, IDEA)
    await changed(there)
    there.github.world.accounts.delete(there.appToken)
    const out = await there.settle().then(
      () => '',
      (error: unknown) => String(error),
    )
    expect(out).toMatch(/cannot push with app-token to .*could not read Username/s)
    expect(out).not.toContain(there.appToken)
  })

  releaseTest('is asked who is in a team, and nothing else', async () => {
    const spec = `${SIZE_SPEC.replace('mutable: [src/]', 'mutable: [src/, package.json, package-lock.json]')}dependencies: { approvers: [team/core] }\n`
    const there = await withApp({ members: 'read' }, packageFiles({}), spec)
    const { github } = there
    github.world.teams.set('core', new Set(['ada']))
    await there.wake()
    const files = { 'src/b.txt': letters('b', 5), ...packageFiles({ 'left-pad': { version: '1.3.0' } }) }
    const { number, head } = await there.offers('mine', files)
    await there.settle()
    const bob = github.token('bob')
    const approved = async () => (await (await there.openClient()).experiment('mine')).status !== 'deferred'
    await there.ask(bob, `POST /pulls/${number}/reviews`, { event: 'APPROVE', commit_id: head })
    await there.settle()
    expect(await approved()).toBe(false)
    const mia = github.token('mia')
    github.world.teams.set('core', new Set(['ada', 'mia']))
    await there.ask(mia, `POST /pulls/${number}/reviews`, { event: 'APPROVE', commit_id: head })
    await there.settle()
    expect(await approved()).toBe(true)
    const asked = github.api.log.filter(({ who }) => who === APP)
    expect(new Set(asked.map(({ route }) => route))).toEqual(
      new Set(['GET /orgs/{org}/teams/{team_slug}/memberships/{username}']),
    )
    expect(there.movedBy(APP)).toEqual(new Set())
  })
})
