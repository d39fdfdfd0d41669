import { z } from 'zod'

export const oid = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
export const digest = z.string().regex(/^[0-9a-f]{64}$/)
export const experimentId = z.string().regex(/^exp-\d{3,}$/)
/** A commit and its tree: evidence is bound to trees, refs move by commits. */
export const point = z.strictObject({ commit: oid, tree: oid })

export type Oid = string
export type ExperimentId = string
export type OrderId = string
export type EventId = string
export type Point = z.infer<typeof point>

export function experimentName(number: number): ExperimentId {
  return `exp-${String(number).padStart(3, '0')}`
}

export function experimentNumber(id: ExperimentId): number {
  return Number(id.slice('exp-'.length))
}
