import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scratch } from '../git/scratch.ts'

const ROOT = new URL('../..', import.meta.url).pathname

/** In a home of its own, with a registry that nobody answers at: what is missing cannot be fetched. */
function installed(): (program: string, ...args: string[]) => string {
  const home = scratch('winnow-installed-')
  const env = {
    PATH: `${join(home, 'prefix/bin')}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    npm_config_prefix: join(home, 'prefix'),
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_fetch_retries: '0',
    npm_config_update_notifier: 'false',
  }
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: home, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const tarball = run('npm', 'pack', '--ignore-scripts', '--silent', ROOT).trim()
  run('npm', 'install', '--global', join(home, tarball))
  return run
}

describe('the package, installed', () => {
  it('works without a network, with nothing beside it', { timeout: 120_000 }, () => {
    const run = installed()
    expect(run('winnow', 'demo', 'here')).toContain('Since the baseline: bytes 2995 -> 1282 (-57.2 %).')
    expect(run('git-winnow', 'audit', '-C', 'here')).toContain('no problem')
    expect(run('npm', 'ls', '--global', '--all', '--parseable').trim().split('\n')).toHaveLength(2)
  })
})
