import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { prepareHome } from '../../src/measure/private-home.ts'
import type { StopRule } from '../../src/model/order.ts'
import { laboratory } from './laboratory.ts'
import { PATH } from './processes.ts'
import { scratch } from './scratch.ts'

/** A HOME with these files. */
function homeOf(files: Record<string, string>): string {
  const home = scratch()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), content)
  }
  return home
}

async function prepare(real: string | null): Promise<string> {
  const home = join(scratch(), 'home')
  await prepareHome({ home }, { real, owner: null })
  return home
}

describe('the HOME of a side', () => {
  test('holds the tool chains of the real one as links, and its settings as copies', async () => {
    const real = homeOf({
      '.rustup/settings.toml': 'version',
      '.cargo/bin/cargo': '#!/bin/sh',
      '.pyenv/version': '3',
      '.cache/go-build/README': 'cache',
      '.local/bin/tool': '#!/bin/sh',
      '.npmrc': 'registry=https://example.org',
      '.gitconfig': '[user]',
      '.bash_history': 'secret',
    })
    symlinkSync('nowhere', join(real, '.broken'))
    const home = await prepare(real)
    for (const path of ['.rustup', '.cargo', '.pyenv', '.cache/go-build', '.local/bin'])
      expect(readlinkSync(join(home, path))).toBe(join(real, path))
    writeFileSync(join(home, '.npmrc'), 'script-shell=/tmp/mine')
    expect(readFileSync(join(real, '.npmrc'), 'utf8')).toBe('registry=https://example.org')
    expect(readFileSync(join(home, '.gitconfig'), 'utf8')).toBe('[user]')
    expect([existsSync(join(home, '.bash_history')), existsSync(join(home, '.broken'))]).toEqual([
      false,
      false,
    ])
  })

  test('keeps what one side could use against the other to itself', async () => {
    const real = homeOf({
      '.cache/pip/wheels/x': 'wheel',
      '.cache/winnow/x': 'sides',
      '.local/share/pnpm/store/x': 'store',
      '.config/pip/pip.conf': '[global]',
      '.config/git/config': '[user]',
      '.npm/_cacache/x': 'checked',
      '.npm/_npx/x': 'not checked',
    })
    const home = await prepare(real)
    for (const path of ['.cache/pip', '.cache/winnow', '.local/share/pnpm', '.npm/_npx'])
      expect([path, existsSync(join(home, path))]).toEqual([path, false])
    expect(readlinkSync(join(home, '.npm/_cacache'))).toBe(join(real, '.npm/_cacache'))
    for (const path of ['.config/pip/pip.conf', '.config/git/config', '.cache/new', '.config/new.json'])
      writeFileSync(join(home, path), 'mine')
    expect(readFileSync(join(real, '.config/pip/pip.conf'), 'utf8')).toBe('[global]')
    expect(readdirSync(join(real, '.cache')).toSorted()).toEqual(['pip', 'winnow'])
  })

  test('has the packages that a user installed for Python, but not the code that Python starts with', async () => {
    const python = execFileSync('python3', ['-c', 'import site; print(site.USER_SITE)'], {
      env: { PATH, HOME: '/h' },
    })
    const packages = python.toString().trim().replace('/h/', '')
    const real = homeOf({
      [`${packages}/single.py`]: 'word = "module"',
      [`${packages}/whole/__init__.py`]: 'word = "package"',
      [`${packages}/usercustomize.py`]: 'print("hijacked")',
    })
    const home = await prepare(real)
    const code = 'import single, whole; print(single.word, whole.word)'
    const printed = execFileSync('python3', ['-c', code], { env: { PATH, HOME: home } })
    expect(printed.toString()).toBe('module package\n')
  })

  test('is empty where there is no real one', async () => {
    expect(readdirSync(await prepare(null))).toEqual([])
    expect(readdirSync(await prepare('/nonexistent'))).toEqual([])
  })
})

describe('a measurement', () => {
  const PAIRS: StopRule = { rule: 'pairs', metrics: ['bytes'], scale: 'linear', pairs: 3 }

  async function measure(harness: string, env: string[] = []): Promise<[string, unknown[]]> {
    const real = homeOf({ '.tool/version': '12345' })
    const lab = await laboratory()
    const report = await lab.measure({
      files: { 'bench.sh': harness, 'src/value': '100\n' },
      candidates: { 'exp-001': { 'src/value': '90\n' } },
      stop: PAIRS,
      spec: { measurement: { env } },
      input: { env: { PATH, HOME: real } },
    })
    expect([report.runner_error, report.tampered]).toEqual([null, null])
    return [real, [...new Set(report.executions.map(({ metrics }) => metrics['bytes']))]]
  }

  const HARNESS =
    'echo "{\\"bytes\\": $(cat "$HOME"/.tool/version "$HOME"/answers 2> /dev/null | wc -c)}"; echo x >> "$HOME"/answers; chmod 500 "$HOME"\n'

  test('finds tool chains, and nothing that an earlier execution left in HOME', async () => {
    const [real, bytes] = await measure(HARNESS)
    expect(bytes).toEqual([5])
    expect(existsSync(join(real, 'answers'))).toBe(false)
    const [, removed] = await measure(`${HARNESS}chmod 700 "$HOME"; rm -rf "$HOME"\n`)
    expect(removed).toEqual([5])
  })

  test('uses the HOME of the person where the spec passes it', async () => {
    const [real] = await measure(HARNESS.replace('; chmod 500 "$HOME"', ''), ['HOME'])
    expect(existsSync(join(real, 'answers'))).toBe(true)
  })
})
