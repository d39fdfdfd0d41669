import type { ProjectLocation } from '../findings.ts'
import { findNearestAbove, runAbove } from '../lockfiles.ts'
import { type ProjectFiles, readTomlManifest, getNestedValue } from '../project-files.ts'
import { listExtras, listGroupPackages, hasPackageName, listRequirementFiles } from './python-packages.ts'

export interface PythonManager {
  name: 'uv' | 'poetry' | 'pip' | null
  setup: string | null
  from: string
  /** What starts Python with everything that was installed. */
  python: string
  notes: string[]
}

/** `used`: packages that the tests and benchmarks show they need, whether a file names them or not. */
export function findPythonManager(yard: ProjectLocation, used: readonly string[]): PythonManager {
  const manifest = readTomlManifest(yard.files, 'pyproject.toml')
  const uv = findNearestAbove(yard, ['uv.lock'])
  if (uv !== null) {
    const setup = uv.steps === 0 ? 'uv sync --frozen' : 'uv sync --frozen --inexact'
    return { name: 'uv', setup, from: 'uv.lock', python: 'uv run --frozen --no-sync python', notes: [] }
  }
  const poetry = findNearestAbove(yard, ['poetry.lock'])
  if (poetry !== null || getNestedValue(manifest, 'tool', 'poetry') !== undefined) {
    // Its usual place for packages is named after the directory, which both sides have in common.
    const install = 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --quiet'
    const from = poetry === null ? 'tool.poetry of pyproject.toml' : 'poetry.lock'
    const setup = runAbove(poetry?.steps ?? 0, install)
    return { name: 'poetry', setup, from, python: 'poetry run python', notes: [] }
  }
  return findPip(yard.files, used) ?? createPlainPython(yard)
}

/** Into a directory of its own: the person's Python is never written to. */
function findPip(files: ProjectFiles, used: readonly string[]): PythonManager | null {
  const manifest = readTomlManifest(files, 'pyproject.toml')
  const requirements = listRequirementFiles(files)
  const isProject = getNestedValue(manifest, 'project') !== undefined || files.paths.includes('setup.py')
  const extras = listExtras(manifest)
  const packages = listGroupPackages(manifest)
  const given = [...requirements.map(file => files.text(file) ?? ''), ...packages, JSON.stringify(manifest)]
  const adds = used.filter(name => !given.some(text => hasPackageName(text, name)))
  const needed = [getNestedValue(manifest, 'project', 'dependencies'), extras, packages, requirements, adds]
  const anything = files.paths.includes('setup.py') || needed.some(isFilled)
  if (!anything) return null
  const parts = [
    ...requirements.flatMap(file => ['-r', file]),
    ...packages.map(quoteRequirement),
    ...(isProject ? ['-e', extras.length === 0 ? '.' : quoteRequirement(`.[${extras.join(',')}]`)] : []),
    ...adds,
  ]
  const from =
    [...requirements, ...(isProject ? ['pyproject.toml or setup.py'] : [])].join(', ') || 'the tests'
  const setup = `python3 -m venv .venv && .venv/bin/pip install --quiet ${parts.join(' ')}`
  const notes = adds.map(
    name =>
      `${name} is used, and no file names it: its newest version is installed; pin it in a requirements file`,
  )
  return { name: 'pip', setup, from, python: '.venv/bin/python', notes }
}

function createPlainPython(yard: ProjectLocation): PythonManager {
  const inSource = yard.files.paths.some(path => /^src\/.*\.py$/.test(path))
  const python = `PYTHONPATH=${inSource ? 'src' : '.'} python3`
  return { name: null, setup: null, from: '', python, notes: [] }
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}

function quoteRequirement(word: string): string {
  return /^[\w.\-=]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
