import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { OrderId } from '../model/ids.ts'
import { type Report, report } from '../model/report.ts'

/**
 * Orders of this machine as files: who took one, whether harness code has run, what was reported. They are
 * written before anything reads them (write, rename), so that a kill leaves either nothing or the whole.
 */
export interface OrderFiles {
  claim(order: OrderId, runId: string): Promise<void>
  started(order: OrderId, runId: string): Promise<void>
  report(order: OrderId, answer: Report): Promise<void>
  read(order: OrderId): Promise<OrderFile | null>
  /** Drops the files of orders that nobody waits for any more. */
  prune(live: ReadonlySet<OrderId>): Promise<void>
}

const claim = z.strictObject({ run_id: z.string(), started: z.boolean() })

export type OrderFile = { runId: string; started: boolean; report: Report | { unreadable: string } | null }

export function orderFiles(directory: string): OrderFiles {
  const path = (order: OrderId, kind: 'claim' | 'report') => join(directory, `${order}.${kind}.json`)

  async function write(file: string, value: unknown): Promise<void> {
    await mkdir(directory, { recursive: true })
    await writeFile(`${file}.part`, JSON.stringify(value))
    await rename(`${file}.part`, file)
  }

  return {
    claim: (order, runId) => write(path(order, 'claim'), { run_id: runId, started: false }),
    started: (order, runId) => write(path(order, 'claim'), { run_id: runId, started: true }),
    report: (order, answer) => write(path(order, 'report'), answer),
    async read(order) {
      const text = await readOptional(path(order, 'claim'))
      if (text === null) return null
      const { run_id: runId, started } = claim.parse(JSON.parse(text))
      const answer = await readOptional(path(order, 'report'))
      return { runId, started, report: answer === null ? null : readReport(answer) }
    },
    async prune(live) {
      const names = await readdir(directory).catch(absent)
      const dead = (names ?? []).filter(name => !live.has(name.slice(0, name.indexOf('.'))))
      await Promise.all(dead.map(name => rm(join(directory, name), { force: true })))
    },
  }
}

function readReport(text: string): Report | { unreadable: string } {
  try {
    const parsed = report.safeParse(JSON.parse(text))
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    return { unreadable: `${issue?.path.join('.')}: ${issue?.message}` }
  } catch (error) {
    if (error instanceof SyntaxError) return { unreadable: error.message }
    throw error
  }
}

async function readOptional(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(absent)
}

function absent(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
  throw error
}
