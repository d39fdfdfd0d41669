import { describe, expect, test } from 'vitest'
import { shorter } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { type OnGithub, onGithub } from './on-github.ts'

async function underWay(): Promise<OnGithub> {
  const there = await onGithub([shorter('a', 3)])
  there.github.token('ada')
  await there.client.start()
  await there.client.run()
  return there
}

describe('the default branch is given another name', () => {
  test('which the ledger has before anything else is planned, and the campaign goes on', async () => {
    const there = await underWay()
    const { client, winnow, laptop, github } = there
    github.renameDefault('trunk')
    there.commit('trunk', { 'ideas/02.patch': shorter('b', 3) })
    await winnow('tick')
    const amended = (await client.events()).filter(({ kind }) => kind === 'campaign-amended')
    expect(amended).toMatchObject([
      { default_branch: 'refs/heads/trunk', reason: 'main was renamed to trunk' },
    ])
    await winnow('run')
    expect(await client.outcomes()).toEqual({ a3: 'kept', b3: 'kept' })
    expect((await client.campaign()).default_branch).toBe('refs/heads/trunk')
    expect(github.world.pulls.filter(({ base }) => base === 'trunk')).toHaveLength(1)
    expect((await client.events()).filter(({ kind }) => kind === 'campaign-amended')).toHaveLength(1)
    expect((await laptop('log')).join('\n')).toContain('another name: main was renamed to trunk')
    expect((await laptop('status')).join('\n')).not.toContain('nothing goes on')
    await proven(client.place)
  })

  test('but another history under another name is somebody’s decision, said in the log and in the status', async () => {
    const there = await underWay()
    const { client, winnow, laptop, github } = there
    github.renameDefault('trunk')
    there.git('update-ref', 'refs/heads/trunk', there.commit('other', { 'src/a.txt': 'a\n' }, []))
    const before = (await client.events()).length
    await expect(winnow('tick')).rejects.toMatchObject({
      message: 'the default branch main is not in the remote',
      fix: expect.stringContaining('winnow run --fresh'),
    })
    expect((await client.events()).length).toBe(before)
    expect((await laptop('status')).join('\n')).toContain(
      'note: next: nothing, because the default branch main is not in the remote',
    )
    const [answer = ''] = await laptop('status', '--json')
    expect(JSON.parse(answer)).toMatchObject({
      notes: [expect.stringMatching(/^next: nothing, because the default branch main is not in the remote/)],
    })
  })
})
