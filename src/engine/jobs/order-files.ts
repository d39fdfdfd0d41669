import { rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { moveDamagedAside } from '../../git/damage.ts'
import { type PrintedOrder, printedOrder } from '../../judge/judging-task.ts'
import { listNames, readStoredJson, writeStoredJson } from '../../measure/file-system.ts'
import { scoreRecordSchema } from '../../model/event-schemas.ts'
import type { OrderId } from '../../model/ids.ts'
import { type PartialReport, partialReportSchema } from '../../model/pairs.ts'
import { type ModelCost, modelCostSchema, type Report, reportSchema } from '../../model/report.ts'

type PrintLine = (line: string) => void

/** Each file is written atomically. Reads are synchronous: the files are small. */
export interface OrderFiles {
  claim(order: OrderId, runId: string, state?: ClaimState): Promise<void>
  report(order: OrderId, answer: Report): Promise<void>
  partial(order: OrderId, partial: PartialReport): Promise<void>
  /** The measured outputs that wait for scores. They are never measured again. */
  printed(order: OrderId): PrintedOrder | null
  print(order: OrderId, printed: PrintedOrder): Promise<void>
  scores(order: OrderId): StoredScores | null
  score(order: OrderId, scored: StoredScores): Promise<void>
  /** The cost of the harness's metered calls so far. */
  metered(order: OrderId): ModelCost | null
  meter(order: OrderId, cost: ModelCost): void
  read(order: OrderId): Promise<OrderFile | null>
  /** Removes files of orders that the ledger no longer waits for, if `isForgettable` accepts their holder. */
  prune(live: ReadonlySet<OrderId>, isForgettable: (holder: OrderClaim) => Promise<boolean>): Promise<void>
}

const scored = z.strictObject({
  records: z.array(scoreRecordSchema),
  ...modelCostSchema.shape,
})
export type StoredScores = z.infer<typeof scored>

const claim = z.strictObject({
  run_id: z.string(),
  host: z.string(),
  started: z.boolean(),
  waited_seconds: z.number().nonnegative().optional(),
})

type ClaimState = Partial<Pick<OrderClaim, 'started' | 'waitedSeconds'>>

/** `here`: claimed on this host, maybe before its last boot. */
export interface OrderClaim {
  runId: string
  here: boolean
  started: boolean
  waitedSeconds?: number
}

export type OrderFile = OrderClaim & {
  report: Report | { unreadable: string } | null
  partial: PartialReport | null
  /** The cost of all models that were asked for this order. */
  cost: ModelCost
}

/** Moves a damaged file aside. Its content is lost, and the order is measured or scored again. */
export function openOrderFiles(directory: string, say: PrintLine): OrderFiles {
  const host = hostname()
  const path = (order: OrderId, kind: OrderFileKind) => join(directory, `${order}.${kind}.json`)

  return {
    claim: async (order, run_id, { started = false, waitedSeconds = 0 } = {}) =>
      writeStoredJson(path(order, 'claim'), { run_id, host, started, waited_seconds: waitedSeconds }),
    report: async (order, answer) => writeStoredJson(path(order, 'report'), answer),
    partial: async (order, partial) => writeStoredJson(path(order, 'partial'), partial),
    printed: order => readOptionalJson(path(order, 'printed'), printedOrder, say),
    print: async (order, printed) => writeStoredJson(path(order, 'printed'), printed),
    scores: order => readOptionalJson(path(order, 'scores'), scored, say),
    score: async (order, scores) => writeStoredJson(path(order, 'scores'), scores),
    metered: order => readOptionalJson(path(order, 'metered'), modelCostSchema, say),
    meter: (order, cost) => writeStoredJson(path(order, 'metered'), cost),
    async read(order) {
      const holder = readClaim(path(order, 'claim'), host, say)
      const answer = readReport(path(order, 'report'), say)
      const partial =
        answer === null ? readOptionalJson(path(order, 'partial'), partialReportSchema, say) : null
      const cost = sumCosts([
        readOptionalJson(path(order, 'scores'), scored, say),
        readOptionalJson(path(order, 'metered'), modelCostSchema, say),
      ])
      if (holder !== null) return { ...holder, report: answer, partial, cost }
      // A partial report names its run even when the claim is lost.
      const source = answer ?? partial?.report ?? null
      if (source === null || 'unreadable' in source) return null
      return { runId: source.run_id, here: true, started: true, report: answer, partial, cost }
    },
    async prune(live, isForgettable) {
      for (const order of listOrderIds(directory)) {
        if (live.has(order)) continue
        const holder = readClaim(path(order, 'claim'), host, say)
        if (holder !== null && !(await isForgettable(holder))) continue
        for (const kind of ['report', 'partial', 'printed', 'scores', 'metered', 'claim'] as const)
          rmSync(path(order, kind), { force: true })
      }
    },
  }
}

type OrderFileKind = 'claim' | 'report' | 'partial' | 'printed' | 'scores' | 'metered'

function sumCosts(costs: readonly (ModelCost | null)[]): ModelCost {
  const sum = (read: (cost: ModelCost) => number) =>
    costs.reduce((total, cost) => total + (cost === null ? 0 : read(cost)), 0)
  return {
    requests: sum(cost => cost.requests),
    tokens: sum(cost => cost.tokens),
    usd: sum(cost => cost.usd),
  }
}

/** Returns null for a missing file or one of another winnow version. */
function readOptionalJson<T>(file: string, schema: z.ZodType<T>, say: PrintLine): T | null {
  const value = readJson(file, say)
  return value === null ? null : (schema.safeParse(value).data ?? null)
}

function readClaim(file: string, host: string, say: PrintLine): OrderClaim | null {
  const value = readJson(file, say)
  if (value === null) return null
  const parsed = claim.safeParse(value).data
  if (parsed === undefined) return reportDamagedFile(file, say)
  const { run_id: runId, started, waited_seconds: waitedSeconds } = parsed
  return { runId, here: parsed.host === host, started, ...(waitedSeconds ? { waitedSeconds } : {}) }
}

function listOrderIds(directory: string): Set<OrderId> {
  return new Set(listNames(directory).map(name => name.slice(0, name.indexOf('.'))))
}

/** A valid file with another schema is from another winnow version: it is rejected, not measured again. */
function readReport(file: string, say: PrintLine): Report | { unreadable: string } | null {
  const value = readJson(file, say)
  if (value === null) return null
  const parsed = reportSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  return { unreadable: `${issue?.path.join('.')}: ${issue?.message}` }
}

function readJson(file: string, say: PrintLine): unknown {
  const value = readStoredJson(file)
  return value === undefined ? reportDamagedFile(file, say) : value
}

function reportDamagedFile(file: string, say: PrintLine): null {
  const what = DAMAGE_EFFECTS[file.split('.').at(-2) ?? ''] ?? 'What it held is lost.'
  say(`A file of an order was damaged and is now ${moveDamagedAside(file)}. ${what}`)
  return null
}

const DAMAGE_EFFECTS: Readonly<Record<string, string>> = {
  claim: 'It said which run measures the order; the ledger says that as well.',
  report: 'The report in it is lost, and the order is measured again.',
  partial: 'What its run had measured is lost, and the evidence for keeping starts from zero.',
  printed: 'The outputs in it are lost, and the order is measured again.',
  metered: 'The cost of its model calls in it is lost, and is not counted.',
  scores: 'The scores in it and their cost are lost: judges are asked again, and the cost is not counted.',
}
