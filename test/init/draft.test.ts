import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { detectProject } from '../../src/init/detect.ts'
import { draftSpec, renderSpec } from '../../src/init/draft.ts'
import { readGoal } from '../../src/init/goal.ts'
import { renderGoal } from '../../src/init/describe.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { type Files, toRepository } from './a-project.ts'

const NODE: Files = {
  'package.json': { name: 'n', main: 'src/index.js', scripts: { test: 'node --test' } },
  'src/index.js': '',
  'bench/parse.mjs': '',
}
const GO: Files = { 'go.mod': 'module m\n', 'a.go': 'package m\n' }

function drafted(files: Files, more: { directory?: string; goal?: string; prefix?: string } = {}) {
  const repository = toRepository(files, more.directory ?? '')
  const goal = more.goal === undefined ? null : readGoal(more.goal)
  const detected = detectProject(repository, undefined)
  const made = draftSpec({
    project: repository,
    detected,
    name: 'speed',
    prefix: more.prefix ?? 'optimize',
    goal,
  })
  const yaml = made.files[0]?.text ?? ''
  const lines = yaml.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return { ...made, yaml, lines, spec: parseSpec(yaml, { file: made.specPath }).spec }
}

describe('a drafted spec', () => {
  it('leaves out defaults and links to the reference', () => {
    const { yaml, files, edit } = drafted(NODE)
    expect(yaml).toBe(`# yaml-language-server: $schema=https://unpkg.com/git-winnow/schema/spec.schema.json
# Every key and its default: https://unpkg.com/git-winnow/docs/spec.md
winnow: 1
measurement: { command: node bench/parse.mjs }
gates: [{ name: tests, command: npm test }]
scope: { mutable: [src/] }
`)
    expect(files).toHaveLength(1)
    expect(edit).toBeNull()
  })

  it('runs in the directory of its package, with paths from the top', () => {
    const files = Object.fromEntries(Object.entries(NODE).map(([path, text]) => [`packages/a/${path}`, text]))
    const { spec } = drafted(files, { directory: 'packages/a' })
    expect(spec.measurement.working_directory).toBe('packages/a')
    expect(spec.scope.mutable).toEqual(['packages/a/src/'])
  })

  it('names the branch prefix only if it is not the default', () => {
    expect(drafted(NODE, { prefix: 'winnow' }).lines.at(-1)).toBe('branches: { prefix: winnow }')
    expect(drafted(NODE).yaml).not.toContain('branches')
  })

  it('includes a new benchmark, which experiments may not change, if the project has none', () => {
    const { spec, files, edit, isPlaceholder } = drafted(GO)
    expect(files.map(({ path }) => path)).toEqual(['.winnow/speed.yaml', 'bench/speed/main.go'])
    expect(edit).toBe('bench/speed/main.go')
    expect(isPlaceholder).toBe(true)
    expect(spec.metric).toMatchObject({
      primary: { name: 'milliseconds', direction: 'minimize' },
      degenerate_gates: [{ name: 'output_bytes', check: '> 0' }],
    })
    expect(spec.scope).toMatchObject({ mutable: ['**/*.go'], immutable: ['bench/'] })
  })

  it('measures loading for a goal about loading; otherwise leaves the workload to a person', () => {
    const { 'bench/parse.mjs': _, ...files } = NODE
    expect(drafted(files, { goal: 'faster startup' })).toMatchObject({ isPlaceholder: false })
    expect(drafted(files, { goal: 'faster parser' })).toMatchObject({ isPlaceholder: true })
    expect(drafted(files)).toMatchObject({ isPlaceholder: true })
  })

  it('warns about missing tests, and still has a gate', () => {
    const { spec, notes } = drafted({ ...NODE, 'package.json': {} })
    expect(spec.gates).toMatchObject([{ name: 'runs', command: 'node bench/parse.mjs' }])
    expect(notes).toEqual([expect.stringContaining('init found no tests')])
  })
})

