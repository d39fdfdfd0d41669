import { UserError } from '../errors.ts'
import type { DetectedProject } from './detect.ts'
import type { SpecDraft } from './draft.ts'
import { classifyGoal, describeAim, getLoggedMetric, findNamedSources, type Goal } from './goal.ts'
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
  drafted: SpecDraft['primary'] | null = null,
): string[] {
  const { aim, also, notUnderstood, subjects } = goal
  const named = findNamedSources(paths, subjects)
  const narrow = drafted?.isText === true ? '' : '; you can narrow scope.mutable to that'
  const shown = named.slice(0, 4).join(', ') + (named.length > 4 ? ', …' : '')
  return [
    ...(aim === null ? [] : [`understood: ${describeAim(aim)}`]),
    ...describeBesideAim(goal),
    ...(goal.proxy === null ? [] : [`proxy: ${goal.proxy}; a judged metric sees that, a number does not`]),
    ...describeTarget(goal, drafted),
    ...(named.length === 0 ? [] : [`understood: it concerns ${shown}${narrow}`]),
    ...also.map(
      name => `not drafted: ${name}; a campaign has one primary metric, list it under metric.objectives`,
    ),
    ...notUnderstood.map(what => `not understood: ${what}`),
    ...(drafted?.isText === true ? [] : [...describeManualOutput(goal, drafted), GATES]),
  ]
}

const GATES =
  'gates: the tests pass and the output is not empty; no gate compares answers with those of the baseline: if they must stay the same, keep the expected ones in a file outside scope.mutable and compare them in a gate'

/** The quality decides, because a number alone can be improved at its expense. */
function describeBesideAim(goal: Goal): string[] {
  const { beside } = goal
  if (beside === null) return []
  const logged = getLoggedMetric(goal)
  const how =
    logged === null ? 'let the harness print it, and list it under metric.objectives' : 'it is logged'
  return [`understood: both a judged quality, which decides, and ${beside}: ${how} with role: secondary`]
}

function describeTarget(
  { target }: Goal,
  drafted: { metric: string; target: number | null } | null,
): string[] {
  if (target === null || drafted === null) return []
  if (drafted.target !== null)
    return [
      `understood: the target is ${target.words}, which is metric.primary.target ${drafted.target} of ${drafted.metric}`,
    ]
  return [
    `not drafted: "${target.words}": the unit of ${drafted.metric} is unknown; set metric.primary.target in that unit`,
  ]
}

function describeManualOutput(
  { aim, subject: { countedAs } }: Goal,
  drafted: { metric: string } | null,
): string[] {
  if (aim === null) return []
  if (aim.kind === 'judge') {
    return [
      'a model scores the items that the harness prints ({"items": [{"id": "a", "content": "…"}]}): let the harness print them, then set WINNOW_MODEL_URL and WINNOW_MODEL_KEY (docs/judging.md)',
      ...(countedAs === null
        ? []
        : [`a printed number could stand for it too, and needs no model: ${countedAs}`]),
    ]
  }
  if (aim.direction === 'minimize' || (drafted !== null && drafted.metric !== aim.metric)) return []
  return [
    `winnow does not measure ${aim.metric} itself: the harness has to print {"${aim.metric}": <number>}, or check fails`,
  ]
}

const MISSING = {
  hard: 'a command that prints the number as JSON, such as {"errors": 12}; name it in metric.primary with its direction',
  judged:
    'a harness that prints the outputs to compare as items, and a rubric that defines what better means',
}

/** Refuses a goal without a measurable quality. A spec for speed would pursue another goal. */
export function createUnknownGoalError({ words }: Goal): UserError {
  const kind = classifyGoal(words)
  const likely = kind === 'both' ? 'hard or judged, or both' : kind
  const missing = kind === 'both' ? `hard: ${MISSING.hard}; judged: ${MISSING.judged}` : MISSING[kind]
  return new UserError(
    `the goal ${JSON.stringify(words)} names no quality that winnow can measure, so init drafted no spec. It looks ${likely}. Missing: ${missing}`,
    {
      fix: 'name the quality to improve (faster, less memory, a smaller bundle, higher accuracy, clearer messages), or write .winnow/<name>.yaml by hand (docs/spec.md; docs/judging.md for judged goals)',
    },
  )
}
