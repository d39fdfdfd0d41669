import { z } from 'zod'

const ideaText = z.string()

const prioritySchema = z.enum(['high', 'medium', 'low'])
export type Priority = z.infer<typeof prioritySchema>

/** What is said of an idea, in every event that tells of one. */
export const ideaFields = {
  hypothesis: ideaText,
  category: ideaText,
  priority: prioritySchema,
  required_deps: z.array(ideaText),
  family: ideaText.nullable(),
}
