import { evidenceOf, lnEvidence } from '../evidence/rank-evidence.ts'
import type { EvidenceState } from '../evidence/state.ts'
import { type EvidenceVerdict, verdict } from '../evidence/verdict.ts'
import { reportedJobs } from '../../model/pairs.ts'
import { isJudged } from '../../spec/judged.ts'
import { objectivesOf } from '../objectives.ts'
import { plural } from '../wording.ts'
import { evidenceBar } from './evidence-bar.ts'
import { evidenceFor } from './objective-evidence.ts'
import type { PairedCase } from './rule.ts'
import type { Standing } from './standing.ts'

/** What shows that a simplification is harmless enough (decision.md 3.4). */
const HARMLESS_AT = 20

/** What the sentence rests on, in one line: a pure function of pairs and terms, so that `replay` finds it again. */
export function evidenceLine(
  paired: PairedCase,
  standing: Deciding,
  cost: 'executions' | 'pairs' = 'executions',
): string {
  const other = otherThanPrimary(paired, standing)
  const { evidence, threshold, stage } = weighed(paired, other?.state ?? standing.primary)
  const about = other === null ? '' : ` for ${other.name}`
  const bar = evidenceBar(evidence, threshold, 20)
  return `evidence ${evidenceText(evidence)}${about} (needed ${NEEDED_TO[stage]}: ${evidenceText(threshold)}) ▕${bar}▏ ${costText(paired, cost)}`
}

/** The two may be close to each other, and are passed one after the other (docs/deciding.md). */
const NEEDED_TO = { screening: 'to measure more', confirming: 'to be sure' } as const

type Deciding = Pick<Standing, 'primary' | 'improved' | 'promising'>

/** The required objective that decided, or goes on, where it is not the primary. */
function otherThanPrimary(
  paired: PairedCase,
  { improved, promising }: Deciding,
): { name: string; state: EvidenceState } | null {
  const [primary, ...others] = objectivesOf(paired.spec.metric)
  const name = improved.includes(primary.name) ? undefined : (improved[0] ?? promising)
  const objective = others.find(each => each.name === name)
  return objective ? { name: objective.name, state: evidenceFor(paired, objective) } : null
}

function weighed(
  { terms, rule }: PairedCase,
  state: EvidenceState,
): Pick<EvidenceVerdict, 'evidence' | 'threshold' | 'stage'> {
  if (terms.as !== 'simplify') return verdict(state)
  return {
    evidence: evidenceOf(lnEvidence(state.differences, -rule.min_effect)),
    threshold: HARMLESS_AT,
    stage: 'confirming',
  }
}

/**
 * Pairs that count, jobs, machines, executions: two warm-ups a job are paid for too, and so is a void pair. A comparison
 * knows what it really ran, half a pair and repeated jobs included, and says that instead.
 */
function costText(paired: PairedCase, cost: 'executions' | 'pairs'): string {
  const jobs = reportedJobs(paired.jobs)
  const pairs = countedPairs(jobs)
  const runners = new Set(jobs.flatMap(({ runner, also_on = [] }) => [runner, ...also_on])).size
  const where = paired.rule.single_machine ? 'on this machine' : `on ${plural(runners, 'runner')}`
  if (isJudged(paired.spec))
    return `${plural(pairs, 'item')} in ${plural(jobs.length, 'sample')}, each scored on both sides`
  const said = `${plural(pairs, 'pair')} in ${plural(jobs.length, 'job')} ${where}`
  return cost === 'pairs' ? said : `${said}, ${plural(executionsIn(jobs), 'execution')}`
}

/** What it took so far, in two words: "144 runs". */
export function effortText({ spec, jobs: known }: Pick<PairedCase, 'spec' | 'jobs'>): string {
  const jobs = reportedJobs(known)
  return isJudged(spec) ? plural(countedPairs(jobs), 'item') : plural(executionsIn(jobs), 'run')
}

function countedPairs(jobs: PairedCase['jobs']): number {
  return jobs.flatMap(({ pairs }) => pairs).filter(({ base }) => base !== null).length
}

function executionsIn(jobs: PairedCase['jobs']): number {
  return 2 * (jobs.flatMap(({ pairs }) => pairs).length + jobs.length)
}

/** Short enough to read, precise enough to tell from what it has to reach. */
export function evidenceText(value: number): string {
  if (value >= 1e6 || (value > 0 && value < 1e-4)) return value.toExponential(1)
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}
