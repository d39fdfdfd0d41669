import { formatCount } from '../decide/wording.ts'
import type { Spec } from '../spec/schema.ts'

/** Says in one line which rules packages of an idea meet. */
export function describeDependencyPolicy({ dependencies }: Pick<Spec, 'dependencies'>): string {
  const { approved, approval, min_release_age_days: days, allow_scripts: scripts } = dependencies
  const age = days === 0 ? '' : ` once they are ${formatCount(days, 'day')} old`
  const named = approved.length === 0 ? [] : [`${approved.join(', ')} may be added${age}`]
  const other = approved.length === 0 ? 'new packages' : 'other packages'
  const rest = approval === 'deny' ? `${other} are refused` : `${other} wait for winnow approve`
  const running = scripts || approval === 'deny' ? [] : ['those with install scripts are refused']
  return [...named, rest, ...running].join('; ')
}
