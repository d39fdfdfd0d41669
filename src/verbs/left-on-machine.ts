import { existsSync } from 'node:fs'
import { listSideUsers, REMOVE_USERS, SIDES_DIR } from '../measure/users/side-users.ts'

/**
 * What a machine has for all its repositories: one of them that is left says nothing about the others. Whoever knows that
 * there are none is told how it goes.
 */
export function describeMachineLeftovers(
  sidesDir = SIDES_DIR,
  hasUsers: () => boolean = () => Array.isArray(listSideUsers()),
): string[] {
  const dir = existsSync(sidesDir)
  const users = hasUsers()
  const what = [
    ...(dir ? [`${sidesDir}, where sides with users of their own are measured`] : []),
    ...(users ? ['the users winnow-1 to winnow-6'] : []),
  ]
  if (what.length === 0) return []
  const how = [...(dir ? [`rm -rf ${sidesDir}`] : []), ...(users ? [REMOVE_USERS] : [])]
  return [
    `Kept: ${what.join(', and ')}, for every repository of this machine`,
    `  when none needs it any more and nothing is measured, as root: ${how.join('; ')}`,
  ]
}
