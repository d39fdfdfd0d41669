import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createActionsRunner } from '../../src/engine/jobs/github-runner.ts'
import { MAX_ORDERS_PER_RUN } from '../../src/model/job-file.ts'
import type { RunRole } from '../../src/engine/jobs/github-runs.ts'
import type { Workflows } from '../../src/github/port.ts'
import type { Campaign, LiveOrder } from '../../src/model/campaign.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { buildCampaignRefs } from '../../src/model/ids.ts'
import { campaign, oidOf } from '../plan/a-campaign.ts'
import { aSpec } from '../decide/a-spec.ts'

const OWN = 7
const FIRST_STARTED = 100

/** Nothing but `start` is asked. */
function workflows(): Workflows {
  let last = FIRST_STARTED
  const never = () => Promise.reject(new Error('nobody is to ask this'))
  return { start: async () => (last += 1), run: never, cancel: never, artifacts: never, download: never }
}

/** Which candidates an order measures: an outsider's code, or of people with write access. */
const anOrder = fc.record({
  outsiders: fc.array(fc.boolean(), { minLength: 0, maxLength: 3 }),
  /** In this process, or in none yet. */
  recorded: fc.boolean(),
})
type Drawn = typeof anOrder extends fc.Arbitrary<infer T> ? T : never

const built = campaign().withExperiment().ordered().campaign

function campaignWith(drawn: readonly Drawn[]): Campaign {
  const [pattern] = Object.values(built.orders)
  const [someone] = Object.values(built.experiments)
  if (pattern === undefined || someone === undefined) throw new Error('the campaign has no order')
  const experiments: Record<string, Experiment> = {}
  const orders: Campaign['orders'] = {}
  for (const [at, { outsiders, recorded }] of drawn.entries()) {
    const id = `${at}`.padStart(64, '0')
    const candidates = outsiders.map((isOutsider, each) => {
      const label = `exp-${100 + at * 10 + each}`
      const head = oidOf(label)
      const needs_permission = isOutsider ? { head, author: 'eve' } : null
      experiments[label] = { ...someone, id: label, head, needs_permission }
      return { label, head, tree: oidOf(`tree ${label}`) }
    })
    const run_id = recorded && !outsiders.includes(true) ? `actions:${OWN}/1` : null
    orders[id] = { ...pattern, order: { ...pattern.order, id, candidates }, run_id, report: null }
  }
  return { ...built, experiments, orders }
}

const isOutsiders = (folded: Campaign, { order }: LiveOrder) =>
  order.candidates.some(({ label }) => folded.experiments[label]?.needs_permission != null)

it('an order of an outsider never shares a run, and no run has too many orders', async () => {
  const role = fc.constantFrom<RunRole>({ does: 'start' }, { does: 'measure' })
  await fc.assert(
    fc.asyncProperty(fc.array(anOrder, { minLength: 1, maxLength: 30 }), role, async (drawn, does) => {
      const folded = campaignWith(drawn)
      const place = {
        refs: buildCampaignRefs('optimize', folded.name),
        repository: null as never,
        by: { run_id: `actions:${OWN}`, attempt: 1, actor: 'ada' },
        progress: { say: () => undefined },
        clock: null as never,
      }
      const runner = createActionsRunner(place, workflows(), {
        role: does,
        next: { propose: false, judge: false },
      })
      const all = Object.values(folded.orders)
      for (const { order, run_id } of all)
        if (run_id === null) await runner.dispatch(order, aSpec({}), folded)
      const runs = new Map<string, LiveOrder[]>()
      const undecided = all.filter(({ run_id }) => run_id === null)
      const orders = Object.fromEntries(undecided.map(each => [each.order.id, each]))
      const { runs: facts } = await runner.facts({ ...folded, orders })
      for (const live of all) {
        const fact = facts.get(live.order.id)
        const run = live.run_id ?? (fact?.state === 'running' ? (fact.runId ?? '') : '')
        expect(run).not.toBe('')
        runs.set(run, [...(runs.get(run) ?? []), live])
      }
      for (const [, together] of runs)
        if (together.some(live => isOutsiders(folded, live))) expect(together).toHaveLength(1)
      const recorded = all.filter(({ run_id }) => run_id !== null).length
      for (const [run, together] of runs) {
        const most = run === `actions:${OWN}/1` ? Math.max(MAX_ORDERS_PER_RUN, recorded) : MAX_ORDERS_PER_RUN
        expect(together.length).toBeLessThanOrEqual(most)
      }
    }),
    { numRuns: 60 },
  )
})
