import { UserError } from '../errors.ts'
import { buildLocalIsolation } from './isolation.ts'
import { GitExit, createGitRunner } from './runner.ts'

/** The user's repository as it is found, which is only read. */
export interface Checkout {
  /** Absolute; null in a bare repository. */
  topLevel: string | null
  commonDir: string
  /** Full name of the branch HEAD is on; null when detached. */
  head: string | null
  remotes: { name: string; url: string }[]
}

/** User configuration matters here: a remote's URL may be rewritten by it. */
export async function inspectCheckout(
  directory: string,
  env: Readonly<Record<string, string>>,
): Promise<Checkout> {
  const git = createGitRunner(buildLocalIsolation(directory, env))
  const ask = (...args: string[]) => git.run({ args, answers: [1, 128], parse: output => output })
  const inside = await ask('rev-parse', '--path-format=absolute', '--git-common-dir', '--is-bare-repository')
  if (inside.exitCode !== 0) {
    throw new UserError(`${directory} is not in a git repository`, {
      fix: 'run winnow inside the repository to be optimised, or git init first',
    })
  }
  const [commonDir = '', bare] = inside.stdout.trimEnd().split('\n')
  const topLevel = bare === 'true' ? null : (await ask('rev-parse', '--show-toplevel')).stdout.trimEnd()
  const head = (await ask('symbolic-ref', '-q', 'HEAD').catch(acceptGitExit)).stdout.trim()
  const urls = await ask('config', '--get-regexp', '^remote\\..*\\.url$').catch(acceptGitExit)
  return {
    topLevel,
    commonDir,
    head: head || null,
    remotes: urls.exitCode === 0 ? parseRemotes(urls.stdout) : [],
  }
}

function acceptGitExit(error: unknown) {
  if (error instanceof GitExit) return error.output
  throw error
}

function parseRemotes(text: string): Checkout['remotes'] {
  return text.split('\n').flatMap(line => {
    const match = /^remote\.(.+)\.url (.+)$/.exec(line)
    return match?.[1] && match[2] ? [{ name: match[1], url: match[2] }] : []
  })
}
