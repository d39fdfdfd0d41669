import { findBenchScript, describeOtherBenchmarks } from '../bench-script.ts'
import { createToolBenchmark } from '../benchmark-tools.ts'
import type { EntryPoint, Findings, FoundBenchmark, FoundCommand, ProjectLocation } from '../findings.ts'
import type { ProjectFiles } from '../project-files.ts'
import { selectSourcePlaces, listSourceFiles, listTestPatterns } from '../sources.ts'
import { findBenchTarget, findTestTarget } from '../task-files.ts'
import { findPythonManager } from './python-manager.ts'
import { hasPackageName, listRequirementFiles } from './python-packages.ts'

const MANIFESTS = ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt']
const TESTS = [
  { pattern: '**/test_*.py', matches: /(?:^|\/)test_[^/]+\.py$/ },
  { pattern: '**/*_test.py', matches: /_test\.py$/ },
  { pattern: '**/conftest.py', matches: /(?:^|\/)conftest\.py$/ },
]

export function detectPython(yard: ProjectLocation): Findings | null {
  const { files } = yard
  const sources = listSourceFiles(files, /\.py$/)
  if (!MANIFESTS.some(name => files.paths.includes(name)) && sources.length === 0) return null
  const kind = detectTestKind(files)
  const { name, setup, from, python, notes } = findPythonManager(yard, listUsedPackages(files, kind))
  const { bench, others } = findPythonBenchmark(files, python)
  const test = buildTestCommand(files, kind, python)
  const mutable = selectSourcePlaces(sources, ['src/'])
  return {
    language: 'python',
    manager: name,
    setup: setup === null ? null : { command: setup, from },
    test: bench?.output === 'pytest-benchmark' ? disableBenchmarks(test) : test,
    bench,
    mutable,
    immutable: listTestPatterns(files, mutable, TESTS),
    entry: findPythonEntry(sources),
    interpreter: python,
    weight: sources.length,
    notes: [...notes, ...describeOtherBenchmarks(others)],
  }
}

function listUsedPackages(files: ProjectFiles, kind: ReturnType<typeof detectTestKind>): string[] {
  const benchmarks = listPytestBenchmarks(files).length > 0
  return [...(kind === 'pytest' || benchmarks ? ['pytest'] : []), ...(benchmarks ? ['pytest-benchmark'] : [])]
}

/** Files with a test that takes the fixture. */
function listPytestBenchmarks(files: ProjectFiles): string[] {
  return files.paths.filter(
    path => path.endsWith('.py') && /def test_\w+\([^)]*\bbenchmark\b/.test(files.text(path) ?? ''),
  )
}

/** As tests, benchmarks run once and are not timed. */
function disableBenchmarks(test: FoundCommand | null): FoundCommand | null {
  return test === null ? null : { ...test, command: `${test.command} --benchmark-disable` }
}

function detectTestKind(files: ProjectFiles): 'pytest' | 'unittest' | null {
  const tests = files.paths.filter(path => /(?:^|\/)(?:test_[^/]+|[^/]+_test)\.py$/.test(path))
  const said = [...MANIFESTS, 'tox.ini', ...listRequirementFiles(files)].map(path => files.text(path) ?? '')
  const declared = said.some(text => hasPackageName(text, 'pytest')) || files.paths.includes('pytest.ini')
  const texts = tests.map(path => files.text(path) ?? '')
  if (tests.length === 0) return null
  const classic = texts.some(text => /^\s*(?:import|from)\s+unittest\b/m.test(text))
  const modern =
    texts.some(text => /\bpytest\b/.test(text)) || files.paths.some(path => path.endsWith('conftest.py'))
  return declared || modern || !classic ? 'pytest' : 'unittest'
}

function buildTestCommand(
  files: ProjectFiles,
  kind: ReturnType<typeof detectTestKind>,
  python: string,
): FoundCommand | null {
  if (kind === null) return findTestTarget(files)
  if (kind === 'pytest') return { command: `${python} -m pytest -q`, from: 'tests that pytest runs' }
  const home = ['tests', 'test'].find(dir => files.paths.some(path => path.startsWith(`${dir}/`)))
  const discover = home === undefined ? '' : ` discover -s ${home}${isPackage(files, home) ? ' -t .' : ''}`
  return { command: `${python} -m unittest${discover}`, from: 'tests that unittest runs' }
}

function isPackage({ paths }: ProjectFiles, directory: string): boolean {
  return paths.includes(`${directory}/__init__.py`)
}

function findPythonBenchmark(
  files: ProjectFiles,
  python: string,
): { bench: FoundBenchmark | null; others: string[] } {
  const marked = listPytestBenchmarks(files)
  const [first] = marked
  if (first !== undefined) {
    const place = marked.length === 1 || !first.includes('/') ? first : first.slice(0, first.lastIndexOf('/'))
    const command = `${python} -m pytest -q ${place} --benchmark-only --benchmark-max-time=0.2 --benchmark-json="$WINNOW_RESULT_PATH"`
    return { bench: createToolBenchmark(command, first, 'pytest-benchmark'), others: [] }
  }
  const script = findBenchScript(files, /\.py$/, python)
  if (script !== null) return { bench: script.found, others: script.others }
  return { bench: findBenchTarget(files), others: [] }
}

/** The package that people import. */
function findPythonEntry(sources: readonly string[]): EntryPoint | null {
  const packages = sources.flatMap(path => /^(?:src\/)?(\w+)\/__init__\.py$/.exec(path)?.[1] ?? [])
  const modules = sources.flatMap(path => /^(?:src\/)?(\w+)\.py$/.exec(path)?.[1] ?? [])
  const [name] = [...packages, ...modules]
  return name === undefined ? null : { kind: 'module', path: name }
}
