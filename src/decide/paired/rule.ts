import type { PairedTerms, StopRule } from '../../model/order.ts'
import type { PairJob } from '../../model/pairs.ts'
import type { Spec } from '../../spec/schema.ts'

export type PairedRule = Extract<StopRule, { rule: 'paired' }>

/** One candidate's pairs, and on which terms they are read: all that its verdict depends on (invariant 3). */
export interface PairedCase {
  spec: Pick<Spec, 'metric' | 'policy'>
  rule: PairedRule
  terms: Pick<PairedTerms, 'as' | 'level' | 'max_jobs' | 'give_up'>
  jobs: readonly PairJob[]
}
