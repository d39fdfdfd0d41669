import { lstatSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Returns when the file system's clock is past `newest`, so that the next write to any sealed file moves its
 * change time: that clock ticks every few milliseconds only.
 */
export async function waitPast(file: string, newest: bigint): Promise<void> {
  writeFileSync(file, '')
  while (lstatSync(file, { bigint: true }).ctimeNs <= newest) {
    await delay(1)
    utimesSync(file, new Date(), new Date())
  }
}
