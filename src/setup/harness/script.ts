import type { EntryPoint } from '../findings.ts'
import type { Skeleton, SkeletonRequest } from './skeleton.ts'
import { describeEntry } from './words.ts'

interface ScriptLanguage {
  extension: string
  interpreter: string
  text: (command: string, entry: EntryPoint | null) => string
}

/** A harness that is one file, which an interpreter runs as it is. */
export function buildScriptHarness(
  { name, entry }: Pick<SkeletonRequest, 'name' | 'entry'>,
  { extension, interpreter, text }: ScriptLanguage,
): Skeleton {
  const path = `bench/${name}.${extension}`
  const command = `${interpreter} ${path}`
  return {
    files: [{ path, text: text(command, entry) }],
    edit: path,
    command,
    build: null,
    calls: describeEntry(entry),
  }
}
