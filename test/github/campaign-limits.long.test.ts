import { describe, expect, test } from 'vitest'
import { getCampaignSpec } from '../../src/spec/load.ts'
import { shorter, SIZE_SPEC } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { createActionsRepository } from './actions-repository.ts'
import { onGithub } from './on-github.ts'
import { releaseTest } from '../support/cases.ts'

const HOURS = 3_600_000

describe('limits of a campaign on GitHub', () => {
  releaseTest('are none of a person’s machine: days may pass', async () => {
    const { openClient, wake } = await createActionsRepository([])
    const here = await openClient()
    await here.start()
    await wake()
    await wake({ ahead: 100 * HOURS })
    const campaign = await here.campaign()
    expect(campaign).toMatchObject({ status: 'running', host: 'github', private_repository: false })
    expect(getCampaignSpec(campaign).stopping).toMatchObject({ max_hours: null, max_runner_minutes: null })
  })

  releaseTest('count the minutes of a private repository, as it is when the spec changes', async () => {
    const { openClient, settle, github, scene } = await createActionsRepository([])
    github.world.settings.private = true
    const here = await openClient()
    await here.start()
    expect((await here.campaign()).private_repository).toBe(true)
    expect(getCampaignSpec(await here.campaign()).stopping).toMatchObject({
      max_hours: null,
      max_runner_minutes: 600,
    })
    await settle()
    github.world.settings.private = false
    scene.commit('main', { 'README.md': 'hello\n' })
    await settle()
    expect((await here.campaign()).private_repository).toBe(true)
    scene.commit('main', { '.winnow/size.yaml': `${SIZE_SPEC}limits: { max_files: 3 }\n` })
    await settle()
    expect(getCampaignSpec(await here.campaign())).toMatchObject({
      limits: { max_files: 3 },
      stopping: { max_runner_minutes: null },
    })
    await proven(here.place)
  })

  test('that stopped it are raised on the default branch, which every place says that tells of the stop', async () => {
    const there = await onGithub([shorter('a', 3)], { spec: 'stopping: { max_iterations: 1 }\n' })
    const { github, client, winnow, laptop, say, answerTo } = there
    github.token('ada')
    await client.start()
    await client.run()
    expect(await client.campaign()).toMatchObject({ status: 'stopped', stop_code: 'max_iterations' })
    const way =
      'raise stopping.max_iterations in .winnow/size.yaml on main: the next run on GitHub then continues'
    expect(await laptop('status')).toContain(`  to continue: ${way}`)
    const [pull] = github.world.pulls.filter(({ base }) => base === 'main')
    expect(pull?.body.replaceAll('\\', '')).toContain(`To continue, ${way}.`)
    expect(there.git('show', 'optimize-state/size:README.md').replaceAll('\\', '')).toContain(
      `To continue, ${way}.`,
    )

    const comment = await say('ada', pull?.number ?? 0, '/winnow resume')
    await winnow('tick')
    expect(answerTo(comment)?.text.replaceAll('\\', '')).toContain(
      `1 experiment ended (stopping.max_iterations) (${way})`,
    )
    await expect(laptop('resume')).rejects.toMatchObject({
      fix: expect.stringContaining(`${way}; or winnow amend`),
    })
    expect((await client.campaign()).status).toBe('stopped')

    const files = { '.winnow/size.yaml': `${SIZE_SPEC}stopping: { max_iterations: 9 }\n` }
    there.commit('main', { ...files, 'ideas/02.patch': shorter('b', 3) })
    await winnow('tick')
    expect((await client.campaign()).status).toBe('running')
    await client.run()
    expect(await client.outcomes()).toEqual({ a3: 'kept', b3: 'kept' })
    await proven(client.place)
  })
})
