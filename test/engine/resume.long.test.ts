import { beforeAll, describe, expect, it } from 'vitest'
import { runCampaign } from '../../src/engine/controller/run.ts'
import type { PlanWaiting } from '../../src/plan/action.ts'
import { letters, shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf, type TestRepository } from '../support/repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const IDEAS = [
  shorter('a', 3),
  shorter('b', 5),
  patchOf({ 'src/c.txt': [letters('c', 15), 'broken\n'] }, { hypothesis: 'breaks the tests' }),
]

class Cut extends Error {}

type Where = (point: string, nth: number) => boolean

/** Runs to the end and is cut off where it says, one after the other; then another process, as it were, goes on. */
async function cutOff(wheres: readonly Where[], { ideas = IDEAS } = {}) {
  const left = [...wheres]
  const seen: string[] = []
  /** A hand that was cut off does nothing any more, in none of the things it had begun. */
  const mortal = () => {
    let nth = 0
    let dead = false
    return (point: string) => {
      seen.push(point)
      dead ||= left[0]?.(point, nth++) ?? false
      if (dead) throw new Cut(point)
    }
  }
  const site = await createSizeRepository(ideas, { fault: mortal() })
  for (;;) {
    const cut = await goOn(site).then(waiting => expect(waiting).toEqual({ for: 'ideas' }), onlyCuts)
    if (cut !== 'cut') break
    left.shift()
    await site.reopen({ fault: mortal() })
  }
  return { site, seen }
}

async function goOn(site: TestRepository): Promise<PlanWaiting> {
  await site.start()
  return site.run()
}

function onlyCuts(error: unknown): 'cut' {
  if (error instanceof Cut) return 'cut'
  throw error
}

/** What must be the same however often a campaign was cut off: no times, run ids or lost orders. */
async function endOf(site: TestRepository) {
  const { experiments, round, landings, incumbent } = await site.campaign()
  return {
    experiments: Object.values(experiments).map(each => ({
      id: each.id,
      hypothesis: each.hypothesis,
      said: [each.outcome, each.verdict, each.reason],
      bytes: each.metrics['bytes'],
      tree: each.measured_tree,
      closed: each.closed,
    })),
    round,
    landings: landings.map(({ experiment, base }) => ({ experiment, base: base.tree })),
    incumbent: incumbent.tree,
    branches: site.bare('for-each-ref', '--format=%(refname)').split('\n'),
    results: site.bare('ls-tree', '-r', 'optimize/size'),
  }
}

/** Steps at which one campaign is cut off, once at each; what happens together at the very end is apart. */
const POINTS = [
  ['commit:before-push', 'step:event', 'before:delete-branches'],
  ['commit:after-push', 'step:open', 'after:delete-branches'],
  ['measure:started', 'measure:partial', 'measure:before-report'],
  ['step:close', 'step:land', 'before:advance-campaign-branch'],
  ['before:commit', 'before:dispatch', 'after:advance-campaign-branch'],
  ['after:commit', 'after:dispatch'],
]

let whole: Awaited<ReturnType<typeof cutOff>>
let expected: Awaited<ReturnType<typeof endOf>>
beforeAll(async () => {
  whole = await cutOff([])
  expected = await endOf(whole.site)
})

describe('an interrupted run', () => {
  it('has the same result after every step', () => {
    expect([...new Set(whole.seen)].toSorted()).toEqual(POINTS.flat().toSorted())
    expect(Object.values(expected.experiments).map(({ said }) => said[0])).toEqual([
      'kept',
      'runner_up_kept',
      'degenerate',
    ])
  })

  it.each(
    selectCases(
      POINTS.map(points => ({ points })),
      3,
    ),
  )('at $points ends as if it had not been', async ({ points }) => {
    const left = new Set(points)
    const { site } = await cutOff(points.map(() => at => left.delete(at)))
    expect([...left]).toEqual([])
    expect(await endOf(site)).toEqual(expected)
    await site.proven()
  })
})

describe('an interrupted measurement', () => {
  const started = (point: string) => point === 'measure:started'

  releaseTest('is issued again unchanged, and gets the same verdict', async () => {
    const { site } = await cutOff([after('step:open', 'measure:started')])
    const events = await site.events()
    const lost = events.filter(event => event.kind === 'order-lost' && event.started)
    expect(lost[0]).toMatchObject({ reason: 'the process that measured it ended early' })
    expect(await endOf(site)).toEqual(expected)
    await site.proven()
  })

  releaseTest('is issued a second time as well', async () => {
    const one = after('step:open', 'measure:started')
    const { site } = await cutOff([one, started], { ideas: [shorter('a', 3)] })
    expect(await site.outcomes()).toEqual({ a3: 'kept' })
    await site.proven()
  })
})

describe('a run that a person interrupts', () => {
  const SLOW = patchOf({ 'src/d.txt': [null, 'slow\n'] }, { hypothesis: 'slow' })
  it.each(selectCases(['while it writes', 'while it measures']))(
    '%s ends its measurements, starts none, and continues later',
    async when => {
      let starts = 0
      let began = () => {}
      const measuring = new Promise<void>(resolve => (began = resolve))
      // The first start is the calibration's, the second the experiment's.
      const fault = (point: string) => void (point === 'measure:started' && ++starts === 2 && began())
      const site = await createSizeRepository([SLOW, shorter('a', 3)], {
        spec: 'execution: { mode: serial }\n',
        fault,
      })
      await site.start()
      const { orders } = await site.until(({ experiments }) => experiments['exp-001']?.status === 'ordered')
      const interrupt = new AbortController()
      const hands = await site.hands()
      const running = runCampaign(hands, { signal: interrupt.signal, watch: false })
      if (when === 'while it measures') await measuring
      interrupt.abort()
      expect(await running).toEqual({ for: 'person', what: 'interrupted; run again to continue' })
      expect(Object.keys(orders).filter(order => hands.runner.holds(order))).toEqual([])
      expect(Object.keys((await site.campaign()).orders)).toEqual(Object.keys(orders))

      await site.reopen()
      await site.person({ kind: 'steered', action: 'withdraw', experiment: 'exp-001', reason: 'too slow' })
      expect(await site.run()).toEqual({ for: 'ideas' })
      expect(await site.outcomes()).toEqual({ slow: 'withdrawn', a3: 'kept' })
      await site.proven()
    },
  )
})

/** The first time the second point is reached after the first one was. */
function after(first: string, second: string): Where {
  let reached = false
  return point => {
    reached ||= point === first
    return reached && point === second
  }
}
