import type { Experiment } from './experiment.ts'

type Brought = Pick<Experiment, 'status' | 'head' | 'stranger' | 'allowed_head'>

/** Whether what it has now was brought by somebody without the right to, and nobody with it has allowed exactly that. */
export function awaitsPermission({ status, head, stranger, allowed_head }: Brought): boolean {
  return status === 'queued' && head !== null && stranger?.head === head && allowed_head !== head
}

/** What a person with the right to write says to have it measured. */
export function permissionText({ head }: Pick<Experiment, 'head'>): string {
  return `/winnow measure ${head ?? ''}`
}
