import { UserError } from '../errors.ts'
import type { DetectedProject } from './detect.ts'
import { classifyGoal, describeAim, findNamedSources, type Goal } from './goal.ts'
import type { ProjectLocation } from './project.ts'

export function renderDetected(
  { findings, others }: DetectedProject,
  { directory }: ProjectLocation,
): string[] {
  const { language, manager, setup, test, bench } = findings
  const where = directory === '' ? '' : ` in ${directory}`
  const tool = manager === null || manager === language ? '' : ` with ${manager}`
  const choice = others.length === 0 ? '' : ` (also here: ${others.join(', ')}; choose with --language)`
  return [
    `language   ${language}${tool}${where}${choice}`,
    `set-up     ${setup === null ? 'none needed' : `${setup.command}  (${setup.from})`}`,
    `tests      ${test === null ? 'none found' : `${test.command}  (${test.from})`}`,
    `benchmark  ${bench === null ? 'none found' : `${bench.command}  (${bench.from})`}`,
  ]
}

/** `drafted.target` is in the unit of the drafted metric. Null: that unit is unknown. */
export function renderGoal(
  goal: Goal,
  paths: readonly string[],
  drafted: { metric: string; target: number | null } | null = null,
): string[] {
  const { aim, also, notUnderstood, subjects } = goal
  const named = findNamedSources(paths, subjects)
  const shown = named.slice(0, 4).join(', ') + (named.length > 4 ? ', …' : '')
  return [
    ...(aim === null ? [] : [`understood: ${describeAim(aim)}`]),
    ...describeTarget(goal, drafted),
    ...(named.length === 0
      ? []
      : [`understood: it is about ${shown}; scope.mutable may be narrowed to that`]),
    ...also.map(
      name => `not drafted: ${name}; a campaign has one primary metric, list it under metric.objectives`,
    ),
    ...notUnderstood.map(what => `not understood: ${what}`),
    ...describeManualOutput(goal, drafted),
    'gates: the tests, and that what is printed is not empty; none compares answers with those of the baseline: where they must stay the same, keep them in a file outside scope.mutable, and compare in a gate',
  ]
}

function describeTarget(
  { target }: Goal,
  drafted: { metric: string; target: number | null } | null,
): string[] {
  if (target === null || drafted === null) return []
  if (drafted.target !== null)
    return [
      `understood: good enough ${target.words}, which is metric.primary.target ${drafted.target} of ${drafted.metric}`,
    ]
  return [
    `not drafted: "${target.words}": the unit of ${drafted.metric} is not known; give metric.primary.target in it`,
  ]
}

function describeManualOutput({ aim, countedAs }: Goal, drafted: { metric: string } | null): string[] {
  if (aim === null) return []
  if (aim.kind === 'judge') {
    return [
      'a model scores what the harness prints as items ({"items": [{"id": "a", "content": "…"}]}): let it print them, then set WINNOW_MODEL_URL and WINNOW_MODEL_KEY (docs/judging.md)',
      ...(countedAs === null
        ? []
        : [`a number could stand for it as well, and costs no model: ${countedAs}`]),
    ]
  }
  if (aim.direction === 'minimize' || (drafted !== null && drafted.metric !== aim.metric)) return []
  return [
    `nothing measures ${aim.metric} by itself: the harness has to print {"${aim.metric}": <number>}, or check fails`,
  ]
}

const MISSING = {
  hard: 'a command that prints the number as JSON, such as {"errors": 12}; name it in metric.primary with its direction',
  judged: 'a harness that prints what is to be compared as items, and a rubric that says what better is',
}

/** Refuses a goal without a measurable quality. A spec for speed would pursue another goal. */
export function createUnknownGoalError({ words }: Goal): UserError {
  const kind = classifyGoal(words)
  const likely = kind === 'both' ? 'hard or judged, or both' : kind
  const missing = kind === 'both' ? `hard: ${MISSING.hard}; judged: ${MISSING.judged}` : MISSING[kind]
  return new UserError(
    `the goal ${JSON.stringify(words)} names nothing that winnow can measure, and no spec was drafted. It looks ${likely}. Missing is: ${missing}`,
    {
      fix: 'say what is to become better (faster, less memory, a smaller bundle, higher accuracy, clearer messages), or write .winnow/<name>.yaml by hand (docs/spec.md; docs/judging.md for judged goals)',
    },
  )
}
