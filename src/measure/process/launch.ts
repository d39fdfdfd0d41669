/** What is started under supervision: one shell command of the spec, with all that it may see. */
export interface Launch {
  command: string
  cwd: string
  env: Readonly<Record<string, string>>
  /** Files that receive the output; nothing a harness prints ever reaches our own stdout. */
  stdout: string
  stderr: string
  timeoutSeconds: number
  /** Between TERM and KILL; 5 unless told. */
  graceSeconds?: number
  signal: AbortSignal
}

export type Strategy = 'uid' | 'pid-namespace' | 'shell-namespace' | 'subreaper' | 'group'

/** How it ended. No process of it is alive any more, unless `unreaped` says that this cannot be proven. */
export interface Ended {
  exitCode: number | null
  signal: string | null
  timedOut: boolean
  wallSeconds: number
  /** Null where nobody reaped every descendant: missing is not good (invariant 5). */
  cpuSeconds: number | null
  maxRssMb: number | null
  unreaped: boolean
}

/** Starts a command and returns when every process it left behind is dead. */
export interface Supervisor {
  readonly strategy: Strategy
  run(launch: Launch, onSpawn?: (pid: number) => Promise<void>): Promise<Ended>
}
