import { describe, expect, it } from 'vitest'
import { commandsIn, found } from './a-project.ts'

const SOURCES = { 'src/index.js': 'export const parse = text => text.length\n' }
const PACKAGE = { name: 'parser', main: 'src/index.js', devDependencies: { mitata: '1' } }

function withPackage(more: object, files: Record<string, string | object> = {}) {
  return { ...SOURCES, 'package.json': { ...PACKAGE, ...more }, ...files }
}

describe('a Node project', () => {
  const scripts = { test: 'node --test', bench: 'tsx bench/parse.ts' }

  it.each([
    ['package-lock.json', 'npm ci', 'npm test', 'npm run --silent bench'],
    ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile', 'pnpm test', 'pnpm --silent run bench'],
    ['yarn.lock', 'yarn install --frozen-lockfile', 'yarn test', 'yarn --silent run bench'],
    ['bun.lock', 'bun install --frozen-lockfile', 'bun run test', 'bun run --silent bench'],
  ])('with %s installs from it without changing it', (lock, setup, test, bench) => {
    expect(commandsIn(withPackage({ scripts }, { [lock]: '' }))).toEqual({ setup, test, bench })
  })

  it('prefers the declared package manager over the lock file', () => {
    const files = withPackage(
      { scripts, packageManager: 'yarn@4.1.0' },
      { 'yarn.lock': '', 'package-lock.json': '' },
    )
    expect(commandsIn(files).setup).toBe('yarn install --immutable')
  })

  it('creates no lock file, and installs nothing without packages', () => {
    expect(commandsIn(withPackage({ scripts })).setup).toBe('npm install --no-package-lock')
    expect(commandsIn(withPackage({ scripts, devDependencies: {} })).setup).toBeNull()
  })

  it('is built in the setup if its entry is not committed', () => {
    const built = withPackage(
      { main: 'dist/index.js', scripts: { build: 'tsc' } },
      { 'package-lock.json': '' },
    )
    expect(commandsIn(built).setup).toBe('npm ci && npm run --silent build')
    expect(found(built).entry).toEqual({ kind: 'module', path: 'dist/index.js' })
  })

  it.each([
    [
      'the script that npm init writes',
      { scripts: { test: 'echo "Error: no test specified" && exit 1' } },
      {},
      null,
    ],
    ['vitest', { devDependencies: { vitest: '4' } }, {}, 'npx --no-install vitest run'],
    ['jest', { devDependencies: { jest: '30' } }, {}, 'npx --no-install jest'],
    ['test files alone', {}, { 'test/a.test.js': '' }, 'node --test'],
    ['a Makefile', {}, { Makefile: 'test: build\n\tnode a\n' }, 'make test'],
  ])('takes its tests from %s', (_, more, files, test) => {
    expect(commandsIn(withPackage(more, files)).test).toBe(test)
  })

  it('may change its sources, but not the tests among them', () => {
    const { mutable, immutable } = found(withPackage({}, { 'src/parse.test.js': '', 'bench/a.mjs': '' }))
    expect([mutable, immutable]).toEqual([['src/'], ['**/*.test.*']])
  })

  it('with sources at the top may change these files', () => {
    const files = {
      'package.json': { name: 'a' },
      'index.js': '',
      'parse.js': '',
      'rollup.config.js': '',
      'a.test.js': '',
      'test.js': '',
      'bench.js': '',
    }
    expect(found(files).mutable).toEqual(['index.js', 'parse.js'])
  })

  it('is detected even if its manifest is not valid JSON', () => {
    expect(found({ ...SOURCES, 'package.json': '{' })).toMatchObject({ language: 'node', setup: null })
  })
})

