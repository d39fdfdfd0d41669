import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WORKFLOW } from '../../src/init/workflows/files.ts'
import { gitIn, scratch, userRepository } from '../git/scratch.ts'
import { gitServer } from '../servers/git-http.ts'
import { parsedWorkflow } from './parsed.ts'
import { written } from './written.ts'

const TOKEN = 'ghs_sentinel0123456789'
const text = written([[]]).find(({ path }) => path === WORKFLOW)?.text ?? ''
const script = parsedWorkflow(text).jobs['measure']?.steps[0]?.run ?? ''

/** Starts the step as a runner does, in a workspace of its own. */
async function startStep(workspace: string, server: string, token: string) {
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd: workspace,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: workspace,
      GIT_TERMINAL_PROMPT: '0',
      GITHUB_SERVER_URL: server,
      GITHUB_REPOSITORY: 'team/project',
      GITHUB_TOKEN: token,
    },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (printed += String(chunk)))
  const [code] = await once(child, 'close')
  return { code: Number(code), printed }
}

test('the clone of a job that runs code of others has all history, the default branch, and no token', async () => {
  const person = userRepository({ empty: true })
  person.commit('first', { 'a.txt': 'one\n' })
  gitIn(person.dir)('branch', 'optimize/size')
  person.commit('second', { 'a.txt': 'two\n' })
  const root = scratch('winnow-clone-')
  mkdirSync(join(root, 'team'))
  gitIn(root)('clone', '--quiet', '--bare', person.dir, join(root, 'team/project'))
  const server = await gitServer({ root, auth: `x-access-token:${TOKEN}` })
  onTestFinished(() => server.stop())
  const base = server.url('').replace(/\/$/, '')

  const workspace = scratch('winnow-workspace-')
  // A machine of its owner's still has the clone of the job before.
  mkdirSync(join(workspace, 'repository'))
  writeFileSync(join(workspace, 'repository/left.txt'), 'left\n')
  const { code, printed } = await startStep(workspace, base, TOKEN)
  expect([code, printed]).toEqual([0, ''])

  const clone = join(workspace, 'repository')
  expect(readdirSync(clone).toSorted()).toEqual(['.git', 'a.txt'])
  expect(readFileSync(join(clone, 'a.txt'), 'utf8')).toBe('two\n')
  expect(gitIn(clone)('log', '--oneline').trim().split('\n')).toHaveLength(2)
  expect(gitIn(clone)('branch', '--remotes')).toContain('origin/optimize/size')
  const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64')
  for (const entry of readdirSync(workspace, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const content = readFileSync(join(entry.parentPath, entry.name), 'latin1')
    expect([entry.name, content.includes(TOKEN) || content.includes(basic)]).toEqual([entry.name, false])
  }

  const refused = await startStep(workspace, base, 'ghs_another')
  expect(refused.code).not.toBe(0)
  expect(refused.printed).not.toMatch(/ghs_another|Basic/)
})
