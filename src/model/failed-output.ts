import { z } from 'zod'

/** The output of a failed command: enough to find the cause, within the size of a report. */
export const failedOutputSchema = z.strictObject({
  /** The lines in which a known test runner names what failed, and why. */
  failing: z.array(z.string()),
  /** The last lines of both streams. */
  stdout: z.string(),
  stderr: z.string(),
})
export type FailedOutput = z.infer<typeof failedOutputSchema>

export function isEmptyOutput({ failing, stdout, stderr }: FailedOutput): boolean {
  return failing.length === 0 && stdout.trim() === '' && stderr.trim() === ''
}

/** Both streams as one text, for rules that look for words in it. */
export function joinStreams(output: FailedOutput | undefined): string {
  return output === undefined ? '' : [output.stdout, output.stderr].filter(text => text !== '').join('\n')
}
