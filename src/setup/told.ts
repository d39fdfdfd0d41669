import { type Detected } from './detect.ts'
import type { Yard } from './findings.ts'
import { aimText, filesNamed, type Goal } from './goal.ts'

/** What was found, in one line each: a person sees at once what is wrong. */
export function foundText({ findings, others }: Detected, { directory }: Yard): string[] {
  const { language, manager, setup, test, bench } = findings
  const where = directory === '' ? '' : ` in ${directory}`
  const by = manager === null || manager === language ? '' : ` with ${manager}`
  const choice = others.length === 0 ? '' : ` (also here: ${others.join(', ')}; choose with --language)`
  return [
    `language   ${language}${by}${where}${choice}`,
    `set-up     ${setup === null ? 'none needed' : `${setup.command}  (${setup.from})`}`,
    `tests      ${test === null ? 'none found' : `${test.command}  (${test.from})`}`,
    `benchmark  ${bench === null ? 'none found' : `${bench.command}  (${bench.from})`}`,
  ]
}

export function goalText(goal: Goal, paths: readonly string[]): string[] {
  const { aim, target, also, notUnderstood, subjects } = goal
  const named = filesNamed(paths, subjects)
  const some = named.slice(0, 4).join(', ') + (named.length > 4 ? ', …' : '')
  return [
    ...(aim === null ? [] : [`understood: ${aimText(aim)}`]),
    ...(target === null ? [] : [`understood: good enough ${target.words}, which is ${target.value}`]),
    ...(named.length === 0 ? [] : [`understood: it is about ${some}; scope.mutable may be narrowed to that`]),
    ...also.map(
      name => `not drafted: ${name}; a campaign has one primary metric, list it under metric.objectives`,
    ),
    ...notUnderstood.map(what => `not understood: ${what}`),
    ...printedByHand(goal),
    'gates: the tests, and that what is printed is not empty; none compares answers with those of the baseline: where they must stay the same, keep them in a file outside scope.mutable, and compare in a gate',
  ]
}

function printedByHand({ aim }: Goal): string[] {
  if (aim === null) return ['the benchmark that was found, or time, is measured instead']
  if (aim.kind === 'judge') {
    return [
      'a model scores what the harness prints as items ({"items": [{"id": "a", "content": "…"}]}): let it print them, then set WINNOW_MODEL_URL and WINNOW_MODEL_KEY (docs/judging.md)',
    ]
  }
  if (aim.direction === 'minimize') return []
  return [
    `nothing measures ${aim.metric} by itself: the harness has to print {"${aim.metric}": <number>}, or check fails`,
  ]
}
