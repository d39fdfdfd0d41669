import { effectOf } from '../evidence/reported-effect.ts'
import { type EvidenceReason, type EvidenceVerdict, verdict } from '../evidence/verdict.ts'
import { objectivesOf } from '../objectives.ts'
import { plural } from '../wording.ts'
import { effectText } from './effect-text.ts'
import type { PairedCase } from './rule.ts'
import type { Standing } from './standing.ts'

const WHY = {
  'gain-shown': null,
  broken: 'two of its executions failed',
  'gain-ruled-out': 'a gain worth having is ruled out',
  'no-promise-after-job-1': 'too little to go on with after the first job',
  'no-promise-after-job-2': 'too little to go on with after the second job',
  'not-begun': null,
  measuring: null,
  promising: 'promising, and needs a fresh runner',
  'job-ended': 'not decided yet',
  'jobs-used-up': 'not decided, and its jobs are used up',
} as const satisfies Record<EvidenceReason, string | null>

/** One line with the evidence: how much, where the truth lies, what it took, and what it does not know. */
export function evidenceSentence(paired: PairedCase, standing: Standing): string {
  const { spec, rule } = paired
  const [objective] = objectivesOf(spec.metric)
  const said = verdict(standing.primary)
  const { interval } = effectOf(standing.primary.differences)
  const measured = { name: objective.name, direction: objective.direction, scale: rule.scale }
  const parts = [
    said.effect === null ? null : `probably ${effectText(said.effect, interval, measured)}`,
    shown(standing, said),
    evidenceText(said),
    `${plural(said.pairs, 'pair')} in ${plural(paired.jobs.length, 'job')}${rule.single_machine ? ' on this machine' : ''}`,
  ]
  return parts.filter(part => part !== null).join(', ')
}

function shown(
  { status, harmed, open, tie, improved }: Standing,
  { reason }: EvidenceVerdict,
): string | null {
  if (harmed.length > 0) return `${harmed.join(', ')} shown to be worse`
  if (tie !== null) return `${tie} better (tie-breaker)`
  if (status !== 'keep' && improved.length > 0) return `${open.join(', ')} not shown harmless yet`
  return status === 'keep' ? null : WHY[reason]
}

/** The number and what it has to reach, both short enough to read. */
function evidenceText({ evidence, threshold }: EvidenceVerdict): string {
  return `evidence ${rounded(evidence)} of ${rounded(threshold)}`
}

function rounded(value: number): string {
  if (value >= 1e6) return value.toExponential(1)
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}
