import { z } from 'zod'
import { fitEntries, MAX_FILE_BYTES } from '../model/job-file.ts'
import { oidSchema } from '../model/ids.ts'
import { modelCostSchema } from '../model/report.ts'

/**
 * The answers of proposers, as their job hands them over. Programs steered by a model ran in that job, so the file is
 * untrusted data.
 */
export const MOST_PATCH = 1024 * 1024
/** Total unpacked size of all binary changes in a patch. */
export const MOST_UNPACKED = 16 * 1024 * 1024

const text = z.string().max(10_000)
const answer = {
  key: text,
  who: text,
  minutes: z.number().nonnegative(),
  /** What its models cost, where winnow asked them. */
  cost: modelCostSchema.optional(),
}
const ideaAnswer = z.strictObject({
  ...answer,
  ok: z.literal(true),
  /** The commit that the patch changes. */
  base: oidSchema,
  hypothesis: text,
  category: text,
  priority: z.enum(['high', 'medium', 'low']),
  required_deps: z.array(text).max(200),
  family: text.nullable(),
  learnings: text.nullable(),
  patch: z
    .string()
    .max(MOST_PATCH)
    .refine(patch => countUnpackedBytes(patch) <= MOST_UNPACKED, 'its unpacked content is too large'),
})
const failed = z.strictObject({
  ...answer,
  ok: z.literal(false),
  reason: text,
  /** The model, its key or the connection failed. The request is lost, and made again. */
  unasked: z.literal(true).optional(),
})
export const givenAnswerSchema = z.discriminatedUnion('ok', [ideaAnswer, failed])
export type GivenAnswer = z.output<typeof givenAnswerSchema>

/** git allocates the size that a binary change declares before it reads the content. */
export function countUnpackedBytes(patch: string): number {
  const sizes = [...patch.matchAll(/^(?:literal|delta) (\d+)\r?$/gm)].map(([, size]) => Number(size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Replaces an answer that exceeds the limits by a failed one. The other answers stay. */
export function limitAnswers(answers: readonly GivenAnswer[]): GivenAnswer[] {
  const checked = answers.map(each =>
    givenAnswerSchema.safeParse(each).success ? each : toTooLargeAnswer(each),
  )
  return fitEntries(checked, MAX_FILE_BYTES.answers, toTooLargeAnswer)
}

function toTooLargeAnswer({ key, who, minutes, cost }: GivenAnswer): GivenAnswer {
  const spent = cost === undefined ? {} : { cost }
  return { key, who, minutes, ...spent, ok: false, reason: `${who} changed more than one answer can hold` }
}
