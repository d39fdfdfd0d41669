import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { z } from 'zod'
import type { RealCommit } from './commits.ts'
import { WinnowAnswer } from './verdict.ts'

const Machine = z.strictObject({
  processor: z.string(),
  cores: z.number(),
  /** The workloads had this core for themselves, and other programs the rest; null: they used every core. */
  core: z.number().nullable(),
  memory_gib: z.number(),
  system: z.string(),
})

type Machine = z.infer<typeof Machine>

const Result = z.strictObject({
  repository: z.string(),
  parent: z.string(),
  commit: z.string(),
  backwards: z.boolean(),
  workload: z.string(),
  /** SHA-256 of the workload: a result of an earlier text of it does not count. */
  workload_digest: z.string(),
  date: z.string(),
  pairs: z.number(),
  gain: z.strictObject({ estimate: z.number(), low: z.number(), high: z.number() }),
  base_seconds: z.number(),
  counted: z.strictObject({ by: z.enum(['instructions', 'CPU time']), gain: z.number() }).nullable(),
  same_answers: z.boolean(),
  others_share: z.number(),
  winnow: WinnowAnswer,
})

export type Result = z.infer<typeof Result>

const ResultFile = z.strictObject({
  machine: Machine,
  /** Measured while other programs were running. Such a file is for trying the runner. */
  any_load: z.boolean(),
  results: z.array(Result),
})

export type ResultFile = z.infer<typeof ResultFile>

export function describeMachine(core: number | null): Machine {
  const all = cpus()
  return {
    processor: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    core,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
  }
}

export function readResults(file: string): ResultFile | null {
  return existsSync(file) ? ResultFile.parse(JSON.parse(readFileSync(file, 'utf8'))) : null
}

export function writeResults(file: string, results: ResultFile): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(results, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}

export function digestWorkload(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** Finds the result of a commit for the present text of its workload. */
export function findResult(
  { results }: ResultFile,
  { parent, commit, backwards, workload }: RealCommit,
  digest: string,
): Result | undefined {
  return results.find(
    result =>
      result.parent === parent &&
      result.commit === commit &&
      result.backwards === (backwards === true) &&
      result.workload === workload &&
      result.workload_digest === digest,
  )
}
