import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Reach } from '../../model/reach.ts'
import { UnfitMachine } from '../isolation/side-users.ts'
import {
  collectOutput,
  type Ended,
  type Launch,
  type Strategy,
  type Supervisor,
  SupervisorLost,
  type SupervisorOutput,
  withDeadline,
} from './launch.ts'
import { endProcess, findDescendants, listProcesses, type ProcessEntry } from './leftovers.ts'
import { createReaper, type Owner } from './reaper.ts'

interface SupervisorChoice {
  owner: Owner | null
  monotonic: () => number
}

const PROBE_SECONDS = 20
/** Strategies that make system calls by number. */
const SYSCALL_STRATEGIES: ReadonlySet<Strategy> = new Set(['uid', 'pid-namespace', 'subreaper'])
const chosen = new Map<string, Promise<Supervisor>>()

/** The first strategy that works on this machine. Probed once a process; a failure is probed again. */
export function chooseSupervisor(choice: SupervisorChoice): Promise<Supervisor> {
  const key = JSON.stringify(choice.owner)
  const known = chosen.get(key)
  if (known !== undefined) return known
  const probing = selectSupervisor(choice)
  chosen.set(key, probing)
  probing.catch(() => chosen.delete(key))
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
  throw new Error('winnow cannot run commands: /bin/sh does not start')
}

/** Never replaces a requested user by weaker isolation. */
async function requireUserSupervisor(owner: Owner): Promise<Supervisor> {
  const supervisor = createReaper('uid', owner)
  const failure = await findProbeFailure(supervisor)
  if (failure === null) return supervisor
  throw new UnfitMachine(
    `commands cannot be run as user ${owner.uid}: ${failure}`,
    'run winnow as root, or use isolation: none',
  )
}

