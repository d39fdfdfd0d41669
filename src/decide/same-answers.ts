import type { Execution, Report, Side } from '../model/report.ts'
import { parseGateCheck } from '../spec/schema-values.ts'
import type { Spec } from '../spec/schema.ts'
import { type AssessmentFinding, createFinding, createRetryFinding } from './assessment.ts'
import { listExecutions, readGateValue } from './metrics.ts'
import { formatNumber } from './wording.ts'

type AnswerCase = { spec: Pick<Spec, 'metric'>; report: Pick<Report, 'executions'>; label: Side }

type Answer = number | boolean | string

interface OtherAnswer {
  name: string
  /** Null: the candidate printed none. */
  own: Answer | null
  base: Answer
}

/** Both sides of a block have one seed, so an answer that depends on the seed is compared with that of the same one. */
export function findOtherAnswers(judged: AnswerCase): AssessmentFinding | null {
  const unsteady = describeUnsteadyBase(judged)
  if (unsteady !== null)
    return judged.label === 'base-copy'
      ? createFinding('degenerate', unsteady, { failure_class: 'eval' })
      : createRetryFinding(unsteady)
  const others = listOtherAnswers(judged)
  if (others.length === 0) return null
  const names = [...new Set(others.map(({ name }) => name))]
  const shown = names.flatMap(name => others.find(other => other.name === name) ?? [])
  const text = shown.map(
    ({ name, own, base }) => `${name} is ${formatAnswer(own)}, the base prints ${formatAnswer(base)}`,
  )
  return createFinding('degenerate', `answers differ: ${text.join('; ')}`, {
    failure_class: 'hypothesis',
    violated_objectives: names,
  })
}

/** True if a second run has to show whether the base always answers like that. */
export function hasOtherAnswers(judged: AnswerCase): boolean {
  return listOtherAnswers(judged).length > 0
}

function listOtherAnswers({ spec, report, label }: AnswerCase): OtherAnswer[] {
  if (label === 'base') return []
  const base = listCountedRuns(report, 'base')
  return listComparedAnswers(spec).flatMap(name =>
    listCountedRuns(report, label).flatMap(run => {
      const own = readGateValue(run, name)
      const answers = listAnswers(base, run.seed, name)
      const other = answers.find(answer => answer !== null && answer !== own) ?? null
      return other === null ? [] : [{ name, own, base: other }]
    }),
  )
}

/** The base and its copy are the same code: where they differ, no candidate could answer as they do. */
function describeUnsteadyBase({ spec, report, label }: AnswerCase): string | null {
  if (label === 'base') return null
  const runs = ['base', 'base-copy'].flatMap(side => listCountedRuns(report, side))
  for (const name of listComparedAnswers(spec))
    for (const { seed } of runs) {
      const [first, ...others] = new Set(listAnswers(runs, seed, name))
      if (first === null || others.includes(null))
        return `the base does not print ${name}, which == base needs`
      const [other] = others
      if (first !== undefined && other !== undefined)
        return `${name} differs between two runs of the base (${formatAnswer(first)} and ${formatAnswer(other)}), so no change could pass == base`
    }
  return null
}

function listComparedAnswers({ metric }: Pick<Spec, 'metric'>): string[] {
  return metric.degenerate_gates
    .filter(({ check }) => parseGateCheck(check)?.value === 'base')
    .map(({ name }) => name)
}

function listCountedRuns(report: Pick<Report, 'executions'>, side: string): Execution[] {
  const runs = report.executions.filter(run => run.side === side)
  return listExecutions({ executions: runs }, runs[0]?.side ?? 'base', 'warmup', 'sample', 'repeat').filter(
    ({ status }) => status === 'ok',
  )
}

function listAnswers(runs: readonly Execution[], seed: number, name: string): (Answer | null)[] {
  return runs.filter(run => run.seed === seed).map(run => readGateValue(run, name))
}

const MAX_SHOWN = 60

function formatAnswer(answer: Answer | null): string {
  if (answer === null) return 'missing'
  if (typeof answer === 'string') return JSON.stringify(answer.slice(0, MAX_SHOWN))
  return typeof answer === 'number' ? formatExact(answer) : String(answer)
}

/** Two numbers that differ must not look the same. */
function formatExact(value: number): string {
  return Number(formatNumber(value)) === value ? formatNumber(value) : String(value)
}
