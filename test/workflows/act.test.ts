import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scratch, userRepository } from '../git/scratch.ts'
import { written } from './written.ts'

const places = (process.env['PATH'] ?? '').split(delimiter).map(place => join(place, 'act'))
const ACT = [process.env['ACT_BINARY'] ?? '', ...places].find(path => path !== '' && existsSync(path)) ?? ''
const NO_ACT = 'there is no act: put it on PATH, or name it in ACT_BINARY'

/** The workflow files as init writes them, in a clone, and act in it with this machine as every runner. */
function acting(argv: readonly string[], event: object) {
  const person = userRepository({ empty: true })
  person.commit('first', Object.fromEntries(written([[]]).map(({ path, text }) => [path, text])))
  const home = scratch('winnow-act-')
  const file = join(home, 'event.json')
  writeFileSync(file, JSON.stringify(event))
  const options = ['-P', 'ubuntu-24.04=-self-hosted', '--no-cache-server', '--eventpath', file]
  return spawnSync(ACT, [...argv, ...options], {
    cwd: person.dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, XDG_CACHE_HOME: home },
    encoding: 'utf8',
  })
}

const against = (ref: string) => ({ pull_request: { number: 1, base: { ref }, head: { ref: 'idea' } } })
const WAKE = ['pull_request', '-W', '.github/workflows/winnow-wake.yml'] as const
const RAN = /Wake winnow\.yml by ending/

describe('act', () => {
  it('reads every file', ({ skip }) => {
    if (ACT === '') skip(NO_ACT)
    const files = written([[]]).filter(({ path }) => path.startsWith('.github/workflows/'))
    for (const { path } of files) {
      const { status, stderr } = acting(['--list', '-W', path], {})
      expect([path, status, stderr]).toEqual([path, 0, expect.any(String)])
    }
  })

  it('runs the wake-up for pull requests against a campaign, and for no other', ({ skip }) => {
    if (ACT === '') skip(NO_ACT)
    const ours = acting(WAKE, against('optimize/size-0'))
    expect([ours.status, ours.stdout]).toEqual([0, expect.stringMatching(RAN)])
    const paused = acting([...WAKE, '--var', 'WINNOW_PAUSED=true'], against('optimize/size-0'))
    for (const { stdout } of [paused, acting(WAKE, against('optimizer/size-0'))])
      expect(stdout).not.toMatch(RAN)
  })
})
