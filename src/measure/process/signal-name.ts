import { constants } from 'node:os'

const NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** What a wait status says: an exit code, or the signal that ended the process. */
export function readStatus(status: number): { exitCode: number | null; signal: string | null } {
  const number = status & 0x7f
  if (number === 0) return { exitCode: (status >> 8) & 0xff, signal: null }
  return { exitCode: null, signal: NAMES.get(number) ?? `signal ${number}` }
}
