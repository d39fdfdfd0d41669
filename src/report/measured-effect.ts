import { effectIn } from '../decide/evidence/reported-effect.ts'
import { verdict } from '../decide/evidence/verdict.ts'
import type { PairedCase } from '../decide/paired/rule.ts'
import { type Standing, standingOf } from '../decide/paired/standing.ts'

/** The effect on the primary that pairs show, as numbers. */
export interface PairedNumbers {
  /** Positive is better; under log a difference of natural logarithms. */
  effect: number | null
  interval: readonly [number, number] | null
  evidence: { reached: number; needed: number }
}

export function pairedNumbers(paired: PairedCase, standing: Standing = standingOf(paired)): PairedNumbers {
  const { evidence: reached, threshold: needed } = verdict(standing.primary)
  const { effect, interval } = effectIn(standing.primary)
  return { effect, interval, evidence: { reached, needed } }
}
