const MACHINE_FAILURE_PREFIX = 'this machine failed, not your code: '

/** A failure of the measuring machine, and of neither side. */
export function formatMachineFailure(why: string): string {
  return `${MACHINE_FAILURE_PREFIX}${why}`
}

/** The machine failed at every attempt, so the measured code may ask too much of it. */
export function appendAttempts(reason: string, attempts: number): string {
  const plain = reason.startsWith(MACHINE_FAILURE_PREFIX)
    ? `the machine failed each time: ${reason.slice(MACHINE_FAILURE_PREFIX.length)}`
    : reason
  return `${plain} (${attempts} attempts)`
}

/** A report's runner_error, in a sentence. */
export function formatRunnerError(error: string): string {
  return error.startsWith(MACHINE_FAILURE_PREFIX) ? error : `the runner failed: ${error}`
}
