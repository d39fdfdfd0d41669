import { localIsolation } from './isolation.ts'
import { type GitTask, gitRunner } from './runner.ts'

export const FIRST_BRANCH = 'main'

/** Nobody's name and nobody's settings: the commit is the same on every machine but for its date. */
const AUTHOR = ['-c', 'user.name=winnow', '-c', 'user.email=winnow@localhost', '-c', 'commit.gpgSign=false']

/** Makes a repository of a folder, with one commit of all that is in it. */
export async function newRepository(
  directory: string,
  env: Readonly<Record<string, string>>,
  message: string,
): Promise<void> {
  const git = gitRunner(localIsolation(directory, env))
  await git.run(quietly(['init', '--template=', `--initial-branch=${FIRST_BRANCH}`]))
  await git.run(quietly(['add', '--all', '--force', '--verbose']))
  await git.run(quietly([...AUTHOR, 'commit', '--no-verify', '-m', message]))
}

function quietly(args: readonly string[]): GitTask<void> {
  return { args, parse: () => undefined }
}
