import { getGivenValue } from '../prepare.ts'
import type { SpecFinding, SpecPath } from '../problem.ts'
import { isPercent } from '../sections/scalar.ts'
import { createSpecFinding, type RuleContext } from './rule.ts'

/** In a relative scale `5` means 500 %, which is hardly ever meant. Whoever means it writes `500%`. */
export function checkShares(context: RuleContext): SpecFinding[] {
  return listShareKeys(context).flatMap(({ path, relative, units }) => {
    const written = getGivenValue(context.raw, path)
    if (isPercent(written) && !relative)
      return [
        createSpecFinding(
          path,
          JSON.stringify(written),
          `a number in ${units}`,
          'a percentage has no meaning here',
        ),
      ]
    if (typeof written !== 'number' || !relative || Math.abs(written) < 1) return []
    const meaning = `${written}, which means ${Number((written * 100).toPrecision(12))} %`
    return [
      createSpecFinding(
        path,
        meaning,
        'a share below 1',
        `did you mean ${written}%? ${suggestShareFix(path, units)}`,
      ),
    ]
  })
}

interface ShareKey {
  path: SpecPath
  relative: boolean
  units: string
}

function listShareKeys({ spec }: RuleContext): ShareKey[] {
  const { metric, measurement, evidence } = spec
  const units = `the units of ${metric.primary.name}`
  const linear =
    evidence.scale === 'linear' || (metric.primary.type === 'judge' && measurement.stability === null)
  const regressions = metric.objectives.map(({ max_regression: allowed, name }, index) => ({
    path: ['metric', 'objectives', index, 'max_regression', 'value'],
    relative: allowed?.type !== 'absolute',
    units: `the units of ${name}`,
  }))
  const ofTasks = measurement.suite?.max_task_regression ?? null
  return [
    { path: ['evidence', 'min_effect'], relative: !linear, units },
    { path: ['evidence', 'null_effect'], relative: !linear, units },
    { path: ['measurement', 'holdout', 'margin'], relative: !linear, units },
    { path: ['measurement', 'stability', 'comparison', 'relative_threshold'], relative: true, units },
    {
      path: ['measurement', 'suite', 'max_task_regression', 'value'],
      relative: ofTasks?.type !== 'absolute',
      units: 'the units of the task',
    },
    ...regressions,
  ]
}

/** How the number can be kept as it is. */
function suggestShareFix(path: SpecPath, units: string): string {
  if (path.at(-1) === 'relative_threshold') return 'for metric units use noise_threshold'
  if (path.at(-1) === 'value') return `for ${units} write type: absolute`
  return `for ${units} write evidence.scale: linear`
}
