import type { Entry } from '../findings.ts'
import { scriptHarness } from './script.ts'
import type { Skeleton, SkeletonOf } from './skeleton.ts'
import { headComment, workloadComment } from './words.ts'

export function rubyHarness(of: SkeletonOf): Skeleton {
  return scriptHarness(of, { extension: 'rb', interpreter: of.interpreter, text })
}

function text(command: string, entry: Entry | null): string {
  const module = entry?.kind === 'module' ? entry.path : null
  return `${headComment('#', command)}
require 'json'
${module === null ? '' : `require '${module}'\n`}
${workloadComment('#', 'MyParser.parse(text)', entry)}
def workload
${module === null ? '  Array.new(10_000) { |n| n * 7919 % 10_007 }.sort.join(" ")' : `  load '${module}.rb'\n  'loaded'`}
end
# ================================

$VERBOSE = nil
$answer = nil

# Milliseconds of that many calls.
def took(calls)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  calls.times { $answer = workload }
  (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) * 1000
end

calls = 1
calls *= 2 while took(calls) < 5
times = Array.new(15) { took(calls) / calls }
puts JSON.generate({ milliseconds: times.sort[7], output_bytes: $answer.to_s.bytesize })
`
}
