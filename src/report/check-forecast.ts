import { numberText, plural } from '../decide/wording.ts'
import type { Spec } from '../spec/schema.ts'
import type { Whereabouts } from '../spec/unread-keys.ts'

/** What a run under this spec would do, as far as the spec alone says it: one line each, its subject first. */
export function forecast(spec: Spec, where: Whereabouts): string[] {
  return [
    ...gateTexts(spec).map(text => `gate: ${text}`),
    `isolation: ${isolationText(spec, where)}`,
    'cost: this machine measures, so no runner is paid for; what proposers spend is not counted',
    `stops after: ${stopText(spec)}`,
    `merges into: ${spec.branches.prefix}/${spec.name}, and never into the default branch`,
  ]
}

const WITH_YOUR_RIGHTS = 'experiment code runs with your rights and can read your home directory'

function isolationText({ measurement }: Spec, where: Whereabouts): string {
  if (measurement.isolation === 'uid')
    return 'uid; each side runs as a user of its own, which reaches neither the other side nor what only you may read'
  if (measurement.isolation !== 'auto' || where !== 'github') return `none; ${WITH_YOUR_RIGHTS}`
  return `a user for each side in measuring jobs, where the commands work that way; here none: ${WITH_YOUR_RIGHTS}`
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

/** Where no noise has to be outlasted: what the executions of a campaign take at most. */
export function timeText(spec: Spec, seconds: number): string {
  const most = mostExecutions(spec)
  const each = (most * seconds) / 60
  const all = each * spec.stopping.max_iterations
  return `time: at most ${plural(most, 'execution')} or ${minutes(each)} an idea, ${minutes(all)} for ${spec.stopping.max_iterations}, besides set-up and gates`
}

/** What the executions of a whole campaign take at most. */
export function mostSeconds(spec: Spec, seconds: number): number {
  return mostExecutions(spec) * seconds * spec.stopping.max_iterations
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
    ...(stopping.max_failures === null ? [] : [`${stopping.max_failures} that crash or run out of time`]),
  ]
  return limits.join(', ')
}
