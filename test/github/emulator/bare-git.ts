import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tipsIn } from './tips.ts'

/** git at work on a bare repository, never blocking the process that also serves it. */
export interface BareGit {
  dir: string
  run(...args: string[]): Promise<string>
  defaultBranch(): Promise<string>
  tips(): Promise<Map<string, string>>
  contains(tip: string, commit: string): Promise<boolean>
  /** The merge of two commits; null where they conflict. */
  mergedTree(base: string, head: string): Promise<string | null>
  mergeBase(base: string, head: string): Promise<string | null>
  commit(tree: string, parents: readonly string[], message: string, date: string | null): Promise<string>
  moveRef(ref: string, to: string | null, from?: string): Promise<void>
  /** One part of a commit, as `git log --format` names it. */
  shown(format: string, commit: string): Promise<string>
  file(commit: string, path: string): Promise<string | null>
  paths(commit: string, under: string): Promise<string[]>
}

const WHO = { NAME: 'GitHub', EMAIL: 'noreply@github.com' }
const ENV = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  ...Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap(role =>
      Object.entries(WHO).map(([key, value]) => [`GIT_${role}_${key}`, value]),
    ),
  ),
}

const HASH = /^[0-9a-f]{40}$/

export function bareGit(dir: string): BareGit {
  function call(
    args: readonly string[],
    fine: readonly number[] = [0],
    env = ENV,
  ): Promise<[number, string]> {
    return new Promise((resolve, reject) => {
      const child = execFile('git', ['-C', dir, ...args], { env, maxBuffer: 2 ** 26 }, (error, out, said) => {
        const code = child.exitCode ?? -1
        if (fine.includes(code)) resolve([code, out.trim()])
        else reject(error ?? new Error(said))
      })
    })
  }
  const known = new Map<string, [number, string]>()
  /** What git answers about commits that are named by their hashes never changes, so git is asked once. */
  async function ask(names: readonly string[], args: readonly string[], fine: readonly number[] = [0]) {
    const key = names.every(name => HASH.test(name)) ? args.join('\0') : null
    const before = key === null ? undefined : known.get(key)
    if (before) return before
    const answer = await call(args, fine)
    // git fails with a higher code on what may be there later.
    if (key !== null && answer[0] < 2) known.set(key, answer)
    return answer
  }
  const run = async (...args: string[]) => (await call(args))[1]
  return {
    dir,
    run,
    // Read where git keeps it, for the same reason as the tips.
    defaultBranch: async () =>
      (await readFile(join(dir, 'HEAD'), 'utf8')).trim().slice('ref: refs/heads/'.length),
    tips: () => tipsIn(dir),
    contains: async (tip, commit) =>
      (await ask([commit, tip], ['merge-base', '--is-ancestor', commit, tip], [0, 1]))[0] === 0,
    async mergedTree(base, head) {
      const [code, out] = await ask([base, head], ['merge-tree', '--write-tree', base, head], [0, 1])
      return code === 0 ? out : null
    },
    mergeBase: async (base, head) => (await ask([base, head], ['merge-base', base, head], [0, 1]))[1] || null,
    async commit(tree, parents, message, date) {
      const args = ['commit-tree', tree, ...parents.flatMap(parent => ['-p', parent]), '-m', message]
      const dates = date === null ? {} : { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
      return (await call(args, [0], { ...ENV, ...dates }))[1]
    },
    async moveRef(ref, to, from) {
      const old = from === undefined ? [] : [from]
      await (to === null ? run('update-ref', '-d', ref) : run('update-ref', ref, to, ...old))
    },
    shown: async (format, commit) => (await ask([commit], ['log', '-1', `--format=${format}`, commit]))[1],
    async file(commit, path) {
      const [code, out] = await ask([commit], ['show', `${commit}:${path}`], [0, 128])
      return code === 0 ? out : null
    },
    async paths(commit, under) {
      const [, out] = await ask([commit], ['ls-tree', '-r', '--name-only', commit, '--', under])
      return out.split('\n').filter(path => path !== '')
    },
  }
}
