import type { Entry } from '../findings.ts'
import type { Skeleton, SkeletonOf } from './skeleton.ts'
import { calledText } from './words.ts'

interface Script {
  extension: string
  interpreter: string
  text: (command: string, entry: Entry | null) => string
}

/** A harness that is one file, which an interpreter runs as it is. */
export function scriptHarness(
  { name, entry }: Pick<SkeletonOf, 'name' | 'entry'>,
  { extension, interpreter, text }: Script,
): Skeleton {
  const path = `bench/${name}.${extension}`
  const command = `${interpreter} ${path}`
  return {
    files: [{ path, text: text(command, entry) }],
    edit: path,
    command,
    build: null,
    calls: calledText(entry),
  }
}
