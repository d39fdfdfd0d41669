import type { RepositoryContext } from '../engine/open.ts'

export interface WorkflowFile {
  path: string
  text: string
}

const DIRECTORY = '.github/workflows'
const WORKFLOW = /\.ya?ml$/

/** The workflows of the default branch as it is now: those of other branches start nothing by themselves. */
export async function readCommittedWorkflows(workshop: RepositoryContext): Promise<WorkflowFile[]> {
  const { repository } = workshop
  const directory = await findCommittedEntry(workshop, DIRECTORY)
  if (directory?.type !== 'tree') return []
  const files: WorkflowFile[] = []
  for (const { type, name, oid: blob } of await repository.tree(directory.oid)) {
    if (type !== 'blob' || !WORKFLOW.test(name)) continue
    files.push({ path: `${DIRECTORY}/${name}`, text: (await repository.blob(blob)).toString('utf8') })
  }
  return files
}

/** What the default branch has at that path, as it is now. */
export async function findCommittedEntry({ repository, defaultBranch }: RepositoryContext, path: string) {
  if (defaultBranch === null) return null
  const oid = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch)
  if (oid === undefined) return null
  await repository.fetch([{ ref: defaultBranch, oid }])
  return repository.findEntry((await repository.commit(oid)).tree, path)
}
