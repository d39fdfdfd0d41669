import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buildHarnessEnvironment,
  readEnvFile,
  selectAllowedEnvironment,
} from '../../src/measure/environment.ts'
import { getSidePaths } from '../../src/measure/session.ts'
import { scratch } from './scratch.ts'

const NOBODY = { owner: null, seed: 1 }

describe('the allow-list', () => {
  test('lets nothing through that is not on it', () => {
    const names = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,12}$/)
    fc.assert(
      fc.property(fc.dictionary(names, fc.string()), fc.array(names), (env, listed) => {
        const passed = Object.keys(selectAllowedEnvironment(env, listed, {}))
        const allowed = new Set(['PATH', 'LANG', 'TZ', 'CI', ...listed])
        expect(passed.every(name => allowed.has(name))).toBe(true)
      }),
    )
  })

  test.each([
    'GITHUB_TOKEN',
    'GH_TOKEN',
    'ACTIONS_RUNTIME_TOKEN',
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'GIT_DIR',
    'SSH_AUTH_SOCK',
    'HTTPS_PROXY',
  ])('%s stays outside', name => {
    expect(selectAllowedEnvironment({ [name]: 'x', PATH: '/bin' }, [], {})).toEqual({ PATH: '/bin' })
  })

  test('what winnow sets itself cannot be set by the spec', () => {
    const paths = getSidePaths('/somewhere')
    const env = buildHarnessEnvironment(
      { TMPDIR: '/tmp', WINNOW_SEED: '1', EVO_EXPERIMENT_ID: 'exp-007' },
      paths,
      { owner: null, seed: 42 },
    )
    expect(env).toMatchObject({ TMPDIR: '/somewhere/tmp', WINNOW_SEED: '42', EVO_EXPERIMENT_ID: 'run' })
  })

  test('npm writes no log where the other side could find it', () => {
    const home = scratch()
    writeFileSync(join(home, 'package.json'), '{"scripts":{}}')
    const paths = getSidePaths(join(home, 'at'))
    const env = buildHarnessEnvironment({ PATH: process.env['PATH'] ?? '', HOME: home }, paths, NOBODY)
    execFileSync('npm', ['run', '--silent'], { cwd: home, env, stdio: 'ignore' })
    const left = readdirSync(home, { recursive: true, withFileTypes: true }).filter(each => each.isFile())
    const outside = left.filter(({ parentPath }) => !parentPath.startsWith(paths.tmp))
    expect(outside.map(({ name }) => name)).toEqual(['package.json'])
    expect(left.length).toBeGreaterThan(outside.length)
    expect(buildHarnessEnvironment({ npm_config_logs_dir: '/logs' }, paths, NOBODY)).toMatchObject({
      npm_config_logs_dir: '/logs',
    })
  })

  test('HOME is a folder of the side, unless the spec passes that of a person to the same user', () => {
    const at = getSidePaths('/at')
    expect(buildHarnessEnvironment({}, at, NOBODY)['HOME']).toBe('/at/home')
    expect(buildHarnessEnvironment({ HOME: '/home/ada' }, at, NOBODY)['HOME']).toBe('/home/ada')
    const owner = { uid: 64_300, gid: 64_300 }
    expect(buildHarnessEnvironment({ HOME: '/home/ada' }, at, { owner, seed: 1 })['HOME']).toBe('/at/home')
  })

  test("evo's names mean the same places", () => {
    const env = buildHarnessEnvironment({}, getSidePaths('/at'), NOBODY)
    expect(env['EVO_RESULT_PATH']).toBe(env['WINNOW_RESULT_PATH'])
    expect(env['EVO_CHECKPOINT_DIR']).toBe(env['WINNOW_CHECKPOINT_DIR'])
    expect(env['EVO_TRACES_DIR']?.startsWith(`${env['WINNOW_OUT_DIR']}/`)).toBe(true)
    expect(env['EVO_WORKTREE']).toBe('/at/tree')
  })
})

describe('an env file', () => {
  const read = (text: string, ...keys: string[]) => {
    const root = scratch()
    writeFileSync(join(root, '.env'), text)
    return readEnvFile({ path: '.env', keys }, root)
  }

  test.each([
    ['A=1', '1'],
    ['  export A = 1 ', '1'],
    ['A="a b # c"', 'a b # c'],
    ["A='x\\n' # note", 'x\\n'],
    ['A="x\\ny\\"z"', 'x\ny"z'],
    ['A="C:\\temp \\$x \\\\d"', 'C:\\temp $x \\d'],
    ['A=plain # note', 'plain'],
    ['A=', ''],
    ['A=1\nA=2', '2'],
    ['# A=0\r\nA=3\r\n', '3'],
  ])('%j', (text, value) => {
    expect(read(text, 'A')).toEqual({ A: value })
  })

  test('that is not there is an error that names it', () => {
    expect(() => readEnvFile({ path: 'no.env', keys: ['A'] }, scratch())).toThrow('no.env')
    expect(() => readEnvFile({ path: '.env', keys: ['A'] }, null)).toThrow('this runner has no repository')
  })
})
