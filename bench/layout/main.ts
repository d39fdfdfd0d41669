import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Random, seeded } from '../decide/random.ts'
import { mean, standardDeviation } from '../decide/statistics.ts'
import { MAIN, PARTS } from './program.ts'

/** Versions of a program that differ in dead code only, and settings that are varied for all of them alike. */
const VERSIONS = 8
const SETTINGS = 6
const RUNS = 4

const KINDS = ['nothing', 'environment', 'path', 'link order', 'filler', 'nothing, code aligned'] as const
type Kind = (typeof KINDS)[number]

interface Setting {
  folder: string
  env: Record<string, string>
  order: readonly string[]
  filler: string | null
}

interface Build {
  version: number
  setting: number
  program: string
  env: Record<string, string>
}

const root = mkdtempSync(join(tmpdir(), 'layout-'))
const random = seeded('layout')
try {
  compileVersions()
  console.log(`luck of a layout: ${VERSIONS} versions, ${SETTINGS} settings, least of ${RUNS} runs`)
  for (const kind of KINDS) console.log(measureKind(kind))
} finally {
  rmSync(root, { recursive: true })
}

function compile(source: string, object: string, flags: readonly string[] = []): void {
  const file = `${object}.c`
  writeFileSync(file, source)
  execFileSync('gcc', ['-O2', ...flags, '-c', file, '-o', object])
}

function compileVersions(): void {
  compile(MAIN, join(root, 'main.o'))
  for (let version = 0; version < VERSIONS; version++) {
    for (const [name, source] of Object.entries(PARTS)) {
      const padded = `${version === 0 ? '' : drawDeadCode(name)}${source}\n`
      compile(padded, join(root, `${name}.${version}.o`))
      compile(padded, join(root, `${name}.${version}.aligned.o`), [
        '-falign-functions=64',
        '-falign-loops=64',
      ])
    }
  }
}

function drawDeadCode(name: string): string {
  const functions = Array.from({ length: Math.floor(4 * random.fraction()) }, (_, at) => {
    const lines = 'x = x * 3 + 1; x ^= x >> 3; '.repeat(1 + Math.floor(8 * random.fraction()))
    return `int unused_${name}_${at}(int x) { ${lines}return x; }\n`
  })
  return functions.join('')
}

function measureKind(kind: Kind): string {
  const builds = Array.from({ length: SETTINGS }, (_, number) => link(kind, number)).flat()
  const least = builds.map(() => Number.POSITIVE_INFINITY)
  for (let run = 0; run < RUNS; run++)
    for (const at of random.shuffled([...builds.keys()]))
      least[at] = Math.min(least[at] ?? 0, time(builds[at]))
  const logs = Array.from({ length: VERSIONS }, (_, version) =>
    builds.flatMap((build, at) => (build.version === version ? [Math.log(least[at] ?? 0)] : [])),
  )
  const bySetting = Array.from({ length: SETTINGS }, (_, setting) => logs.map(row => row[setting] ?? 0))
  const one = Math.sqrt(mean(bySetting.map(row => standardDeviation(row) ** 2)))
  const left = standardDeviation(logs.map(row => mean(row)))
  const percent = (value: number) => `${(100 * value).toFixed(1)} %`
  return `varied: ${kind.padEnd(22)} one setting ${percent(one)}, mean of ${SETTINGS} settings ${percent(left)}`
}

function link(kind: Kind, number: number): Build[] {
  const { folder, env, order, filler } = drawSetting(kind, number)
  mkdirSync(folder, { recursive: true })
  const suffix = kind === 'nothing, code aligned' ? 'aligned.o' : 'o'
  return Array.from({ length: VERSIONS }, (_, version) => {
    const program = join(folder, `program-${number}-${version}`)
    const objects = order.map(name => join(root, name === 'main' ? 'main.o' : `${name}.${version}.${suffix}`))
    execFileSync('gcc', [...(filler === null ? [] : [filler]), ...objects, '-o', program])
    return { version, setting: number, program, env }
  })
}

function drawSetting(kind: Kind, number: number): Setting {
  const own: Random = seeded('setting', kind, number)
  const names = [...Object.keys(PARTS), 'main']
  const length = Math.floor(200 * own.fraction())
  const filler = kind === 'filler' ? join(root, `filler-${number}.o`) : null
  if (filler !== null) compile(`__asm__(".fill ${Math.floor(4096 * own.fraction())}, 1, 0x90");\n`, filler)
  return {
    folder: join(root, kind === 'path' ? 'p'.repeat(1 + length) : 'same', kind.replaceAll(/\W/g, '-')),
    env: kind === 'environment' ? { PADDING: 'x'.repeat(20 * length) } : {},
    order: kind === 'link order' ? own.shuffled(names) : names,
    filler,
  }
}

function time(build: Build | undefined): number {
  if (build === undefined) throw new Error('no such build')
  return Number.parseInt(execFileSync(build.program, { env: build.env, encoding: 'utf8' }), 10)
}
