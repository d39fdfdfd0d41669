import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { z } from 'zod'
import { isMissing } from './file-system.ts'

/** A file from another job, or why it is missing. */
export type JobFile = { ok: true; bytes: Uint8Array } | { ok: false; why: string }

export interface JobFileSchema<T> {
  /** As in "there is no file of answers". */
  of: string
  schema: z.ZodType<T>
}

/** Parses another job's file, which is untrusted. `unusable` gives the reason in one line. */
export function parseJobFile<T>(file: JobFile, { of, schema }: JobFileSchema<T>): T | { unusable: string } {
  if (!file.ok) return { unusable: file.why }
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(file.bytes))
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error
    return { unusable: `the file of ${of} holds no JSON` }
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const where = issue?.path.join('.').slice(0, 100) || `the file of ${of}`
  return { unusable: `${where}: ${issue?.message.slice(0, 200)}` }
}

/** Reads an untrusted local file of any type and size. */
export async function readJobFile<T>(
  path: string,
  file: JobFileSchema<T> & { most: number },
): Promise<T | { unusable: string }> {
  const bytes = await readFileBytes(path, file)
  return parseJobFile(typeof bytes === 'string' ? { ok: false, why: bytes } : { ok: true, bytes }, file)
}

async function readFileBytes(
  path: string,
  { of, most }: { of: string; most: number },
): Promise<Uint8Array | string> {
  if (path === '') return `there is no file of ${of}`
  let file
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (isMissing(error)) return `there is no file of ${of}`
    if (isLink(error)) return `the file of ${of} is a link`
    throw error
  }
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return `the file of ${of} is not a regular file`
    if (stat.size === 0) return `the file of ${of} is empty`
    if (stat.size > most) return `the file of ${of} has ${stat.size} bytes, more than ${most}`
    return await file.readFile()
  } finally {
    await file.close()
  }
}

function isLink(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ELOOP'
}
