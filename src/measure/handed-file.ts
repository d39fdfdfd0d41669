import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { z } from 'zod'
import { isMissing } from './missing.ts'

export interface HandedFile<T> {
  /** As in "there is no file of answers". */
  of: string
  most: number
  schema: z.ZodType<T>
}

/** What another job left, as data: why nothing can be taken from it, in one line. It may be anything, and of any size. */
export async function readHanded<T>(path: string, file: HandedFile<T>): Promise<T | { unusable: string }> {
  const bytes = await bytesIn(path, file)
  if (typeof bytes === 'string') return { unusable: bytes }
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error
    return { unusable: `the file of ${file.of} holds no JSON` }
  }
  const parsed = file.schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const where = issue?.path.join('.').slice(0, 100) || `the file of ${file.of}`
  return { unusable: `${where}: ${issue?.message.slice(0, 200)}` }
}

async function bytesIn(
  path: string,
  { of, most }: Pick<HandedFile<unknown>, 'of' | 'most'>,
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
    if (!stat.isFile()) return `the file of ${of} is no file`
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
