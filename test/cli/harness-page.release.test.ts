import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { project } from './project.ts'

const ROOT = new URL('../../', import.meta.url)
const PAGE = readFileSync(new URL('docs/harness.md', ROOT), 'utf8')
const EXAMPLE = 'fixtures/first-steps/'

/** The spec of a harness on the page, for the code and the tests of the first steps. */
function writeProject(harness: string, code: string) {
  const spec = `winnow: 1
measurement: { command: node ${harness} }
metric: { primary: { name: ms, direction: minimize } }
gates: [{ name: tests, command: npm test }]
scope: { mutable: [src/] }
`
  const paths = ['src/unique.js', 'test/unique.test.js', 'package.json']
  const files = paths.map(path => [path, readFileSync(new URL(EXAMPLE + path, ROOT), 'utf8')])
  return project({ ...Object.fromEntries(files), [harness]: code, '.winnow/speed.yaml': spec })
}

/** Which marks survive depends on the machine. */
function toShape(line: string): string {
  return line
    .replace(/, remember\b/, '')
    .replace('forgeable by: remember', 'guarded')
    .trim()
    .replaceAll(/[-+]?\d+(?:\.\d+)?/g, '#')
    .replaceAll(/ +/g, ' ')
    .replace(/^((?:slow clock|answer nothing|remember) no gain): .*/, '$1')
}

describe('the page about harnesses', () => {
  const codes = [...PAGE.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code)
  const tables = [...PAGE.matchAll(/```console\n\$ winnow check {4}# (\S+)\n([\s\S]*?)```/g)].map(
    ([, harness = '', table = '']) => ({ harness, lines: table.trimEnd().split('\n') }),
  )

  it('has two harnesses', () => {
    expect(tables.map(({ harness }) => harness)).toEqual(['bench/open.mjs', 'bench/closed.mjs'])
  })

  it.each(tables.map((table, at) => [table.harness, table.lines, codes[at] ?? ''] as const))(
    'shows what stops each attack on %s',
    { timeout: 900_000 },
    async (harness, lines, code) => {
      const { out, err } = await writeProject(harness, code).winnow('check')
      const printed = out.split('\n').map(toShape)
      expect(
        lines.map(toShape).filter(line => !printed.includes(line)),
        out + err,
      ).toEqual([])
    },
  )
})
