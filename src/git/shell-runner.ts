import { GitShell } from './git-shell.ts'
import type { Isolation } from './isolation.ts'
import { type RemoteLimits, runWithLimits, stripProgress } from './remote-limits.ts'
import { runGitTask, type GitOutput, type GitRunner, type GitTask } from './runner.ts'

const MOST_SHELLS = 8

export interface ShellRunner extends GitRunner {
  close(): Promise<void>
}

/**
 * Runs what stays on this machine, where many short commands are started by small shells that stay. With limits, what
 * hangs is ended: a hook of the repository that is pushed to, or its file system.
 */
export function createShellRunner(isolation: Isolation, limits: RemoteLimits | null = null): ShellRunner {
  const all = new Set<GitShell>()
  const resting: GitShell[] = []
  const queue: ((shell: GitShell) => void)[] = []

  function take(): Promise<GitShell> {
    for (let shell = resting.pop(); shell !== undefined; shell = resting.pop()) {
      if (shell.alive) return Promise.resolve(shell)
      all.delete(shell)
    }
    if (all.size >= MOST_SHELLS) return new Promise(resolve => queue.push(resolve))
    return Promise.resolve(start())
  }

  function start(): GitShell {
    const shell = new GitShell(isolation, limits !== null)
    all.add(shell)
    return shell
  }

  function giveBack(shell: GitShell): void {
    if (!shell.alive) all.delete(shell)
    const next = queue.shift()
    if (next) next(shell.alive ? shell : start())
    else if (shell.alive) resting.push(shell)
  }

  async function inShell({ args, env }: GitTask<unknown>): Promise<GitOutput> {
    const shell = await take()
    try {
      if (limits === null) return await shell.run(args, env)
      const output = await runWithLimits(limits, onBytes => ({
        done: shell.run(args, env, onBytes),
        end: signal => shell.end(signal),
      }))
      return { ...output, stderr: stripProgress(output.stderr) }
    } finally {
      giveBack(shell)
    }
  }

  return {
    run: task => runGitTask(task, isolation.cwd, () => inShell(task)),
    async close() {
      await Promise.all([...all].map(shell => shell.close()))
    },
  }
}
