import type { FailedOutput } from '../../model/failed-output.ts'
import { isEmptyOutput } from '../../model/failed-output.ts'
import { endOf } from './capped-file.ts'
import { failingLines, withoutInstallNoise } from './failing-lines.ts'

const TAIL_CHARACTERS = 2_000

interface Streams {
  stdout: string
  stderr: string
}

/** Extracts the helpful lines from both output files of a failed command; null where it printed nothing. */
export function readFailed({ stdout, stderr }: Streams): FailedOutput | null {
  const printed = { stdout: endOf(stdout), stderr: endOf(stderr) }
  const output = {
    failing: failingLines([printed.stdout, printed.stderr].join('\n')),
    stdout: lastLines(withoutInstallNoise(printed.stdout)),
    stderr: lastLines(withoutInstallNoise(printed.stderr)),
  }
  return isEmptyOutput(output) ? null : output
}

/** Whole lines, where there is more than one. */
function lastLines(text: string): string {
  const trimmed = text.trim()
  const tail = trimmed.slice(-TAIL_CHARACTERS)
  const cut = tail.length < trimmed.length ? tail.indexOf('\n') + 1 : 0
  return tail.slice(cut)
}
