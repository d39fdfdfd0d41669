import { z } from 'zod'
import type { HarnessError } from '../../errors.ts'
import { findDuplicateKey } from './duplicate-key.ts'
import { toOutputError } from './printed.ts'
import { findNamingLine } from './result-object.ts'

const record = z.record(z.string(), z.unknown())

/** What a tool left as JSON, whole; a part of it, or anything around it, is an error. */
export function parseToolJson(text: string, example: string, hint: string): unknown {
  const parsed = parseOrThrow(text, () =>
    toOutputError(
      `not one whole JSON document; use: ${hint}`,
      text.trimEnd().split('\n').at(-1) ?? '',
      example,
    ),
  )
  const twice = findDuplicateKey(text)
  if (twice !== null) throw toOutputError(`"${twice}" is given twice`, findNamingLine(text, twice), example)
  return parsed
}

function parseOrThrow(text: string, otherwise: () => HarnessError): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw otherwise()
  }
}

/** The rows of a report, or that it is no report of this tool. */
export function parseToolReport<S extends z.ZodType>(
  schema: S,
  parsed: unknown,
  { text, example, tool }: { text: string; example: string; tool: string },
): z.output<S> {
  const checked = schema.safeParse(parsed)
  if (checked.success) return checked.data
  const issue = checked.error.issues[0]
  const where = issue?.path.map(String).join('.') ?? ''
  const line = findNamingLine(text, String(issue?.path.findLast(part => typeof part === 'string') ?? ''))
  throw toOutputError(
    `not a report of ${tool}: ${where === '' ? 'the whole' : where} is not as expected`,
    line,
    example,
  )
}

/** Numbers of one benchmark by unit; one that is not there or not finite is an error, whatever the tool exits with. */
export function readUnitValues(
  stats: unknown,
  fields: Readonly<Record<string, string>>,
  { name, text, example }: { name: string; text: string; example: string },
): Record<string, number> {
  const known = record.safeParse(stats).data ?? {}
  return Object.fromEntries(
    Object.entries(fields).map(([unit, field]): [string, number] => {
      const value = known[field]
      if (typeof value === 'number' && Number.isFinite(value)) return [unit, value]
      throw toOutputError(
        `${name} has no number as its ${field}: it failed, or did not run`,
        findNamingLine(text, name),
        example,
      )
    }),
  )
}
