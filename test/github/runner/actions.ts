import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { EmulatedGithub } from '../emulator/github.ts'
import { noteSchedule } from '../emulator/events.ts'
import type { RunRecord } from '../emulator/world.ts'
import { addArtifact } from './artifacts.ts'
import { type Bill, billRuns } from './bill.ts'
import type { JobRecord } from './records.ts'
import { Scheduler, type SchedulerOptions } from './scheduler.ts'

/** GitHub Actions of the emulated GitHub: from now on every event starts what its workflow files say. */
export interface Actions {
  readonly jobs: readonly JobRecord[]
  /** Until nothing moves: what is left waits for people, or for a machine that there is not. */
  rest(): Promise<void>
  /** The time of every schedule has come. */
  fireSchedule(): Promise<void>
  /** What people do with a run on its page. */
  rerun(run: RunRecord, which?: 'all' | 'failed'): void
  approve(run: RunRecord): void
  cancel(run: RunRecord): void
  /** The time of a job is up. */
  timeOut(job: JobRecord): void
  /** The machine of a job is gone in the middle of it. */
  loseMachine(job: JobRecord): void
  /** Jobs that get no machine as long as this says so. */
  withhold(which: (job: JobRecord) => boolean): void
  jobsOf(run: RunRecord): JobRecord[]
  /** What any job of a run may do to an artifact of another, with the token that every action of it holds. */
  replaceArtifact(run: RunRecord, name: string, files: Record<string, string> | null): void
  bill(): Bill
}

export function startActions(github: EmulatedGithub, options: Partial<SchedulerOptions> = {}): Actions {
  const { world } = github
  const tools = makeTools()
  const scheduler = new Scheduler(github, {
    machines: 2,
    selfHosted: [],
    secrets: {},
    environments: {},
    published: {},
    during: null,
    ...options,
    tools,
  })
  const jobsOf = ({ id }: RunRecord) => scheduler.jobs.filter(({ run }) => run === id)
  return {
    jobs: scheduler.jobs,
    rest: () => scheduler.rest(),
    async fireSchedule() {
      await github.settle()
      await noteSchedule(world, '7 5 * * *')
    },
    rerun(run, which = 'all') {
      if (run.status !== 'completed') throw new Error(`run ${run.id} has not ended`)
      const last = jobsOf(run).filter(({ attempt }) => attempt === (run.attempt ?? 1))
      run.attempt = (run.attempt ?? 1) + 1
      Object.assign(run, { status: 'queued', conclusion: null })
      if (which === 'all') return scheduler.start(run)
      const failed = last.filter(({ conclusion }) => conclusion === 'failure' || conclusion === 'cancelled')
      const kept = last.filter(({ conclusion }) => conclusion === 'success')
      scheduler.start(run, kept, new Set(failed.map(({ id }) => id)))
    },
    approve(run) {
      if (run.conclusion !== 'action_required') throw new Error(`run ${run.id} waits for no approval`)
      Object.assign(run, { status: 'queued', conclusion: null })
      scheduler.start(run)
    },
    cancel: run => scheduler.cancel(run),
    timeOut: job => scheduler.timeOut(job),
    loseMachine: job => scheduler.lose(job),
    withhold(which) {
      scheduler.withholds = which
    },
    jobsOf,
    replaceArtifact(run, name, files) {
      const encoder = new TextEncoder()
      world.artifacts = world.artifacts.filter(each => each.run !== run.id || each.name !== name)
      if (files === null) return
      const bytes = Object.entries(files).map(([path, text]) => [path, encoder.encode(text)] as const)
      addArtifact(world, run.id, run.attempt ?? 1, name, Object.fromEntries(bytes))
    },
    bill: () => billRuns(github, scheduler.jobs),
  }
}

/** Steps may ask root to prepare the machine: nothing is done. No program becomes root. */
const NO_ROOT = `#!/bin/sh
case "$1" in
-n | --non-interactive) exit 1 ;;
tee) cat > /dev/null ;;
esac
`

function makeTools(): string {
  const dir = mkdtempSync(join(tmpdir(), 'winnow-tools-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'sudo')
  writeFileSync(file, NO_ROOT)
  chmodSync(file, 0o755)
  return dir
}
