import { z } from 'zod'
import { withDeadline } from './deadline.ts'
import type { Ended, Launch, Strategy, Supervisor } from './launch.ts'
import { type HostAnswer, PerlHost } from './perl-host.ts'
import { REAPER_SCRIPT } from './reaper-script.ts'
import { readStatus } from './signal-name.ts'
import { SupervisorLost } from './supervisor-output.ts'

type ReaperMode = Extract<Strategy, 'uid' | 'pid-namespace' | 'subreaper'>
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
export function createReaper(mode: ReaperMode, owner: Owner | null = null): Supervisor {
  const resting: PerlHost[] = []

  function takeHost(): PerlHost {
    for (let host = resting.pop(); host !== undefined; host = resting.pop()) if (host.alive) return host
    return new PerlHost(buildHostArguments(mode, owner))
  }

  return {
    strategy: mode,
    async run(launch, onSpawn) {
      const host = takeHost()
      if (host.pid !== undefined) await onSpawn?.(host.pid)
      const { value, timedOut } = await withDeadline(
        host.run(encodeLaunch(launch)),
        createHostTerminator(host),
        launch,
      )
      if (host.alive) resting.push(host)
      launch.signal.throwIfAborted()
      return { ...parseEnded(value, mode), timedOut }
    },
  }
}

function buildHostArguments(mode: ReaperMode, owner: Owner | null): string[] {
  const script = ['-e', REAPER_SCRIPT, mode, process.arch, String(process.pid)]
  return owner === null ? script : [...script, String(owner.uid), String(owner.gid)]
}

function encodeLaunch(launch: Launch): Buffer {
  const env = Object.entries(launch.env).map(([name, value]) => `${name}=${value}`)
  const fields = [launch.command, launch.cwd, launch.stdout, launch.stderr, ...env]
  const body = Buffer.from(fields.join('\0'))
  return Buffer.concat([Buffer.from(String(body.length).padStart(8, '0')), body])
}

function createHostTerminator(host: PerlHost) {
  return { term: () => host.command('t'), kill: () => host.command('k'), destroy: () => host.destroy() }
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

function parseEnded({ record: line, lost, signal }: HostAnswer, mode: ReaperMode): Omit<Ended, 'timedOut'> {
  if (line === null && mode === 'subreaper' && signal === 'SIGKILL') return KILLED_FROM_BELOW
  if (line === null) throw new SupervisorLost({ stdout: '', stderr: lost, how: signal ?? 'by itself' })
  const said = record.parse(JSON.parse(line))
  return {
    ...readStatus(said.status),
    wallSeconds: said.wall_ns / 1e9,
    cpuSeconds: said.cpu_us / 1e6,
    maxRssMb: said.max_rss_kb / 1024,
    unreaped: said.survivors > 0,
  }
}
