import type { RepositoryContext } from '../engine/open.ts'
import { listTreeFiles } from '../git/tree-walk.ts'
import type { Point } from '../model/ids.ts'
import { type ProjectFiles, createProjectFiles, selectPathsToRead } from '../setup/project-files.ts'

const LARGEST_BYTES = 512 * 1024

/** What is committed on the default branch: experiments start from that, and from nothing else. */
export async function readCommittedProject(
  { repository }: RepositoryContext,
  base: Point,
): Promise<ProjectFiles> {
  const files = (await listTreeFiles(repository, base.tree)).filter(({ mode }) => mode.startsWith('100'))
  const oids = new Map(files.map(({ path, oid }) => [path, oid]))
  const paths = [...oids.keys()]
  const texts = new Map<string, string>()
  for (const path of selectPathsToRead(paths)) {
    const content = await repository.blob(oids.get(path) ?? '')
    if (content.length <= LARGEST_BYTES) texts.set(path, content.toString('utf8'))
  }
  return createProjectFiles(paths, texts)
}
