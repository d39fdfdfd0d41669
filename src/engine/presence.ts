import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { listNames } from '../measure/names-in.ts'
import { endLeftovers } from '../measure/process/leftovers.ts'
import { isRunAlive, readLocalRunId } from './local-run.ts'
import type { CampaignContext } from './place.ts'

const entry = z.strictObject({ run_id: z.string(), pid: z.number().int().positive() })

/** While a run lasts it can be seen here, also when it only waits. The answer takes it back. */
export async function registerRun({
  dataDir,
  random,
}: Pick<CampaignContext, 'dataDir' | 'random'>): Promise<() => void> {
  const directory = getRunLockDir(dataDir)
  const file = join(directory, `${process.pid}-${random.hex(4)}.json`)
  mkdirSync(directory, { recursive: true })
  writeFileSync(file, JSON.stringify({ run_id: await readLocalRunId(), pid: process.pid }))
  return () => rmSync(file, { force: true })
}

function getRunLockDir(campaignDir: string): string {
  return join(campaignDir, 'present')
}

/** The living process that runs one of these campaigns on this machine; what a killed one left is taken away. */
export async function findRegisteredRun(dataDir: string): Promise<{ campaign: string; pid: number } | null> {
  for (const campaign of listNames(join(dataDir, 'campaigns'))) {
    const directory = getRunLockDir(join(dataDir, 'campaigns', campaign))
    for (const name of listNames(directory)) {
      const { success, data } = entry.safeParse(parseOrNull(readFileSync(join(directory, name), 'utf8')))
      if (success && (await isRunAlive({ runId: data.run_id, here: true })) !== false)
        return { campaign, pid: data.pid }
      rmSync(join(directory, name), { force: true })
    }
  }
  return null
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Ends what killed measurements left running below here; throws where a living one is at work. */
export async function endLeftoversBelow(dataDir: string): Promise<void> {
  const campaigns = listNames(join(dataDir, 'campaigns')).map(name => join(dataDir, 'campaigns', name))
  for (const home of [dataDir, ...campaigns]) {
    for (const name of listNames(join(home, 'work'))) await endLeftovers(join(home, 'work', name))
  }
}
