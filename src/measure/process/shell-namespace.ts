import { type ChildProcess, spawn } from 'node:child_process'
import { withDeadline } from './deadline.ts'
import type { Launch, Supervisor } from './launch.ts'
import { collectOutput, SupervisorLost, type SupervisorOutput } from './supervisor-output.ts'

/**
 * The first process of a namespace, in sh: when it exits the kernel ends everything else in there. The
 * watcher turns lines on stdin into signals for all, and the end of stdin (winnow died) into KILL.
 */
const INIT = String.raw`
exec 3<&0 4>&1 </dev/null >/dev/null
( while read -r _ <&3; do kill -TERM -1; done; kill -KILL -1 ) 2>/dev/null &
sh -c "$1" >"$2" 2>"$3" 3<&- 4>&- &
wait $!
echo $? >&4
`

/** A process namespace where there is no perl: everything dies for certain, but nobody adds up what it used. */
export function createShellNamespace(monotonic: () => number): Supervisor {
  return {
    strategy: 'shell-namespace',
    async run(launch, onSpawn) {
      const child = startInNamespace(launch)
      const started = monotonic()
      const output = collectOutput(child)
      if (child.pid !== undefined) await onSpawn?.(child.pid)
      const ending = {
        term: () => void child.stdin?.write('t\n'),
        kill: () => void child.stdin?.end(),
        destroy: () => void child.kill('SIGKILL'),
      }
      const { value, timedOut } = await withDeadline(output, ending, launch)
      launch.signal.throwIfAborted()
      const wallSeconds = (monotonic() - started) / 1000
      const shared = { timedOut, wallSeconds, cpuSeconds: null, maxRssMb: null, unreaped: false }
      return { ...readCode(value), ...shared }
    },
  }
}

function startInNamespace(launch: Launch): ChildProcess {
  const init = ['/bin/sh', '-c', INIT, 'init', launch.command, launch.stdout, launch.stderr]
  const namespace = ['unshare', '--user', '--map-current-user', '--pid', '--fork', '--kill-child=KILL']
  const args = ['--pdeathsig', 'KILL', ...namespace, ...init]
  return spawn('setpriv', args, { cwd: launch.cwd, env: launch.env, stdio: 'pipe' })
}

/** sh says 128 + n for a signal; a command that exits so on purpose reads the same. */
function readCode(output: SupervisorOutput): { exitCode: number | null; signal: string | null } {
  const code = /^\d+$/.exec(output.stdout.trim())?.[0]
  if (code === undefined) throw new SupervisorLost(output)
  return { exitCode: Number(code), signal: null }
}
