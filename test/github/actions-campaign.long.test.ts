import { describe, expect, test } from 'vitest'
import { letters, shorter } from '../engine/size-yard.ts'
import { proven } from '../engine/yard.ts'
import { actionsYard } from './actions-yard.ts'

describe('a campaign whose orders are jobs of runs that it starts', () => {
  test('goes from its start to its proofs, within the requests it may make', async () => {
    const { github, post, scene, ada, settle, wake } = await actionsYard([shorter('a', 3)])
    const here = await post()
    expect(await here.start()).toBe('started')
    scene.commit('small', { 'src/b.txt': letters('b', 5) }, [scene.tip('main')])
    await scene.ask(ada, 'POST /pulls', { title: 'mine', head: 'small', base: 'optimize/size' })
    github.spent()
    expect(await settle()).toEqual({ for: 'ideas' })
    const spent = github.spent()
    expect(await here.outcomes()).toEqual({ a3: 'kept', mine: 'runner_up_kept' })
    await proven(here.place)
    const { runs } = github.world
    const dispatched = (await here.events()).flatMap(event =>
      event.kind === 'order-dispatched' ? [event.run_id] : [],
    )
    expect([...new Set(dispatched)]).toEqual(runs.map(({ id }) => `actions:${id}/1`))
    expect(runs.length).toBeLessThanOrEqual(4)
    // The calibration costs as much as an idea.
    expect(spent.length).toBeLessThanOrEqual(3 * 15)
    github.spent()
    await wake()
    expect(github.spent().length).toBeLessThanOrEqual(3)
  })
})
