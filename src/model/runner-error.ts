const MACHINE = 'this machine failed, not your code: '

/** What a report says where the machine that measured is to blame, and neither side. */
export function machineFailed(why: string): string {
  return `${MACHINE}${why}`
}

/** Of something that was measured again each time: by then it may well be what is measured that asks too much of it. */
export function afterAttempts(reason: string, attempts: number): string {
  const plain = reason.startsWith(MACHINE)
    ? `the machine failed each time: ${reason.slice(MACHINE.length)}`
    : reason
  return `${plain} (${attempts} attempts)`
}

/** A report's runner_error, in a sentence. */
export function runnerErrorText(error: string): string {
  return error.startsWith(MACHINE) ? error : `the runner failed: ${error}`
}
