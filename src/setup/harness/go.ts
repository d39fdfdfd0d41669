import type { EntryPoint } from '../findings.ts'
import type { Skeleton, SkeletonRequest } from './skeleton.ts'
import { describeEntry, renderHeadComment, renderWorkloadComment } from './words.ts'

export function buildGoHarness({ name, entry }: SkeletonRequest): Skeleton {
  const place = `bench/${name}`
  const path = `${place}/main.go`
  const own = `go build -o ${place}/run ./${place}`
  const subject = entry?.kind === 'program' ? ` && go build -o ${place}/subject ${entry.command}` : ''
  const files = [{ path, text: renderGoSource(`go run ./${place}`, place, entry) }]
  return { files, edit: path, command: `./${place}/run`, build: own + subject, calls: describeEntry(entry) }
}

function renderGoSource(command: string, place: string, entry: EntryPoint | null): string {
  const imports = ['"encoding/json"', '"fmt"', '"os"', '"sort"', '"time"', ...listGoImports(entry)].toSorted()
  return `${renderHeadComment('//', command)}
package main

import (
${imports.map(each => `\t${each}`).join('\n')}
)

${renderWorkloadComment('//', 'return mypackage.Parse(input)', entry)}
func workload() any {
${renderGoBody(place, entry)}
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
`
}

function listGoImports(entry: EntryPoint | null): string[] {
  if (entry?.kind === 'function') return [`subject "${entry.module}"`]
  return entry?.kind === 'program' ? ['"os/exec"'] : []
}

function renderGoBody(place: string, entry: EntryPoint | null): string {
  if (entry?.kind === 'function') return `\treturn subject.${entry.name}()`
  if (entry?.kind === 'program') {
    return `\tout, _ := exec.Command("./${place}/subject", "--help").CombinedOutput()\n\treturn string(out)`
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
