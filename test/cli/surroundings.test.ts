import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildEnvironment, parseFaults } from '../../src/cli/environment.ts'
import { UserError } from '../../src/errors.ts'
import { scratch } from '../git/scratch.ts'

function around(env: Record<string, string>, given: Record<string, string> = {}) {
  const lines: string[] = []
  const words = {
    out: () => {},
    json: () => {},
    live: () => {},
    confirm: null,
    lines: async function* () {},
    err: (line: string) => lines.push(line),
  }
  const asked = {
    positionals: [],
    flag: () => false,
    text: (name: string) => given[name],
    texts: () => [],
    command: [],
  }
  return buildEnvironment({ env, directory: '/', pid: 7, version: '1.2.3' }, asked, words)
}

describe('the environment of the process', () => {
  it.each([
    [{ HOME: '/home/ada' }, {}, '/home/ada/.cache/winnow'],
    [{ HOME: '/home/ada', XDG_CACHE_HOME: '/var/cache' }, {}, '/var/cache/winnow'],
    [{ HOME: '/home/ada' }, { 'cache-dir': '/mine' }, '/mine'],
    [{}, { 'cache-dir': 'mine' }, '/mine'],
  ])(
    'with %j and %j keeps its cache in %s',
    (env: Record<string, string>, given: Record<string, string>, expected) => {
      expect(around(env, given).cacheDir).toBe(expected)
    },
  )

  it("gives the remote the person's git configuration, unless another is named", () => {
    const home = scratch()
    expect(around({ HOME: home }).env['GIT_CONFIG_GLOBAL']).toBeUndefined()
    mkdirSync(join(home, '.config', 'git'), { recursive: true })
    writeFileSync(join(home, '.config', 'git', 'config'), '')
    expect(around({ HOME: home }).env['GIT_CONFIG_GLOBAL']).toBe(join(home, '.config', 'git', 'config'))
    writeFileSync(join(home, '.gitconfig'), '')
    expect(around({ HOME: home }).env['GIT_CONFIG_GLOBAL']).toBe(join(home, '.gitconfig'))
    expect(around({ HOME: home, GIT_CONFIG_GLOBAL: '/x' }).env['GIT_CONFIG_GLOBAL']).toBe('/x')
  })

  it('names the user, or unknown without one', () => {
    expect(around({ HOME: '/', USER: 'ada' }).by).toEqual({ run_id: 'cli:7', attempt: 1, actor: 'ada' })
    expect(around({ HOME: '/', LOGNAME: 'bo' }).by.actor).toBe('bo')
    expect(around({ HOME: '/' }).by.actor).toBe('unknown')
  })

  it('ends a sleep on interruption', async () => {
    const { clock } = around({ HOME: '/' })
    const abort = new AbortController()
    const slept = clock.sleep(3_600_000, abort.signal)
    abort.abort()
    await slept
    await clock.sleep(3_600_000, abort.signal)
    await clock.sleep(1)
  })

  it('draws as many random bytes as requested', () => {
    const { random } = around({ HOME: '/' })
    expect(random.hex(16)).toMatch(/^[0-9a-f]{32}$/)
    expect(random.hex(16)).not.toBe(random.hex(16))
    expect(random.fraction()).toBeLessThan(1)
  })
})

describe('WINNOW_FAULT', () => {
  it('is nothing unless it is set', () => {
    for (const setting of [undefined, '']) parseFaults(setting).reach('before:commit')
  })

  it('ends the process only at its point, at the n-th time', () => {
    const faults = parseFaults('before:commit:2')
    faults.reach('before:commit')
    faults.reach('after:commit')
    faults.reach('before')
  })

  it.each(['before:commit', 'commit:0', ':1', 'x:1.5'])('is refused when it reads %s', setting => {
    expect(() => parseFaults(setting)).toThrow(UserError)
  })
})
