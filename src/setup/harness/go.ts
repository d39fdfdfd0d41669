import type { Entry } from '../findings.ts'
import type { Skeleton, SkeletonOf } from './skeleton.ts'
import { calledText, headComment, workloadComment } from './words.ts'

export function goHarness({ name, entry }: SkeletonOf): Skeleton {
  const place = `bench/${name}`
  const path = `${place}/main.go`
  const own = `go build -o ${place}/run ./${place}`
  const subject = entry?.kind === 'program' ? ` && go build -o ${place}/subject ${entry.command}` : ''
  const files = [{ path, text: text(`go run ./${place}`, place, entry) }]
  return { files, edit: path, command: `./${place}/run`, build: own + subject, calls: calledText(entry) }
}

function text(command: string, place: string, entry: Entry | null): string {
  const imports = ['"encoding/json"', '"fmt"', '"os"', '"sort"', '"time"', ...importsOf(entry)].toSorted()
  return `${headComment('//', command)}
package main

import (
${imports.map(each => `\t${each}`).join('\n')}
)

${workloadComment('//', 'return mypackage.Parse(input)', entry)}
func workload() any {
${bodyOf(place, entry)}
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

function importsOf(entry: Entry | null): string[] {
  if (entry?.kind === 'function') return [`subject "${entry.module}"`]
  return entry?.kind === 'program' ? ['"os/exec"'] : []
}

function bodyOf(place: string, entry: Entry | null): string {
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
