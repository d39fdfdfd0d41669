import { benchScript, othersNote } from '../bench-script.ts'
import type { Entry, Findings, FoundBenchmark, FoundCommand, Yard } from '../findings.ts'
import { nearestAbove, runAbove } from '../lockfiles.ts'
import type { ProjectFiles } from '../project-files.ts'
import { placesOf, sourceFiles, testsAmong } from '../sources.ts'
import { BENCH_NAMES, benchTarget, testTarget } from '../task-files.ts'

const TESTS = [
  { pattern: '**/*_test.rb', matches: /_test\.rb$/ },
  { pattern: '**/*_spec.rb', matches: /_spec\.rb$/ },
]

export function detectRuby(yard: Yard): Findings | null {
  const { files } = yard
  const sources = sourceFiles(files, /\.rb$/)
  const isProject = files.paths.some(path => /^(?:Gemfile|Rakefile|[^/]+\.gemspec)$/.test(path))
  if (!isProject && sources.length === 0) return null
  const bundled = nearestAbove(yard, ['Gemfile'])
  const start = bundled === null ? '' : 'bundle exec '
  const ruby = `${start}ruby -Ilib`
  const mutable = placesOf(sources, ['lib/', 'app/'])
  const script = benchScript(files, /\.rb$/, ruby)
  return {
    language: 'ruby',
    manager: bundled === null ? null : 'bundler',
    setup: bundled === null ? null : setupOf(yard, bundled.steps),
    test: testOf(files, start),
    bench: rakeBench(files, start) ?? script?.found ?? benchTarget(files),
    mutable,
    immutable: testsAmong(files, mutable, TESTS),
    entry: entryOf(sources),
    interpreter: ruby,
    weight: sources.length,
    notes: othersNote(script?.others ?? []),
  }
}

/** Into the project's directory: the person's gems are never written to. */
function setupOf(yard: Yard, steps: number): FoundCommand {
  const locked = nearestAbove(yard, ['Gemfile.lock']) !== null
  const frozen = locked ? 'BUNDLE_FROZEN=true ' : ''
  const install = 'bundle config set --local path vendor/bundle && '
  const command = runAbove(steps, `${install}${frozen}bundle install --quiet`)
  return { command, from: locked ? 'Gemfile.lock' : 'Gemfile' }
}

function testOf(files: ProjectFiles, start: string): FoundCommand | null {
  const rakefile = files.text('Rakefile') ?? ''
  if (/RSpec::Core::RakeTask|\brspec\b/.test(files.text('Gemfile') ?? '') && hasBelow(files, 'spec/')) {
    return { command: `${start}rspec`, from: 'spec/' }
  }
  if (/TestTask|task\s*[:(]?\s*:?["']?test\b/.test(rakefile)) {
    return { command: `${start}rake test`, from: 'task test of Rakefile' }
  }
  const suite = files.paths.filter(path =>
    /^test\/.*(?:^|\/|_)test(?:_\w+)?\.rb$|^test\/.*_test\.rb$/.test(path),
  )
  if (suite.length === 0) return testTarget(files)
  const each = `Dir["test/**/{*_test,test_*}.rb"].each { |file| require "./#{file}" }`
  return { command: `${start}ruby -Ilib -Itest -e '${each}'`, from: 'test/' }
}

function hasBelow({ paths }: ProjectFiles, directory: string): boolean {
  return paths.some(path => path.startsWith(directory))
}

function rakeBench(files: ProjectFiles, start: string): FoundBenchmark | null {
  const text = files.text('Rakefile') ?? ''
  const name = BENCH_NAMES.find(each => new RegExp(`^\\s*task\\s*\\(?\\s*:?["']?${each}\\b`, 'm').test(text))
  if (name === undefined) return null
  return { command: `${start}rake ${name}`, from: `task ${name} of Rakefile`, output: 'json', metric: null }
}

function entryOf(sources: readonly string[]): Entry | null {
  const top = sources.flatMap(path => /^lib\/([^/]+)\.rb$/.exec(path)?.[1] ?? [])
  const [name] = top
  return name === undefined ? null : { kind: 'module', path: name }
}
