import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LANGUAGES } from '../src/init/project.ts'
import { SCHEMA_URL } from '../src/init/draft.ts'
import { project } from './cli/project.ts'

const ROOT = new URL('..', import.meta.url).pathname
const PAGE = readFileSync(join(ROOT, 'docs/install.md'), 'utf8')

const PROJECT = {
  'package.json':
    '{"name":"n","type":"module","scripts":{"test":"node --test","bench":"node bench/size.mjs"}}\n',
  'src/value.js': 'export const value = 1\n',
  'bench/size.mjs':
    "import { statSync } from 'node:fs'\nconsole.log(JSON.stringify({ bytes: statSync('src/value.js').size }))\n",
  'packages/parser/package.json': '{"name":"parser","scripts":{"bench":"node bench.js"}}\n',
  'packages/parser/src/index.js': '',
}

interface Line {
  command: string
  exit: number
}

/** Every command of the page in its order; one that ends otherwise than with 0 says so. */
function commands(): Line[] {
  const blocks = [...PAGE.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(match =>
    (match[1] ?? '').trim().split('\n'),
  )
  return blocks.map(line => ({
    command: line.replace(/ +# exit \d+$/, ''),
    exit: Number(/# exit (\d+)$/.exec(line)?.[1] ?? 0),
  }))
}

describe('the page about installing', () => {
  it('has commands that do what it says, one after the other', { timeout: 120_000 }, () => {
    const person = project(PROJECT)
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: person.cache,
      GIT_AUTHOR_NAME: 'me',
      GIT_AUTHOR_EMAIL: 'me@localhost',
      GIT_COMMITTER_NAME: 'me',
      GIT_COMMITTER_EMAIL: 'me@localhost',
    }
    const winnow = `winnow() { node "${join(ROOT, 'dist/cli.js')}" "$@"; }\n`
    for (const { command, exit } of commands()) {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', winnow + command], {
        cwd: person.dir,
        env,
        encoding: 'utf8',
      })
      expect([command, status, status === exit ? '' : stdout + stderr]).toEqual([command, exit, ''])
    }
    expect(person.git('branch', '--list', 'optimize*')).toBe('')
    expect(existsSync(join(person.dir, '.winnow'))).toBe(false)
    expect(readdirSync(person.dir).filter(name => name.endsWith('.bundle'))).toHaveLength(1)
  })

  it('has a line for every language that init knows', () => {
    const listed = [...PAGE.matchAll(/^\| (\w+) \|/gm)].map(match => (match[1] ?? '').toLowerCase())
    expect(listed).toEqual(LANGUAGES)
  })
})

describe('what a spec links to', () => {
  it('is shipped with the package', () => {
    const { name, files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const path = new URL(SCHEMA_URL).pathname.slice(1)
    expect(path).toBe(`${name}/schema/spec.schema.json`)
    expect(files).toEqual(expect.arrayContaining(['docs', 'schema']))
  })
})
