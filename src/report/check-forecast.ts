import { numberText, plural } from '../decide/wording.ts'
import type { Spec } from '../spec/schema.ts'

/** What a run under this spec would do, as far as the spec alone says it: one line each, its subject first. */
export function forecast(spec: Spec, trialSeconds: number | null): string[] {
  return [
    `judged by: ${judgedText(spec)}`,
    `smallest gain: ${smallestGain(spec)}`,
    ...gateTexts(spec).map(text => `gate: ${text}`),
    ...(trialSeconds === null ? [] : [`time: ${timeText(spec, trialSeconds)}`]),
    'isolation: none; experiment code runs with your rights and can read your home directory',
    'cost: winnow itself spends no money; what proposers spend is not counted',
    `stops after: ${stopText(spec)}`,
    `merges into: ${spec.branches.prefix}/${spec.name}, and never into the default branch`,
  ]
}

function judgedText({ metric, measurement }: Spec): string {
  const { name, direction } = metric.primary
  const aim = `${direction === 'minimize' ? 'less' : 'more'} ${name}`
  const { stability, mode } = measurement
  if (stability !== null) return `${aim}, ${stability.mode} runs compared with a stored score`
  if (mode === 'once') return `${aim}, each idea run once, and a gain once more`
  return `${aim}; three runs first show whether it repeats exactly, then each idea is run once, and a gain once more`
}

function smallestGain({ metric, measurement, evidence }: Spec): string {
  const { name } = metric.primary
  const { stability } = measurement
  if (stability === null) {
    const least = evidence.min_effect ?? 0
    if (least === 0) return `any, where ${name} repeats exactly`
    const unit =
      evidence.scale === 'linear'
        ? `${numberText(least)} ${name}`
        : `${numberText(least * 100)} % of the base`
    return `${unit} (evidence.min_effect)`
  }
  const { method, relative_threshold: share } = stability.comparison
  return method === 'absolute'
    ? `more than ${numberText(stability.noise_threshold)} ${name} (noise_threshold)`
    : `more than ${numberText(share * 100)} % of the base (relative_threshold)`
}

function gateTexts({ gates, metric }: Spec): string[] {
  const commands = gates.map(({ name, command, phase }) => `${name}: ${command} (${phase})`)
  const checks = metric.degenerate_gates.map(gate => {
    const why = gate.description === undefined ? '' : `, ${gate.description}`
    return `${gate.name} ${gate.check}${why}`
  })
  return [...commands, ...checks]
}

/** Executions of one idea, both sides together, when it is worth all of them. */
function mostExecutions({ measurement }: Spec): number {
  const { stability, baseline } = measurement
  if (stability === null) return 4
  const { mode, repeat_count: repeats, ladder } = stability
  const samples =
    mode === 'stable' ? 1 : mode === 'repeat' ? repeats : (ladder?.confirmation_repeats ?? repeats)
  return baseline === 'cached' ? samples : 2 * samples
}

function timeText(spec: Spec, seconds: number): string {
  const most = mostExecutions(spec)
  const each = (most * seconds) / 60
  const all = each * spec.stopping.max_iterations
  return `at most ${plural(most, 'execution')} or ${minutes(each)} an idea, ${minutes(all)} for ${spec.stopping.max_iterations}, besides set-up and gates`
}

function minutes(count: number): string {
  return `${numberText(Number(count.toPrecision(2)))} min`
}

function stopText({ stopping }: Spec): string {
  const limits = [
    plural(stopping.max_iterations, 'experiment'),
    `${stopping.plateau} without a new incumbent`,
    ...(stopping.max_hours === null ? [] : [plural(stopping.max_hours, 'hour')]),
    ...(stopping.max_runner_minutes === null ? [] : [plural(stopping.max_runner_minutes, 'runner minute')]),
    ...(stopping.max_failures === null ? [] : [`${stopping.max_failures} broken in a row`]),
  ]
  return limits.join(', ')
}
