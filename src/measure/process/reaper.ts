import { type ChildProcess, spawn } from 'node:child_process'
import { z } from 'zod'
import { withDeadline } from './deadline.ts'
import type { Ended, Launch, Strategy, Supervisor } from './launch.ts'
import { REAPER_SCRIPT } from './reaper-script.ts'
import { readStatus } from './signal-name.ts'
import { collectOutput, SupervisorLost, type SupervisorOutput } from './supervisor-output.ts'

type Mode = Extract<Strategy, 'uid' | 'pid-namespace' | 'subreaper'>
/** The user that experiment code runs as; we must be root to become it. */
export interface Owner {
  uid: number
  gid: number
}

const record = z.object({
  status: z.number().int(),
  wall_ns: z.number().nonnegative(),
  cpu_us: z.number().nonnegative(),
  max_rss_kb: z.number().nonnegative(),
  survivors: z.number().int(),
})

/** The strategies that reap: they know when the last process is dead and what all of them used. */
export function reaper(mode: Mode, owner: Owner | null = null): Supervisor {
  return {
    strategy: mode,
    async run(launch, onSpawn) {
      const child = start(mode, owner)
      const output = collectOutput(child)
      if (child.pid !== undefined) await onSpawn?.(child.pid)
      child.stdin?.write(envelope(launch))
      const { value, timedOut } = await withDeadline(output, endingOf(child), launch)
      launch.signal.throwIfAborted()
      return { ...endedFrom(value, mode), timedOut }
    },
  }
}

function start(mode: Mode, owner: Owner | null): ChildProcess {
  const script = ['-e', REAPER_SCRIPT, mode, process.arch, String(process.pid)]
  const args = owner === null ? script : [...script, String(owner.uid), String(owner.gid)]
  const path = process.env['PATH'] ?? '/usr/bin:/bin'
  return spawn('perl', args, { stdio: 'pipe', env: { PATH: path, LC_ALL: 'C' } })
}

function envelope(launch: Launch): Buffer {
  const env = Object.entries(launch.env).map(([name, value]) => `${name}=${value}`)
  const fields = [launch.command, launch.cwd, launch.stdout, launch.stderr, ...env]
  const body = Buffer.from(fields.join('\0'))
  return Buffer.concat([Buffer.from(String(body.length).padStart(8, '0')), body])
}

function endingOf(child: ChildProcess) {
  return {
    term: () => void child.stdin?.write('t'),
    kill: () => void child.stdin?.write('k'),
    destroy: () => void child.kill('SIGKILL'),
  }
}

/**
 * Only a subreaper can be killed by what it watches, which runs as the same user. That is the harness's doing,
 * not the runner's failure, and what it started may still be alive.
 */
const KILLED_FROM_BELOW = {
  exitCode: null,
  signal: 'SIGKILL',
  wallSeconds: 0,
  cpuSeconds: null,
  maxRssMb: null,
  unreaped: true,
} as const

function endedFrom(output: SupervisorOutput, mode: Mode): Omit<Ended, 'timedOut'> {
  const line = output.stdout.trim()
  if (line === '' && mode === 'subreaper' && output.how === 'SIGKILL') return KILLED_FROM_BELOW
  if (line === '') throw new SupervisorLost(output)
  const said = record.parse(JSON.parse(line))
  return {
    ...readStatus(said.status),
    wallSeconds: said.wall_ns / 1e9,
    cpuSeconds: said.cpu_us / 1e6,
    maxRssMb: said.max_rss_kb / 1024,
    unreaped: said.survivors > 0,
  }
}
