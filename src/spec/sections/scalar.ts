import { z } from 'zod'

export const textSchema = z.string().regex(/\S/, 'text that is not empty')
export const positiveSchema = z.number().positive()
export const countSchema = z.number().int().positive()
export const naturalSchema = z.number().int().nonnegative()

/** `5%` and `0.05` are the same share. */
export const PERCENT = /^[-+]?(?:\d+\.?\d*|\.\d+)\s*%$/

export function isPercent(value: unknown): value is string {
  return typeof value === 'string' && PERCENT.test(value)
}

function parsePercent(text: string): number {
  // Dividing by 100 once gives the number that the decimal fraction would: 5% is 0.05.
  return Number(text.replace('%', '').trim()) / 100
}

/** A key that takes a share: a number, or a percentage. */
export function shareSchema(bounds: z.ZodNumber, expected: string) {
  return z.union([bounds, z.string().regex(PERCENT).transform(parsePercent).pipe(bounds)], {
    error: `${expected}, or a percentage such as 5%`,
  })
}

export const shareOfAnySizeSchema = shareSchema(z.number().nonnegative(), 'a number, at least 0')
export const fractionSchema = shareSchema(z.number().min(0).max(1), 'a number from 0 to 1')
export const directionSchema = z.enum(['minimize', 'maximize'])
export const operatorSchema = z.enum(['>=', '<=', '>', '<', '==', '!='])

export const maxRegressionSchema = z.strictObject({
  type: z.enum(['relative', 'absolute']).describe('Whether value is a fraction of the base or metric units.'),
  value: shareSchema(z.number(), 'a number').describe('How much worse is still allowed.'),
})
