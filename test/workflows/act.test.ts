import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { WORKFLOW } from '../../src/init/workflows/files.ts'
import { scratch, userRepository } from '../git/scratch.ts'
import { NODE, written } from './written.ts'

const places = (process.env['PATH'] ?? '').split(delimiter).map(place => join(place, 'act'))
const ACT = [process.env['ACT_BINARY'] ?? '', ...places].find(path => path !== '' && existsSync(path)) ?? ''
const NO_ACT = 'there is no act: put it on PATH, or name it in ACT_BINARY'

/** The jobs that act, a runner of other people, finds for an event in the file as init writes it. */
function listJobs(event: string, singleJob: boolean) {
  const person = userRepository({ empty: true })
  const files = written([[]], NODE, { singleJob })
  // Its schema is older than `queue`.
  const known = files.map(({ path, text }) => [path, text.replaceAll('      queue: max\n', '')])
  person.commit('first', Object.fromEntries(known))
  const home = scratch('winnow-act-')
  const options = ['-P', 'ubuntu-24.04=-self-hosted', '--no-cache-server']
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_CACHE_HOME: home }
  return spawnSync(ACT, [event, '--list', '-W', WORKFLOW, ...options], {
    cwd: person.dir,
    env,
    encoding: 'utf8',
  })
}

describe('act', () => {
  it.for(['schedule', 'workflow_dispatch', 'pull_request_target', 'pull_request_review', 'issue_comment'])(
    'reads the file and finds its jobs: %s',
    (event, { skip }) => {
      if (ACT === '') skip(NO_ACT)
      for (const [singleJob, jobs] of [
        [false, /\btick\b[^]*\bmeasure\b[^]*\bsettle\b/],
        [true, /\brun\b/],
      ] as const) {
        const { status, stdout, stderr } = listJobs(event, singleJob)
        expect([status, stderr, stdout]).toEqual([0, expect.any(String), expect.stringMatching(jobs)])
      }
    },
  )
})
