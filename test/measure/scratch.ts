import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory of this test, removed when it ends. */
export function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'winnow-measure-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}
