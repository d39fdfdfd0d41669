import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { isMissing } from '../measure/missing.ts'
import { namesIn } from '../measure/names-in.ts'
import { type PrintedOrder, printedOrder } from '../judge/judged-report.ts'
import { scoreRecord } from '../model/score-record.ts'
import { digest, type EventId, type OrderId } from '../model/ids.ts'
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
  /** What was measured and is still to be scored: from here on nothing has to be measured again. */
  printed(order: OrderId): PrintedOrder | null
  print(order: OrderId, printed: PrintedOrder): Promise<void>
  /** What judges said of it so far, and what that cost. */
  scores(order: OrderId): Scored | null
  score(order: OrderId, scored: Scored): Promise<void>
  /** US dollars that judging cost here, of the campaign that this event started, whatever became of its orders. */
  judgingUsd(started: EventId): number
  read(order: OrderId): Promise<OrderFile | null>
  /** Drops the files of orders that nobody waits for any more and whose holder may be forgotten. */
  prune(live: ReadonlySet<OrderId>, forgettable: (holder: Claim) => Promise<boolean>): Promise<void>
}

const scored = z.strictObject({
  started: digest,
  records: z.array(scoreRecord),
  requests: z.number().int().nonnegative(),
  tokens: z.number().int().nonnegative(),
  usd: z.number().nonnegative(),
})
/** `started`: the event that started the campaign, another of whose name has money of its own. */
export type Scored = z.infer<typeof scored>

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
  const path = (order: OrderId, kind: Kind) => join(directory, `${order}.${kind}.json`)

  async function write(file: string, value: unknown): Promise<void> {
    mkdirSync(directory, { recursive: true })
    writeFileSync(`${file}.part`, JSON.stringify(value))
    renameSync(`${file}.part`, file)
  }

  return {
    claim: (order, runId) => write(path(order, 'claim'), { run_id: runId, host, started: false }),
    started: (order, runId) => write(path(order, 'claim'), { run_id: runId, host, started: true }),
    report: (order, answer) => write(path(order, 'report'), answer),
    printed: order => optional(path(order, 'printed'), printedOrder),
    print: (order, printed) => write(path(order, 'printed'), printed),
    scores: order => optional(path(order, 'scores'), scored),
    score: (order, told) => write(path(order, 'scores'), told),
    judgingUsd(started) {
      const all = namesIn(directory).filter(name => name.endsWith('.scores.json'))
      const costs = all.flatMap(name => optional(join(directory, name), scored) ?? [])
      return costs.reduce((sum, cost) => sum + (cost.started === started ? cost.usd : 0), 0)
    },
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
        for (const kind of ['report', 'printed', 'claim'] as const) rmSync(path(order, kind), { force: true })
        // What was paid stays paid: only what was said is of no use any more.
        const told = optional(path(order, 'scores'), scored)
        if (told !== null && told.records.length > 0)
          await write(path(order, 'scores'), { ...told, records: [] })
      }
    },
  }
}

type Kind = 'claim' | 'report' | 'printed' | 'scores'

/** Whole or not there; one that is neither is of another winnow, and as good as none. */
function optional<T>(file: string, schema: z.ZodType<T>): T | null {
  const text = readOptional(file)
  return text === null ? null : (schema.safeParse(JSON.parse(text)).data ?? null)
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
