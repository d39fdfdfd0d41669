import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gitIn, scratch, userRepository } from '../git/scratch.ts'
import { parsedWorkflow } from './parsed.ts'
import { written } from './written.ts'

const text = written([[]]).find(({ path }) => path.endsWith('winnow-measure.yml'))?.text ?? ''
const [job] = Object.values(parsedWorkflow(text).jobs)
const script = job?.steps.find(({ run }) => run !== undefined)?.run ?? ''

/** The one script of the measuring job, run as its runner would, before any code of an experiment is. */
function fetching(remote: string, pulls: string) {
  const room = scratch('winnow-forks-')
  const git = gitIn(room)
  git('init', '-q', 'repository')
  gitIn(join(room, 'repository'))('remote', 'add', 'origin', remote)
  const env = { PATH: process.env['PATH'] ?? '', HOME: room, GITHUB_SERVER_URL: 'https://github.invalid' }
  const ended = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd: room,
    env: { ...env, PULLS: pulls, TOKEN: 'sentinel' },
    encoding: 'utf8',
  })
  return { ...ended, room, refs: gitIn(join(room, 'repository'))('for-each-ref', '--format=%(refname)') }
}

describe('heads of pull requests from forks', () => {
  it('are fetched by their numbers, and the token stays nowhere', () => {
    const user = userRepository()
    user.git('update-ref', 'refs/pull/7/head', 'HEAD')
    user.git('update-ref', 'refs/pull/12/head', 'HEAD')
    const { status, refs, room, stdout, stderr } = fetching(user.dir, '7 12')
    expect([status, refs]).toEqual([0, 'refs/remotes/pull/12\nrefs/remotes/pull/7'])
    const config = gitIn(join(room, 'repository'))('config', '--list', '--local')
    expect(config + stdout + stderr).not.toMatch(/sentinel|extraheader/)
  })

  it('are fetched with the token in one line, also where base64 is that of macOS', () => {
    const room = scratch('winnow-forks-')
    const stub = (name: string, text: string) => {
      writeFileSync(join(room, name), `#!/bin/sh\n${text}\n`)
      chmodSync(join(room, name), 0o755)
    }
    stub('base64', '[ $# = 0 ] || exit 64; exec /usr/bin/base64')
    stub('git', `printf %s "$GIT_CONFIG_VALUE_0" > ${room}/header`)
    const TOKEN = 'ghs_'.repeat(40)
    const { status } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
      cwd: room,
      env: { PATH: `${room}:${process.env['PATH'] ?? ''}`, PULLS: '7', TOKEN, GITHUB_SERVER_URL: 'x' },
    })
    const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64')
    expect([status, readFileSync(join(room, 'header'), 'utf8')]).toEqual([0, `AUTHORIZATION: basic ${basic}`])
  })

  it.each(['7; touch stolen', '$(touch stolen)', '7 --upload-pack=touch', '../7', ' 7', '7\n8', '-1'])(
    'are never %j',
    pulls => {
      const { status, refs, room } = fetching(userRepository().dir, pulls)
      expect([status, refs, existsSync(join(room, 'stolen'))]).toEqual([2, '', false])
    },
  )
})
