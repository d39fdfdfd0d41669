import { mkdtempSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { SaveUnwrittenEvents } from '../ports.ts'
import type { ActionEnv } from './inputs.ts'
import { redactJson, type Outputs, toLogLine, appendSummary } from './runner-protocol.ts'

/** A few failures of a few campaigns: artifacts cost their owner. */
const MOST_BYTES = 32 * 1024 * 1024

/** What a step could not write into a ledger: the runner's disk is gone with the job, so the workflow uploads it. */
export interface UnwrittenFiles {
  keep: SaveUnwrittenEvents
  /** Says once what was kept; the outputs name it for the step that uploads. Nothing where nothing was. */
  tell(env: ActionEnv): Outputs
}

export function createKeptFiles(env: ActionEnv): UnwrittenFiles {
  const artifact = `winnow-unwritten-${toJobName(env['GITHUB_JOB'])}-${Number(env['GITHUB_RUN_ATTEMPT']) || 1}`
  const room = resolve(env['RUNNER_TEMP'] ?? tmpdir())
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
      await mkdir(room, { recursive: true })
      dir ??= mkdtempSync(join(room, 'winnow-unwritten-'))
      const end = text.slice(text.trimEnd().length)
      writeFileSync(join(dir, name), `${redactJson(text.trimEnd(), 2)}${end}`)
      files.set(name, bytes)
      return `${name} of artifact ${artifact}`
    },
    tell(to) {
      if (dir === null) return {}
      const line = `What could not be written is kept: ${[...files.keys()].join(', ')} in the artifact ${artifact} of this run.`
      console.log(toLogLine(line))
      appendSummary(to, `${line} docs/github.md of winnow says what to do with it.`)
      return { report: dir, artifact }
    },
  }
}

/** What the runner calls the job, as part of a name. */
function toJobName(job = ''): string {
  return job.replace(/[^\w-]/g, '') || 'job'
}
