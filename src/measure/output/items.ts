import { z } from 'zod'
import { HarnessError } from '../../errors.ts'
import { toCanonicalJson } from '../../model/canonical.ts'

/** More than this of one item no judge could weigh, and no ledger should have to hold. */
export const MOST_CONTENT = 50_000
const MOST_ITEMS = 10_000
const MOST_ID = 500

const id = z
  .string()
  .min(1)
  .max(MOST_ID)
  // Scores stand in the ledger under it, and no schema reads a member of that name back.
  .refine(given => given !== '__proto__', 'no item can be called that')
const bucket = z.string().max(MOST_ID)

/** What a harness printed to be scored: text of programs that nobody has looked at, whoever brings it. */
export const item = z.strictObject({
  id,
  bucket: bucket.nullable(),
  content: z.string().max(MOST_CONTENT),
})
export type Item = z.infer<typeof item>

const printed = z.looseObject({
  id,
  bucket: bucket.nullish(),
  content: z.unknown().refine(content => content !== undefined, 'nothing to score'),
})

export const ITEMS_EXAMPLE = '{"items": [{"id": "q1", "bucket": "long", "content": "…"}]}'

/** As a harness prints `items` and `singletons`; one that cannot be judged as it is meant is an error of the harness. */
export function parseItems(member: unknown, called: 'items' | 'singletons' = 'items'): Item[] {
  if (!Array.isArray(member)) throw toItemError(called, 'has to be an array')
  if (member.length > MOST_ITEMS) throw toItemError(called, `has more than ${MOST_ITEMS} items`)
  const items = member.map((each, index) => parseItem(each, `${called}.${index}`))
  const ids = new Set<string>()
  for (const { id } of items) {
    if (ids.has(id)) throw toItemError(called, `has the id ${JSON.stringify(id)} twice`)
    ids.add(id)
  }
  return items
}

function parseItem(each: unknown, where: string): Item {
  const parsed = printed.safeParse(each)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw toItemError(
      [where, ...(issue?.path ?? [])].map(String).join('.'),
      issue?.message ?? 'is not understood',
    )
  }
  const { id: name, bucket: stratum, content } = parsed.data
  const text = typeof content === 'string' ? content : toCanonicalJson(content)
  if (text.length > MOST_CONTENT)
    throw toItemError(where, `has ${text.length} characters of content, more than ${MOST_CONTENT}`)
  return { id: name, bucket: stratum ?? null, content: toWellFormed(text) }
}

/** Half a character is none, and endpoints refuse the whole question that has one in it. */
function toWellFormed(text: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text))
}

function toItemError(where: string, what: string): HarnessError {
  return new HarnessError(`"${where}": ${what}`, { example: ITEMS_EXAMPLE })
}
