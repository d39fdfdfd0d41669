import { existsSync, linkSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clearRunnerFiles } from '../../src/action/sandbox.ts'
import { scratch } from '../git/scratch.ts'

const NAMES = {
  GITHUB_ENV: 'set_env_1',
  GITHUB_PATH: 'add_path_1',
  GITHUB_OUTPUT: 'set_output_1',
  GITHUB_STATE: 'save_state_1',
  GITHUB_STEP_SUMMARY: 'step_summary_1',
}

function runnerFiles() {
  const temp = scratch()
  const folder = join(temp, '_runner_file_commands')
  mkdirSync(folder)
  const env = Object.fromEntries(Object.entries(NAMES).map(([name, file]) => [name, join(folder, file)]))
  for (const file of Object.values(env)) writeFileSync(file, 'LD_PRELOAD=/tmp/evil.so\n')
  return { env: { ...env, RUNNER_TEMP: temp }, folder }
}

test('all five files of the step are emptied, and those of other steps beside them', () => {
  const { env, folder } = runnerFiles()
  const other = join(folder, 'save_state_of_another_step')
  writeFileSync(other, 'token=forged\n')
  clearRunnerFiles(env)
  for (const file of [...Object.values(NAMES).map(name => join(folder, name)), other])
    expect([file, readFileSync(file, 'utf8')]).toEqual([file, ''])
})

test('a link, a second name or a folder in the place of a file is replaced, and what it names is left alone', () => {
  const { env, folder } = runnerFiles()
  const own = join(scratch(), 'own')
  writeFileSync(own, 'kept')
  const [link, hardLink, dir] = ['a', 'b', 'c'].map(name => join(folder, name)) as [string, string, string]
  symlinkSync(own, link)
  linkSync(own, hardLink)
  mkdirSync(join(dir, 'deep'), { recursive: true })
  clearRunnerFiles(env)
  expect(readFileSync(own, 'utf8')).toBe('kept')
  for (const file of [link, hardLink, dir]) {
    expect(lstatSync(file).isFile()).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe('')
  }
})

test('files that the experiment removed are there again, and files elsewhere in the temporary folder stay', () => {
  const { env } = runnerFiles()
  const moved = { ...env, GITHUB_ENV: join(scratch(), 'gone', 'set_env') }
  const beside = join(env.RUNNER_TEMP, 'report.json')
  writeFileSync(beside, '{}')
  clearRunnerFiles(moved)
  expect(readFileSync(moved.GITHUB_ENV, 'utf8')).toBe('')
  expect(readFileSync(beside, 'utf8')).toBe('{}')
  clearRunnerFiles({})
  expect(existsSync('_runner_file_commands')).toBe(false)
})
