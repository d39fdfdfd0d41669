import { describe, expect, it } from 'vitest'
import type { Order } from '../../src/model/order.ts'
import { judgeExperiment } from '../../src/plan/judgement.ts'
import { renderVerdictSentence } from '../../src/report/verdict-text.ts'
import { aReport, anOrder, ceSpec, run } from '../decide/a-spec.ts'
import { anExperiment } from '../ideas/incumbent.ts'

function combined(candidate: number) {
  const spec = ceSpec({ mode: 'stable', noise_threshold: 5 })
  const order = {
    ...anOrder({ rule: 'stability', baseline: null }),
    purpose: 'combination',
    attempt: 1,
  } as Order
  const report = aReport([run('base', { bytes: 840 }), run('exp-001', { bytes: candidate })])
  return judgeExperiment(spec, anExperiment(1), { order, report })
}

describe('a combination under ce stability', () => {
  it('has to beat noise_threshold: strictly better within it is neutral', () => {
    const within = combined(837)
    expect(within).toMatchObject({ is: 'final', outcome: 'runner_up_dropped' })
    const reason = within.is === 'final' ? within.reason : null
    expect(renderVerdictSentence({ verdict: 'no gain', outcome: 'runner_up_dropped', reason })).toMatch(
      /^Promising alone, neutral in combination: bytes 840 -> 837 /,
    )
    expect(combined(834).is).toBe('eligible')
  })
})
