import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { RepositoryContext } from '../engine/open.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { hashSha256 } from '../model/canonical.ts'
import type { Oid } from '../model/ids.ts'
import type { Call } from './call.ts'

/** What `check` found on this machine about exactly this spec and this tree. Nothing but a question depends on it. */
const forecastSchema = z.strictObject({ seconds: z.number().nonnegative() })

interface ForecastKey {
  yaml: string
  tree: Oid
}

export async function saveForecast(
  { around }: Call,
  workshop: RepositoryContext,
  about: ForecastKey,
  seconds: number,
): Promise<void> {
  const path = getForecastPath(workshop, about)
  await mkdir(dirname(path), { recursive: true })
  const part = `${path}.${around.random.hex(4)}.part`
  await writeFile(part, JSON.stringify({ seconds }))
  await rename(part, path)
}

/** null: nobody has looked yet. */
export async function readForecast(workshop: RepositoryContext, about: ForecastKey): Promise<number | null> {
  const text = await readFile(getForecastPath(workshop, about), 'utf8').catch(toNullIfMissing)
  return text === null ? null : parseForecast(text)
}

/** A damaged note is none: `check` writes another. */
function parseForecast(text: string): number | null {
  try {
    return forecastSchema.safeParse(JSON.parse(text)).data?.seconds ?? null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function getForecastPath({ dataDir }: RepositoryContext, { yaml, tree }: ForecastKey): string {
  return join(dataDir, 'forecasts', `${hashSha256(`${tree}\n${yaml}`)}.json`)
}
