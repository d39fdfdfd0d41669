import { describe, expect, it } from 'vitest'
import { commandsIn, found } from './a-project.ts'

const PACKAGE = { 'src/pk/__init__.py': 'def parse(text): return len(text)\n' }
const PROJECT = '[project]\nname = "pk"\nversion = "1"\n'
const TEST = { 'tests/test_pk.py': 'def test_pk(): pass\n' }
const UNITTEST = { 'tests/test_pk.py': 'import unittest\n' }

describe('a Python project', () => {
  it.each([
    ['uv.lock', 'uv sync --frozen', 'uv run --frozen --no-sync python'],
    [
      'poetry.lock',
      'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --quiet',
      'poetry run python',
    ],
  ])('with %s installs from it', (lock, setup, python) => {
    const files = { ...PACKAGE, ...TEST, 'pyproject.toml': PROJECT, [lock]: '' }
    expect(commandsIn(files)).toMatchObject({ setup, test: `${python} -m pytest -q` })
    expect(found(files).interpreter).toBe(python)
  })

  it('with poetry in its manifest uses poetry without a lock file', () => {
    const files = { ...PACKAGE, 'pyproject.toml': '[tool.poetry]\nname = "pk"\n' }
    expect(found(files).manager).toBe('poetry')
  })

  it('uses pip in a virtual environment, with the packages that tests need', () => {
    const manifest = `${PROJECT}dependencies = ["attrs"]\n[project.optional-dependencies]\ntest = ["pytest>=8"]\ndocs = ["sphinx"]\n`
    expect(commandsIn({ ...PACKAGE, ...TEST, 'pyproject.toml': manifest })).toMatchObject({
      setup: "python3 -m venv .venv && .venv/bin/pip install --quiet -e '.[test]'",
      test: '.venv/bin/python -m pytest -q',
    })
  })

  it('uses requirement files and groups for tests, but not those for documentation', () => {
    const files = {
      ...PACKAGE,
      ...TEST,
      'requirements.txt': 'attrs\n',
      'requirements-dev.txt': 'pytest\n',
      'requirements-docs.txt': 'sphinx\n',
      'pyproject.toml':
        '[dependency-groups]\ndev = ["pytest>=8,<9", {include-group = "x"}]\ndocs = ["sphinx"]\n',
    }
    expect(commandsIn(files).setup).toBe(
      "python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt -r requirements-dev.txt 'pytest>=8,<9'",
    )
  })

  it('installs the newest pytest if no file names it, and says so', () => {
    const { setup, notes } = found({ ...PACKAGE, ...TEST, 'pyproject.toml': PROJECT })
    expect(setup?.command).toBe('python3 -m venv .venv && .venv/bin/pip install --quiet -e . pytest')
    expect(notes).toEqual([expect.stringContaining('pin it')])
  })

  it('without packages uses the system Python with PYTHONPATH', () => {
    expect(commandsIn({ ...PACKAGE, ...UNITTEST, 'pyproject.toml': PROJECT })).toEqual({
      setup: null,
      test: 'PYTHONPATH=src python3 -m unittest discover -s tests',
      bench: null,
    })
    expect(found({ 'pk/__init__.py': '' }).interpreter).toBe('PYTHONPATH=. python3')
  })

  it('may change its package, but not the tests inside', () => {
    const files = { 'pk/__init__.py': '', 'pk/tests/test_a.py': '', 'setup.py': '', 'docs/conf.py': '' }
    expect(found(files)).toMatchObject({ mutable: ['pk/'], immutable: ['**/test_*.py'] })
    expect(found(files).entry).toEqual({ kind: 'module', path: 'pk' })
  })
})

describe('a benchmark in Python', () => {
  it('is what pytest-benchmark measures', () => {
    const files = {
      ...PACKAGE,
      'tests/test_speed.py': 'def test_speed(benchmark): benchmark(len)\n',
      'uv.lock': '',
    }
    expect(found(files).bench).toEqual({
      command:
        'uv run --frozen --no-sync python -m pytest -q tests/test_speed.py --benchmark-only --benchmark-max-time=0.2 --benchmark-json="$WINNOW_RESULT_PATH"',
      from: 'tests/test_speed.py',
      output: 'pytest-benchmark',
      metric: { name: 'geomean_median_seconds', direction: 'minimize' },
    })
    expect(commandsIn(files).test).toBe('uv run --frozen --no-sync python -m pytest -q --benchmark-disable')
  })

  it('has its packages installed even if no file names them', () => {
    const files = {
      ...PACKAGE,
      'pyproject.toml': PROJECT,
      'tests/test_a.py': 'def test_a(benchmark): pass\n',
    }
    expect(commandsIn(files).setup).toBe(
      'python3 -m venv .venv && .venv/bin/pip install --quiet -e . pytest pytest-benchmark',
    )
    expect(found(files).notes).toHaveLength(2)
  })

  it('is never a module that only others import', () => {
    const bench = (text: string) => commandsIn({ ...PACKAGE, 'bench/cases.py': text }).bench
    expect(
      bench('import pk\n\n\nclass Suite:\n    def time_parse(self):\n        pk.parse("a")\n'),
    ).toBeNull()
    expect(bench('def main():\n    pass\n\n\nmain()\n')).toBe('PYTHONPATH=src python3 bench/cases.py')
    expect(bench('def main():\n    pass\n\n\nif __name__ == "__main__":\n    main()\n')).not.toBeNull()
  })

  it('is a script below bench', () => {
    const source = 'import json\nprint(json.dumps({"seconds": 1}))\n'
    const files = { ...PACKAGE, 'benchmarks/run.py': source, 'benchmarks/common_utils.py': '' }
    expect(found(files).bench).toMatchObject({
      command: 'PYTHONPATH=src python3 benchmarks/run.py',
      metric: { name: 'seconds' },
    })
  })
})
