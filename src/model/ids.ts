import { z } from 'zod'

export const oidSchema = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
export const digestSchema = z.string().regex(/^[0-9a-f]{64}$/)
export const experimentIdSchema = z.string().regex(/^exp-\d{3,}$/)
/** A commit and its tree: evidence is bound to trees, refs move by commits. */
export const pointSchema = z.strictObject({ commit: oidSchema, tree: oidSchema })

export type Oid = string
export type ExperimentId = string
export type OrderId = string
export type EventId = string
export type Point = z.infer<typeof pointSchema>

export function formatExperimentId(number: number): ExperimentId {
  return `exp-${String(number).padStart(3, '0')}`
}

export function parseExperimentNumber(id: ExperimentId): number {
  return Number(id.slice('exp-'.length))
}
