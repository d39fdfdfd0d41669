import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as source from '../../src/index.ts'
import { scratch } from '../git/scratch.ts'

const ROOT = new URL('../..', import.meta.url).pathname

/** By its own name, as whoever installs the package says it: through `exports`, from the committed bundle. */
async function packaged(): Promise<Record<string, unknown>> {
  const name = 'git-winnow'
  return import(name)
}

describe('the package', () => {
  it('exports by its name what the source exports', async () => {
    expect(Object.keys(await packaged()).toSorted()).toEqual(Object.keys(source).toSorted())
  })

  it('decides as the source does', async () => {
    const bundle = await packaged()
    const rule = { direction: 'minimize', minEffect: 0.02, pairsPerJob: 8, maxJobs: 8 } as const
    const pairs = [0.93, 0.94, 0.95, 0.925, 0.935, 0.945, 0.93, 0.94]
    const play = ({ startEvidence, observePair, verdict }: typeof source) => {
      let state = startEvidence(rule)
      for (const candidate of pairs)
        state = observePair(state, { base: 1, candidate, job: 1, order: 'base-first' })
      return verdict(state)
    }
    expect(Reflect.apply(play, null, [bundle])).toEqual(play(source))
    expect(play(source)).toMatchObject({ status: 'new-job', screened: true })
  })
})

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
    expect(run('git-winnow', 'audit', '-C', 'here')).toContain('everything fits')
    expect(run('npm', 'ls', '--global', '--all', '--parseable').trim().split('\n')).toHaveLength(2)
  })

  it('loads nothing but itself and Node', () => {
    const dist = join(ROOT, 'dist')
    const loaded = readdirSync(dist).flatMap(file =>
      [
        ...readFileSync(join(dist, file), 'utf8').matchAll(/(?:^|;)import(?:[\w$*{}, ]*from)?"([^"]+)"/gm),
      ].map(match => match[1] ?? ''),
    )
    expect(loaded.length).toBeGreaterThan(5)
    expect(loaded.filter(name => !isBuiltin(name) && !name.startsWith('./'))).toEqual([])
  })

  it('holds the licence of everybody whose work is in it', () => {
    const notices = readFileSync(join(ROOT, 'dist/third-party-licenses.txt'), 'utf8').split(/^-{80}$/m)
    const told = notices.map(notice => notice.trim().split('\n')[0])
    for (const name of ['simple-git', 'smol-toml', 'yaml', 'zod'])
      expect(told).toContainEqual(expect.stringMatching(new RegExp(`^${name} \\d[\\d.]*, \\S`)))
    expect(told.filter(line => /undefined/.test(line ?? ''))).toEqual([])
  })

  it('depends on nothing, since all of it is bundled', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(
      ['dependencies', 'optionalDependencies', 'peerDependencies'].filter(key => key in manifest),
    ).toEqual([])
  })
})
