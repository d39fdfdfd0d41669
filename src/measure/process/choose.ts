import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnfitMachine } from '../users/unfit-machine.ts'
import { createGroupSupervisor } from './group.ts'
import type { Strategy, Supervisor } from './launch.ts'
import { type Owner, createReaper } from './reaper.ts'
import { createShellNamespace } from './shell-namespace.ts'

export interface SupervisorChoice {
  /** The dedicated user that harnesses run as, where one is configured. */
  owner: Owner | null
  monotonic: () => number
}

const PROBE_SECONDS = 20
/** They make system calls by number. */
const NUMBERED: ReadonlySet<Strategy> = new Set(['uid', 'pid-namespace', 'subreaper'])
const chosen = new Map<string, Promise<Supervisor>>()

/** The first strategy that works here, tried once a process. */
export function chooseSupervisor(choice: SupervisorChoice): Promise<Supervisor> {
  const key = JSON.stringify(choice.owner)
  const known = chosen.get(key)
  if (known !== undefined) return known
  const probing = selectSupervisor(choice)
  chosen.set(key, probing)
  return probing
}

async function selectSupervisor({ owner, monotonic }: SupervisorChoice): Promise<Supervisor> {
  if (owner !== null) return requireUserSupervisor(owner)
  const candidates: Supervisor[] = [
    createReaper('pid-namespace'),
    createShellNamespace(monotonic),
    createReaper('subreaper'),
    createGroupSupervisor(monotonic),
  ]
  for (const candidate of candidates) if ((await findProbeFailure(candidate)) === null) return candidate
  throw new Error('no way to run a command was found: /bin/sh does not start')
}

/** A user that was asked for is never silently replaced by something weaker. */
async function requireUserSupervisor(owner: Owner): Promise<Supervisor> {
  const supervisor = createReaper('uid', owner)
  const failure = await findProbeFailure(supervisor)
  if (failure === null) return supervisor
  throw new UnfitMachine(
    `commands cannot be run as user ${owner.uid}: ${failure}`,
    'run winnow as root, or use isolation: none',
  )
}

/** Null when it runs a command and reports its exit code truly. */
async function findProbeFailure(supervisor: Supervisor): Promise<string | null> {
  if (process.platform !== 'linux' && supervisor.strategy !== 'group') return 'only on Linux'
  if (NUMBERED.has(supervisor.strategy) && !['x64', 'arm64'].includes(process.arch)) {
    return `the system calls of ${process.arch} are not known`
  }
  const dir = await mkdtemp(join(tmpdir(), 'winnow-probe-'))
  try {
    const ended = await supervisor.run(buildProbeLaunch(dir, supervisor.strategy))
    return ended.exitCode === 7 ? null : `the probe ended with ${ended.exitCode ?? ended.signal}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

function buildProbeLaunch(dir: string, strategy: Strategy) {
  const foreign = strategy === 'uid'
  return {
    command: 'exit 7',
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    stdout: foreign ? '/dev/null' : join(dir, 'stdout'),
    stderr: foreign ? '/dev/null' : join(dir, 'stderr'),
    timeoutSeconds: PROBE_SECONDS,
    signal: new AbortController().signal,
  }
}
