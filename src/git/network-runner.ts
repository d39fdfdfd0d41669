import { Buffer } from 'node:buffer'
import { spawn } from 'node:child_process'
import type { Isolation } from './isolation.ts'
import {
  endProcessGroup,
  type RemoteLimits,
  type RunningCommand,
  runWithLimits,
  stripProgress,
} from './remote-limits.ts'
import { runGitTask, type GitOutput, type GitRunner, type GitTask } from './runner.ts'

/**
 * Runs commands that speak to a server. Each is a process group of its own, so that the helpers of git (for http, ssh)
 * end with it where the server hangs.
 */
export function createNetworkRunner(isolation: Isolation, limits: RemoteLimits): GitRunner {
  return {
    run: task =>
      runGitTask(task, isolation.cwd, () =>
        runWithLimits(limits, onBytes => startGit(isolation, task, limits, onBytes)),
      ),
  }
}

function startGit(
  { cwd, env, configArgs }: Isolation,
  task: GitTask<unknown>,
  { silenceSeconds }: RemoteLimits,
  onBytes: () => void,
): RunningCommand<GitOutput> {
  const slow = ['-c', 'http.lowSpeedLimit=1', '-c', `http.lowSpeedTime=${Math.ceil(silenceSeconds)}`]
  const child = spawn('git', [...configArgs, ...slow, ...task.args], {
    cwd,
    env: { ...env, ...task.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = [child.stdout, child.stderr].map(stream => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      onBytes()
    })
    return () => Buffer.concat(chunks).toString('utf8')
  })
  const done = new Promise<GitOutput>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === null) return reject(new Error(`git was ended by ${signal}`))
      resolve({ exitCode: code, stdout: stdout?.() ?? '', stderr: stripProgress(stderr?.() ?? '') })
    })
  })
  return { done, end: signal => endProcessGroup(child.pid, signal) }
}
