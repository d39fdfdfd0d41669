import { appendFile, lstat, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildLocalIsolation } from '../git/isolation.ts'
import type { Repository } from '../git/repository.ts'
import { createGitRunner, type GitTask, toSilentTask } from '../git/runner.ts'
import { isMissing } from '../measure/file-system.ts'
import type { Oid } from '../model/ids.ts'
import { toSafeLine } from '../model/text.ts'

export type TreeRepository = Pick<Repository, 'dir' | 'objectFormat' | 'materialize'>

export interface AgentPlace {
  repo: TreeRepository
  /** The tree that the agent starts from. */
  from: Oid
  dir: string
  env: Readonly<Record<string, string>>
}

/**
 * Files keep their exact bytes: no attribute in the tree converts them, neither here nor when they are read
 * back.
 */
const ATTRIBUTES = '* -text !eol !ident !filter !working-tree-encoding\n'

/** Private files of agents, which are not part of an idea. */
const NOTES_OF_AGENTS = '.aider*\n'

/** Lets the agent commit without the user's hooks, signing or line-ending rules. */
const CONFIG = `
[user]
	name = winnow
	email = winnow@localhost
[core]
	hooksPath = /dev/null
	fsmonitor = false
	autocrlf = false
[commit]
	gpgSign = false
[gc]
	auto = 0
`

/** Creates a git repository with one commit of the incumbent's content and no remote. */
export async function createAgentTree({ repo, from, dir, env }: AgentPlace): Promise<void> {
  await repo.materialize(from, dir)
  const git = createGitRunner(buildLocalIsolation(dir, env))
  await git.run(createInitTask(repo.objectFormat, []))
  await setUpAgentGit(join(dir, '.git'))
  // Forced: every file of the incumbent is tracked, also those that its .gitignore names.
  await git.run(toSilentTask(['add', '--all', '--force', '.']))
  await git.run(toSilentTask(['commit', '--allow-empty', '--message=The best version so far']))
}

/**
 * Reads the directory's current tree: every file that is tracked or not ignored, links as links. Only the
 * content counts: the agent's own repository (commits, index, configuration, hooks) is not used.
 */
export async function readAgentTree(location: AgentPlace): Promise<{ tree: Oid } | { unreadable: string }> {
  const { repo, from, dir, env } = location
  if (!(await isFolder(dir))) return { unreadable: 'its work tree is gone' }
  const control = `${dir}.control.git`
  await rm(control, { recursive: true, force: true })
  await mkdir(control)
  try {
    await createGitRunner(buildLocalIsolation(control, env)).run(
      createInitTask(repo.objectFormat, ['--bare']),
    )
    await setUpAgentGit(control)
    const git = createGitRunner(buildLocalIsolation(dir, env), {
      GIT_DIR: control,
      GIT_WORK_TREE: dir,
      GIT_INDEX_FILE: join(control, 'index'),
      GIT_OBJECT_DIRECTORY: join(repo.dir, 'objects'),
    })
    await git.run(toSilentTask(['read-tree', from]))
    const refused = await git.run(addAll)
    return refused === null ? { tree: await git.run(writeTree) } : { unreadable: refused }
  } finally {
    await rm(control, { recursive: true, force: true })
  }
}

async function setUpAgentGit(gitDir: string): Promise<void> {
  await mkdir(join(gitDir, 'info'), { recursive: true })
  await writeFile(join(gitDir, 'info', 'attributes'), ATTRIBUTES)
  await writeFile(join(gitDir, 'info', 'exclude'), NOTES_OF_AGENTS)
  await appendFile(join(gitDir, 'config'), CONFIG)
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory()
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

function createInitTask(format: string, options: readonly string[]): GitTask<void> {
  return toSilentTask([
    'init',
    '--template=',
    `--object-format=${format}`,
    '--initial-branch=winnow',
    ...options,
    '.',
  ])
}

const addAll: GitTask<string | null> = {
  args: ['add', '--all', '.'],
  answers: [1, 128],
  parse: ({ exitCode, stderr }) =>
    exitCode === 0
      ? null
      : `its files cannot be read back: ${toSafeLine(stderr.replaceAll(/^(?:error|fatal): /gm, ''), 300)}`,
}

const writeTree: GitTask<Oid> = { args: ['write-tree'], parse: ({ stdout }) => stdout.trim() }
