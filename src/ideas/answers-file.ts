import { z } from 'zod'
import { type JobFile, parseJobFile } from '../measure/job-file.ts'
import { digestSchema, oidSchema } from '../model/ids.ts'

/**
 * How answers travel from the job that asked to the tick that takes them in: one file, no larger than this. Whoever
 * wrote it ran programs that a model steers: it is data, and nothing in it is believed but for what an asking of the
 * ledger wanted.
 */
export const ANSWERS_ARTIFACT = 'winnow-answers'
export const ANSWERS_FILE = 'answers.json'
export const MOST_ANSWERS_BYTES = 4 * 1024 * 1024
export const MOST_PATCH = 1024 * 1024
/** What binary changes may unpack to, all together. */
export const MOST_UNPACKED = 16 * 1024 * 1024
const MOST_ANSWERS = 64

const text = z.string().max(10_000)
const answer = { key: text, who: text, minutes: z.number().nonnegative() }
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
  patch: z.string().max(MOST_PATCH).refine(isPatchWithinLimit, 'what it unpacks to is too large'),
})
const failed = z.strictObject({ ...answer, ok: z.literal(false), reason: text })
const answers = z.strictObject({
  winnow: z.literal(1),
  campaign: text,
  /** The event that started it: another of the same name has no use for them. */
  started: digestSchema,
  answers: z
    .array(z.discriminatedUnion('ok', [ideaAnswer, failed]))
    .max(MOST_ANSWERS)
    .refine(all => new Set(all.map(({ key }) => key)).size === all.length, 'one asking is answered twice'),
})
export type Answers = z.output<typeof answers>
export type GivenAnswer = Answers['answers'][number]

/** The size of a binary change stands before it, and memory for it is taken before a byte of it is read. */
function isPatchWithinLimit(patch: string): boolean {
  return countUnpackedBytes(patch) <= MOST_UNPACKED
}

export function countUnpackedBytes(patch: string): number {
  const sizes = [...patch.matchAll(/^(?:literal|delta) (\d+)\r?$/gm)].map(([, size]) => Number(size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Each answer as large as it may be taken in: what does not fit costs that idea and no other. */
export function renderAnswersFile(all: Answers): string {
  const told = { ...all, answers: [] as GivenAnswer[] }
  for (const one of all.answers) {
    const more = { ...told, answers: [...told.answers, one] }
    const fitting = answers.safeParse(more).success && countAnswerBytes(more) <= MOST_ANSWERS_BYTES
    told.answers.push(fitting ? one : toTooLargeAnswer(one))
  }
  return serializeAnswers(told)
}

function toTooLargeAnswer({ key, who, minutes }: GivenAnswer): GivenAnswer {
  return { key, who, minutes, ok: false, reason: `${who} changed more than one answer can hold` }
}

function serializeAnswers(all: Answers): string {
  return `${JSON.stringify(all)}\n`
}

function countAnswerBytes(all: Answers): number {
  return new TextEncoder().encode(serializeAnswers(all)).length
}

/** Why nothing can be taken from it, in one line. */
export function readAnswersFile(handed: JobFile): Answers | { unusable: string } {
  return parseJobFile(handed, { of: 'answers', schema: answers })
}
