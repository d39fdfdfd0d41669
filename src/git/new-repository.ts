import { buildLocalIsolation } from './isolation.ts'
import { type GitTask, createGitRunner } from './runner.ts'

export const FIRST_BRANCH = 'main'

/** Nobody's name and nobody's settings: the commit is the same on every machine but for its date. */
const AUTHOR = ['-c', 'user.name=winnow', '-c', 'user.email=winnow@localhost', '-c', 'commit.gpgSign=false']

/** Makes a repository of a folder, with one commit of all that is in it. */
export async function createRepository(
  directory: string,
  env: Readonly<Record<string, string>>,
  message: string,
): Promise<void> {
  const git = createGitRunner(buildLocalIsolation(directory, env))
  await git.run(toSilentTask(['init', '--template=', `--initial-branch=${FIRST_BRANCH}`]))
  await git.run(toSilentTask(['add', '--all', '--force', '--verbose']))
  await git.run(toSilentTask([...AUTHOR, 'commit', '--no-verify', '-m', message]))
}

function toSilentTask(args: readonly string[]): GitTask<void> {
  return { args, parse: () => undefined }
}
