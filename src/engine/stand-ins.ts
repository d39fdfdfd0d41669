import { posix } from 'node:path'
import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import { listTreeFiles } from '../git/tree-walk.ts'
import type { Oid } from '../model/ids.ts'
import type { Spec } from '../spec/schema.ts'
import { HARNESS_TODO, findTodoLine } from '../spec/stand-in.ts'

type BlobReader = Pick<Repository, 'tree' | 'blob'>

const MOST_FILES = 200

/** A place in the harness that `winnow init` left for the person's own workload. */
export interface StandIn {
  file: string
  line: number
}

/** The files of the harness that still measure a stand-in: those below `bench/`, and those that the command names. */
export async function findStandIns(repository: BlobReader, tree: Oid, spec: Spec): Promise<StandIn[]> {
  const { working_directory: directory, command } = spec.measurement
  const inside = (path: string) => posix.normalize(posix.join(directory, path))
  const named = new Set(command.split(/[\s;&|"'()]+/).map(inside))
  const files = (await listTreeFiles(repository, tree)).filter(
    ({ path, mode }) => mode.startsWith('100') && (path.startsWith(inside('bench/')) || named.has(path)),
  )
  const found: StandIn[] = []
  for (const { path, oid } of files.slice(0, MOST_FILES)) {
    const line = findTodoLine((await repository.blob(oid)).toString('utf8'))
    if (line !== null) found.push({ file: path, line })
  }
  return found
}

export function formatStandInText({ file, line }: StandIn): string {
  return `${file}:${line}: the workload is a stand-in; put your own in its place, and delete the line with ${HARNESS_TODO}`
}

/** A number that says nothing would otherwise be optimised. */
export async function requireOwnWorkload(repository: BlobReader, tree: Oid, spec: Spec): Promise<void> {
  const [first] = await findStandIns(repository, tree, spec)
  if (first === undefined) return
  throw new UserError('the harness measures a stand-in, which winnow init wrote', {
    place: { file: first.file, line: first.line },
    fix: `put your own workload in its place, delete the line with ${HARNESS_TODO}, and commit`,
  })
}
