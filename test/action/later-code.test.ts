import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { LaterCode, listLaterCodeFolders } from '../../src/action/sandbox.ts'
import { scratch } from '../git/scratch.ts'

/** A machine of a job: actions beside the temporary folder, a clone, and a folder of PATH that the job's user can write to. */
function aMachine() {
  const work = scratch()
  const at = (...names: string[]) => join(work, ...names)
  const put = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode })
  }
  put(at('_actions/actions/checkout/v6/dist/index.js'), 'post()\n')
  put(at('_actions/actions/checkout/v6/action.yml'), 'runs: { post: dist/index.js }\n')
  put(at('dist/measure.js'), 'measure()\n')
  put(at('repo/trusted/.git/config'), '[core]\n')
  for (const version of ['node20', 'node24']) put(at('externals', version, 'bin/node'), version, 0o755)
  put(at('home/.local/bin/tool'), '#!/bin/sh\n', 0o755)
  mkdirSync(at('_temp'))
  const env = {
    RUNNER_TEMP: at('_temp'),
    GITHUB_WORKSPACE: at('repo'),
    PATH: `${at('home/.local/bin')}:${at('home/later/bin')}`,
  }
  return { env, at, put, programs: { program: at('dist/measure.js'), node: at('externals/node24/bin/node') } }
}

test('what nobody touched is not complained about', () => {
  const { env, programs, put, at } = aMachine()
  const later = new LaterCode(env, programs)
  put(at('repo/repository/src/new.js'), 'built\n')
  put(at('home/.local/bin/other-tool'), '#!/bin/sh\n')
  put(at('_temp/anything'), '')
  expect(() => later.requireUnchanged()).not.toThrow()
})

const CHECKOUT = '_actions/actions/checkout/v6/dist/index.js'

test.each<[string, (machine: ReturnType<typeof aMachine>) => string]>([
  ['changed', ({ put, at }) => (put(at(CHECKOUT), 'steal()\n'), at(CHECKOUT))],
  ['changed without a new length or time', ({ put, at }) => (put(at(CHECKOUT), 'ssst()\n'), at(CHECKOUT))],
  ['removed', ({ at }) => (rmSync(at(CHECKOUT)), at(CHECKOUT))],
  ['made a link', ({ at }) => (rmSync(at(CHECKOUT)), symlinkSync('/bin/sh', at(CHECKOUT)), at(CHECKOUT))],
  ['closed', ({ at }) => (chmodSync(at(CHECKOUT), 0o4755), at(CHECKOUT))],
  [
    'replaced with its folder',
    ({ at, put }) => {
      renameSync(at('_actions/actions'), at('_temp/actions'))
      put(at(CHECKOUT), 'steal()\n')
      return at(CHECKOUT)
    },
  ],
])('code of a later step that was %s is named and put back', (_, change) => {
  const machine = aMachine()
  const later = new LaterCode(machine.env, machine.programs)
  const changed = change(machine)
  expect(() => later.requireUnchanged()).toThrow(changed)
  expect(readFileSync(machine.at(CHECKOUT), 'utf8')).toBe('post()\n')
  expect(lstatSync(machine.at(CHECKOUT)).mode & 0o7777).toBe(0o644)
  expect(() => later.requireUnchanged()).not.toThrow()
})

test.each([
  ['a file beside the action', '_actions/actions/checkout/v6/dist/package.json'],
  ['a program that git is found as', 'home/.local/bin/git'],
  ['a folder of PATH that was missing', 'home/later/bin/node'],
  ['a hook of a clone', 'repo/trusted/.git/hooks/post-checkout'],
  ['a file beside this action', 'dist/upload.js'],
])('%s that was added is removed', (_, path) => {
  const { env, programs, put, at } = aMachine()
  const later = new LaterCode(env, programs)
  put(at(path), 'steal\n', 0o755)
  expect(() => later.requireUnchanged()).toThrow(at(path))
  expect(existsSync(at(path))).toBe(false)
})

test('the Node of later steps is put back', () => {
  const { env, programs, put, at } = aMachine()
  const later = new LaterCode(env, programs)
  rmSync(at('externals/node20/bin/node'))
  put(at('externals/node20/bin/node'), 'steal', 0o755)
  expect(() => later.requireUnchanged()).toThrow(at('externals/node20/bin/node'))
  expect(readFileSync(at('externals/node20/bin/node'), 'utf8')).toBe('node20')
})

test('configuration of a clone, by which git would start programs, is put back', () => {
  const { env, programs, put, at } = aMachine()
  const later = new LaterCode(env, programs)
  put(at('repo/trusted/.git/config'), '[core]\n  fsmonitor = /tmp/evil\n')
  expect(() => later.requireUnchanged()).toThrow('later steps of this job run')
  expect(readFileSync(at('repo/trusted/.git/config'), 'utf8')).toBe('[core]\n')
})

test('what is too large to be kept is removed, so that it does not run', () => {
  const { env, programs, at } = aMachine()
  const large = at('_actions/a/b/c/large.js')
  mkdirSync(dirname(large), { recursive: true })
  writeFileSync(large, Buffer.alloc(65 * 1024 * 1024))
  const later = new LaterCode(env, programs)
  writeFileSync(large, 'steal()')
  expect(() => later.requireUnchanged()).toThrow(`winnow could not restore ${large}`)
  expect(existsSync(large)).toBe(false)
})

test('an action that is a link to where the image has it is looked at there', () => {
  const { env, programs, put, at } = aMachine()
  put(at('cache/checkout/index.js'), 'post()\n')
  symlinkSync(at('cache/checkout'), at('_actions/actions/checkout/v5'))
  expect(listLaterCodeFolders(env, programs)).toContain(at('cache/checkout'))
  const later = new LaterCode(env, programs)
  put(at('cache/checkout/index.js'), 'steal()\n')
  expect(() => later.requireUnchanged()).toThrow(at('cache/checkout/index.js'))
  expect(readFileSync(at('cache/checkout/index.js'), 'utf8')).toBe('post()\n')
})
