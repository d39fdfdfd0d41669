import type { Experiment } from './experiment.ts'

type PushedHead = Pick<Experiment, 'status' | 'head' | 'stranger' | 'allowed_head'>

/** Whether what it has now was brought by somebody without the right to, and nobody with it has allowed exactly that. */
export function isAwaitingPermission({ status, head, stranger, allowed_head }: PushedHead): boolean {
  return status === 'queued' && head !== null && stranger?.head === head && allowed_head !== head
}

/** What a person with the right to write says to have it measured. */
export function formatPermissionCommand({ head }: Pick<Experiment, 'head'>): string {
  return `/winnow measure ${head ?? ''}`
}
