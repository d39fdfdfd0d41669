import { z } from 'zod'
import { type JobFile, readJobFile, parseJobFile } from '../measure/handed-file.ts'
import { eventPayloads } from '../model/event-payloads.ts'
import { digestSchema } from '../model/ids.ts'
import { printedOrder } from './judged-report.ts'

/**
 * How items travel from the tick that found them to the job that asks models, and scores from there to the tick that
 * takes them in: one file each, of the same run. Both are data to whoever reads them.
 */
export const ITEMS_ARTIFACT = 'winnow-items'
export const ITEMS_FILE = 'items.json'
export const SCORES_ARTIFACT = 'winnow-scores'
export const SCORES_FILE = 'scores.json'
const MOST_ITEMS_BYTES = 256 * 1024 * 1024
export const MOST_SCORES_BYTES = 32 * 1024 * 1024
const MOST_ORDERS = 256

const campaign = {
  winnow: z.literal(1),
  campaign: z.string(),
  /** The event that started it: another of the same name has no use for them. */
  started: digestSchema,
}

const handedItems = z.strictObject({
  ...campaign,
  orders: z
    .array(z.strictObject({ key: z.string(), order: digestSchema, printed: printedOrder }))
    .max(MOST_ORDERS),
})
export type HandedItems = z.output<typeof handedItems>

const handedScores = z.strictObject({
  ...campaign,
  judgings: z
    .array(z.strictObject(eventPayloads.judged))
    .max(MOST_ORDERS)
    .refine(all => new Set(all.map(({ key }) => key)).size === all.length, 'one asking is answered twice'),
})
export type HandedScores = z.output<typeof handedScores>

/** What one job is handed of all that waits: the rest is for the next, as large as one may be. */
export function limitItems(all: HandedItems, most = MOST_ITEMS_BYTES): HandedItems {
  const orders: HandedItems['orders'] = []
  let bytes = 1024
  for (const each of all.orders.slice(0, MOST_ORDERS)) {
    const own = countJsonBytes(each)
    if (bytes + own > most) continue
    bytes += own
    orders.push(each)
  }
  return { ...all, orders }
}

function countJsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}

export function readItemsFile(path: string): Promise<HandedItems | { unusable: string }> {
  return readJobFile(path, { of: 'items', most: MOST_ITEMS_BYTES, schema: handedItems })
}

export function readScoresFile(handed: JobFile): HandedScores | { unusable: string } {
  return parseJobFile(handed, { of: 'scores', schema: handedScores })
}
