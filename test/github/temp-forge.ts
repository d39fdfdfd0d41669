import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalForge } from '../../src/github/local-forge.ts'
import type { Forge, NewPull } from '../../src/github/port.ts'
import type { Pull } from '../../src/github/pull.ts'
import { openRepository, type Repository } from '../../src/git/repository.ts'
import { buildCampaignRefs, type Oid } from '../../src/model/ids.ts'

export const START = Date.parse('2026-01-02T03:04:05.000Z')
export const refs = buildCampaignRefs('optimize', 'demo')
export const BASE = 'optimize/demo'

/** What a test of any forge needs: one of ada's, others', and hands on the branches. */
export interface AnyForge {
  forge: Forge
  git(...args: string[]): string
  /** A forge of somebody else. */
  other(author: string): Promise<Forge>
  /** A new commit on a branch, on top of it or of the base branch. */
  commit(branch: string): Oid
  /** A merge commit on the base branch with the head of this one, as a landing makes it. */
  merge(branch: string): Oid
  deleteBranch(branch: string): void
  /** How often anything was written. */
  writes(): number
  only(number: number): Promise<Pull>
  remove(): Promise<void>
}

export interface TempForge extends AnyForge {
  root: string
  repo: Repository
  other(author: string, wrap?: (repo: Repository) => Repository): Promise<Forge>
}

export function pullOf(branch: string, rest: Partial<NewPull> = {}): NewPull {
  return { branch, base: BASE, title: `try ${branch}`, body: 'because', ...rest }
}

/** A bare remote with a base branch, and a local forge on it. */
export async function tempForge(
  options: { format?: 'sha1' | 'sha256'; local?: boolean } = {},
): Promise<TempForge> {
  const root = mkdtempSync(join(tmpdir(), 'winnow-forge-'))
  const bare = join(root, 'remote.git')
  const identity = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@localhost', GIT_COMMITTER_NAME: 'a' }
  const env = { PATH: process.env['PATH'] ?? '', ...identity, GIT_COMMITTER_EMAIL: 'a@localhost' }
  execFileSync('git', ['init', '-q', '--bare', `--object-format=${options.format ?? 'sha1'}`, bare])
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', bare, ...args], { encoding: 'utf8', env }).trim()
  const empty = git('hash-object', '-t', 'tree', '-w', '/dev/null')
  const local = options.local ?? false
  const remote = local ? bare : `file://${bare}`
  const opened: Repository[] = []
  let clock = START
  let commits = 0

  function commitOn(branch: string, parents: readonly Oid[]): Oid {
    const from = parents.flatMap(parent => ['-p', parent])
    const commit = git('commit-tree', empty, ...from, '-m', `commit ${++commits}`)
    git('update-ref', `refs/heads/${branch}`, commit)
    return commit
  }

  function tipOf(branch: string): Oid {
    return git('for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`)
  }

  async function forgeBy(author: string, wrap: (repo: Repository) => Repository): Promise<Forge> {
    const dir = join(root, `${opened.length}.git`)
    const repo = await openRepository({
      dir,
      remote,
      prefix: 'optimize',
      local,
      env,
    })
    opened.push(repo)
    const sleep = async (milliseconds: number) => void (clock += milliseconds)
    return createLocalForge({
      repo: wrap(repo),
      refs,
      author,
      clock: () => (clock += 1000),
      sleep,
      random: () => 0.5,
    })
  }

  commitOn(BASE, [])
  const forge = await forgeBy('ada', repo => repo)
  const [repo] = opened
  if (repo === undefined) throw new Error('no repository was opened')
  return {
    root,
    repo,
    forge,
    git,
    other: (author, wrap = each => each) => forgeBy(author, wrap),
    commit: branch => commitOn(branch, [tipOf(branch) || tipOf(BASE)]),
    merge: branch => commitOn(BASE, [tipOf(BASE), tipOf(branch)]),
    deleteBranch: branch => void git('update-ref', '-d', `refs/heads/${branch}`),
    writes: () => (tipOf('optimize-forge/demo') ? Number(git('rev-list', '--count', refs.forge)) : 0),
    only: number => only(forge, number),
    async remove() {
      await Promise.all(opened.map(each => each.close()))
      rmSync(root, { recursive: true, force: true })
    },
  }
}

export async function only(forge: Forge, number: number): Promise<Pull> {
  const found = (await forge.list({ numbers: [number] })).find(pull => pull.number === number)
  if (found === undefined) throw new Error(`there is no #${number}`)
  return found
}
