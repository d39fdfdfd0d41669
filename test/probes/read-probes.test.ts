import { expect, test } from 'vitest'
import { readProbes } from '../../src/probes/read-probes.ts'
import { anOrder, aReport, aSpec, run } from '../decide/a-spec.ts'

const label = 'probe-slow-clock'
const spec = aSpec({ metric: { primary: { name: 'ms', direction: 'minimize' } } })

/** What stops the probe whose first and second runs print these numbers, beside those of the base. */
function readSlowClock(base: [number, number], probe: [number, number]): string | null | undefined {
  const order = anOrder({ rule: 'once', min_effect: 0.2, scale: 'log', noisy: true })
  const executions = [
    run('base', { ms: base[0] }),
    run(label, { ms: probe[0] }),
    run('base', { ms: base[1] }, { role: 'repeat' }),
    run(label, { ms: probe[1] }, { role: 'repeat' }),
  ]
  const probing = { ...order, candidates: [{ label, head: 'c'.repeat(40), tree: 'd'.repeat(40) }] }
  return readProbes(spec, probing, aReport(executions))[0]?.caught_by
}

test('a slow clock shows a gain in every run against every run of the base', () => {
  expect(readSlowClock([100, 110], [11, 30])).toBe(null)
  expect(readSlowClock([100, 110], [75, 85])).toBe('no gain')
})

test('a machine that becomes faster meanwhile is no slow clock', () => {
  expect(readSlowClock([140, 100], [105, 75])).toBe('no gain')
})
