import type { Json } from '../contract/describe.ts'
import type { Grants } from './permissions.ts'

export type Result = 'success' | 'failure' | 'cancelled' | 'skipped'

export interface StepRecord {
  id: string
  name: string
  /** Before and after `continue-on-error`. */
  outcome: Result
  conclusion: Result
  outputs: Record<string, string>
}

/** One job of a run, as its page on GitHub shows it. */
export interface JobRecord {
  run: number
  attempt: number
  /** Its key in the file, shared by all jobs of a matrix. */
  id: string
  name: string
  matrix: Json
  status: 'waiting' | 'queued' | 'in_progress' | 'completed'
  conclusion: Result | null
  labels: string[]
  steps: StepRecord[]
  outputs: Record<string, string>
  /** What its token may. */
  grants: Grants
  log: string[]
  warnings: string[]
  /** GITHUB_STEP_SUMMARY of each step. */
  summary: string[]
  /** What it had a machine for, in milliseconds; null where it never had one. */
  took: number | null
}
