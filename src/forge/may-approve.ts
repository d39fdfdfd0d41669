import type { Permission } from './port.ts'

/** `dependencies.approvers`: a permission, or logins. */
export type Approvers = 'write' | 'admin' | readonly string[]

const ENOUGH = { write: ['write', 'admin'], admin: ['admin'] } as const satisfies Record<string, Permission[]>

/** Whether the spec trusts somebody with approvals; who is named there needs no further right. */
export function mayApprove(
  approvers: Approvers,
  { login, permission }: { login: string; permission: Permission },
): boolean {
  if (typeof approvers !== 'string') return approvers.some(each => each.toLowerCase() === login.toLowerCase())
  return ENOUGH[approvers].some(each => each === permission)
}
