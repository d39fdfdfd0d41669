import { findBenchScript } from '../bench-script.ts'
import { createToolBenchmark } from '../benchmark-tools.ts'
import type { EntryPoint, Findings, FoundBenchmark, ProjectLocation } from '../findings.ts'
import { isForeign, type ProjectFiles } from '../project-files.ts'
import { listSourceFiles } from '../sources.ts'
import { findBenchTarget } from '../task-files.ts'

export function detectGo(yard: ProjectLocation): Findings | null {
  const { files } = yard
  if (!files.paths.includes('go.mod')) return null
  const sources = listSourceFiles(files, /\.go$/).filter(path => !path.endsWith('_test.go'))
  const tested = files.paths.some(path => path.endsWith('_test.go') && !isForeign(path))
  const hasSums = files.paths.includes('go.sum') && !files.paths.includes('vendor/modules.txt')
  return {
    language: 'go',
    manager: 'go',
    setup: hasSums ? { command: 'go mod download', from: 'go.sum' } : null,
    test: tested ? { command: 'go test ./...', from: 'the _test.go files' } : null,
    bench: findGoBenchmark(files),
    mutable: ['**/*.go'],
    immutable: [
      ...(tested ? ['**/*_test.go'] : []),
      ...(files.paths.some(path => path.startsWith('bench/')) ? ['bench/'] : []),
    ],
    entry: findGoEntry(files, sources),
    interpreter: 'go run',
    weight: sources.length,
    notes: [],
  }
}

function findGoBenchmark(files: ProjectFiles): FoundBenchmark | null {
  const found = files.paths.flatMap(path => {
    if (!path.endsWith('_test.go') || isForeign(path)) return []
    const names = [...(files.text(path) ?? '').matchAll(/^func (Benchmark\w+)\(/gm)]
    return names.map(([, name = '']) => ({ name, path, place: getGoPackage(path) }))
  })
  const [first] = found
  if (first !== undefined) {
    const places = new Set(found.map(({ place }) => place))
    const where = places.size === 1 ? first.place : './...'
    // winnow repeats by itself: short executions that alternate tell more than long ones.
    const command = `go test -run '^$' -bench . -benchtime 100ms ${where}`
    const from = found.length === 1 ? `${first.name} in ${first.path}` : `${found.length} benchmarks`
    return createToolBenchmark(command, from, 'go')
  }
  return findBenchScript(files, /\.sh$/, 'sh')?.found ?? findBenchTarget(files)
}

function getGoPackage(path: string): string {
  return path.includes('/') ? `./${path.slice(0, path.lastIndexOf('/'))}` : '.'
}

/** A function that can be called with nothing, or else the program. */
function findGoEntry(files: ProjectFiles, sources: readonly string[]): EntryPoint | null {
  const module = /^module\s+(\S+)/m.exec(files.text('go.mod') ?? '')?.[1]
  if (module === undefined) return null
  for (const path of sources) {
    const text = files.text(path) ?? ''
    const isMain = /^package main\b/m.test(text)
    const name = /^func ((?!Main|Run|Serve|Listen|Start|Exit)[A-Z]\w*)\(\) [\w.*[\]]+ \{/m.exec(text)?.[1]
    if (!isMain && name !== undefined && !/(?:^|\/)internal\//.test(path)) {
      const place = path.includes('/') ? `/${path.slice(0, path.lastIndexOf('/'))}` : ''
      return { kind: 'function', module: `${module}${place}`, name }
    }
  }
  const main = sources.find(
    path => /^package main\b/m.test(files.text(path) ?? '') && !path.startsWith('bench/'),
  )
  return main === undefined ? null : { kind: 'program', command: getGoPackage(main) }
}
