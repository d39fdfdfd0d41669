import { benchScript, othersNote } from '../bench-script.ts'
import { toolBenchmark } from '../benchmark-tools.ts'
import type { Entry, Findings, FoundBenchmark, FoundCommand, Yard } from '../findings.ts'
import type { ProjectFiles } from '../project-files.ts'
import { placesOf, sourceFiles, testsAmong } from '../sources.ts'
import { benchTarget, testTarget } from '../task-files.ts'
import { pythonManager } from './python-manager.ts'
import { namesPackage, requirementFiles } from './python-packages.ts'

const MANIFESTS = ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt']
const TESTS = [
  { pattern: '**/test_*.py', matches: /(?:^|\/)test_[^/]+\.py$/ },
  { pattern: '**/*_test.py', matches: /_test\.py$/ },
  { pattern: '**/conftest.py', matches: /(?:^|\/)conftest\.py$/ },
]

export function detectPython(yard: Yard): Findings | null {
  const { files } = yard
  const sources = sourceFiles(files, /\.py$/)
  if (!MANIFESTS.some(name => files.paths.includes(name)) && sources.length === 0) return null
  const kind = testKind(files)
  const { name, setup, from, python, notes } = pythonManager(yard, usedPackages(files, kind))
  const { bench, others } = benchOf(files, python)
  const test = testCommand(files, kind, python)
  const mutable = placesOf(sources, ['src/'])
  return {
    language: 'python',
    manager: name,
    setup: setup === null ? null : { command: setup, from },
    test: bench?.output === 'pytest-benchmark' ? untimed(test) : test,
    bench,
    mutable,
    immutable: testsAmong(files, mutable, TESTS),
    entry: entryOf(sources),
    interpreter: python,
    weight: sources.length,
    notes: [...notes, ...othersNote(others)],
  }
}

function usedPackages(files: ProjectFiles, kind: ReturnType<typeof testKind>): string[] {
  const benchmarks = pytestBenchmarks(files).length > 0
  return [...(kind === 'pytest' || benchmarks ? ['pytest'] : []), ...(benchmarks ? ['pytest-benchmark'] : [])]
}

/** Files with a test that takes the fixture. */
function pytestBenchmarks(files: ProjectFiles): string[] {
  return files.paths.filter(
    path => path.endsWith('.py') && /def test_\w+\([^)]*\bbenchmark\b/.test(files.text(path) ?? ''),
  )
}

/** As tests, benchmarks run once and are not timed. */
function untimed(test: FoundCommand | null): FoundCommand | null {
  return test === null ? null : { ...test, command: `${test.command} --benchmark-disable` }
}

function testKind(files: ProjectFiles): 'pytest' | 'unittest' | null {
  const tests = files.paths.filter(path => /(?:^|\/)(?:test_[^/]+|[^/]+_test)\.py$/.test(path))
  const said = [...MANIFESTS, 'tox.ini', ...requirementFiles(files)].map(path => files.text(path) ?? '')
  const declared = said.some(text => namesPackage(text, 'pytest')) || files.paths.includes('pytest.ini')
  const texts = tests.map(path => files.text(path) ?? '')
  if (tests.length === 0) return null
  const classic = texts.some(text => /^\s*(?:import|from)\s+unittest\b/m.test(text))
  const modern =
    texts.some(text => /\bpytest\b/.test(text)) || files.paths.some(path => path.endsWith('conftest.py'))
  return declared || modern || !classic ? 'pytest' : 'unittest'
}

function testCommand(
  files: ProjectFiles,
  kind: ReturnType<typeof testKind>,
  python: string,
): FoundCommand | null {
  if (kind === null) return testTarget(files)
  if (kind === 'pytest') return { command: `${python} -m pytest -q`, from: 'tests that pytest runs' }
  const home = ['tests', 'test'].find(dir => files.paths.some(path => path.startsWith(`${dir}/`)))
  const discover = home === undefined ? '' : ` discover -s ${home}${isPackage(files, home) ? ' -t .' : ''}`
  return { command: `${python} -m unittest${discover}`, from: 'tests that unittest runs' }
}

function isPackage({ paths }: ProjectFiles, directory: string): boolean {
  return paths.includes(`${directory}/__init__.py`)
}

function benchOf(files: ProjectFiles, python: string): { bench: FoundBenchmark | null; others: string[] } {
  const marked = pytestBenchmarks(files)
  const [first] = marked
  if (first !== undefined) {
    const place = marked.length === 1 || !first.includes('/') ? first : first.slice(0, first.lastIndexOf('/'))
    const command = `${python} -m pytest -q ${place} --benchmark-only --benchmark-max-time=0.2 --benchmark-json="$WINNOW_RESULT_PATH"`
    return { bench: toolBenchmark(command, first, 'pytest-benchmark'), others: [] }
  }
  const script = benchScript(files, /\.py$/, python)
  if (script !== null) return { bench: script.found, others: script.others }
  return { bench: benchTarget(files), others: [] }
}

/** The package that people import. */
function entryOf(sources: readonly string[]): Entry | null {
  const packages = sources.flatMap(path => /^(?:src\/)?(\w+)\/__init__\.py$/.exec(path)?.[1] ?? [])
  const modules = sources.flatMap(path => /^(?:src\/)?(\w+)\.py$/.exec(path)?.[1] ?? [])
  const [name] = [...packages, ...modules]
  return name === undefined ? null : { kind: 'module', path: name }
}