describe('a guessed metric', () => {
  const printing = (name: string) => ({
    ...NODE,
    'bench/parse.mjs': `console.log(JSON.stringify({ ${name}: 1 }))\n`,
  })

  it.each([
    ['total', 'total'],
    ['ms', 'ms'],
    ['bytes', null],
    ['checksum', null],
  ])('%s: %s is reported as a guess', (name, guessed) => {
    expect(drafted(printing(name)).guessed).toBe(guessed)
  })

  it('is not reported if the goal chooses another metric, or if winnow writes the benchmark', () => {
    expect(drafted(printing('total'), { goal: 'less memory' }).guessed).toBeNull()
    expect(drafted(GO).guessed).toBeNull()
  })
})

describe('a goal in a spec', () => {
  it('becomes the description, and selects a metric that winnow measures itself', () => {
    const { spec } = drafted(NODE, { goal: 'less memory, under 100 MB' })
    expect(spec.description).toBe('less memory, under 100 MB')
    expect(spec.metric.primary).toMatchObject({ name: 'max_rss_mb', direction: 'minimize', target: 100 })
  })

  it('of size adds a harness that counts bytes, with a gate against zero', () => {
    const { spec, files } = drafted(NODE, { goal: 'a smaller bundle' })
    expect(spec.measurement.command).toBe('sh bench/speed.sh')
    expect(spec.metric).toMatchObject({
      primary: { name: 'bytes' },
      degenerate_gates: [{ name: 'bytes', check: '> 0' }],
    })
    expect(files[1]?.text).toContain('set -- src/\n')
  })

  it('about quality drafts a rubric', () => {
    const { spec } = drafted(NODE, { goal: 'friendlier error messages' })
    expect(spec.metric.primary).toMatchObject({ type: 'judge', name: 'quality', direction: 'maximize' })
    expect(spec.metric.judge?.rubric).toContain('friendlier error messages')
  })

  it.each([
    ['clustering quality', 'top_by_size', 'largest_share', /"adjusted_rand"/],
    ['better search relevance', 'tail', 'empty_share', /"ndcg"/],
    ['summarization quality', 'multi_topic', 'length_share', null],
    ['UX copy', 'difficult', 'answered', null],
    ['recommendation relevance', 'unusual', 'distinct_share', /"hit_rate"/],
    ['code readability', 'usual', 'answered', null],
  ])('of %s is judged: it has buckets, gates, levels and first-run caps', (words, bucket, gate, counted) => {
    const { spec, files, isPlaceholder, primary, yaml } = drafted(NODE, { goal: words })
    const { metric, stopping } = spec
    expect(metric.primary).toMatchObject({ type: 'judge', name: 'quality' })
    expect(metric.degenerate_gates.map(({ name }) => name)).toContain(gate)
    expect(metric.judge).toMatchObject({ sample_size: 10, batch_size: 5, max_total_cost_usd: 5 })
    expect(metric.judge?.stratification?.map(each => each.bucket)).toContain(bucket)
    expect(metric.judge?.rubric.match(/^- [1-5]: /gm)).toHaveLength(5)
    expect(stopping.max_iterations).toBe(4)
    expect(yaml).toContain('# Do not optimise a proxy: ')
    expect(spec.measurement.command).toBe('node bench/speed.mjs')
    expect(files[1]?.text).toMatch(
      new RegExp(`${bucket}: \\d, so print at least \\d[^]*WINNOW-TODO: .*\nconst items`),
    )
    expect(isPlaceholder).toBe(true)
    const told = renderGoal(readGoal(words), [], primary).join('\n')
    expect(told.includes('a printed number could stand for it too')).toBe(counted !== null)
    if (counted !== null) expect(told).toMatch(counted)
  })

  it('of quality and speed is judged, and logs the time', () => {
    const { spec, primary } = drafted(NODE, { goal: 'faster and friendlier messages' })
    expect(spec.metric.primary.type).toBe('judge')
    expect(spec.metric.objectives).toMatchObject([
      { name: 'wall_seconds', direction: 'minimize', role: 'secondary' },
    ])
    const told = renderGoal(readGoal('faster and friendlier messages'), [], primary).join('\n')
    expect(told).toContain('both a judged quality, which decides, and wall_seconds: it is logged')
    expect(told).not.toContain('not drafted')
  })

  it.each([
    ['higher test coverage', 'a line that a test runs is not a line that it checks'],
    ['a smaller bundle', null],
    ['smaller summaries', 'overlap of words and shortness are not faithfulness'],
  ])('of %s warns that the number is a proxy: %s', (words, warning) => {
    const told = renderGoal(readGoal(words), [], drafted(NODE, { goal: words }).primary).join('\n')
    expect(told.includes('proxy: ')).toBe(warning !== null)
    expect(told).toContain(warning ?? '')
  })

  it.each([
    ['', 'wall_seconds', 0.2],
    ['console.log(JSON.stringify({ parse_ms: 1 }))', 'parse_ms', 200],
    ['console.log(JSON.stringify({ milliseconds: 1 }))', 'milliseconds', 200],
    ['console.log(JSON.stringify({ ns_per_op: 1 }))', 'ns_per_op', 200_000_000],
    ['console.log(JSON.stringify({ elapsedMicros: 1 }))', 'elapsedMicros', 200_000],
    ['console.log(JSON.stringify({ seconds: 1 }))', 'seconds', 0.2],
    ['console.log(JSON.stringify({ p99: 1 }))', 'p99', undefined],
    ['console.log(JSON.stringify({ ops_per_sec: 1 }))', 'ops_per_sec', undefined],
    ['console.log(JSON.stringify({ bytes: 1 }))', 'wall_seconds', 0.2],
  ])('converts its target to the unit of the metric: %s', (source, name, target) => {
    const goal = 'faster, under 200 ms'
    const { spec, primary } = drafted({ ...NODE, 'bench/parse.mjs': source }, { goal })
    expect(spec.metric.primary.name).toBe(name)
    expect(spec.metric.primary.target ?? undefined).toBe(target)
    const told = renderGoal(readGoal(goal), [], primary).join('\n')
    expect(told).toContain(
      target === undefined
        ? `not drafted: "under 200 ms": the unit of ${name} is unknown`
        : `which is metric.primary.target ${target} of ${name}`,
    )
  })

  it('converts its target to the milliseconds of a new harness', () => {
    const { spec } = drafted(GO, { goal: 'faster, under 2 seconds' })
    expect(spec.metric.primary).toMatchObject({ name: 'milliseconds', target: 2000 })
  })

  it('of throughput uses the rate that the benchmark prints', () => {
    const source = 'console.log(JSON.stringify({ ops_per_sec: 1 }))'
    const { spec } = drafted({ ...NODE, 'bench/parse.mjs': source }, { goal: 'throughput over 5000 ops' })
    expect(spec.metric.primary).toMatchObject({ name: 'ops_per_sec', direction: 'maximize', target: 5000 })
  })

  it.each([
    [{ main: './dist/index.min.js' }, 'dist/index.min.js'],
    [{ main: 'dist/index.js', unpkg: 'dist/index.umd.min.js' }, 'dist/index.umd.min.js'],
    [{ main: 'dist/index.js', 'size-limit': [{ path: './dist/small.js', limit: '2 kB' }] }, 'dist/small.js'],
  ])('of size builds and measures the published file: %j', (more, path) => {
    const scripts = { test: 'node --test', build: 'rollup -c' }
    const files = { ...NODE, 'package.json': { name: 'n', scripts, ...more } }
    const { spec, files: made } = drafted(files, { goal: 'a smaller bundle' })
    expect(made[1]?.text).toContain(`set -- ${path}\n`)
    expect(spec.measurement.setup).toContain('npm run --silent build')
    const committed = drafted({ ...files, [path]: '' }, { goal: 'a smaller bundle' })
    expect(committed.spec.measurement.setup).toContain('npm run --silent build')
  })
})

describe('a spec as text', () => {
  it('parses to the values it was rendered from, whatever the words', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), (words, list) => {
        expect(parse(renderSpec({ words, list, inner: { words } }))).toEqual({
          words,
          list,
          inner: { words },
        })
      }),
    )
  })
})
