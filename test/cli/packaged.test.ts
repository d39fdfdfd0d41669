import { describe, expect, it } from 'vitest'
import * as source from '../../src/index.ts'

/** By its own name, as whoever installs the package says it: through `exports`, from the committed bundle. */
async function packaged(): Promise<Record<string, unknown>> {
  const name = 'git-winnow'
  return import(name)
}

describe('the package', () => {
  it('exports by its name what the source exports', async () => {
    expect(Object.keys(await packaged()).toSorted()).toEqual(Object.keys(source).toSorted())
  })

  it('decides as the source does', async () => {
    const bundle = await packaged()
    const rule = { direction: 'minimize', minEffect: 0.02, pairsPerJob: 8, maxJobs: 8 } as const
    const pairs = [0.93, 0.94, 0.95, 0.925, 0.935, 0.945, 0.93, 0.94]
    const play = ({ startEvidence, observePair, verdict }: typeof source) => {
      let state = startEvidence(rule)
      for (const candidate of pairs)
        state = observePair(state, { base: 1, candidate, job: 1, order: 'base-first' })
      return verdict(state)
    }
    expect(Reflect.apply(play, null, [bundle])).toEqual(play(source))
    expect(play(source)).toMatchObject({ status: 'new-job', screened: true })
  })
})
