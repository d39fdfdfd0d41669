const MACHINE = 'this machine failed, not your code: '

/** A failure of the measuring machine, and of neither side. */
export function machineFailed(why: string): string {
  return `${MACHINE}${why}`
}

/** The machine failed at every attempt, so the measured code may ask too much of it. */
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
