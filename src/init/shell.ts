import { findBenchmark, findTestTarget } from './benchmarks.ts'
import type { HarnessTemplate, SkeletonRequest } from './harness.ts'
import {
  type Detection,
  type FoundCommand,
  listSourceFiles,
  type ProjectFiles,
  type ProjectLocation,
  PROSE,
  selectSourcePlaces,
} from './project.ts'

/** Handles projects without another language: scripts, make targets or texts. */
export function detectShell(project: ProjectLocation): Detection | null {
  const { files } = project
  const scripts = listSourceFiles(files, /\.(?:sh|bash)$/)
  const { bench, notes } = findBenchmark(files, /\.(?:sh|bash)$/)
  if (scripts.length === 0 && bench === null && findTestTarget(files) === null) return null
  const sources = scripts.length > 0 ? scripts : listTextFiles(files)
  const [program] = scripts
  return {
    test: findTestTarget(files) ?? findTestScript(files),
    bench,
    mutable: selectSourcePlaces(sources, ['src/', 'lib/', 'bin/']),
    entry: program === undefined ? null : { kind: 'program', command: `sh ${program} --help` },
    interpreter: 'sh',
    weight: scripts.length,
    notes,
  }
}

/** Without scripts, lists files in the usual directories, or else prompts and other texts. */
function listTextFiles(files: ProjectFiles): string[] {
  const usual = files.paths.filter(path => /^(?:src|lib)\//.test(path))
  return usual.length > 0 ? usual : listSourceFiles(files, PROSE)
}

function findTestScript({ paths }: ProjectFiles): FoundCommand | null {
  const own = paths.find(path =>
    /^(?:tests?\/(?:run|test|all)\.(?:sh|bash)|tests?\.sh|bench\/test\.sh)$/.test(path),
  )
  const suite = paths.find(path => /^tests?\/[^/]+\.bats$/.test(path))
  if (suite !== undefined) return { command: `bats ${suite.slice(0, suite.indexOf('/'))}`, from: suite }
  return own === undefined ? null : { command: `sh ${own}`, from: own }
}

// Harness

export function buildShellHarness({ name, entry }: SkeletonRequest): HarnessTemplate {
  const path = `bench/${name}.sh`
  const program = entry?.kind === 'program' ? entry.command : null
  return {
    path,
    command: `sh ${path}`,
    commentSign: '#',
    exampleCall: 'sh bin/parse.sh < bench/input.txt',
    render: (head, workload) => `${head}

${workload}
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
`,
  }
}
