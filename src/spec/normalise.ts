import { countSampleItems } from './judged.ts'
import { getGivenValue } from './prepare.ts'
import type { RuleContext } from './rules/rule.ts'
import type { ParsedSpec, Spec } from './schema.ts'
import { isPercent } from './sections/scalar.ts'

/** One key for each thing, whichever word the file used. */

function normaliseMetric(parsed: ParsedSpec['metric']): Spec['metric'] {
  const { baseline: _ignored, ...primary } = parsed.primary
  const objectives = parsed.objectives.flatMap(objective => {
    if (objective.name !== primary.name) return [objective]
    if (objective.role === 'secondary') return []
    const { direction, target } = primary
    return [{ ...objective, role: 'required' as const, direction, target }]
  })
  return { ...parsed, primary, objectives }
}

function normaliseMeasurement(parsed: ParsedSpec['measurement']): Spec['measurement'] {
  const { output_format: _json, per_case: _accepted, ...kept } = parsed
  return kept
}

/** ce counts active hours apart from wall-clock hours; winnow has only the latter. */
function normaliseStopping({ spec, raw }: RuleContext): Spec['stopping'] {
  const { plateau_iterations, max_wall_hours, ...kept } = spec.stopping
  const hoursGiven = getGivenValue(raw, ['stopping', 'max_hours']) !== undefined
  const caps = [hoursGiven ? kept.max_hours : null, max_wall_hours ?? null].filter(cap => cap !== null)
  const wallGiven = (max_wall_hours ?? null) !== null
  return {
    ...kept,
    plateau: plateau_iterations ?? kept.plateau,
    max_hours: wallGiven ? Math.min(...caps) : kept.max_hours,
  }
}

/** A percentage is a share of the base, so it says the scale too. */
function normaliseEvidence({ spec: { evidence }, raw }: RuleContext): Spec['evidence'] {
  const isShare = ['min_effect', 'null_effect'].some(key => isPercent(getGivenValue(raw, ['evidence', key])))
  return isShare && evidence.scale === 'auto' ? { ...evidence, scale: 'log' } : evidence
}

/** What its judge section says of a judged metric is all there is to say: pairs of items, differences of scores. */
function getJudgedSettings({ metric: { primary, judge }, evidence, measurement }: ParsedSpec) {
  if (primary.type !== 'judge' || judge === null || measurement.stability !== null) return null
  return {
    measurement: { ...measurement, mode: 'paired' as const },
    evidence: {
      ...evidence,
      scale: 'linear' as const,
      min_effect: judge.minimum_improvement,
      pairs_per_job: countSampleItems(judge),
    },
  }
}

export function normaliseSpec(context: RuleContext, name: string): Spec {
  const { winnow: _rules, constraints, ...parsed } = context.spec
  const spec = { ...parsed, evidence: normaliseEvidence(context), ...getJudgedSettings(context.spec) }
  const serial = spec.parallel.exclusive_resources.length > 0
  return {
    ...spec,
    rules: context.rules,
    name,
    description: spec.description ?? name,
    metric: normaliseMetric(spec.metric),
    measurement: normaliseMeasurement(spec.measurement),
    stopping: normaliseStopping(context),
    advice: [...spec.advice, ...constraints],
    execution: serial ? { ...spec.execution, mode: 'serial' } : spec.execution,
  }
}
