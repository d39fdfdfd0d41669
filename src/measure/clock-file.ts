import { lstatSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { moveDamagedAside } from '../git/put-aside.ts'

/**
 * Returns when the file system's clock is past `newest`, so that the next write to any sealed file moves its
 * change time: that clock ticks every few milliseconds only.
 */
export async function waitUntilPast(file: string, newest: bigint): Promise<void> {
  writeFreshFile(file)
  while (lstatSync(file, { bigint: true }).ctimeNs <= newest) {
    await delay(1)
    utimesSync(file, new Date(), new Date())
  }
}

/** A folder, or a file that may not be written any more, stands in the way: it is put aside. */
function writeFreshFile(file: string): void {
  try {
    writeFileSync(file, '')
  } catch (error) {
    const inTheWay =
      error instanceof Error && 'code' in error && /^(?:EISDIR|EACCES|ELOOP)$/.test(String(error.code))
    if (!inTheWay) throw error
    moveDamagedAside(file)
    writeFileSync(file, '')
  }
}
