import { z } from 'zod'

/** The output of a failed command: enough to find the cause, within the size of a report. */
export const failedOutputSchema = z.strictObject({
  /** The lines in which a known test runner names the failed tests and their causes. */
  failing: z.array(z.string()),
  stdout: z.string(),
  stderr: z.string(),
})
export type FailedOutput = z.infer<typeof failedOutputSchema>

export function isEmptyOutput({ failing, stdout, stderr }: FailedOutput): boolean {
  return failing.length === 0 && stdout.trim() === '' && stderr.trim() === ''
}

export function joinStreams(output: FailedOutput | undefined): string {
  return output === undefined ? '' : [output.stdout, output.stderr].filter(text => text !== '').join('\n')
}

const MACHINE_FAILURE_PREFIX = 'this machine failed, not your code: '

export function formatMachineFailure(why: string): string {
  return `${MACHINE_FAILURE_PREFIX}${why}`
}

/** The machine failed at every attempt, so the measured code may need more than the machine has. */
export function appendAttempts(reason: string, attempts: number): string {
  const plain = reason.startsWith(MACHINE_FAILURE_PREFIX)
    ? `the machine failed each time: ${reason.slice(MACHINE_FAILURE_PREFIX.length)}`
    : reason
  return `${plain} (${attempts} attempts)`
}

export function formatRunnerError(error: string): string {
  return error.startsWith(MACHINE_FAILURE_PREFIX) ? error : `the runner failed: ${error}`
}
