import type { FailedOutput } from '../../model/failed-output.ts'
import { isEmptyOutput } from '../../model/failed-output.ts'
import { readOutputTail } from './capped-file.ts'
import { selectFailingLines, stripInstallNoise } from './failing-lines.ts'

const TAIL_CHARACTERS = 2_000

interface OutputPaths {
  stdout: string
  stderr: string
}

/** Extracts the helpful lines from both output files of a failed command; null where it printed nothing. */
export function readFailed({ stdout, stderr }: OutputPaths): FailedOutput | null {
  const printed = { stdout: readOutputTail(stdout), stderr: readOutputTail(stderr) }
  const output = {
    failing: selectFailingLines([printed.stdout, printed.stderr].join('\n')),
    stdout: takeLastLines(stripInstallNoise(printed.stdout)),
    stderr: takeLastLines(stripInstallNoise(printed.stderr)),
  }
  return isEmptyOutput(output) ? null : output
}

/** Whole lines, where there is more than one. */
function takeLastLines(text: string): string {
  const trimmed = text.trim()
  const tail = trimmed.slice(-TAIL_CHARACTERS)
  const cut = tail.length < trimmed.length ? tail.indexOf('\n') + 1 : 0
  return tail.slice(cut)
}
