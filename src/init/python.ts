import { quoteShell } from '../model/text.ts'
import { createToolBenchmark, findBenchmark, findTestTarget } from './benchmarks.ts'
import type { HarnessTemplate, SkeletonRequest } from './harness.ts'
import {
  type Detection,
  type EntryPoint,
  findNearestAbove,
  type FoundCommand,
  getNestedValue,
  isTable,
  listImmutablePatterns,
  listSourceFiles,
  type ProjectFiles,
  type ProjectLocation,
  readTomlManifest,
  runAbove,
  selectSourcePlaces,
} from './project.ts'

const MANIFESTS = ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt']
const TESTS = [
  { pattern: '**/test_*.py', matches: /(?:^|\/)test_[^/]+\.py$/ },
  { pattern: '**/*_test.py', matches: /_test\.py$/ },
  { pattern: '**/conftest.py', matches: /(?:^|\/)conftest\.py$/ },
]

export function detectPython(project: ProjectLocation): Detection | null {
  const { files } = project
  const sources = listSourceFiles(files, /\.py$/)
  if (!MANIFESTS.some(name => files.paths.includes(name)) && sources.length === 0) return null
  const kind = detectTestKind(files)
  const { name, setup, from, python, notes } = findPythonManager(project, listUsedPackages(files, kind))
  const { bench, notes: benchNotes } = findPythonBenchmark(files, python)
  const test = buildTestCommand(files, kind, python)
  const mutable = selectSourcePlaces(sources, ['src/'])
  return {
    manager: name,
    setup: setup === null ? null : { command: setup, from },
    test: bench?.output === 'pytest-benchmark' ? disableBenchmarks(test) : test,
    bench,
    mutable,
    immutable: listImmutablePatterns(files, mutable, TESTS),
    entry: findPythonEntry(sources),
    interpreter: python,
    weight: sources.length,
    notes: [...notes, ...benchNotes],
  }
}

function listUsedPackages(files: ProjectFiles, kind: ReturnType<typeof detectTestKind>): string[] {
  const benchmarks = listPytestBenchmarks(files).length > 0
  return [...(kind === 'pytest' || benchmarks ? ['pytest'] : []), ...(benchmarks ? ['pytest-benchmark'] : [])]
}

/** Files with a test that takes the fixture `benchmark`. */
function listPytestBenchmarks(files: ProjectFiles): string[] {
  return files.paths.filter(
    path => path.endsWith('.py') && /def test_\w+\([^)]*\bbenchmark\b/.test(files.text(path) ?? ''),
  )
}

/** Runs benchmarks once, without timing, when they serve as tests. */
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
  const isPackage = home !== undefined && files.paths.includes(`${home}/__init__.py`)
  const discover = home === undefined ? '' : ` discover -s ${home}${isPackage ? ' -t .' : ''}`
  return { command: `${python} -m unittest${discover}`, from: 'tests that unittest runs' }
}

function findPythonBenchmark(files: ProjectFiles, python: string): ReturnType<typeof findBenchmark> {
  const marked = listPytestBenchmarks(files)
  const [first] = marked
  if (first !== undefined) {
    const target =
      marked.length === 1 || !first.includes('/') ? first : first.slice(0, first.lastIndexOf('/'))
    const command = `${python} -m pytest -q ${target} --benchmark-only --benchmark-max-time=0.2 --benchmark-json="$WINNOW_RESULT_PATH"`
    return { bench: createToolBenchmark(command, first, 'pytest-benchmark'), notes: [] }
  }
  return findBenchmark(files, /\.py$/, python)
}

function findPythonEntry(sources: readonly string[]): EntryPoint | null {
  const packages = sources.flatMap(path => /^(?:src\/)?(\w+)\/__init__\.py$/.exec(path)?.[1] ?? [])
  const modules = sources.flatMap(path => /^(?:src\/)?(\w+)\.py$/.exec(path)?.[1] ?? [])
  const [name] = [...packages, ...modules]
  return name === undefined ? null : { kind: 'module', path: name }
}

// Package managers

interface PythonManager {
  name: 'uv' | 'poetry' | 'pip' | null
  setup: string | null
  from: string
  python: string
  notes: string[]
}

/** `used` lists packages that the tests and benchmarks need, also if no file names them. */
function findPythonManager(project: ProjectLocation, used: readonly string[]): PythonManager {
  const manifest = readTomlManifest(project.files, 'pyproject.toml')
  const uv = findNearestAbove(project, ['uv.lock'])
  if (uv !== null) {
    const setup = uv.steps === 0 ? 'uv sync --frozen' : 'uv sync --frozen --inexact'
    return { name: 'uv', setup, from: 'uv.lock', python: 'uv run --frozen --no-sync python', notes: [] }
  }
  const poetry = findNearestAbove(project, ['poetry.lock'])
  if (poetry !== null || getNestedValue(manifest, 'tool', 'poetry') !== undefined) {
    // Poetry's default location depends on the directory name, so both sides would share it.
    const install = 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --quiet'
    const from = poetry === null ? 'tool.poetry of pyproject.toml' : 'poetry.lock'
    const setup = runAbove(poetry?.steps ?? 0, install)
    return { name: 'poetry', setup, from, python: 'poetry run python', notes: [] }
  }
  return findPip(project.files, used) ?? createPlainPython(project)
}

