import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseOptions } from '../../../bench/decide/options.ts'
import { printed } from '../../../bench/decide/report.ts'

const ROOT = new URL('../../..', import.meta.url).pathname

let place: string
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'winnow-bench-decide-'))
  const bundle = await rolldown({ input: { main: join(ROOT, 'bench/decide/main.ts') }, platform: 'node' })
  await bundle.write({ dir: place, format: 'esm', entryFileNames: '[name].mjs' })
  await bundle.close()
})
afterAll(() => rmSync(place, { recursive: true, force: true }))

function bench(...args: string[]): string {
  const all = [join(place, 'main.mjs'), '--quick', '--only', 'rollback', ...args]
  return execFileSync('node', all, { encoding: 'utf8' })
}

describe('bench:decide', () => {
  it('prints the same numbers for the same seed, and others for another', () => {
    const [one, again, other] = [
      ['--seed', 'a'],
      ['--seed', 'a'],
      ['--seed', 'b'],
    ].map(seed => bench('--json', ...seed))
    expect(again).toBe(one)
    expect(JSON.parse(one ?? '')).toMatchObject({ seed: 'a', size: 'quick' })
    expect(JSON.parse(other ?? '').tallies).not.toEqual(JSON.parse(one ?? '').tallies)
  })

  it('says which seed it used', () => {
    expect(bench('--seed', 'a')).toContain('seed a, size quick')
  })
})

describe('its options', () => {
  it('play everything at the usual size unless told', () => {
    expect(parseOptions([])).toMatchObject({ seed: '1', size: 'usual', form: 'text' })
    expect(parseOptions(['--full', '--only', 'suites,rounds'])).toMatchObject({
      size: 'full',
      only: ['suites', 'rounds'],
    })
  })

  it.each([[['--fast']], [['--quick', '--full']], [['--json', '--comparison']], [['--only', 'nothing']]])(
    'refuse %s',
    args => {
      expect(() => parseOptions(args)).toThrow()
    },
  )
})

describe('a printed table', () => {
  it('is aligned, under its title and over its notes', () => {
    const table = {
      title: 'T',
      columns: ['rule', 'a'],
      rows: [
        ['x', '10'],
        ['longer', '1'],
      ],
      notes: ['why'],
    }
    expect(printed(table).split('\n')).toEqual(['T', '-', 'rule     a', 'x       10', 'longer   1', '  why'])
  })
})
