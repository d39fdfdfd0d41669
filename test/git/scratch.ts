import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type OpenOptions, openRepository, type Repository } from '../../src/git/repository.ts'

/** A directory of this test, removed when it ends. */
export function scratch(name = 'winnow-git-'): string {
  const dir = mkdtempSync(join(tmpdir(), name))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const ENV = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'A User',
  GIT_AUTHOR_EMAIL: 'user@example.com',
  GIT_COMMITTER_NAME: 'A User',
  GIT_COMMITTER_EMAIL: 'user@example.com',
  GIT_AUTHOR_DATE: '1700000000 +0100',
  GIT_COMMITTER_DATE: '1700000000 +0100',
}

export type Git = (...args: string[]) => string

export function gitIn(dir: string): Git {
  return (...args) =>
    execFileSync('git', args, {
      cwd: dir,
      env: ENV,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
}

/** A person's repository, driven by the real git. */
export interface UserRepository {
  dir: string
  git: Git
  write(path: string, content: string): void
  /** writes the files, commits everything, and answers the commit */
  commit(message: string, files?: Record<string, string>): string
}

export function userRepository(
  options: { dir?: string; format?: string; empty?: boolean } = {},
): UserRepository {
  const dir = options.dir ?? join(scratch(), 'user')
  mkdirSync(dir, { recursive: true })
  const git = gitIn(dir)
  git('init', '-q', '-b', 'main', `--object-format=${options.format ?? 'sha1'}`)
  const user = at(dir, git)
  if (options.empty !== true) user.commit('first', { 'README.md': 'hello\n', 'src/a.txt': '1\n2\n3\n4\n5\n' })
  return user
}

export function at(dir: string, git: Git = gitIn(dir)): UserRepository {
  function write(path: string, content: string): void {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  return {
    dir,
    git,
    write,
    commit(message, files = {}) {
      for (const [path, content] of Object.entries(files)) write(path, content)
      git('add', '-A')
      git('commit', '-q', '--allow-empty', '-m', message)
      return git('rev-parse', 'HEAD')
    },
  }
}

export function bareRemote(options: { format?: string; root?: string; name?: string } = {}): {
  dir: string
  git: Git
} {
  const dir = join(options.root ?? scratch(), options.name ?? 'remote.git')
  mkdirSync(dir, { recursive: true })
  const git = gitIn(dir)
  git('init', '-q', '--bare', '-b', 'main', `--object-format=${options.format ?? 'sha1'}`)
  return { dir, git }
}

/** winnow's own repository beside a remote; closed when the test ends. */
export async function open(options: Partial<OpenOptions> & { remote: string }): Promise<Repository> {
  const dir = options.dir ?? join(scratch(), 'own.git')
  const repository = await openRepository({ prefix: 'optimize', local: false, ...options, dir })
  onTestFinished(() => repository.close())
  return repository
}

/** winnow's repository with the remote's main fetched. */
export async function openFetched(
  options: Partial<OpenOptions> & { remote: string },
): Promise<{ repository: Repository; main: string; tree: string }> {
  const repository = await open(options)
  const { refs } = await repository.remoteRefs()
  const main = refs.get('refs/heads/main')
  if (main === undefined) throw new Error('the remote has no main')
  await repository.fetch([{ ref: 'refs/heads/main', oid: main }])
  return { repository, main, tree: (await repository.commit(main)).tree }
}

/** One more commit on top, made by winnow. */
export async function addCommit(
  repository: Repository,
  parent: string,
  files: Record<string, string | null>,
): Promise<string> {
  const changes = []
  for (const [path, content] of Object.entries(files)) {
    const entry =
      content === null ? null : { mode: '100644' as const, oid: await repository.writeBlob(content) }
    changes.push({ path, entry })
  }
  const { tree } = await repository.commit(parent)
  const changed = await repository.replaceEntries(tree, changes)
  return repository.writeCommit({ tree: changed, parents: [parent], message: 'change', date: 1_700_000_000 })
}
