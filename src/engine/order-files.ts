import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { isMissing } from '../measure/missing.ts'
import { namesIn } from '../measure/names-in.ts'
import type { OrderId } from '../model/ids.ts'
import { type Report, report } from '../model/report.ts'

/**
 * Orders of this machine as files: who took one, whether harness code has run, what was reported. They are
 * written before anything reads them (write, rename), so that a kill leaves either nothing or the whole. They are
 * small, and every tick looks at them: not worth a trip to the thread pool.
 */
export interface OrderFiles {
  claim(order: OrderId, runId: string): Promise<void>
  started(order: OrderId, runId: string): Promise<void>
  report(order: OrderId, answer: Report): Promise<void>
  read(order: OrderId): Promise<OrderFile | null>
  /** Drops the files of orders that nobody waits for any more and whose holder may be forgotten. */
  prune(live: ReadonlySet<OrderId>, forgettable: (holder: Claim) => Promise<boolean>): Promise<void>
}

const claim = z.strictObject({ run_id: z.string(), host: z.string(), started: z.boolean() })

/** `here`: claimed on this host, if perhaps before it was started anew. */
export interface Claim {
  runId: string
  here: boolean
  started: boolean
}

export type OrderFile = Claim & { report: Report | { unreadable: string } | null }

export function orderFiles(directory: string): OrderFiles {
  const host = hostname()
  const path = (order: OrderId, kind: 'claim' | 'report') => join(directory, `${order}.${kind}.json`)

  async function write(file: string, value: unknown): Promise<void> {
    mkdirSync(directory, { recursive: true })
    writeFileSync(`${file}.part`, JSON.stringify(value))
    renameSync(`${file}.part`, file)
  }

  return {
    claim: (order, runId) => write(path(order, 'claim'), { run_id: runId, host, started: false }),
    started: (order, runId) => write(path(order, 'claim'), { run_id: runId, host, started: true }),
    report: (order, answer) => write(path(order, 'report'), answer),
    async read(order) {
      const text = readOptional(path(order, 'claim'))
      if (text === null) return null
      const answer = readOptional(path(order, 'report'))
      return { ...readClaim(text, host), report: answer === null ? null : readReport(answer) }
    },
    async prune(live, forgettable) {
      for (const order of ordersIn(directory)) {
        if (live.has(order)) continue
        const text = readOptional(path(order, 'claim'))
        if (text !== null && !(await forgettable(readClaim(text, host)))) continue
        for (const kind of ['report', 'claim'] as const) rmSync(path(order, kind), { force: true })
      }
    },
  }
}

function readClaim(text: string, host: string): Claim {
  const parsed = claim.parse(JSON.parse(text))
  return { runId: parsed.run_id, here: parsed.host === host, started: parsed.started }
}

function ordersIn(directory: string): Set<OrderId> {
  return new Set(namesIn(directory).map(name => name.slice(0, name.indexOf('.'))))
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

function readOptional(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}