/** Null if the supervisor runs a command and reports its true exit code. */
async function findProbeFailure(supervisor: Supervisor): Promise<string | null> {
  if (process.platform !== 'linux' && supervisor.strategy !== 'group') return 'only on Linux'
  if (SYSCALL_STRATEGIES.has(supervisor.strategy) && !['x64', 'arm64'].includes(process.arch)) {
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

// Process group

const FOLLOW_MS = 250
const SETTLE_MS = 5_000

/**
 * Fallback without a reaper: a process group, and every descendant seen while it ran. A process that left
 * both between two checks may survive, so results are marked `unreaped`, and CPU time and memory stay
 * missing.
 */
export function createGroupSupervisor(monotonic: () => number): Supervisor {
  return {
    strategy: 'group',
    async run(launch, onSpawn) {
      const started = monotonic()
      const child = startGroup(launch)
      const follower = new ProcessFollower(child.pid)
      const ended = new Promise<Pick<Ended, 'exitCode' | 'signal' | 'wallSeconds'>>((resolve, reject) => {
        child.once('error', reject)
        child.once('exit', (exitCode, signal) =>
          resolve({ exitCode, signal, wallSeconds: (monotonic() - started) / 1000 }),
        )
      })
      // Called only if the process exists. A failed start rejects `ended`.
      if (child.pid !== undefined) await onSpawn?.(child.pid)
      const finished = new AbortController()
      const watching = follower.watch(finished.signal)
      const terminator = {
        term: () => follower.signal('SIGTERM'),
        kill: () => follower.signal('SIGKILL'),
        destroy: () => void child.kill('SIGKILL'),
      }
      try {
        const { value, timedOut } = await withDeadline(ended, terminator, launch)
        launch.signal.throwIfAborted()
        return { ...value, timedOut, cpuSeconds: null, maxRssMb: null, unreaped: true }
      } finally {
        finished.abort()
        await watching
        await follower.endAll()
      }
    },
  }
}

function startGroup(launch: Launch) {
  const out = openSync(launch.stdout, 'w')
  const err = openSync(launch.stderr, 'w')
  try {
    const { cwd, env } = launch
    return spawn('/bin/sh', ['-c', launch.command], { cwd, env, detached: true, stdio: ['ignore', out, err] })
  } finally {
    closeSync(out)
    closeSync(err)
  }
}

class ProcessFollower {
  readonly #seen = new Map<number, string>()
  readonly #group: number | undefined
  constructor(group: number | undefined) {
    this.#group = group
  }

  async watch(finished: AbortSignal): Promise<void> {
    while (!finished.aborted) {
      await this.look()
      await delay(FOLLOW_MS, undefined, { signal: finished }).catch((error: unknown) => {
        if (!finished.aborted) throw error
      })
    }
  }

  /** Live processes: the group, those seen before, and the descendants of both. */
  async look(): Promise<ProcessEntry[]> {
    const table = await listProcesses()
    const known = table.filter(
      entry => entry.pgid === this.#group || this.#seen.get(entry.pid) === entry.started,
    )
    const alive = findDescendants(table, new Set(known.map(entry => entry.pid)))
    for (const entry of alive) this.#seen.set(entry.pid, entry.started)
    return alive
  }

  async signal(name: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    for (const entry of await this.look()) endProcess(entry.pid, name)
  }

  async endAll(): Promise<void> {
    for (let waited = 0; waited < SETTLE_MS; waited += 20) {
      const alive = await this.look()
      if (alive.length === 0) return
      for (const entry of alive) endProcess(entry.pid, 'SIGKILL')
      await delay(20)
    }
  }
}

// Namespace without perl

/**
 * The first process of a namespace, in sh: when it exits the kernel ends everything else in the namespace.
 * The watcher turns lines on stdin into signals for all, and the end of stdin (winnow died) into KILL.
 */
const INIT = String.raw`
exec 3<&0 4>&1 </dev/null >/dev/null
echo 1000 2>/dev/null >/proc/self/oom_score_adj
( while read -r _ <&3; do kill -TERM -1; done; kill -KILL -1 ) 2>/dev/null &
sh -c "$1" >"$2" 2>"$3" 3<&- 4>&- &
wait $!
echo $? >&4
`

/** A process namespace without perl: every process ends for certain, but resource usage is unknown. */
export function createShellNamespace(monotonic: () => number): Supervisor {
  return {
    strategy: 'shell-namespace',
    async run(launch, onSpawn) {
      const child = startInNamespace(launch)
      const started = monotonic()
      const output = collectOutput(child)
      if (child.pid !== undefined) await onSpawn?.(child.pid)
      const terminator = {
        term: () => void child.stdin?.write('t\n'),
        kill: () => void child.stdin?.end(),
        destroy: () => void child.kill('SIGKILL'),
      }
      const { value, timedOut } = await withDeadline(output, terminator, launch)
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

/** sh reports 128 + n for a signal. A command that exits with that code on purpose looks the same. */
function readCode(output: SupervisorOutput): { exitCode: number | null; signal: string | null } {
  const code = /^\d+$/.exec(output.stdout.trim())?.[0]
  if (code === undefined) throw new SupervisorLost(output)
  return { exitCode: Number(code), signal: null }
}

// How sides can reach each other

/** Folders of this name get replaced in a namespace, unless the sides are below them. */
const REPLACED = /^\/(?:var\/)?tmp(?:\/|$)/
const SHARED_MEMORY = /^\/dev\/shm(?:\/|$)/

/** How sides that run as one user can reach each other, as far as their supervisor does not prevent it. */
export function listReaches({ strategy }: Pick<Supervisor, 'strategy'>, workDir: string): Reach[] {
  const always: Reach[] = ['files', 'network', 'memory']
  switch (strategy) {
    case 'pid-namespace':
      return [
        ...always,
        ...(SHARED_MEMORY.test(workDir) ? (['shared memory'] as const) : []),
        ...(REPLACED.test(workDir) ? (['/tmp'] as const) : []),
      ]
    case 'shell-namespace':
      return [...always, 'shared memory', '/tmp']
    case 'subreaper':
    case 'group':
      return [...always, 'processes', 'shared memory', '/tmp']
    // Each side has a user of its own.
    case 'uid':
      return []
    default:
      return strategy satisfies never
  }
}
