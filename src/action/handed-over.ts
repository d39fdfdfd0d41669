import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { isMissing } from '../measure/missing.ts'
import { digestSchema } from '../model/ids.ts'

export const taskSchema = z.strictObject({
  campaign: z.string(),
  order: digestSchema,
  directory: z.string(),
  /** Why there are no users for sides. */
  noUsers: z.strictObject({ what: z.string(), fix: z.string() }).optional(),
})
export type MeasureTask = z.infer<typeof taskSchema>

const id = z.number().int().nonnegative()

/** What a program is told by whoever started it, in a pipe: what stands in arguments or an environment everybody may read. */
const pipeSchema = z.strictObject({
  task: z.unknown(),
  env: z.record(z.string(), z.string()),
  /** A folder of the runner's user, where it finds what is handed back. */
  room: z.string(),
  runner: z.strictObject({ uid: id, gid: id }),
})
export type RootPipeMessage = z.infer<typeof pipeSchema>

/** The first line of standard input. Its end, whenever that comes, is that of whoever waits for this process. */
export function readRootPipe(onEnd: () => void): Promise<RootPipeMessage> {
  const { stdin } = process
  return new Promise((resolve, reject) => {
    let text = ''
    stdin.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const end = text.indexOf('\n')
      if (end < 0) return
      stdin.unref()
      stdin.removeAllListeners('data').resume()
      try {
        resolve(pipeSchema.parse(JSON.parse(text.slice(0, end))))
      } catch (error) {
        reject(error)
      }
    })
    stdin.once('close', () => {
      reject(new Error('whoever started this said nothing'))
      onEnd()
    })
  })
}

const FILE = 'handed-back.json'
const backSchema = z.strictObject({ why: z.string() })

/** Nothing is measured by root: why, for whoever goes on without it. */
export function writeReturnReason(room: string, why: string): void {
  writeFileSync(join(room, FILE), JSON.stringify({ why }))
}

export function readReturnReason(room: string): string | null {
  try {
    return backSchema.parse(JSON.parse(readFileSync(join(room, FILE), 'utf8'))).why
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}
