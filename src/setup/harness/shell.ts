import type { Skeleton, SkeletonOf } from './skeleton.ts'
import { calledText, headComment, workloadComment } from './words.ts'

export function shellHarness({ name, entry }: SkeletonOf): Skeleton {
  const path = `bench/${name}.sh`
  const command = `sh ${path}`
  const program = entry?.kind === 'program' ? entry.command : null
  const text = `${headComment('#', command)}

${workloadComment('#', 'sh bin/parse.sh < bench/input.txt', entry)}
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
  return { files: [{ path, text }], edit: path, command, build: null, calls: calledText(entry) }
}
