import type { EntryPoint } from '../findings.ts'
import { buildScriptHarness } from './script.ts'
import type { Skeleton, SkeletonRequest } from './skeleton.ts'
import { renderHeadComment, renderWorkloadComment } from './words.ts'

export function buildShellHarness(of: SkeletonRequest): Skeleton {
  return buildScriptHarness(of, { extension: 'sh', interpreter: 'sh', text: renderShellSource })
}

function renderShellSource(command: string, entry: EntryPoint | null): string {
  const program = entry?.kind === 'program' ? entry.command : null
  return `${renderHeadComment('#', command)}

${renderWorkloadComment('#', 'sh bin/parse.sh < bench/input.txt', entry)}
workload() {
  ${program === null ? 'seq 1 20000 | sort -r' : `${program} 2>&1`}
}
# ================================

# Nanoseconds are GNU date's; where there is none, whole seconds are all that a shell can tell.
now() { case "$(date +%N)" in *N*) echo "$(date +%s)000000000" ;; *) date +%s%N ;; esac; }

start=$(now)
for round in 1 2 3 4 5 6 7 8 9 10; do
  answer=$(workload) || true
done
end=$(now)
bytes=$(printf %s "$answer" | wc -c)
awk -v took="$((end - start))" -v bytes="$((bytes))" \\
  'BEGIN { printf "{\\"milliseconds\\": %.6f, \\"output_bytes\\": %d}\\n", took / 10000000, bytes }'
`
}
