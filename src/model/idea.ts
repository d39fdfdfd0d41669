import { z } from 'zod'

const text = z.string()

const priority = z.enum(['high', 'medium', 'low'])
export type Priority = z.infer<typeof priority>

/** What is said of an idea, in every event that tells of one. */
export const idea = {
  hypothesis: text,
  category: text,
  priority,
  required_deps: z.array(text),
  family: text.nullable(),
}
