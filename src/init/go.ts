import { posix } from 'node:path'
import { createToolBenchmark, findBenchmark } from './benchmarks.ts'
import type { HarnessTemplate, SkeletonRequest } from './harness.ts'
import {
  type Detection,
  type EntryPoint,
  type FoundBenchmark,
  isForeign,
  listSourceFiles,
  type ProjectFiles,
  type ProjectLocation,
} from './project.ts'

export function detectGo(project: ProjectLocation): Detection | null {
  const { files } = project
  if (!files.paths.includes('go.mod')) return null
  const sources = listSourceFiles(files, /\.go$/).filter(path => !path.endsWith('_test.go'))
  const tested = files.paths.some(path => path.endsWith('_test.go') && !isForeign(path))
  const hasSums = files.paths.includes('go.sum') && !files.paths.includes('vendor/modules.txt')
  return {
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
  }
}

function findGoBenchmark(files: ProjectFiles): FoundBenchmark | null {
  const found = files.paths.flatMap(path => {
    if (!path.endsWith('_test.go') || isForeign(path)) return []
    const names = [...(files.text(path) ?? '').matchAll(/^func (Benchmark\w+)\(/gm)]
    return names.map(([, name = '']) => ({ name, path, folder: getGoPackage(path) }))
  })
  const [first] = found
  if (first !== undefined) {
    const folders = new Set(found.map(({ folder }) => folder))
    const where = folders.size === 1 ? first.folder : './...'
    // winnow repeats and alternates executions itself, and short ones give more information.
    const command = `go test -run '^$' -bench . -benchtime 100ms ${where}`
    const from = found.length === 1 ? `${first.name} in ${first.path}` : `${found.length} benchmarks`
    return createToolBenchmark(command, from, 'go')
  }
  return findBenchmark(files, /\.sh$/).bench
}

function getGoPackage(path: string): string {
  return path.includes('/') ? `./${posix.dirname(path)}` : '.'
}

/** Prefers an exported function without arguments, then the program. */
function findGoEntry(files: ProjectFiles, sources: readonly string[]): EntryPoint | null {
  const module = /^module\s+(\S+)/m.exec(files.text('go.mod') ?? '')?.[1]
  if (module === undefined) return null
  for (const path of sources) {
    const text = files.text(path) ?? ''
    const isMain = /^package main\b/m.test(text)
    const name = /^func ((?!Main|Run|Serve|Listen|Start|Exit)[A-Z]\w*)\(\) [\w.*[\]]+ \{/m.exec(text)?.[1]
    if (!isMain && name !== undefined && !/(?:^|\/)internal\//.test(path)) {
      return { kind: 'function', module: posix.join(module, posix.dirname(path)), name }
    }
  }
  const main = sources.find(
    path => /^package main\b/m.test(files.text(path) ?? '') && !path.startsWith('bench/'),
  )
  return main === undefined ? null : { kind: 'program', command: getGoPackage(main) }
}

// Harness

export function buildGoHarness({ name, entry }: SkeletonRequest): HarnessTemplate {
  const folder = `bench/${name}`
  const own = `go build -o ${folder}/run ./${folder}`
  const subject = entry?.kind === 'program' ? ` && go build -o ${folder}/subject ${entry.command}` : ''
  const imports = ['"encoding/json"', '"fmt"', '"os"', '"sort"', '"time"', ...listGoImports(entry)].toSorted()
  return {
    path: `${folder}/main.go`,
    command: `./${folder}/run`,
    byHand: `go run ./${folder}`,
    build: own + subject,
    commentSign: '//',
    exampleCall: 'return mypackage.Parse(input)',
    render: (head, workload) => `${head}
package main

import (
${imports.map(each => `\t${each}`).join('\n')}
)

${workload}
func workload() any {
${renderGoBody(folder, entry)}
}

// ================================

var answer any

// Milliseconds of that many calls.
func took(calls int) float64 {
	start := time.Now()
	for call := 0; call < calls; call++ {
		answer = workload()
	}
	return float64(time.Since(start).Nanoseconds()) / 1e6
}

func main() {
	calls := 1
	for took(calls) < 5 {
		calls *= 2
	}
	var times []float64
	for round := 0; round < 15; round++ {
		times = append(times, took(calls)/float64(calls))
	}
	sort.Float64s(times)
	result := map[string]any{"milliseconds": times[7], "output_bytes": len(fmt.Sprint(answer))}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
}
`,
  }
}

function listGoImports(entry: EntryPoint | null): string[] {
  if (entry?.kind === 'function') return [`subject "${entry.module}"`]
  return entry?.kind === 'program' ? ['"os/exec"'] : []
}

function renderGoBody(folder: string, entry: EntryPoint | null): string {
  if (entry?.kind === 'function') return `\treturn subject.${entry.name}()`
  if (entry?.kind === 'program') {
    return `\tout, _ := exec.Command("./${folder}/subject", "--help").CombinedOutput()\n\treturn string(out)`
  }
  return [
    '\tnumbers := make([]int, 10000)',
    '\tfor i := range numbers {',
    '\t\tnumbers[i] = i * 7919 % 10007',
    '\t}',
    '\tsort.Ints(numbers)',
    '\treturn numbers',
  ].join('\n')
}
