import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as source from '../../src/index.ts'
import { scratch } from '../git/scratch.ts'
import { ENV } from '../support/campaign-client.ts'

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
    const play = ({ startEvidence, observePair, computeEvidenceVerdict }: typeof source) => {
      let state = startEvidence(rule)
      for (const candidate of pairs)
        state = observePair(state, { base: 1, candidate, job: 1, order: 'base-first' })
      return computeEvidenceVerdict(state)
    }
    expect(Reflect.apply(play, null, [bundle])).toEqual(play(source))
    expect(play(source)).toMatchObject({ status: 'new-job', screened: true })
  })
})

describe('what the package holds', () => {
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

  it('runs on the oldest Node that package.json names', ({ skip }) => {
    const node = process.env['OLDEST_NODE_BINARY']
    if (node === undefined) return skip('OLDEST_NODE_BINARY names no Node')
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(`>=${execFileSync(node, ['--version'], { encoding: 'utf8' }).slice(1)}`).toContain(engines.node)
    const directory = join(scratch(), 'demo')
    const env = { ...ENV, HOME: scratch(), PATH: `${dirname(node)}${delimiter}${process.env['PATH']}` }
    const winnow = (cwd: string, ...argv: string[]) =>
      execFileSync(node, [join(ROOT, 'dist/cli.js'), ...argv], { cwd, env, encoding: 'utf8' })
    expect(winnow(ROOT, 'demo', directory)).toContain('To remove all of it:')
    expect(winnow(directory, 'uninstall', '--purge')).toContain('.winnow/')
  })

  it('depends on nothing, since all of it is bundled', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(
      ['dependencies', 'optionalDependencies', 'peerDependencies'].filter(key => key in manifest),
    ).toEqual([])
  })
})
