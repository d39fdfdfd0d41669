import { toEvidence, computeLnEvidence } from '../evidence/rank-evidence.ts'
import type { EvidenceState } from '../evidence/state.ts'
import { type EvidenceVerdict, computeEvidenceVerdict } from '../evidence/verdict.ts'
import { selectReportedJobs } from '../../model/pairs.ts'
import { isJudgedMetric } from '../../spec/judged.ts'
import { listObjectives } from '../objectives.ts'
import { formatCount } from '../wording.ts'
import { renderEvidenceBar } from './evidence-bar.ts'
import { computeObjectiveEvidence } from './objective-evidence.ts'
import type { PairedCase } from './rule.ts'
import type { PairsEvaluation } from './standing.ts'

/** What shows that a simplification is harmless enough (decision.md 3.4). */
const HARMLESS_EVIDENCE = 20

/** What the sentence rests on, in one line: a pure function of pairs and terms, so that `replay` finds it again. */
export function renderEvidenceLine(
  paired: PairedCase,
  standing: DecidingParts,
  cost: 'executions' | 'pairs' = 'executions',
): string {
  const other = findDecidingObjective(paired, standing)
  const { evidence, threshold, stage } = weighEvidence(paired, other?.state ?? standing.primary)
  const about = other === null ? '' : ` for ${other.name}`
  const bar = renderEvidenceBar(evidence, threshold, 20)
  return `evidence ${formatEvidence(evidence)}${about} (needed ${NEEDED_TO[stage]}: ${formatEvidence(threshold)}) ▕${bar}▏ ${formatCost(paired, cost)}`
}

/** The two may be close to each other, and are passed one after the other (docs/deciding.md). */
const NEEDED_TO = { screening: 'to measure more', confirming: 'to be sure' } as const

type DecidingParts = Pick<PairsEvaluation, 'primary' | 'improved' | 'promising'>

/** The required objective that decided, or goes on, where it is not the primary. */
function findDecidingObjective(
  paired: PairedCase,
  { improved, promising }: DecidingParts,
): { name: string; state: EvidenceState } | null {
  const [primary, ...others] = listObjectives(paired.spec.metric)
  const name = improved.includes(primary.name) ? undefined : (improved[0] ?? promising)
  const objective = others.find(each => each.name === name)
  return objective ? { name: objective.name, state: computeObjectiveEvidence(paired, objective) } : null
}

function weighEvidence(
  { terms, rule }: PairedCase,
  state: EvidenceState,
): Pick<EvidenceVerdict, 'evidence' | 'threshold' | 'stage'> {
  if (terms.as !== 'simplify') return computeEvidenceVerdict(state)
  return {
    evidence: toEvidence(computeLnEvidence(state.differences, -rule.min_effect)),
    threshold: HARMLESS_EVIDENCE,
    stage: 'confirming',
  }
}

/**
 * Pairs that count, jobs, machines, executions: two warm-ups a job are paid for too, and so is a void pair. A comparison
 * knows what it really ran, half a pair and repeated jobs included, and says that instead.
 */
function formatCost(paired: PairedCase, cost: 'executions' | 'pairs'): string {
  const jobs = selectReportedJobs(paired.jobs)
  const pairs = countPairs(jobs)
  const runners = new Set(jobs.flatMap(({ runner, also_on = [] }) => [runner, ...also_on])).size
  const where = paired.rule.single_machine ? 'on this machine' : `on ${formatCount(runners, 'runner')}`
  if (isJudgedMetric(paired.spec))
    return `${formatCount(pairs, 'item')} in ${formatCount(jobs.length, 'sample')}, each scored on both sides`
  const said = `${formatCount(pairs, 'pair')} in ${formatCount(jobs.length, 'job')} ${where}`
  return cost === 'pairs' ? said : `${said}, ${formatCount(countExecutions(jobs), 'execution')}`
}

/** What it took so far, in two words: "144 runs". */
export function formatEffort({ spec, jobs: known }: Pick<PairedCase, 'spec' | 'jobs'>): string {
  const jobs = selectReportedJobs(known)
  return isJudgedMetric(spec)
    ? formatCount(countPairs(jobs), 'item')
    : formatCount(countExecutions(jobs), 'run')
}

function countPairs(jobs: PairedCase['jobs']): number {
  return jobs.flatMap(({ pairs }) => pairs).filter(({ base }) => base !== null).length
}

function countExecutions(jobs: PairedCase['jobs']): number {
  return 2 * (jobs.flatMap(({ pairs }) => pairs).length + jobs.length)
}

/** Short enough to read, precise enough to tell from what it has to reach. */
export function formatEvidence(value: number): string {
  if (value >= 1e6 || (value > 0 && value < 1e-4)) return value.toExponential(1)
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}
