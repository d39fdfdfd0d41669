import { chownSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { OrderId } from '../model/ids.ts'
import type { PartialReport } from '../model/pairs.ts'
import { getArtifactFileName, serializePartialReport } from '../model/report-artifact.ts'
import type { SaveUnwrittenEvents } from '../ports.ts'
import type { ActionEnv } from './inputs.ts'
import { getTempDir } from './job.ts'
import { appendSummary, type Outputs, redactJson, toLogLine } from './outputs.ts'

export interface PartialFile {
  path: string
  write(partial: PartialReport): void
}

/**
 * Creates a file that a later step uploads when a measurement is interrupted. `owner` is the user of that
 * step, given when root measures.
 */
export function createPartialFile(
  tempDir: string,
  order: OrderId,
  owner: { uid: number; gid: number } | null,
): PartialFile {
  const folder = mkdtempSync(join(tempDir, 'winnow-partial-'))
  const path = join(folder, getArtifactFileName(order))
  if (owner !== null) chownSync(folder, owner.uid, owner.gid)
  return {
    path,
    write(partial) {
      const text = serializePartialReport(partial)
      // An older state would hide pairs that have started since.
      if (text === null) return rmSync(path, { force: true })
      writeFileSync(`${path}.part`, text)
      renameSync(`${path}.part`, path)
    },
  }
}

/** Enough for a few failures of a few campaigns. The owner of the repository pays for artifacts. */
const MOST_BYTES = 32 * 1024 * 1024

/**
 * Keeps events that could not be written to a ledger. The runner's disk is deleted with the job, so the
 * workflow uploads them.
 */
export interface UnwrittenFiles {
  keep: SaveUnwrittenEvents
  /**
   * Reports once which files were kept, and names them in outputs for the step that uploads. Empty if there
   * are none.
   */
  tell(): Outputs
}

export function createKeptFiles(env: ActionEnv): UnwrittenFiles {
  const artifact = `winnow-unwritten-${toJobName(env['GITHUB_JOB'])}-${Number(env['GITHUB_RUN_ATTEMPT']) || 1}`
  const tempDir = getTempDir(env)
  const files = new Map<string, number>()
  let dir: string | null = null

  return {
    async keep(name, text) {
      const bytes = Buffer.byteLength(text)
      const others = [...files].reduce((sum, [other, size]) => sum + (other === name ? 0 : size), 0)
      if (others + bytes > MOST_BYTES)
        throw new Error(
          `with this one (${bytes} bytes) there would be more than ${MOST_BYTES} bytes of such files`,
        )
      await mkdir(tempDir, { recursive: true })
      dir ??= mkdtempSync(join(tempDir, 'winnow-unwritten-'))
      const end = text.slice(text.trimEnd().length)
      writeFileSync(join(dir, name), `${redactJson(text.trimEnd(), 2)}${end}`)
      files.set(name, bytes)
      return `${name} of artifact ${artifact}`
    },
    tell() {
      if (dir === null) return {}
      const line = `What could not be written is kept: ${[...files.keys()].join(', ')} in the artifact ${artifact} of this run.`
      console.log(toLogLine(line))
      appendSummary(`${line} docs/github.md of winnow says what to do with it.`)
      return { report: dir, artifact }
    },
  }
}

function toJobName(job = ''): string {
  return job.replace(/[^\w-]/g, '') || 'job'
}
