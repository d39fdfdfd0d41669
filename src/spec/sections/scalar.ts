import { z } from 'zod'

export const text = z.string().regex(/\S/, 'text that is not empty')
export const positive = z.number().positive()
export const count = z.number().int().positive()
export const natural = z.number().int().nonnegative()
export const fraction = z.number().min(0).max(1)
export const direction = z.enum(['minimize', 'maximize'])
export const operator = z.enum(['>=', '<=', '>', '<', '==', '!='])

export const maxRegression = z.strictObject({
  type: z.enum(['relative', 'absolute']).describe('Whether value is a fraction of the base or metric units.'),
  value: z.number().describe('How much worse is still allowed.'),
})
