import type { EntryPoint } from '../findings.ts'
import { buildScriptHarness } from './script.ts'
import type { Skeleton, SkeletonRequest } from './skeleton.ts'
import { renderHeadComment, renderWorkloadComment } from './words.ts'

export function buildRubyHarness(of: SkeletonRequest): Skeleton {
  return buildScriptHarness(of, { extension: 'rb', interpreter: of.interpreter, text: renderRubySource })
}

function renderRubySource(command: string, entry: EntryPoint | null): string {
  const module = entry?.kind === 'module' ? entry.path : null
  return `${renderHeadComment('#', command)}
require 'json'
${module === null ? '' : `require '${module}'\n`}
${renderWorkloadComment('#', 'MyParser.parse(text)', entry)}
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