describe('a benchmark in Node', () => {
  it.each(['bench', 'benchmark', 'perf'])('is the script %s', name => {
    expect(commandsIn(withPackage({ scripts: { [name]: 'tsx x.ts' } })).bench).toBe(
      `npm run --silent ${name}`,
    )
  })

  it('that only starts a file runs without npm, so that the time of npm is not measured', () => {
    const start = (script: string) => commandsIn(withPackage({ scripts: { bench: script } })).bench
    expect(start('node x.js --fast')).toBe('node x.js --fast')
    expect(start('NODE_ENV=production node x.js')).toBe('NODE_ENV=production node x.js')
    expect(start('node x.js | tee log')).toBe('npm run --silent bench')
  })

  it.each([
    ['npm run build && node b.js', 'npm run --silent build', 'node b.js'],
    ['tsc -p . && tsx b.ts', 'npx --no-install tsc -p .', 'npx --no-install tsx b.ts'],
    ['yarn build:prod && node b.js', 'npm run --silent build:prod', 'node b.js'],
    [
      'cd perf && npm install && node b.js',
      '(cd perf && npm install --no-package-lock)',
      'cd perf && node b.js',
    ],
  ])('%j is split: its build runs in the setup and is not timed', (script, build, bench) => {
    const files = withPackage({ scripts: { bench: script } })
    expect(commandsIn(files)).toMatchObject({ setup: `npm install --no-package-lock && ${build}`, bench })
  })

  it('has its pre-script in the setup', () => {
    const files = withPackage({ scripts: { prebench: 'tsc', bench: 'node b.js' } })
    expect(commandsIn(files)).toMatchObject({
      setup: 'npm install --no-package-lock && npm run --silent prebench',
      bench: 'node b.js',
    })
  })

  it.each([
    'bench.js',
    'benchmark.mjs',
    'test/bench.js',
    'test/benchmark.js',
    'tests/perf.cjs',
    'bench/a.js',
  ])('may be %s', path => {
    expect(commandsIn(withPackage({}, { [path]: 'run()\n' })).bench).toBe(`node ${path}`)
  })

  it.each([
    ["import a from './a.js'\nexport const cases = [a]\n", null],
    ["const a = require('./a')\nmodule.exports = function run (b) {\n  return a(b)\n}\n", null],
    ["'use strict'\nrequire('./setup')\nexports.run = () => 1\n", null],
    ['export const cases = []\nmain()\n', 'node bench/index.mjs'],
    ['module.exports = 1\nif (require.main === module) go()\n', 'node bench/index.mjs'],
    ['export {}\nsuite\n  .add(1)\n  .run()\n', 'node bench/index.mjs'],
    ['for (const a of [1]) console.log(a)\nexport {}\n', 'node bench/index.mjs'],
  ])('is never a module that only exports: %j', (source, bench) => {
    const files = withPackage({}, { 'bench/index.mjs': source })
    expect(commandsIn(files).bench).toBe(bench)
    expect(
      commandsIn(withPackage({ scripts: { bench: 'node bench/index.mjs' } }, { 'bench/index.mjs': source }))
        .bench,
    ).toBe(bench)
  })

  it('of vitest writes its results to WINNOW_RESULT_PATH', () => {
    const bench = { output: 'vitest', metric: { name: 'geomean_mean_ms', direction: 'minimize' } }
    const script = withPackage({ scripts: { bench: 'vitest bench src' } })
    expect(found(script).bench).toMatchObject({
      ...bench,
      command: 'npx --no-install vitest bench src --run --outputJson "$WINNOW_RESULT_PATH"',
    })
    const files = withPackage({ devDependencies: { vitest: '4' } }, { 'src/parse.bench.ts': '' })
    expect(found(files).bench).toMatchObject(bench)
  })

  it('of hyperfine writes its results to WINNOW_RESULT_PATH', () => {
    expect(found(withPackage({ scripts: { bench: 'hyperfine "node a.js"' } })).bench).toMatchObject({
      command: 'npm run --silent bench -- --export-json "$WINNOW_RESULT_PATH"',
      output: 'hyperfine',
    })
  })

  it.each([
    ['console.log(JSON.stringify({ ops_per_sec: 5 }))', 'ops_per_sec', 'maximize', 'json'],
    ['console.log(JSON.stringify({"parse_ms": 5}))', 'parse_ms', 'minimize', 'json'],
    ['console.log(`METRIC p99=${p99}`)', 'p99', 'minimize', 'metric-lines'],
  ])('that prints %s has that number as its metric', (source, name, direction, output) => {
    const script = withPackage(
      { scripts: { bench: 'node ./bench/parse.mjs' } },
      { 'bench/parse.mjs': source },
    )
    expect(found(script).bench).toMatchObject({ metric: { name, direction }, output })
  })

  it.each(['check', 'checksum', 'crc32', 'sink'])('that prints only %s is timed by winnow', name => {
    const files = { 'bench/parse.mjs': `console.log(JSON.stringify({ ${name}: total }))` }
    const script = withPackage({ scripts: { bench: 'node ./bench/parse.mjs' } }, files)
    expect(found(script).bench).toMatchObject({ metric: null })
  })

  it('without a known output is timed by winnow', () => {
    expect(found(withPackage({ scripts: { bench: 'node a.js' } })).bench?.metric).toBeNull()
  })

  it('of tinybench is read by its results and not timed', () => {
    const source =
      "import { Bench } from 'tinybench'\nconst bench = new Bench()\nconsole.table(bench.table())\n"
    const files = withPackage({}, { 'bench/parse.mjs': source })
    expect(found(files)).toMatchObject({
      bench: { output: 'vitest', metric: { name: 'geomean_median_ms', direction: 'minimize' } },
      notes: [expect.stringContaining('console.log(JSON.stringify(bench.tasks.map(')],
    })
    const prints = `${source}console.log(JSON.stringify(bench.tasks.map(task => task)))\n`
    expect(found(withPackage({}, { 'bench/parse.mjs': prints })).notes).toEqual([])
  })

  it.each([
    ["import { bench, run } from 'mitata'\nrun()\n", 'mitata', 'geomean_ns_per_iter'],
    [
      "const { Suite } = require('benchmark')\nnew Suite().on('cycle', e => console.log(String(e.target)))\n",
      'benchmark-js',
      'geomean_ns_per_op',
    ],
    [
      "import { Bench } from 'tinybench'\nconsole.log(`${name} ${hz} ops/sec`)\n",
      'benchmark-js',
      'geomean_ns_per_op',
    ],
  ])('of a library that runs for a fixed time is read by its output: %j', (source, output, name) => {
    const files = withPackage({}, { 'bench/a.mjs': source })
    const metric = { name, direction: 'minimize' }
    expect(found(files)).toMatchObject({ bench: { output, metric }, notes: [] })
  })

  it('is read by its output also if only a worker next to it uses the library', () => {
    const files = withPackage(
      { scripts: { bench: 'node ./benchmark/bench.js' } },
      {
        'benchmark/bench.js': "new Worker(path.join(__dirname, 'thread.js'))\n",
        'benchmark/thread.js':
          "const { Suite } = require('benchmark')\nnew Suite().on('cycle', e => parentPort.postMessage(String(e.target)))\n",
      },
    )
    expect(found(files).bench).toMatchObject({ command: 'node ./benchmark/bench.js', output: 'benchmark-js' })
  })

  it.each([
    [{ bench: 'node bench/a.mjs' }, "import autocannon from 'autocannon'\nrun()\n", 'autocannon'],
    [{ bench: 'autocannon -d 5 http://localhost:3000' }, '', 'autocannon'],
    [{ bench: 'node bench/a.mjs' }, "const b = require('benny')\nb.suite()\n", 'benny'],
  ])('of another such tool must print a number and is never timed: %j', (scripts, source, tool) => {
    expect(found(withPackage({ scripts }, { 'bench/a.mjs': source }))).toMatchObject({
      bench: { output: 'metric-lines', metric: { name: 'ops_per_second', direction: 'maximize' } },
      notes: [expect.stringMatching(`^${tool} runs for a fixed time`)],
    })
  })

  it('may be a file below bench, preferably one with the name of a main file', () => {
    const files = withPackage({}, { 'bench/a.mjs': '', 'bench/index.mjs': '', 'bench/util.mjs': '' })
    expect(found(files)).toMatchObject({
      bench: { command: 'node bench/index.mjs' },
      notes: ['other benchmarks: bench/a.mjs'],
    })
  })

  it.each([
    ['Makefile', 'bench: all\n\t./run\n', 'make bench'],
    ['justfile', 'bench target="x":\n  ./run\n', 'just bench'],
    ['Taskfile.yml', 'version: 3\ntasks:\n  bench:\n    cmd: ./run\n', 'task bench'],
    ['Makefile', 'BENCH := 1\nbench := 2\n', null],
    ['Taskfile.yml', 'tasks: [', null],
  ])('may be a target of %s: %j', (file, text, bench) => {
    expect(commandsIn(withPackage({}, { [file]: text })).bench).toBe(bench)
  })
})

describe('the entry of a Node project', () => {
  it.each([
    [{ main: './src/index.js' }, { kind: 'module', path: 'src/index.js' }],
    [
      { main: undefined, exports: { '.': { import: './src/index.js' } } },
      { kind: 'module', path: 'src/index.js' },
    ],
    [
      { main: undefined, exports: './src/index.js' },
      { kind: 'module', path: 'src/index.js' },
    ],
  ])('is the file that %j names', (more, entry) => {
    expect(found(withPackage(more)).entry).toEqual(entry)
  })

  it('is the program if there is no module, and absent if there is neither', () => {
    const program = { 'package.json': { name: 'a', bin: { a: './cli.js' } }, 'cli.js': '' }
    expect(found(program).entry).toEqual({ kind: 'program', command: 'node cli.js --help' })
    expect(found({ 'package.json': { name: 'a' }, 'a.ts': '' }).entry).toBeNull()
  })
})
