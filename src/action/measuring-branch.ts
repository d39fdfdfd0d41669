import { UserError } from '../errors.ts'
import type { ActionEnv } from './inputs.ts'

interface PrefixedCampaign {
  name: string
  prefix: string
}

/**
 * The campaign whose orders this run measures; undefined where it measures none. On the campaign's own branch caches
 * are seen by later measurements alone.
 */
export function findMeasuringCampaign<T extends PrefixedCampaign>(
  env: ActionEnv,
  campaigns: readonly T[],
): T | undefined {
  const { GITHUB_EVENT_NAME: event = '', GITHUB_REF: ref = '' } = env
  if (event !== 'workflow_dispatch') return undefined
  return campaigns.find(({ name, prefix }) => ref === `refs/heads/${prefix}/${name}`)
}

/**
 * A run on the default branch would leave caches that every other workflow restores. On the campaign's own branch
 * only later measurements see them.
 */
export function requireMeasuringBranch(
  { GITHUB_REF: ref = '' }: ActionEnv,
  campaign: string,
): { prefix: string } {
  const start = 'refs/heads/'
  const end = `/${campaign}`
  const prefix = ref.slice(start.length, -end.length)
  if (ref.startsWith(start) && ref.endsWith(end) && prefix !== '') return { prefix }
  throw new UserError(
    `this run is on ${ref || 'no branch'}, and orders of campaign ${campaign} are measured on its own branch`,
    { fix: 'nothing to do by hand: a tick starts the runs that measure, on that branch' },
  )
}
