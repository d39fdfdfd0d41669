import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnfitMachine } from '../users/unfit-machine.ts'
import { groupSupervisor } from './group.ts'
import type { Strategy, Supervisor } from './launch.ts'
import { type Owner, reaper } from './reaper.ts'
import { shellNamespace } from './shell-namespace.ts'

export interface Choice {
  /** The dedicated user that harnesses run as, where one is configured. */
  owner: Owner | null
  monotonic: () => number
}

const PROBE_SECONDS = 20
/** They make system calls by number. */
const NUMBERED: ReadonlySet<Strategy> = new Set(['uid', 'pid-namespace', 'subreaper'])
const chosen = new Map<string, Promise<Supervisor>>()

/** The first strategy that works here, tried once a process. */
export function chooseSupervisor(choice: Choice): Promise<Supervisor> {
  const key = JSON.stringify(choice.owner)
  const known = chosen.get(key)
  if (known !== undefined) return known
  const probing = probe(choice)
  chosen.set(key, probing)
  return probing
}

async function probe({ owner, monotonic }: Choice): Promise<Supervisor> {
  if (owner !== null) return ownUser(owner)
  const candidates: Supervisor[] = [
    reaper('pid-namespace'),
    shellNamespace(monotonic),
    reaper('subreaper'),
    groupSupervisor(monotonic),
  ]
  for (const candidate of candidates) if ((await failureOf(candidate)) === null) return candidate
  throw new Error('no way to run a command was found: /bin/sh does not start')
}

/** A user that was asked for is never silently replaced by something weaker. */
async function ownUser(owner: Owner): Promise<Supervisor> {
  const supervisor = reaper('uid', owner)
  const failure = await failureOf(supervisor)
  if (failure === null) return supervisor
  throw new UnfitMachine(
    `commands cannot be run as user ${owner.uid}: ${failure}`,
    'run winnow as root, or use isolation: none',
  )
}

/** Null when it runs a command and reports its exit code truly. */
async function failureOf(supervisor: Supervisor): Promise<string | null> {
  if (process.platform !== 'linux' && supervisor.strategy !== 'group') return 'only on Linux'
  if (NUMBERED.has(supervisor.strategy) && !['x64', 'arm64'].includes(process.arch)) {
    return `the system calls of ${process.arch} are not known`
  }
  const dir = await mkdtemp(join(tmpdir(), 'winnow-probe-'))
  try {
    const ended = await supervisor.run(probeLaunch(dir, supervisor.strategy))
    return ended.exitCode === 7 ? null : `the probe ended with ${ended.exitCode ?? ended.signal}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

function probeLaunch(dir: string, strategy: Strategy) {
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
