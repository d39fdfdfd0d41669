import type { ChildProcess } from 'node:child_process'

/** What a supervisor said, and how it ended itself. */
export interface SupervisorOutput {
  stdout: string
  stderr: string
  how: string
}

export function collectOutput(child: ChildProcess): Promise<SupervisorOutput> {
  const text = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text.stdout += chunk))
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk))
  // One that died while we wrote to it is reported by what it did not say.
  child.stdin?.on('error', () => child.stdin?.destroy())
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ ...text, how: signal ?? `exit ${code}` }))
  })
}

/** The supervisor ended without its record: it could not start, or somebody killed it. */
export class SupervisorLost extends Error {
  override readonly name = 'SupervisorLost'
  constructor(output: SupervisorOutput) {
    super(`the process supervisor ended (${output.how}) before the harness did: ${output.stderr.trim()}`)
  }
}
