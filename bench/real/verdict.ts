import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { z } from 'zod'
import { runCommandLine } from '../../src/cli/run-command-line.ts'
import type { Terminal } from '../../src/cli/verb.ts'
import { quoteShell } from '../../src/model/text.ts'
import { VERSION } from '../../src/version.ts'
import type { Program } from './sides.ts'

export const WinnowAnswer = z.object({
  verdict: z.enum(['better', 'no gain', 'worse', 'not proven']),
  /** A share of the base's time; positive is better. Null without pairs. */
  gain: z.number().nullable(),
  executions: z.number(),
  seconds: z.number(),
})

export type WinnowAnswer = z.infer<typeof WinnowAnswer>

const CompareOutput = z.object({
  verdict: z.string(),
  sentence: z.string(),
  effect: z.number().nullable(),
  executions: z.object({ calibration: z.number(), comparison: z.number() }),
  seconds: z.number(),
  end: z.string(),
})

export interface VerdictRequest {
  clone: string
  base: string
  head: string
  program: Program
  metric: string | null
  /** An empty folder. */
  scratch: string
  /** winnow keeps its lock of the machine there. */
  home: string
  say: (line: string) => void
  signal: AbortSignal
}

/** Runs `winnow compare` with default settings in a clone of the clone. */
export async function askWinnow(request: VerdictRequest): Promise<WinnowAnswer> {
  const { clone, base, head, program, metric, scratch, home, say, signal } = request
  const directory = join(scratch, 'clone')
  await promisify(execFile)('git', ['clone', '--quiet', '--shared', '--no-checkout', clone, directory])
  const words = ['--setup', program.setup, '--json', '--yes', '--cache-dir', join(scratch, 'cache')]
  const measured = metric === null ? [] : ['--metric', metric]
  const command = program.pinned.map(quoteShell).join(' ')
  let output: unknown = null
  const terminal: Terminal = {
    out: say,
    err: say,
    json: value => {
      output = value
    },
    live: () => {},
    confirm: null,
    lines: () => Readable.from([]),
  }
  const env = { PATH: process.env['PATH'] ?? '', HOME: home }
  const started = { env, directory, pid: process.pid, version: VERSION }
  const code = await runCommandLine(
    ['compare', base, head, ...words, ...measured, '--', command],
    started,
    terminal,
    signal,
  )
  const parsed = CompareOutput.safeParse(output)
  if (!parsed.success || parsed.data.end === 'interrupted')
    throw new Error(`winnow compare ended with exit code ${code} and without a verdict`)
  const { sentence, effect, executions, seconds } = parsed.data
  say(sentence)
  const verdict = WinnowAnswer.shape.verdict.safeParse(parsed.data.verdict)
  if (!verdict.success) throw new Error(`winnow compare could not compare: ${sentence}`)
  const gain = effect === null ? null : 1 - Math.exp(-effect)
  return { verdict: verdict.data, gain, executions: executions.calibration + executions.comparison, seconds }
}
