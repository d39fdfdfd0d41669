import { z } from 'zod'
import { type JobFile, parseJobFile } from '../measure/job-file.ts'
import { digestSchema, oidSchema } from '../model/ids.ts'

/**
 * One file carries answers from the job that asked proposers to the tick that records them. Programs steered
 * by a model ran in that job, so the file is untrusted data: only answers to pending requests of the ledger
 * are used.
 */
export const ANSWERS_ARTIFACT = 'winnow-answers'
export const ANSWERS_FILE = 'answers.json'
export const MOST_ANSWERS_BYTES = 4 * 1024 * 1024
export const MOST_PATCH = 1024 * 1024
/** Total unpacked size of all binary changes in a patch. */
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
  patch: z.string().max(MOST_PATCH).refine(isPatchWithinLimit, 'its unpacked content is too large'),
})
const failed = z.strictObject({ ...answer, ok: z.literal(false), reason: text })
const answers = z.strictObject({
  winnow: z.literal(1),
  campaign: text,
  /** The start event: a later campaign of the same name must ignore this file. */
  started: digestSchema,
  answers: z
    .array(z.discriminatedUnion('ok', [ideaAnswer, failed]))
    .max(MOST_ANSWERS)
    .refine(all => new Set(all.map(({ key }) => key)).size === all.length, 'one request is answered twice'),
})
export type Answers = z.output<typeof answers>
export type GivenAnswer = Answers['answers'][number]

/** git allocates the size that a binary change declares before it reads the content. */
function isPatchWithinLimit(patch: string): boolean {
  return countUnpackedBytes(patch) <= MOST_UNPACKED
}

export function countUnpackedBytes(patch: string): number {
  const sizes = [...patch.matchAll(/^(?:literal|delta) (\d+)\r?$/gm)].map(([, size]) => Number(size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Replaces an answer that exceeds the limits by a failed one. The other answers stay. */
export function renderAnswersFile(all: Answers): string {
  const file = { ...all, answers: [] as GivenAnswer[] }
  for (const one of all.answers) {
    const extended = { ...file, answers: [...file.answers, one] }
    const fits = answers.safeParse(extended).success && countAnswerBytes(extended) <= MOST_ANSWERS_BYTES
    file.answers.push(fits ? one : toTooLargeAnswer(one))
  }
  return serializeAnswers(file)
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

/** `unusable` gives the reason in one line. */
export function readAnswersFile(file: JobFile): Answers | { unusable: string } {
  return parseJobFile(file, { of: 'answers', schema: answers })
}
