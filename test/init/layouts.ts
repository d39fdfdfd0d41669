import type { Files } from './a-project.ts'

/** A small project of our own in the layout of a known one, and the spec that a maintainer of it would write. */
export interface Layout {
  files: Files
  /** Lines of the spec below `winnow: 1`. */
  spec: string[]
  /** Other files that init writes. */
  writes?: string[]
  /** Lines that it says besides. */
  notes?: (string | RegExp)[]
}

const WORKER_SUITE = `const { Suite } = require('benchmark')
const { parentPort } = require('node:worker_threads')
const routes = require('..')
new Suite()
  .add('static route', () => routes.find('/a/b'))
  .on('cycle', event => parentPort.postMessage(String(event.target)))
  .run()
`
const STARTS_WORKERS = `const path = require('node:path')
const { Worker } = require('node:worker_threads')
for (const name of ['static', 'parametric']) {
  new Worker(path.join(__dirname, 'bench-thread.js'), { workerData: name }).on('message', console.log)
}
`
const COMPARED = 'metric: { primary: { name: geomean_ns_per_op, direction: minimize } }'

export const LAYOUTS: Readonly<Record<string, Layout>> = {
  // main at the top beside lib/, a benchmark behind workers, scripts that compare branches
  'find-my-way': {
    files: {
      'package.json': {
        name: 'router',
        main: 'index.js',
        scripts: {
          bench: 'node ./benchmark/bench.js',
          'bench:cmp': 'node ./benchmark/compare-branches.js',
          test: 'node --test',
        },
        devDependencies: { benchmark: '^2.1.4' },
      },
      '.eslintrc.js': 'module.exports = {}\n',
      'index.js': "module.exports = require('./lib/tree')\n",
      'index.d.ts': 'export {}\n',
      'lib/tree.js': "exports.find = path => path.split('/').length\n",
      'lib/node.js': 'exports.node = {}\n',
      'benchmark/bench.js': STARTS_WORKERS,
      'benchmark/bench-thread.js': WORKER_SUITE,
      'benchmark/compare-branches.js': "require('node:child_process').execSync('git checkout main')\n",
      'test/find.test.js': '',
    },
    spec: [
      COMPARED,
      'measurement: { setup: npm install --no-package-lock, command: node ./benchmark/bench.js, output: benchmark-js }',
      'gates: [{ name: tests, command: npm test }]',
      'scope: { mutable: [index.js, lib/] }',
    ],
  },
  // the same behind a flag of node, a generator in build/, examples and types beside it
  'fast-json-stringify': {
    files: {
      'package.json': {
        name: 'stringify',
        main: 'index.js',
        types: 'types/index.d.ts',
        scripts: {
          bench: 'node --expose-gc ./benchmark/bench.js',
          benchmark: 'node ./benchmark/bench-cmp-lib.js',
          test: 'npm run test:unit',
          'test:unit': 'node --test',
        },
        devDependencies: { tinybench: '^6.0.0' },
      },
      'eslint.config.js': 'module.exports = []\n',
      'index.js': "module.exports = require('./lib/serializer')\n",
      'lib/serializer.js': 'module.exports = value => JSON.stringify(value)\n',
      'build/build-schema-validator.js': "require('node:fs').writeFileSync('lib/validator.js', '')\n",
      'benchmark/bench.js': STARTS_WORKERS,
      'benchmark/bench-thread.js':
        "const { Bench } = require('tinybench')\nconst bench = new Bench()\nbench.run().then(() => console.log(`object x ${1} ops/sec`))\n",
      'benchmark/bench-cmp-lib.js': '',
      'examples/server.js': 'listen()\n',
      'types/index.d.ts': '',
      'test/object.test.js': '',
    },
    spec: [
      COMPARED,
      'measurement: { setup: npm install --no-package-lock, command: node --expose-gc ./benchmark/bench.js, output: benchmark-js }',
      'gates: [{ name: tests, command: npm test }]',
      'scope: { mutable: [index.js, lib/] }',
    ],
  },
  // the bench script builds first; what it starts runs a fixed number of times, and is timed
  marked: {
    files: {
      'package.json': {
        name: 'markdown',
        type: 'module',
        main: './lib/markdown.esm.js',
        scripts: {
          build: 'esbuild src/index.ts --outfile=lib/markdown.esm.js',
          bench: 'npm run build && node test/bench.js',
          test: 'npm run build && node --test test/unit',
        },
        devDependencies: { esbuild: '^0.25.0' },
      },
      'package-lock.json': '{}',
      'src/index.ts': 'export const render = (text: string) => text.trim()\n',
      'src/lexer.ts': 'export const tokens = []\n',
      'bin/markdown.js': '#!/usr/bin/env node\n',
      'test/bench.js':
        "import { render } from '../lib/markdown.esm.js'\nfor (let round = 0; round < 1000; round += 1) render('# a')\nconsole.log('done')\n",
      'test/unit/render.test.js': '',
    },
    spec: [
      'measurement: { setup: npm ci && npm run --silent build, command: node test/bench.js }',
      'gates: [{ name: tests, command: npm test }]',
      'scope: { mutable: [src/] }',
    ],
  },
  // C at the top, a package.json for those who install it, no benchmark
  cJSON: {
    files: {
      'package.json': { name: 'json-in-c', version: '1.0.0', files: ['parse.c', 'parse.h'] },
      Makefile:
        'all: shared\nshared:\n\tcc -shared -o libparse.so parse.c\ntest: all\n\t./parse_test\n.PHONY: all shared test\n',
      'CMakeLists.txt': 'project(parse C)\nenable_testing()\n',
      'parse.c': '#include "parse.h"\nint parse(const char *text) { return *text; }\n',
      'parse.h': 'int parse(const char *text);\n',
      'parse_utils.c': '#include "parse.h"\n',
      'test.c': 'int main(void) { return 0; }\n',
      'tests/number.c': 'int main(void) { return 0; }\n',
      'fuzzing/fuzz_main.c': 'int main(void) { return 0; }\n',
      '.github/CONTRIBUTING.md': '',
    },
    spec: [
      'metric: { primary: { name: milliseconds, direction: minimize }, degenerate_gates: [{ name: output_bytes, check: "> 0" }] }',
      'measurement: { setup: make && cc -O2 -I. -o bench/speed bench/speed.c, command: ./bench/speed }',
      'gates: [{ name: tests, command: make test }]',
      'scope: { mutable: [parse.c, parse.h, parse_utils.c] }',
    ],
    writes: ['bench/speed.c'],
  },
  // a Python package, its docs and examples beside it, tests for pytest, no benchmark
  sqlparse: {
    files: {
      'pyproject.toml':
        '[project]\nname = "sql"\n[project.optional-dependencies]\ndev = ["pytest"]\n[build-system]\nrequires = ["hatchling"]\n',
      'sql/__init__.py': 'def parse(text):\n    return text.split()\n',
      'sql/engine/grouping.py': 'def group(tokens):\n    return tokens\n',
      'docs/source/conf.py': "project = 'sql'\n",
      'examples/extract.py': 'print(1)\n',
      'tests/test_parse.py': 'import pytest\n\n\ndef test_parse():\n    pass\n',
      'tests/conftest.py': '',
    },
    spec: [
      'metric: { primary: { name: milliseconds, direction: minimize }, degenerate_gates: [{ name: output_bytes, check: "> 0" }] }',
      `measurement: { setup: "python3 -m venv .venv && .venv/bin/pip install --quiet -e '.[dev]'", command: .venv/bin/python bench/speed.py }`,
      'gates: [{ name: tests, command: .venv/bin/python -m pytest -q }]',
      'scope: { mutable: [sql/] }',
    ],
    writes: ['bench/speed.py'],
  },
  // one source file at the top, bench.js and example.js beside it, no bench script
  fastq: {
    files: {
      'package.json': {
        name: 'queue',
        main: 'queue.js',
        scripts: { lint: 'standard', test: 'node test/test.js' },
        devDependencies: { fastbench: '^1.0.1' },
      },
      'queue.js': 'module.exports = work => ({ push: work })\n',
      'bench.js':
        "const bench = require('fastbench')\nconst queue = require('./')(() => {})\nconst run = bench([function push (done) { queue.push(1, done) }], 100000)\nrun(run)\n",
      'example.js': "require('./')(console.log).push(1)\n",
      'index.d.ts': '',
      'eslint.config.js': 'module.exports = []\n',
      'test/test.js': '',
    },
    spec: [
      'measurement: { setup: npm install --no-package-lock, command: node bench.js }',
      'gates: [{ name: tests, command: npm test }]',
      'scope: { mutable: [queue.js] }',
    ],
  },
  // several entries at the top and in folders, test/benchmark.js that prints rates of tinybench
  nanoid: {
    files: {
      'package.json': {
        name: 'ids',
        type: 'module',
        exports: {
          '.': { browser: './index.browser.js', default: './index.js' },
          './non-secure': './non-secure/index.js',
        },
        scripts: { test: 'node --test', start: 'vite' },
        devDependencies: { tinybench: '^3.0.0' },
      },
      'pnpm-lock.yaml': '',
      'index.js': 'export const id = () => Math.random().toString(36)\n',
      'index.browser.js': 'export const id = () => crypto.randomUUID()\n',
      'index.d.ts': '',
      'non-secure/index.js': 'export const id = () => 1\n',
      'bin/ids.js': '#!/usr/bin/env node\n',
      'eslint.config.js': 'export default []\n',
      '.size-limit.js': 'export default []\n',
      'test/benchmark.js':
        "import { Bench } from 'tinybench'\nimport { id } from '../index.js'\nconst bench = new Bench()\nbench.add('id', () => id())\nawait bench.run()\nfor (const { name, result } of bench.tasks) console.log(`${name} ${Math.round(result.hz)} ops/sec`)\n",
      'test/index.test.js': '',
    },
    spec: [
      COMPARED,
      'measurement: { setup: pnpm install --frozen-lockfile, command: node test/benchmark.js, output: benchmark-js }',
      'gates: [{ name: tests, command: pnpm test }]',
      'scope: { mutable: [index.js, bin/, index.browser.js, non-secure/] }',
    ],
  },
  // one source file at the top, built into umd/, which is committed; no benchmark
  'long.js': {
    files: {
      'package.json': {
        name: 'wide',
        type: 'module',
        main: 'umd/index.js',
        exports: { '.': { import: './index.js', require: './umd/index.js' } },
        scripts: { build: 'node scripts/build.js', test: 'node tests' },
      },
      'index.js': 'export const add = (a, b) => a + b\n',
      'index.d.ts': '',
      'umd/index.js': 'exports.add = (a, b) => a + b\n',
      'scripts/build.js': '',
      'tests/index.js': "import '../index.js'\n",
    },
    spec: [
      'metric: { primary: { name: milliseconds, direction: minimize }, degenerate_gates: [{ name: output_bytes, check: "> 0" }] }',
      'measurement: { command: node bench/speed.mjs }',
      'gates: [{ name: tests, command: npm test }]',
      'scope: { mutable: [index.js] }',
    ],
    writes: ['bench/speed.mjs'],
  },
  // one Go package at the top whose tests hold the benchmarks
  gjson: {
    files: {
      'go.mod': 'module example.com/json\n\ngo 1.18\n',
      'go.sum': '',
      'json.go': 'package json\n\nfunc Get(text string) string { return text }\n',
      'json_test.go':
        'package json\n\nimport "testing"\n\nfunc BenchmarkGet(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tGet("a")\n\t}\n}\n',
    },
    spec: [
      'metric: { primary: { name: geomean_ns_per_op, direction: minimize } }',
      `measurement: { setup: go mod download, command: go test -run '^$' -bench . -benchtime 100ms ., output: go }`,
      'gates: [{ name: tests, command: go test ./... }]',
      'scope: { mutable: [ "**/*.go" ], immutable: [ "**/*_test.go" ] }',
    ],
  },
  // the same with several files, benchmarks in one of their tests only, and no dependencies
  httprouter: {
    files: {
      'go.mod': 'module example.com/router\n\ngo 1.7\n',
      'router.go': 'package router\n',
      'tree.go': 'package router\n',
      'path.go': 'package router\n\nfunc Clean(path string) string { return path }\n',
      'router_test.go': 'package router\n',
      'path_test.go':
        'package router\n\nimport "testing"\n\nfunc BenchmarkClean(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tClean("/a")\n\t}\n}\n',
      '.travis.yml': '',
    },
    spec: [
      'metric: { primary: { name: geomean_ns_per_op, direction: minimize } }',
      `measurement: { command: go test -run '^$' -bench . -benchtime 100ms ., output: go }`,
      'gates: [{ name: tests, command: go test ./... }]',
      'scope: { mutable: [ "**/*.go" ], immutable: [ "**/*_test.go" ] }',
    ],
  },
  // main at the top beside lib/, a bench folder with packages of its own and a module that does nothing when run
  picomatch: {
    files: {
      'package.json': {
        name: 'globs',
        main: 'index.js',
        files: ['index.js', 'posix.js', 'lib'],
        scripts: { lint: 'eslint .', mocha: 'mocha --reporter dot', test: 'npm run lint && npm run mocha' },
        devDependencies: { mocha: '^10.4.0' },
      },
      '.eslintrc.json': '{}',
      '.verb.md': '',
      'index.js': "module.exports = require('./lib/scan')\n",
      'posix.js': "module.exports = require('./lib/scan')\n",
      'lib/scan.js': 'module.exports = glob => glob.length\n',
      'lib/.eslintrc.json': '{}',
      'bench/package.json': { name: 'globs-bench', private: true, dependencies: { benchmark: '^2.1.4' } },
      'bench/index.js':
        "const { Suite } = require('benchmark')\nconst scan = require('..')\nnew Suite().add('scan', () => scan('*')).on('cycle', event => console.log(String(event.target))).run()\n",
      'bench/cases.js': "module.exports = { star: ['*.js'] }\n",
      'examples/match.js': "require('..')('*')\n",
      'test/scan.js': '',
    },
    spec: [
      COMPARED,
      'measurement: { setup: npm install --no-package-lock && (cd bench && npm install --no-package-lock), command: node bench/index.js, output: benchmark-js }',
      'gates: [{ name: tests, command: npm test }]',
      'scope: { mutable: [index.js, lib/, posix.js], immutable: [ "**/.*" ] }',
    ],
  },
  // built into dist/, which is not committed; a benchmark among the examples that has packages of its own
  uuid: {
    files: {
      'package.json': {
        name: 'unique',
        type: 'module',
        main: './dist/index.js',
        scripts: {
          build: './scripts/build.sh',
          pretest: 'npm run build',
          test: 'node --test',
          'test:benchmark': 'npm run build && cd examples/benchmark && npm install && npm test',
        },
        devDependencies: { typescript: '^5.0.0' },
      },
      'package-lock.json': '{}',
      '.babelrc.js': 'module.exports = {}\n',
      '.local/v1.js': 'console.log(1)\n',
      'src/index.ts': 'export const unique = () => crypto.randomUUID()\n',
      'src/test/unique.test.ts': '',
      'scripts/build.sh': 'npx tsc\n',
      'examples/benchmark/package.json': {
        name: 'unique-benchmark',
        private: true,
        scripts: { test: 'node node.js' },
        dependencies: { benchmark: '^2.1.4', unique: 'file:../..' },
      },
      'examples/benchmark/node.js':
        "import { unique } from 'unique'\nimport run from './benchmark.js'\nrun(unique)\n",
      'examples/benchmark/benchmark.js':
        "import Benchmark from 'benchmark'\nexport default function run (unique) {\n  new Benchmark.Suite().add('unique', unique).on('cycle', event => console.log(event.target.toString())).run()\n}\n",
    },
    spec: [
      COMPARED,
      'measurement: { setup: npm ci && npm run --silent build && (cd examples/benchmark && npm install --no-package-lock), command: cd examples/benchmark && node node.js, output: benchmark-js }',
      'gates: [{ name: tests, command: npm test }]',
      'scope: { mutable: [src/], immutable: [ "**/*.test.*", "**/test/" ] }',
    ],
  },
}
