import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildSkeleton, detectProject } from '../../src/init/detect.ts'
import { buildSizeHarness, type Skeleton } from '../../src/init/harness.ts'
import type { ProgramLanguage } from '../../src/init/project.ts'
import { scratch } from '../git/scratch.ts'
import { toRepository } from './a-project.ts'

type Texts = Readonly<Record<string, string>>

const PROJECTS: Readonly<Record<ProgramLanguage, Texts>> = {
  node: { 'package.json': '{"main":"src/index.js","type":"module"}', 'src/index.js': 'export const a = 1\n' },
  python: { 'src/pk/__init__.py': 'def parse(text):\n    return len(text)\n' },
  go: {
    'go.mod': 'module m\n\ngo 1.18\n',
    'a.go': 'package m\n\nfunc Table() []int {\n\treturn []int{1}\n}\n',
  },
  rust: {
    'Cargo.toml': '[package]\nname = "my-m"\nversion = "1.0.0"\n',
    'src/lib.rs': 'pub fn table() -> u8 {\n    1\n}\n',
  },
  java: { 'pom.xml': '', 'src/main/java/P.java': '' },
  ruby: { 'lib/pk.rb': 'module Pk; end\n' },
  c: { 'parse.c': 'int parse(void) { return 1; }\n', 'parse.h': 'int parse(void);\n' },
  shell: { 'greet.sh': 'echo hello\n' },
}
const STARTS: Readonly<Record<ProgramLanguage, string>> = {
  node: 'node',
  python: 'python3',
  go: 'go',
  rust: 'cargo',
  java: 'java',
  ruby: 'ruby',
  c: 'cc',
  shell: 'sh',
}

function isHere(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function laidOut(files: Texts): string {
  const dir = scratch('winnow-harness-')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  return dir
}

function shell(dir: string, line: string): string {
  return execFileSync('sh', ['-c', line], { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

function printed(files: Texts, made: Skeleton): Record<string, number> {
  const dir = laidOut({ ...files, ...Object.fromEntries(made.files.map(({ path, text }) => [path, text])) })
  if (made.build !== null) shell(dir, made.build)
  return JSON.parse(shell(dir, made.command))
}

describe.each(Object.keys(PROJECTS).filter((name): name is ProgramLanguage => name in PROJECTS))(
  'a new harness in %s',
  language => {
    const files = PROJECTS[language]
    const { entry, interpreter } = detectProject(toRepository(files), undefined).findings

    it.skipIf(!isHere(STARTS[language]))('runs as it is', () => {
      const { milliseconds, output_bytes } = printed(
        files,
        buildSkeleton(language, { name: 'speed', entry, interpreter }),
      )
      expect(milliseconds).toBeGreaterThan(0)
      expect(output_bytes).toBeGreaterThan(0)
    })

    it('calls an entry of the project and marks where the workload belongs', () => {
      const { files: made, edit, calls } = buildSkeleton(language, { name: 'speed', entry, interpreter })
      expect(made.find(({ path }) => path === edit)?.text).toContain('==== PUT YOUR WORKLOAD HERE ====')
      expect(calls).not.toContain(language === 'java' || language === 'c' ? 'program' : 'placeholder')
    })
  },
)

describe('a harness with nothing to call', () => {
  it.each<ProgramLanguage>(['node', 'python', 'ruby', 'shell'])(
    'in %s runs and says that it is a placeholder',
    language => {
      const made = buildSkeleton(language, { name: 'speed', entry: null, interpreter: STARTS[language] })
      expect(made.calls).toContain('a placeholder')
      if (isHere(STARTS[language])) expect(printed({}, made)['milliseconds']).toBeGreaterThan(0)
    },
  )

  it('can start a program instead', () => {
    const entry = { kind: 'program', command: 'node cli.js --help' } as const
    const made = buildSkeleton('node', { name: 'speed', entry, interpreter: 'node' })
    expect(printed({ 'cli.js': 'console.log("usage")\n' }, made)).toMatchObject({ output_bytes: 6 })
  })
})

describe('a harness of size', () => {
  it('counts directories with spaces in their names', () => {
    const { file, command } = buildSizeHarness({ language: 'shell', mutable: ['my scripts/'] }, 'size', [])
    const dir = laidOut({ 'my scripts/a.sh': 'true\n', [file.path]: file.text })
    expect(JSON.parse(shell(dir, command))).toEqual({ bytes: 5 })
  })

  it('counts the built file, or the sources if nothing is built', () => {
    const { findings } = detectProject(toRepository(PROJECTS.node), undefined)
    const { file, command } = buildSizeHarness(findings, 'size', [])
    const dir = laidOut({ ...PROJECTS.node, [file.path]: file.text })
    expect(JSON.parse(shell(dir, command))).toEqual({ bytes: 19 })
    const product = { path: 'dist/a.min.js', build: 'npm run build' }
    const built = buildSizeHarness({ ...findings, product }, 'size', [])
    mkdirSync(join(dir, 'dist'))
    writeFileSync(join(dir, 'dist/a.min.js'), 'a')
    writeFileSync(join(dir, 'dist/a.min.js.map'), 'aaaa')
    writeFileSync(join(dir, file.path), built.file.text)
    expect(JSON.parse(shell(dir, command))).toEqual({ bytes: 1 })
  })
})
