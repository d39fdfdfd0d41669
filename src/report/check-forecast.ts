import { formatNumber, formatCount } from '../decide/wording.ts'
import type { Spec } from '../spec/schema.ts'
import type { CampaignLocation } from '../spec/unread-keys.ts'

/** What a run under this spec would do, as far as the spec alone says it: one line each, its subject first. */
export function renderForecast(spec: Spec, where: CampaignLocation): string[] {
  return [
    ...describeGates(spec).map(text => `gate: ${text}`),
    `isolation: ${describeIsolation(spec, where)}`,
    'cost: this machine measures, so no runner is paid for; what proposers spend is not counted',
    `stops after: ${describeStopping(spec)}`,
    `merges into: ${spec.branches.prefix}/${spec.name}, and never into the default branch`,
  ]
}

const WITH_YOUR_RIGHTS = 'experiment code runs with your rights and can read your home directory'

function describeIsolation({ measurement }: Spec, where: CampaignLocation): string {
  if (measurement.isolation === 'uid')
    return 'uid; each side runs as a user of its own, which reaches neither the other side nor what only you may read'
  if (measurement.isolation !== 'auto' || where !== 'github') return `none; ${WITH_YOUR_RIGHTS}`
  return `a user for each side in measuring jobs, where the commands work that way; here none: ${WITH_YOUR_RIGHTS}`
}

function describeGates({ gates, metric }: Spec): string[] {
  const commands = gates.map(({ name, command, phase }) => `${name}: ${command} (${phase})`)
  const checks = metric.degenerate_gates.map(gate => {
    const why = gate.description === undefined ? '' : `, ${gate.description}`
    return `${gate.name} ${gate.check}${why}`
  })
  return [...commands, ...checks]
}

/** Executions of one idea, both sides together, when it is worth all of them. */
function computeMaxExecutions({ measurement }: Spec): number {
  const { stability, baseline } = measurement
  if (stability === null) return 4
  const { mode, repeat_count: repeats, ladder } = stability
  const samples =
    mode === 'stable' ? 1 : mode === 'repeat' ? repeats : (ladder?.confirmation_repeats ?? repeats)
  return baseline === 'cached' ? samples : 2 * samples
}

/** Where no noise has to be outlasted: what the executions of a campaign take at most. */
export function describeCampaignTime(spec: Spec, seconds: number): string {
  const most = computeMaxExecutions(spec)
  const each = (most * seconds) / 60
  const all = each * spec.stopping.max_iterations
  return `time: at most ${formatCount(most, 'execution')} or ${formatMinutes(each)} an idea, ${formatMinutes(all)} for ${spec.stopping.max_iterations}, besides set-up and gates`
}

/** What the executions of a whole campaign take at most. */
export function computeMaxSeconds(spec: Spec, seconds: number): number {
  return computeMaxExecutions(spec) * seconds * spec.stopping.max_iterations
}

function formatMinutes(count: number): string {
  return `${formatNumber(Number(count.toPrecision(2)))} min`
}

function describeStopping({ stopping }: Spec): string {
  const limits = [
    formatCount(stopping.max_iterations, 'experiment'),
    `${stopping.plateau} without a new incumbent`,
    ...(stopping.max_hours === null ? [] : [formatCount(stopping.max_hours, 'hour')]),
    ...(stopping.max_runner_minutes === null
      ? []
      : [formatCount(stopping.max_runner_minutes, 'runner minute')]),
    ...(stopping.max_failures === null ? [] : [`${stopping.max_failures} that crash or run out of time`]),
  ]
  return limits.join(', ')
}
