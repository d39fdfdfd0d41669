import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { z } from 'zod'
import type { IdeaText } from '../plan/world.ts'
import { toIdea, toLearnings, LONGEST_HYPOTHESIS } from './idea-block.ts'
import { toSafeLine } from './quoted-text.ts'

/** What a program printed: all of it, or the end where it printed much. */
export interface PrintedOutput {
  text: string
  whole: boolean
}

export interface AgentAnswer {
  idea: IdeaText
  learnings: string | null
}

const TAIL_BYTES = 256 * 1024
const MOST_TRIES = 200

/** A slip in one field costs that field and not the work: whatever is not understood counts as not said. */
const said = z.object({
  hypothesis: z.string().optional().catch(undefined),
  category: z.string().optional().catch(undefined),
  priority: z.enum(['high', 'medium', 'low']).optional().catch(undefined),
  required_deps: z
    .union([z.array(z.string()), z.string().transform(name => [name])])
    .optional()
    .catch(undefined),
  family: z.string().optional().catch(undefined),
  learnings: z.string().optional().catch(undefined),
})
const KEYS = Object.keys(said.shape)

/** `otherwise` names the idea when the program says nothing about it. */
export function parseAgentAnswer({ text, whole }: PrintedOutput, otherwise: string): AgentAnswer {
  const found = findLastAnswer(text)
  const { learnings, ...told } = said.parse(found?.value ?? {})
  const before = text.slice(0, found?.at ?? text.length)
  const firstLine = (from: string) =>
    from.split('\n').find(line => toSafeLine(line, LONGEST_HYPOTHESIS) !== '')
  const fallback = firstLine(learnings ?? '') ?? (whole ? firstLine(before) : undefined)
  return {
    idea: toIdea(told, fallback ?? otherwise),
    learnings: toLearnings(learnings),
  }
}

/** The last JSON object that says something about an idea, with prose or a code fence around it or not. */
function findLastAnswer(text: string): { value: Record<string, unknown>; at: number } | null {
  let tries = 0
  for (let end = text.lastIndexOf('}'); end > 0; end = text.lastIndexOf('}', end - 1)) {
    for (let at = text.lastIndexOf('{', end); at >= 0; at = text.lastIndexOf('{', at - 1)) {
      if (++tries > MOST_TRIES) return null
      const value = parseJsonObject(text.slice(at, end + 1))
      if (value !== null && KEYS.some(key => Object.hasOwn(value, key))) return { value, at }
      if (at === 0) break
    }
  }
  return null
}

function parseJsonObject(text: string): Record<string, unknown> | null {
  try {
    const parsed = z.record(z.string(), z.unknown()).safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : null
  } catch {
    // A brace of prose or of a larger object: the next one is tried.
    return null
  }
}

/** The file lies where an agent could reach it: no link is followed and no pipe waited for. */
export async function readPrintedOutput(path: string): Promise<PrintedOutput> {
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    // Removed or replaced by what ran: then nothing was said.
    return { text: '', whole: true }
  }
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return { text: '', whole: true }
    const length = Math.min(stat.size, TAIL_BYTES)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, stat.size - length)
    return { text: buffer.toString('utf8', 0, bytesRead), whole: length === stat.size }
  } finally {
    await file.close()
  }
}
