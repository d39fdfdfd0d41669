import { expect, test } from 'vitest'
import { patchOf, proven } from '../support/repository.ts'
import { createActionsRepository } from './actions-repository.ts'
import { releaseTest } from '../support/cases.ts'

/** Counts the steps that code in its own process says it took. */
const FILES = {
  'src/work.sh': 'work() {\n  echo 100\n}\n',
  'bench/steps.sh': '. src/work.sh\nprintf \'{"steps": %s}\' "$(work)"\n',
  'bench/test.sh': '. src/work.sh\ntest "$(work)" -gt 0 || exit 1\necho "1 passed"\n',
}
const SPEC = `winnow: 1
name: size
metric: { primary: { name: steps, direction: minimize } }
measurement: { command: sh bench/steps.sh }
gates: [{ name: tests, command: sh bench/test.sh }]
scope: { mutable: [src/] }
propose: [{ use: patch, dir: ideas }, { use: external }]
merge: { unisolated: allow }
`
const FEWER = 'work() {\n  echo 90\n}\n'

test('probes run in a job, and a stranger on a forgeable harness waits for a person who approves the change', async () => {
  const here = await createActionsRepository([], { spec: () => SPEC, files: FILES })
  const { github, scene, settle, machines } = here
  const client = await here.openClient()
  await client.start()
  await settle()
  const guard = (await client.campaign()).probes?.results.filter(
    ({ caught_by, applicable }) => applicable && caught_by === null,
  )
  expect(guard?.map(({ name }) => name)).toContain('forge-output')

  const fork = github.fork('eve')
  const eve = github.token('eve', { permission: 'read' })
  const head = scene.commit('spare', { 'src/work.sh': FEWER }, [scene.tip('main')])
  scene.git('push', '-q', fork, `+${head}:refs/heads/fewer`)
  scene.git('update-ref', '-d', 'refs/heads/spare')
  const offer = { title: 'fewer', head: 'eve:fewer', base: 'optimize/size' }
  expect((await scene.ask(eve, 'POST /pulls', offer)).status).toBe(201)
  await settle()
  const { id } = await client.experiment('fewer')
  await client.person({ kind: 'permission-granted', experiment: id, login: 'ada', head })
  await machines()
  await settle()
  const held = await client.experiment('fewer')
  expect(held).toMatchObject({ status: 'deferred' })
  const [finding] = held.approval?.findings ?? []
  expect(finding?.name).toMatch(/^the harness is forgeable by: .*forge output/)
  await proven(client.place)
})

releaseTest(
  'a person lands on such a harness, and the commit and the pull requests say the word',
  async () => {
    const idea = patchOf({ 'src/work.sh': [FILES['src/work.sh'], FEWER] }, { hypothesis: 'fewer' })
    const here = await createActionsRepository([idea], { spec: () => SPEC, files: FILES })
    const { github, settle, machines, scene } = here
    const client = await here.openClient()
    await client.start()
    for (let turn = 0; turn < 4; turn++) {
      await settle()
      await machines()
    }
    await settle()
    expect(await client.outcomes()).toEqual({ fewer: 'kept' })
    const word = /the harness is forgeable by: .*forge output/i
    expect(scene.git('log', '-1', '--format=%B', 'optimize/size')).toMatch(
      /^Winnow-Harness: forgeable by: .*forge output/m,
    )
    const bodies = github.world.pulls.map(({ body }) => body)
    expect(bodies.filter(body => word.test(body))).toHaveLength(2)
    await proven(client.place)
  },
)
