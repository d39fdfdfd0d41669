import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { scratch } from '../git/scratch.ts'
import { tlsFront } from '../servers/tls-front.ts'
import { webProxy } from '../servers/web-proxy.ts'
import { waitingRuns } from '../github/measuring-job.ts'
import { jobClone } from './a-job.ts'
import { job, onGithub, throughRun, ticking } from './a-campaign.ts'
import type { Ended } from './a-runner.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const ROOT = new URL('../..', import.meta.url).pathname

/** An Enterprise Server whose name nobody but the proxy knows: whoever asks otherwise does not find it. */
const HOST = 'github.corp.invalid'

async function behindProxy(scheme: 'http' | 'https', user?: string) {
  const here = await onGithub()
  const { github } = here
  const proxy = await webProxy(user)
  const { port, certificate } =
    scheme === 'https'
      ? await tlsFront(HOST, github.url)
      : { port: Number(new URL(github.url).port), certificate: '/dev/null' }
  proxy.hosts[HOST] = { host: '127.0.0.1', port }
  github.world.url = `${scheme}://${HOST}`
  const trusting = { NODE_EXTRA_CA_CERTS: certificate, GIT_SSL_CAINFO: certificate }
  return { ...here, proxy, env: scheme === 'https' ? trusting : {} }
}

const said = ({ stdout, stderr, summary, outputs }: Ended) =>
  [stdout, stderr, summary, JSON.stringify(outputs)].join('\n')

describe('a job whose way to GitHub is a proxy', () => {
  releaseTest(
    'has a tunnel for https: for git, for requests, and for what a run left',
    {
      timeout: 120_000,
    },
    async () => {
      const { github, proxy, token, env } = await behindProxy('https')
      const inputs = { command: 'tick', 'next-jobs': 'measure', 'github-token': token }
      const proxied = { ...env, HTTPS_PROXY: proxy.url() }
      const given = { inputs, env: proxied }
      const first = await job(github, 'main', given)
      expect([first.code, first.stderr]).toEqual([0, ''])
      for (const run of waitingRuns(github)) await throughRun(github, token, run, proxied)
      const second = await job(github, 'main', given)
      expect([second.code, second.stderr]).toEqual([0, ''])
      expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${HOST}:443`]))
      expect(github.api.log.map(({ route }) => route).join()).toContain('{archive_format}')
      expect(said(first) + said(second)).not.toContain(token)
    },
  )

  it('asks for http by whole addresses, and says who it is to whom the proxy lets pass', async () => {
    const { github, proxy, token } = await behindProxy('http', 'ada:se%cret')
    // Capitals are what a company sets; curl by itself hears only small letters for http.
    const ended = await ticking(github, token, { HTTP_PROXY: proxy.url('ada:se%25cret') })
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    const base = `http://${HOST}`
    expect(proxy.asked).toEqual(
      expect.arrayContaining([
        `POST ${base}/team/project/git-receive-pack`,
        `POST ${base}/api/graphql`,
        `POST ${base}/api/v3/repos/team/project/actions/workflows/winnow.yml/dispatches`,
      ]),
    )
    expect(ended.masks).toEqual(
      expect.arrayContaining(['se%25cret', Buffer.from('ada:se%cret').toString('base64').replace(/=+$/, '')]),
    )
    expect(said(ended)).not.toMatch(/se%(?:25)?cret/)
  })

  it('is told which one turned it away, and not what it said to it', async () => {
    const { github, proxy, token, env } = await behindProxy('https', 'ada:secret')
    const refused = await ticking(github, token, { ...env, https_proxy: proxy.url('eve:wrong') })
    expect([refused.code, refused.stdout]).toEqual([69, expect.stringContaining('407')])
    expect(said(refused)).not.toContain('wrong')
  })

  it.each(selectCases(['socks5://127.0.0.1:1080', 'http://', 'http://a:%zz@proxy']))(
    'is told at once that %s is of no use, without what it says',
    async proxy => {
      const { github, token } = await onGithub()
      const env = { HTTPS_PROXY: proxy, GITHUB_API_URL: `https://${HOST}/api/v3` }
      const ended = await ticking(github, token, env)
      expect([ended.code, ended.stdout]).toEqual([
        2,
        expect.stringContaining('HTTPS_PROXY is not the address'),
      ])
      expect(github.api.log).toEqual([])
    },
  )
})

releaseTest('whom NO_PROXY names is asked directly', async () => {
  const { github, token } = await onGithub()
  const proxy = await webProxy()
  const env = { HTTP_PROXY: proxy.url(), no_proxy: 'elsewhere.invalid,127.0.0.1' }
  const ended = await ticking(github, token, env)
  expect([ended.code, ended.stderr, proxy.asked]).toEqual([0, '', []])
})

test('the command line asks by it too', async () => {
  const { github, proxy } = await behindProxy('http')
  const { dir, git } = jobClone(github.bare, 'main')
  git('remote', 'set-url', 'origin', `${github.world.url}/team/project`)
  const token = github.token('ada', { permission: 'admin' })
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: scratch(),
    HTTP_PROXY: proxy.url(),
    GH_ENTERPRISE_TOKEN: token,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraheader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`x:${token}`).toString('base64')}`,
  }
  const argv = [join(ROOT, 'dist/cli.js'), 'doctor', '--all', '-C', dir]
  // Its exit code says that something has to be changed, as there is in a repository without workflows.
  const stdout = await new Promise<string>(resolve =>
    execFile(process.execPath, argv, { env }, (_, printed) => resolve(printed)),
  )
  expect(stdout).toContain('the clock')
  const asked = proxy.asked.map(each => each.split(HOST)[1])
  expect(asked).toEqual(expect.arrayContaining(['/team/project/info/refs', '/api/v3/repos/team/project']))
})
