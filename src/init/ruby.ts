import { BENCH_NAMES, findBenchmark, findTestTarget } from './benchmarks.ts'
import type { HarnessTemplate, SkeletonRequest } from './harness.ts'
import {
  type Detection,
  type EntryPoint,
  findNearestAbove,
  type FoundBenchmark,
  type FoundCommand,
  listImmutablePatterns,
  listSourceFiles,
  type ProjectFiles,
  type ProjectLocation,
  runAbove,
  selectSourcePlaces,
} from './project.ts'

const TESTS = [
  { pattern: '**/*_test.rb', matches: /_test\.rb$/ },
  { pattern: '**/*_spec.rb', matches: /_spec\.rb$/ },
]

export function detectRuby(project: ProjectLocation): Detection | null {
  const { files } = project
  const sources = listSourceFiles(files, /\.rb$/)
  const isProject = files.paths.some(path => /^(?:Gemfile|Rakefile|[^/]+\.gemspec)$/.test(path))
  if (!isProject && sources.length === 0) return null
  const bundled = findNearestAbove(project, ['Gemfile'])
  const start = bundled === null ? '' : 'bundle exec '
  const ruby = `${start}ruby -Ilib`
  const mutable = selectSourcePlaces(sources, ['lib/', 'app/'])
  const { bench, notes } = findBenchmark(files, /\.rb$/, ruby)
  return {
    manager: bundled === null ? null : 'bundler',
    setup: bundled === null ? null : buildRubySetup(project, bundled.steps),
    test: findRubyTest(files, start),
    bench: findRakeBenchmark(files, start) ?? bench,
    mutable,
    immutable: listImmutablePatterns(files, mutable, TESTS),
    entry: findRubyEntry(sources),
    interpreter: ruby,
    weight: sources.length,
    notes,
  }
}

/** Installs into the project's directory, to keep the person's gems unchanged. */
function buildRubySetup(project: ProjectLocation, steps: number): FoundCommand {
  const locked = findNearestAbove(project, ['Gemfile.lock']) !== null
  const frozen = locked ? 'BUNDLE_FROZEN=true ' : ''
  const install = 'bundle config set --local path vendor/bundle && '
  const command = runAbove(steps, `${install}${frozen}bundle install --quiet`)
  return { command, from: locked ? 'Gemfile.lock' : 'Gemfile' }
}

function findRubyTest(files: ProjectFiles, start: string): FoundCommand | null {
  const rakefile = files.text('Rakefile') ?? ''
  if (
    /RSpec::Core::RakeTask|\brspec\b/.test(files.text('Gemfile') ?? '') &&
    files.paths.some(path => path.startsWith('spec/'))
  ) {
    return { command: `${start}rspec`, from: 'spec/' }
  }
  if (/TestTask|task\s*[:(]?\s*:?["']?test\b/.test(rakefile)) {
    return { command: `${start}rake test`, from: 'task test of Rakefile' }
  }
  const suite = files.paths.filter(path =>
    /^test\/.*(?:^|\/|_)test(?:_\w+)?\.rb$|^test\/.*_test\.rb$/.test(path),
  )
  if (suite.length === 0) return findTestTarget(files)
  const each = `Dir["test/**/{*_test,test_*}.rb"].each { |file| require "./#{file}" }`
  return { command: `${start}ruby -Ilib -Itest -e '${each}'`, from: 'test/' }
}

function findRakeBenchmark(files: ProjectFiles, start: string): FoundBenchmark | null {
  const text = files.text('Rakefile') ?? ''
  const name = BENCH_NAMES.find(each => new RegExp(`^\\s*task\\s*\\(?\\s*:?["']?${each}\\b`, 'm').test(text))
  if (name === undefined) return null
  return { command: `${start}rake ${name}`, from: `task ${name} of Rakefile`, output: 'json', metric: null }
}

function findRubyEntry(sources: readonly string[]): EntryPoint | null {
  const [name] = sources.flatMap(path => /^lib\/([^/]+)\.rb$/.exec(path)?.[1] ?? [])
  return name === undefined ? null : { kind: 'module', path: name }
}

// Harness

export function buildRubyHarness({ name, entry, interpreter }: SkeletonRequest): HarnessTemplate {
  const path = `bench/${name}.rb`
  const module = entry?.kind === 'module' ? entry.path : null
  return {
    path,
    command: `${interpreter} ${path}`,
    commentSign: '#',
    exampleCall: 'MyParser.parse(text)',
    render: (head, workload) => `${head}
require 'json'
${module === null ? '' : `require '${module}'\n`}
${workload}
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
`,
  }
}
