import type { Forge, Permission } from './port.ts'

/** `dependencies.approvers`: a permission, or logins and teams (`org/team`). */
export type Approvers = 'write' | 'admin' | readonly string[]

const ENOUGH = { write: ['write', 'admin'], admin: ['admin'] } as const satisfies Record<string, Permission[]>

export function listTeams(approvers: Approvers): string[] {
  return typeof approvers === 'string' ? [] : approvers.filter(name => name.includes('/'))
}

/** What a token needs for that, wherever it is missing. */
export const READS_TEAMS = 'an App token with members: read, given as app-token; GITHUB_TOKEN never may'

/** Whether the spec trusts somebody with approvals; who is named there needs no further right. Else why not. */
export async function explainApproverRefusal(
  forge: Pick<Forge, 'isMember'>,
  approvers: Approvers,
  { login, permission }: { login: string; permission: Permission },
): Promise<string | null> {
  if (typeof approvers === 'string')
    return ENOUGH[approvers].some(each => each === permission) ? null : NOT_TRUSTED
  if (approvers.some(each => each.toLowerCase() === login.toLowerCase())) return null
  const unseen: string[] = []
  for (const team of listTeams(approvers)) {
    const is = (await forge.isMember?.(team, login)) ?? null
    if (is === true) return null
    if (is === null) unseen.push(team)
  }
  if (unseen.length === 0) return NOT_TRUSTED
  return `Whether ${login} is in ${unseen.join(' or ')} cannot be read with this token: it takes ${READS_TEAMS}.`
}

const NOT_TRUSTED = 'Only people whom the spec trusts with approvals may do that.'
