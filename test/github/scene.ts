import { execFile, execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { type EmulatedGithub, emulatedGithub } from './emulator/github.ts'
import type { Settings } from './emulator/world.ts'

export type Files = Record<string, string>

/** An emulated GitHub with a default branch, and hands to commit, push and ask there. */
export interface Scene {
  github: EmulatedGithub
  git: (...args: string[]) => string
  /** A commit on a branch, straight in the repository: on its tip, or on the first of `on`, with the rest merged. */
  commit: (branch: string, files: Files, on?: readonly string[]) => string
  tip(branch: string): string
  /** The same by an ordinary push over HTTP; says what git said. */
  push(token: string, ...refspecs: string[]): Promise<{ ok: boolean; said: string }>
  ask: (token: string, route: string, body?: unknown, headers?: Record<string, string>) => Promise<Told>
}

export interface Told {
  status: number
  headers: Headers
  /** Of what was made. */
  id: string
  body: { [key: string]: unknown }
  list: { [key: string]: unknown }[]
}

const ENV = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@localhost',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@localhost',
}

export async function scene(settings: Partial<Settings> = {}): Promise<Scene> {
  const github = await emulatedGithub(settings)
  onTestFinished(() => github.stop())
  return sceneOf(github)
}

export function sceneOf(github: EmulatedGithub): Scene {
  const git = (...args: string[]) => gitIn(github.bare, args)
  let commits = 0

  function commit(branch: string, files: Files, on?: readonly string[]): string {
    const parents = on ?? tips(branch)
    const [from, ...merged] = parents
    const { commitDate } = github.world
    const dated = commitDate ?? 'now'
    const format = commitDate === null ? 'now' : 'raw'
    const lines = [
      `commit refs/heads/${branch}\nmark :1\ncommitter a <a@localhost> ${dated}\n${data(`commit ${++commits}`)}`,
      ...(from === undefined ? [] : [`from ${from}\n`]),
      ...merged.map(parent => `merge ${parent}\n`),
      ...Object.entries(files).map(
        ([path, text]) => `M 100644 inline ${JSON.stringify(path)}\n${data(text)}`,
      ),
      'get-mark :1\n',
    ]
    const options = ['--quiet', '--force', `--date-format=${format}`]
    const made = gitIn(github.bare, ['fast-import', ...options], lines.join(''))
    return made
  }

  function tips(branch: string): string[] {
    const tip = git('for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`)
    return tip === '' ? [] : [tip]
  }

  if (tips('main').length === 0) commit('main', { 'src/a.txt': 'a\n' })
  return {
    github,
    git,
    commit,
    tip: branch => git('rev-parse', `refs/heads/${branch}`),
    push(token, ...refspecs) {
      const { url, env } = github.remote(token)
      const options = { env: { ...ENV, ...env } }
      return new Promise(resolve => {
        // In another process than the one that answers it, and not waited for by blocking it.
        execFile('git', ['-C', github.bare, 'push', '-q', url, ...refspecs], options, (error, _, said) =>
          resolve({ ok: error === null, said }),
        )
      })
    },
    async ask(token, route, body, headers = {}) {
      const [method = '', path = ''] = route.split(' ')
      const options = { method, headers: { authorization: `Bearer ${token}`, ...headers } }
      const sent = body === undefined ? options : { ...options, body: JSON.stringify(body) }
      const response = await fetch(`${github.url}/api/v3/repos/team/project${path}`, {
        ...sent,
        redirect: 'manual',
      })
      const text = await response.text()
      const told = text === '' ? {} : JSON.parse(text)
      const list = Array.isArray(told) ? told : []
      const id = String(told.id ?? told.workflow_run_id)
      return { status: response.status, headers: response.headers, id, body: told, list }
    },
  }
}

/** Text as fast-import reads it. */
function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`
}

function gitIn(dir: string, args: readonly string[], input = ''): string {
  return execFileSync('git', ['-C', dir, ...args], { encoding: 'utf8', env: ENV, input }).trim()
}
