import { execFile, execFileSync } from 'node:child_process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readGithubJob, buildJobEnvironment } from '../../src/action/github-job.ts'
import { readInputs } from '../../src/action/inputs.ts'
import { withGitAccess } from '../../src/engine/campaign/open.ts'
import { listTokenForms } from '../../src/action/drop-secrets.ts'
import { gitServer } from '../servers/git-http.ts'
import { scratch } from '../git/scratch.ts'

const SERVER = { serverUrl: 'https://github.corp.example', token: 'ghs_x' }
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

function readingInputs(env: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  return readInputs()
}

/** What git would send there, with this environment. */
function sent(env: Readonly<Record<string, string>>): string[] {
  const args = ['config', '--get-all', 'http.https://github.corp.example/.extraheader']
  const isolated = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', PATH: process.env['PATH'] }
  const text = execFileSync('git', args, { cwd: scratch(), env: { ...isolated, ...env }, encoding: 'utf8' })
  return text.replace(/\n$/, '').split('\n')
}

test('git is told the token for the one server, after everything that was told it before is taken back', () => {
  const earlier = {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.https://github.corp.example/.extraheader',
    GIT_CONFIG_VALUE_0: `Authorization: ${basic('x-access-token:of another step')}`,
  }
  for (const env of [{}, earlier]) {
    const all = sent(withGitAccess(env, SERVER))
    // git begins anew at an empty one.
    expect(all.slice(all.lastIndexOf('') + 1)).toEqual([`Authorization: ${basic('x-access-token:ghs_x')}`])
    expect(all).toContain('')
  }
})

test('a server is not told twice who asks', async () => {
  const root = scratch()
  execFileSync('git', ['init', '-q', '--bare', `${root}/a.git`])
  const authorizations: (string | undefined)[] = []
  const server = await gitServer({
    root,
    auth: 'x-access-token:ghs_x',
    fault: ({ rawHeaders }) => {
      const at = rawHeaders.flatMap((name, index) => (/^authorization$/i.test(name) ? [index + 1] : []))
      authorizations.push(at.map(index => rawHeaders[index]).join())
      return null
    },
  })
  const url = server.url('a.git')
  const serverUrl = new URL(url).origin
  const env = withGitAccess(
    {
      PATH: process.env['PATH'] ?? '',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'http.extraheader',
      GIT_CONFIG_VALUE_0: `Authorization: ${basic('x-access-token:of another step')}`,
    },
    { serverUrl, token: 'ghs_x' },
  )
  await new Promise<void>((resolve, reject) =>
    execFile('git', ['ls-remote', url], { env }, error => (error ? reject(error) : resolve())),
  )
  await server.stop()
  expect(new Set(authorizations)).toEqual(new Set([basic('x-access-token:ghs_x')]))
})

test('what else is secret in the job stays out, and the proxy stays in', () => {
  const env = { DEPLOY_TOKEN: 'x', 'INPUT_GITHUB-TOKEN': 'x', HTTPS_PROXY: 'http://a', PATH: '/bin' }
  const given = withGitAccess(env, SERVER)
  expect(given).toMatchObject({ HTTPS_PROXY: 'http://a', PATH: '/bin' })
  expect(Object.keys(given).filter(name => /TOKEN/.test(name))).toEqual([])
})

test("of two tokens git has one at a time: the App's for nothing but a push that asks for it", () => {
  const env = {
    INPUT_COMMAND: 'tick',
    'INPUT_GITHUB-TOKEN': 'ghs_job',
    'INPUT_APP-TOKEN': 'ghs_app',
    GITHUB_REPOSITORY: 'team/project',
    GITHUB_RUN_ID: '4711',
  }
  const task = { inputs: readingInputs(env), env }
  const context = { ...SERVER, apiUrl: `${SERVER.serverUrl}/api/v3`, eventName: 'schedule', payload: {} }
  const around = buildJobEnvironment(task, readGithubJob(task, context))
  expect(sent(around.env).at(-1)).toBe(`Authorization: ${basic('x-access-token:ghs_job')}`)
  expect(sent(around.workflowsEnv ?? {}).at(-1)).toBe(`Authorization: ${basic('x-access-token:ghs_app')}`)
  for (const [own, other] of [
    [around.env, 'ghs_app'],
    [around.workflowsEnv, 'ghs_job'],
  ] as const)
    for (const form of listTokenForms(other)) expect(JSON.stringify(own)).not.toContain(form)
  const alone = { ...env, 'INPUT_APP-TOKEN': '' }
  const without = { inputs: readingInputs(alone), env: alone }
  expect(buildJobEnvironment(without, readGithubJob(without, context)).workflowsEnv).toBeUndefined()
})
