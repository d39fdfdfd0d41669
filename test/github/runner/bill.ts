import type { EmulatedGithub } from '../emulator/github.ts'
import type { JobRecord } from './records.ts'

export interface RunBill {
  run: number
  title: string
  event: string
  /** Jobs that had a machine. */
  jobs: number
  /** Each job is billed in whole minutes. */
  minutes: number
  /** Requests that count, by the tokens of its jobs. */
  requests: number
}

export interface Bill {
  runs: RunBill[]
  jobs: number
  minutes: number
  requests: number
}

const MINUTE = 60_000

/** What a campaign costs on GitHub: runs in which a job had a machine, job minutes as they are billed, and requests. */
export function billRuns({ world, api }: EmulatedGithub, all: readonly JobRecord[]): Bill {
  const runs = world.runs.map(({ id, title, event }) => {
    const jobs = all.filter(job => job.run === id && job.took !== null)
    const minutes = jobs.map(({ took }) => Math.max(1, Math.ceil((took ?? 0) / MINUTE)))
    const requests = api.log.filter(each => each.run === id && !each.free).length
    return { run: id, title, event, jobs: jobs.length, minutes: sum(minutes), requests }
  })
  const billed = runs.filter(({ jobs }) => jobs > 0)
  return {
    runs: billed,
    jobs: sum(billed.map(({ jobs }) => jobs)),
    minutes: sum(billed.map(({ minutes }) => minutes)),
    requests: sum(billed.map(({ requests }) => requests)),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
