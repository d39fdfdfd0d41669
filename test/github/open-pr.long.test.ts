import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WORKFLOW } from '../../src/init/workflows/files.ts'
import { SIZE_SPEC } from '../support/size-repository.ts'
import { ACTION } from '../workflows/written.ts'
import { onGithub } from './on-github.ts'
import { releaseTest } from '../support/cases.ts'

const OPEN = ['init', '--github', '--open-pr', '--action', ACTION] as const

/** A `gh` that is signed in at one host, for a PATH. */
function fakeGh(host: string, token: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'winnow-gh-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const script = `#!/bin/sh
if test "$*" = "auth token --hostname ${host}"; then echo ${token}; exit 0; fi
echo "no oauth token found" >&2; exit 1
`
  writeFileSync(join(dir, 'gh'), script)
  chmodSync(join(dir, 'gh'), 0o755)
  return `${dir}:${process.env['PATH'] ?? ''}`
}

test('init --github --open-pr pushes one branch and opens its pull request, with a token or with gh; once', async () => {
  const there = await onGithub([])
  const { github, winnow, env } = there
  const directory = there.repo
  const main = there.tip('main')
  env['GH_ENTERPRISE_TOKEN'] = github.token('ada')
  const said = (await winnow(...OPEN)).join('\n')
  expect(said).toMatch(/Opened http:\/\/127\.0\.0\.1:\d+\/team\/project\/pull\/\d+\n/)
  expect(said).toMatch(
    /http:\/\/127\.0\.0\.1:\d+\/team\/project\/settings\/actions\n {4}Workflow permissions: tick/,
  )
  const pull = github.world.pulls.at(-1)
  expect(pull).toMatchObject({
    branch: 'winnow-setup',
    base: 'main',
    title: 'ci: run winnow campaigns',
    draft: false,
  })
  expect(pull?.body).toContain(
    'the campaign `.winnow/size.yaml` in GitHub Actions with somebody/winnow v1.2.3',
  )
  expect(there.git('diff', '--name-only', 'main', 'winnow-setup').split('\n')).toEqual([
    '.github/actions/winnow-setup/action.yml',
    WORKFLOW,
  ])
  expect(there.git('rev-parse', 'winnow-setup^')).toBe(main)
  expect(existsSync(join(directory, WORKFLOW))).toBe(false)

  const before = [github.world.pulls.length, there.tip('winnow-setup')]
  delete env['GH_ENTERPRISE_TOKEN']
  env['PATH'] = fakeGh(new URL(github.url).host, github.token('ada'))
  expect((await winnow(...OPEN)).join('\n')).toContain(`/team/project/pull/${pull?.number}`)
  expect([github.world.pulls.length, there.tip('winnow-setup')]).toEqual(before)

  there.git('update-ref', 'refs/heads/main', 'winnow-setup')
  expect(await winnow(...OPEN)).toEqual(['Nothing to do: the files are there and up to date.'])
  there.commit('main', { '.winnow/size.yaml': `${SIZE_SPEC}schedule: hourly\n` })
  expect((await winnow('init', '--github', '--open-pr')).join('\n')).toContain(
    'The workflow stays as it is until that is merged.',
  )
  expect(github.world.pulls.at(-1)).toMatchObject({
    branch: 'winnow-setup-2',
    title: 'ci: bring the winnow workflow up to date',
  })
  expect(there.git('diff', '--name-only', 'main', 'winnow-setup-2')).toBe(WORKFLOW)
})

releaseTest(
  'where git may not push, the token does; where neither may, it says which right is missing',
  async () => {
    const there = await onGithub([])
    const { github, winnow, env } = there
    Object.assign(env, github.remote(github.token('eve', { permission: 'read' })).env)
    env['GH_ENTERPRISE_TOKEN'] = github.token('ada')
    expect((await winnow(...OPEN)).join('\n')).toContain('Opened ')
    expect(github.world.pushed.at(-1)).toEqual({ by: 'ada', branch: 'winnow-setup' })

    there.git('update-ref', '-d', 'refs/heads/winnow-setup')
    github.refuseWorkflows(true)
    const narrow = { contents: 'write', pull_requests: 'write', metadata: 'read' } as const
    Object.assign(env, github.remote(github.jobToken(narrow)).env)
    env['GH_ENTERPRISE_TOKEN'] = github.jobToken(narrow)
    await expect(winnow(...OPEN)).rejects.toThrow(/gh auth refresh --scopes workflow/)
    expect(there.git('for-each-ref', 'refs/heads/winnow-setup')).toBe('')
  },
)

releaseTest(
  'without a token the files are in the work tree, with the commands that open the pull request',
  async () => {
    const there = await onGithub([])
    there.env['PATH'] = fakeGh('elsewhere.example', 'secret')
    const said = (await there.winnow(...OPEN)).join('\n')
    expect(said).toMatch(
      /^No pull request was opened: there is no token for 127\.0\.0\.1:\d+ \(gh auth login, or set GH_ENTERPRISE_TOKEN\)/,
    )
    expect(said).toContain('  git switch -c winnow-setup\n')
    expect(said).toContain('  gh pr create --fill   # or open http://127.0.0.1')
    expect(existsSync(join(there.repo, WORKFLOW))).toBe(true)
    expect(there.github.world.pulls).toEqual([])
  },
)
