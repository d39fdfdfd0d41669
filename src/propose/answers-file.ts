import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { z } from 'zod'
import { isMissing } from '../measure/missing.ts'
import { digest, oid } from '../model/ids.ts'

/**
 * How answers travel from the job that asked to the tick that takes them in: one file, no larger than this. Whoever
 * wrote it ran programs that a model steers: it is data, and nothing in it is believed but for what an asking of the
 * ledger wanted.
 */
export const ANSWERS_FILE = 'answers.json'
const MOST_BYTES = 4 * 1024 * 1024
export const MOST_PATCH = 1024 * 1024
/** What binary changes may unpack to, all together. */
const MOST_UNPACKED = 16 * 1024 * 1024
const MOST_ANSWERS = 64

const text = z.string().max(10_000)
const answer = { key: text, who: text, minutes: z.number().nonnegative() }
const brought = z.strictObject({
  ...answer,
  ok: z.literal(true),
  /** The commit that the patch changes. */
  base: oid,
  hypothesis: text,
  category: text,
  priority: z.enum(['high', 'medium', 'low']),
  required_deps: z.array(text).max(200),
  family: text.nullable(),
  learnings: text.nullable(),
  patch: z.string().max(MOST_PATCH).refine(fits, 'what it unpacks to is too large'),
})
const failed = z.strictObject({ ...answer, ok: z.literal(false), reason: text })
const answers = z.strictObject({
  winnow: z.literal(1),
  campaign: text,
  /** The event that started it: another of the same name has no use for them. */
  started: digest,
  answers: z
    .array(z.discriminatedUnion('ok', [brought, failed]))
    .max(MOST_ANSWERS)
    .refine(all => new Set(all.map(({ key }) => key)).size === all.length, 'one asking is answered twice'),
})
export type Answers = z.output<typeof answers>
export type GivenAnswer = Answers['answers'][number]

/** The size of a binary change stands before it, and memory for it is taken before a byte of it is read. */
function fits(patch: string): boolean {
  const sizes = [...patch.matchAll(/^(?:literal|delta) (\d+)$/gm)].map(([, size]) => Number(size))
  return sizes.reduce((sum, size) => sum + size, 0) <= MOST_UNPACKED
}

/** Each answer as large as it may be taken in: what does not fit costs that idea and no other. */
export function answersText(all: Answers): string {
  const told = { ...all, answers: [] as GivenAnswer[] }
  for (const one of all.answers) {
    const more = { ...told, answers: [...told.answers, one] }
    const fitting = answers.safeParse(more).success && bytesOf(more) <= MOST_BYTES
    told.answers.push(fitting ? one : tooLarge(one))
  }
  return textOf(told)
}

function tooLarge({ key, who, minutes }: GivenAnswer): GivenAnswer {
  return { key, who, minutes, ok: false, reason: `${who} changed more than one answer can hold` }
}

function textOf(all: Answers): string {
  return `${JSON.stringify(all)}\n`
}

function bytesOf(all: Answers): number {
  return new TextEncoder().encode(textOf(all)).length
}

/** Why nothing can be taken from it, in one line; the file may be anything, and of any size. */
export async function readAnswersFile(path: string): Promise<Answers | { unusable: string }> {
  const bytes = await bytesIn(path)
  if (typeof bytes === 'string') return { unusable: bytes }
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error
    return { unusable: 'the file of answers holds no JSON' }
  }
  const parsed = answers.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const where = issue?.path.join('.').slice(0, 100) || 'the file of answers'
  return { unusable: `${where}: ${issue?.message.slice(0, 200)}` }
}

async function bytesIn(path: string): Promise<Uint8Array | string> {
  if (path === '') return 'there is no file of answers'
  let file
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (isMissing(error)) return 'there is no file of answers'
    if (isLink(error)) return 'the file of answers is a link'
    throw error
  }
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return 'the file of answers is no file'
    if (stat.size === 0) return 'the file of answers is empty'
    if (stat.size > MOST_BYTES) return `the file of answers has ${stat.size} bytes, more than ${MOST_BYTES}`
    return await file.readFile()
  } finally {
    await file.close()
  }
}

function isLink(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ELOOP'
}
