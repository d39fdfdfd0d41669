import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Workshop } from '../engine/open.ts'
import { nullIfMissing } from '../git/bare-repository.ts'
import { sha256 } from '../model/canonical.ts'
import type { Oid } from '../model/ids.ts'
import type { Call } from './call.ts'

/** What `check` found on this machine about exactly this spec and this tree. Nothing but a question depends on it. */
const file = z.strictObject({ seconds: z.number().nonnegative() })

interface About {
  yaml: string
  tree: Oid
}

export async function noteForecast(
  { around }: Call,
  workshop: Workshop,
  about: About,
  seconds: number,
): Promise<void> {
  const path = pathOf(workshop, about)
  await mkdir(dirname(path), { recursive: true })
  const part = `${path}.${around.random.hex(4)}.part`
  await writeFile(part, JSON.stringify({ seconds }))
  await rename(part, path)
}

/** null: nobody has looked yet. */
export async function notedForecast(workshop: Workshop, about: About): Promise<number | null> {
  const text = await readFile(pathOf(workshop, about), 'utf8').catch(nullIfMissing)
  return text === null ? null : secondsIn(text)
}

/** A damaged note is none: `check` writes another. */
function secondsIn(text: string): number | null {
  try {
    return file.safeParse(JSON.parse(text)).data?.seconds ?? null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function pathOf({ dataDir }: Workshop, { yaml, tree }: About): string {
  return join(dataDir, 'forecasts', `${sha256(`${tree}\n${yaml}`)}.json`)
}
