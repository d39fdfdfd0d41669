import { UserError } from '../errors.ts'
import type { Env } from './inputs.ts'

/**
 * A run on the default branch would leave caches that every other workflow restores. On the campaign's own branch
 * only later measurements see them.
 */
export function measuringBranch({ GITHUB_REF: ref = '' }: Env, campaign: string): { prefix: string } {
  const start = 'refs/heads/'
  const end = `/${campaign}`
  const prefix = ref.slice(start.length, -end.length)
  if (ref.startsWith(start) && ref.endsWith(end) && prefix !== '') return { prefix }
  throw new UserError(
    `this run is on ${ref || 'no branch'}, and orders of campaign ${campaign} are measured on its own branch`,
    { fix: `dispatch the workflow with ref optimize/${campaign} (or the prefix that the spec chose)` },
  )
}
