import type { Goal } from './goal.ts'

/** A spec is called after what it improves. */
export function buildSpecName(goal: Goal | null, packageName: string | null): string {
  const what = getAimName(goal)
  const kebab = (packageName ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return kebab === '' ? what : `${kebab}-${what}`
}

function getAimName(goal: Goal | null): string {
  const aim = goal?.aim ?? null
  if (aim === null) return 'speed'
  if (aim.kind === 'judge') return 'quality'
  switch (aim.metric) {
    case 'wall_seconds':
      return 'speed'
    case 'cpu_seconds':
      return 'cpu'
    case 'max_rss_mb':
      return 'memory'
    case 'bytes':
      return 'size'
    case 'coverage':
    case 'accuracy':
    case 'throughput':
      return aim.metric
    default:
      return aim satisfies never
  }
}
