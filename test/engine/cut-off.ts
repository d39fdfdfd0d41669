import type { TestRepository } from '../support/repository.ts'

const MOST = 40

/** Runs it to its end, cut off once at every point that it reaches: which they were. */
export async function cutOffEverywhere(site: TestRepository): Promise<string[]> {
  const reached = new Set<string>()
  const fault = (point: string) => {
    if (reached.has(point)) return
    reached.add(point)
    throw new Error(`cut off at ${point}`)
  }
  for (let cuts = 0, before = -1; cuts < MOST && reached.size > before; cuts++) {
    before = reached.size
    await site.reopen({ fault })
    await site.run().catch((error: unknown) => {
      if (!String(error).includes('cut off at')) throw error
    })
  }
  await site.reopen()
  return [...reached]
}
