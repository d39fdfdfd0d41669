import { chownSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { OrderId } from '../model/ids.ts'
import { getArtifactFileName, getArtifactName, type JobFileContent } from '../model/job-file.ts'
import type { SaveUnwrittenEvents } from '../ports.ts'
import type { ActionEnv } from './inputs.ts'
import { getTempDir, readAttempt } from './job.ts'
import { appendSummary, type Outputs, redactJson, toLogLine } from './outputs.ts'

interface SavedJobFile {
  path: string
  artifact: string
  /** Replaces the content atomically; null removes it. */
  write(text: string | null): void
}

interface JobFileOptions {
  content: JobFileContent
  order?: OrderId
  /** The user of the step that uploads, when root writes. */
  owner?: { uid: number; gid: number } | null
}

/** A new directory with a random name: experiment code cannot have put anything there. */
export function createJobFile(
  env: ActionEnv,
  { content, order, owner = null }: JobFileOptions,
): SavedJobFile {
  const folder = mkdtempSync(join(getTempDir(env), `winnow-${content}-`))
  const path = join(folder, getArtifactFileName(content, order))
  if (owner !== null) chownSync(folder, owner.uid, owner.gid)
  return {
    path,
    artifact: getArtifactName(content, order),
    write(text) {
      if (text === null) return rmSync(path, { force: true })
      writeFileSync(`${path}.part`, text)
      if (owner !== null) chownSync(`${path}.part`, owner.uid, owner.gid)
      renameSync(`${path}.part`, path)
    },
  }
}

interface JobSummary {
  line: string
  /** Markdown. */
  details?: readonly string[]
  /** The content of the output `result-json`. */
  result: object
  /** The file that a later job of the run reads. Absent when there was no work. */
  file?: SavedJobFile
}

/** Writes the end of a job to its log and its summary. Returns its outputs. */
export function reportJobEnd({ line, details = [], result, file }: JobSummary): Outputs {
  // "record results" is the name of that job on GitHub.
  const end = file === undefined ? line : `${line} The job "record results" of this run records the result.`
  const lines = [end, ...details].map(toLogLine)
  for (const each of lines) console.log(each)
  appendSummary(lines.join('\n'))
  const handedOver = file === undefined ? {} : { report: file.path, artifact: file.artifact }
  return { 'result-json': JSON.stringify(result), ...handedOver }
}

// Events that could not be written

/** Enough for a few failures of a few campaigns. The owner of the repository pays for artifacts. */
const MOST_BYTES = 32 * 1024 * 1024

/** Keeps events that could not be written to a ledger, for the step that uploads them. */
export interface UnwrittenFiles {
  keep: SaveUnwrittenEvents
  /** Reports once which files were kept, and names them in outputs. Empty if there are none. */
  tell(): Outputs
}

export function createKeptFiles(env: ActionEnv): UnwrittenFiles {
  const job = (env['GITHUB_JOB'] ?? '').replace(/[^\w-]/g, '') || 'job'
  const artifact = `winnow-unwritten-${job}-${readAttempt(env)}`
  const tempDir = getTempDir(env)
  const files = new Map<string, number>()
  let dir: string | null = null

  return {
    async keep(name, text) {
      const bytes = Buffer.byteLength(text)
      const others = [...files].reduce((sum, [other, size]) => sum + (other === name ? 0 : size), 0)
      const reason = `with this one (${bytes} bytes) there would be more than ${MOST_BYTES} bytes of such files`
      if (others + bytes > MOST_BYTES) throw new Error(reason)
      await mkdir(tempDir, { recursive: true })
      dir ??= mkdtempSync(join(tempDir, 'winnow-unwritten-'))
      const end = text.slice(text.trimEnd().length)
      writeFileSync(join(dir, name), `${redactJson(text.trimEnd(), 2)}${end}`)
      files.set(name, bytes)
      return `${name} of artifact ${artifact}`
    },
    tell() {
      if (dir === null) return {}
      const line = `winnow saved the events that it could not write to the ledger: ${[...files.keys()].join(', ')} in the artifact ${artifact} of this run.`
      console.log(toLogLine(line))
      appendSummary(`${line} See "GitHub refuses a push" in winnow's docs/github.md.`)
      return { report: dir, artifact }
    },
  }
}
