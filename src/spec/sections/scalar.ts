import { z } from 'zod'

export const text = z.string().regex(/\S/, 'text that is not empty')
export const positive = z.number().positive()
export const count = z.number().int().positive()
export const natural = z.number().int().nonnegative()

/** `5%` and `0.05` are the same share. */
export const PERCENT = /^[-+]?(?:\d+\.?\d*|\.\d+)\s*%$/

export function isPercent(value: unknown): value is string {
  return typeof value === 'string' && PERCENT.test(value)
}

function fromPercent(text: string): number {
  // Dividing by 100 once gives the number that the decimal fraction would: 5% is 0.05.
  return Number(text.replace('%', '').trim()) / 100
}

/** A key that takes a share: a number, or a percentage. */
export function share(bounds: z.ZodNumber, expected: string) {
  return z.union([bounds, z.string().regex(PERCENT).transform(fromPercent).pipe(bounds)], {
    error: `${expected}, or a percentage such as 5%`,
  })
}

export const anyShare = share(z.number().nonnegative(), 'a number, at least 0')
export const fraction = share(z.number().min(0).max(1), 'a number from 0 to 1')
export const direction = z.enum(['minimize', 'maximize'])
export const operator = z.enum(['>=', '<=', '>', '<', '==', '!='])

export const maxRegression = z.strictObject({
  type: z.enum(['relative', 'absolute']).describe('Whether value is a fraction of the base or metric units.'),
  value: share(z.number(), 'a number').describe('How much worse is still allowed.'),
})
