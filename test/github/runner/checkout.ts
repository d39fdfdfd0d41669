import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { StockAction } from './stock-actions.ts'

const COMMIT = /^[0-9a-f]{40}$/

/** actions/checkout with the real git, from the repository of the emulated GitHub. */
export const checkout: StockAction = async ({ inputs, machine }) => {
  const { contexts, workspace } = machine
  const { github } = contexts
  const repository = `${String(github['repository'])}`
  if ((inputs['repository'] || repository) !== repository)
    throw new Error(`Not Found: no repository ${inputs['repository']} here`)
  const dir = join(workspace, inputs['path'] ?? '')
  if (existsSync(join(dir, '.git'))) rmSync(dir, { recursive: true })
  mkdirSync(dir, { recursive: true })
  const url = String(github['server_url'])
  const header = `AUTHORIZATION: basic ${Buffer.from(`x-access-token:${inputs['token']}`).toString('base64')}`
  const git = (...args: string[]) => runGit(dir, machine.environment(), args)
  await git('init', '-q')
  await git('remote', 'add', 'origin', `${url}/${repository}`)
  const wanted = inputs['ref'] || String(github['ref'])
  const commit = inputs['ref'] ? null : String(github['sha'])
  const depth = Number(inputs['fetch-depth'] || 1)
  const own = refspecOf(wanted, commit)
  const isBranch = own.branch !== null
  const refspecs = depth === 0 ? [...EVERYTHING, ...(isBranch ? [] : own.refspecs)] : own.refspecs
  const fetch = ['fetch', '-q', '--no-tags', ...(depth === 0 ? [] : [`--depth=${depth}`]), 'origin']
  const authorized = ['-c', `http.${url}/.extraheader=${header}`]
  await git(...authorized, ...fetch, ...refspecs)
  if (commit !== null && own.tracking !== null) await git('update-ref', own.tracking, commit)
  if (own.branch === null) await git('checkout', '-q', '--detach', commit ?? 'FETCH_HEAD')
  else await git('checkout', '-q', '-B', own.branch, `refs/remotes/origin/${own.branch}`)
  if (inputs['persist-credentials'] !== 'false') await git('config', `http.${url}/.extraheader`, header)
  const [ref, sha] = [wanted, await git('rev-parse', 'HEAD')]
  return { outputs: { ref, commit: sha }, post: 'Post Run actions/checkout' }
}

const EVERYTHING = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*']

interface Wanted {
  branch: string | null
  tracking: string | null
  refspecs: string[]
}

function refspecOf(wanted: string, commit: string | null): Wanted {
  if (COMMIT.test(wanted)) return { branch: null, tracking: null, refspecs: [wanted] }
  const pull = /^refs\/pull\/(.+)$/.exec(wanted)?.[1]
  if (pull !== undefined) {
    const tracking = `refs/remotes/pull/${pull}`
    return { branch: null, tracking, refspecs: [`+${commit ?? wanted}:${tracking}`] }
  }
  const branch = wanted.replace(/^refs\/heads\//, '')
  const tracking = `refs/remotes/origin/${branch}`
  return { branch, tracking, refspecs: [`+${commit ?? `refs/heads/${branch}`}:${tracking}`] }
}

function runGit(dir: string, env: Record<string, string>, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('git', ['-C', dir, ...args], { env, maxBuffer: 2 ** 26 }, (error, out, said) =>
      error ? reject(new Error(`git ${args.slice(-3).join(' ')}: ${said}`)) : resolve(out.trim()),
    )
  })
}