/** Installs into a virtual environment, to keep the person's Python unchanged. */
function findPip(files: ProjectFiles, used: readonly string[]): PythonManager | null {
  const manifest = readTomlManifest(files, 'pyproject.toml')
  const requirements = listRequirementFiles(files)
  const isProject = getNestedValue(manifest, 'project') !== undefined || files.paths.includes('setup.py')
  const extras = listExtras(manifest)
  const packages = listGroupPackages(manifest)
  const declared = [
    ...requirements.map(file => files.text(file) ?? ''),
    ...packages,
    JSON.stringify(manifest),
  ]
  const missing = used.filter(name => !declared.some(text => hasPackageName(text, name)))
  const needed = [
    getNestedValue(manifest, 'project', 'dependencies'),
    extras,
    packages,
    requirements,
    missing,
  ]
  const hasPackages =
    files.paths.includes('setup.py') || needed.some(each => Array.isArray(each) && each.length > 0)
  if (!hasPackages) return null
  const parts = [
    ...requirements.flatMap(file => ['-r', file]),
    ...packages.map(quoteShell),
    ...(isProject ? ['-e', extras.length === 0 ? '.' : quoteShell(`.[${extras.join(',')}]`)] : []),
    ...missing,
  ]
  const from =
    [...requirements, ...(isProject ? ['pyproject.toml or setup.py'] : [])].join(', ') || 'the tests'
  const setup = `python3 -m venv .venv && .venv/bin/pip install --quiet ${parts.join(' ')}`
  const notes = missing.map(
    name =>
      `the tests use ${name}, but no file names it: setup installs its newest version; pin it in a requirements file`,
  )
  return { name: 'pip', setup, from, python: '.venv/bin/python', notes }
}

function createPlainPython(project: ProjectLocation): PythonManager {
  const inSource = project.files.paths.some(path => /^src\/.*\.py$/.test(path))
  const python = `PYTHONPATH=${inSource ? 'src' : '.'} python3`
  return { name: null, setup: null, from: '', python, notes: [] }
}

const FOR_TESTS = /^(?:dev|develop|development|tests?|testing|bench|benchmarks?)$/i

/** Excludes requirement files of documentation and linters. */
function listRequirementFiles({ paths }: ProjectFiles): string[] {
  const wanted = /^requirements(?:[-_.](?:dev|tests?|testing|bench|benchmarks?))?\.txt$/
  return paths.filter(path => wanted.test(path) || /^requirements\/(?:base|dev|tests?)\.txt$/.test(path))
}

function listExtras(manifest: unknown): string[] {
  const extras = getNestedValue(manifest, 'project', 'optional-dependencies')
  return isTable(extras) ? Object.keys(extras).filter(name => FOR_TESTS.test(name)) : []
}

/** Reads dependency groups, because older versions of pip do not accept a group by name. */
function listGroupPackages(manifest: unknown): string[] {
  const groups = getNestedValue(manifest, 'dependency-groups')
  if (!isTable(groups)) return []
  return Object.entries(groups).flatMap(([name, packages]) =>
    FOR_TESTS.test(name) && Array.isArray(packages)
      ? packages.filter((one): one is string => typeof one === 'string')
      : [],
  )
}

function hasPackageName(text: string, name: string): boolean {
  return new RegExp(`(?:^|["'\\s,\\[])${name}(?![\\w-])`, 'm').test(text)
}

// Harness

export function buildPythonHarness({ name, entry, interpreter }: SkeletonRequest): HarnessTemplate {
  const path = `bench/${name}.py`
  const module = entry?.kind === 'module' ? entry.path : null
  return {
    path,
    command: `${interpreter} ${path}`,
    commentSign: '#',
    exampleCall: module === null ? 'return parse(text)' : 'return subject.parse(text)',
    render: (head, workload) => `${head}
import json
import os
import subprocess
import sys
import time

# A child process loads and runs the code, so the code cannot end this process, print for it or change its clock.
CHILD = sys.argv[1:] == ["child"]
if CHILD:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # Import the code here, so that only the child loads it.
${module === null ? '' : `    import importlib\n    import ${module} as subject\n`}

${workload}
def workload():
${module === null ? '    return " ".join(str(n) for n in sorted((i * 7919) % 10007 for i in range(10000)))' : '    return repr(dir(importlib.reload(subject)))'}
# ================================


if CHILD:
    for line in sys.stdin:
        for _ in range(int(line)):
            answer = workload()
        print(len(str(answer)), file=answers, flush=True)
    sys.exit()

child = subprocess.Popen([sys.executable, __file__, "child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
output_bytes = 0


def took(calls):
    """Seconds of that many calls."""
    global output_bytes
    start = time.perf_counter()
    print(calls, file=child.stdin, flush=True)
    answer = child.stdout.readline()
    if not answer:
        sys.exit("the workload ended before it had answered")
    output_bytes = int(answer)
    return time.perf_counter() - start


calls = 1
while took(calls) < 0.005:
    calls *= 2
times = sorted(took(calls) / calls for _ in range(15))
child.stdin.close()
child.wait()
print(json.dumps({"milliseconds": times[7] * 1000, "output_bytes": output_bytes}))
`,
  }
}
