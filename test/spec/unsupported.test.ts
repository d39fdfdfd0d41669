import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BENCHMARK_FORMATS } from '../../src/spec/schema-values.ts'
import { listPlannedFeatures, noteGithubOnlyKeys } from '../../src/spec/planned-features.ts'
import { ceSpec, changed, fixture, parsed, winnowSpec } from './problems-of.ts'

/** With a metric that repeats exactly, so that nothing else is missing. */
function counting(changes: Record<string, unknown> = {}) {
  return winnowSpec({ 'metric.primary': { name: 'bytes', direction: 'minimize' }, ...changes })
}

/** What the README says is missing, each by a spec that asks for it. */
const MISSING: Readonly<Record<string, () => ReturnType<typeof counting>>> = {
  'isolation by bwrap and containers': () => counting({ 'measurement.isolation': 'bwrap' }),
  'parameter sweeps': () => counting({ propose: [{ use: 'sweep' }] }),
  'other frontiers than the incumbent': () => counting({ 'search.frontier': 'softmax' }),
  controllers: () => counting({ 'search.controller': {} }),
}

it('the README names what is refused everywhere, and nothing else', () => {
  const list = /^Not built: ([^.]*)\. /m.exec(readFileSync('README.md', 'utf8'))?.[1] ?? ''
  expect(list.split(/,\s+/).toSorted()).toEqual(Object.keys(MISSING).toSorted())
  for (const where of ['local', 'github', 'single-job'] as const)
    for (const [name, spec] of Object.entries(MISSING))
      expect([name, listPlannedFeatures(spec(), where).length > 0]).toEqual([name, true])
})

describe('what is valid but not built', () => {
  it.each([
    'winnow-deterministic.yaml',
    'winnow-stability.yaml',
    'ce-hard.yaml',
    'ce-expensive.yaml',
    'ce-judge.yaml',
    'ce-judge-example.yaml',
    'ce-clustering.yaml',
    'ce-seed-clustering.yaml',
  ])('is nothing in %s', name => {
    expect(listPlannedFeatures(parsed(fixture(name)).spec)).toEqual([])
  })

  const cases: [Record<string, unknown>, string][] = [
    [{ 'measurement.isolation': 'bwrap' }, 'measurement.isolation bwrap'],
    [{ 'measurement.isolation': { container: { image: 'x' } } }, 'measurement.isolation container'],
    [{ propose: [{ use: 'sweep' }] }, 'propose.use sweep'],
    [{ propose: [{ use: 'dispatch', workflow: 'w.yml' }] }, 'propose.use dispatch'],
    [{ 'search.frontier': 'softmax' }, 'search.frontier softmax'],
    [{ 'search.frontier': { use: 'top_k', k: 3 } }, 'search.frontier top_k'],
    [{ 'search.controller': {} }, 'search.controller'],
    [{ 'search.skills': ['s.md'] }, 'search.skills'],
    [{ 'execution.backend': 'remote' }, 'execution.backend remote'],
    [{ 'execution.backend': 'codex' }, 'execution.backend codex'],
    [{ 'execution.backend': 'actions' }, 'execution.backend actions'],
    [{ 'merge.via': 'api' }, 'merge.via api'],
    [{ 'report.webhook': 'https://example.com' }, 'report.webhook'],
    [{ 'report.pages_branch': 'gh-pages' }, 'report.pages_branch gh-pages'],
    [{ 'report.comment': 'never' }, 'report.comment never'],
    [{ 'report.dashboard': false }, 'report.dashboard false'],
    [{ 'merge.max_pull_requests_per_hour': 9 }, 'merge.max_pull_requests_per_hour 9'],
    [{ 'search.stall_rounds': 2 }, 'search.stall_rounds 2'],
    [{ 'search.ideate_every': 2 }, 'search.ideate_every 2'],
    [{ 'search.ideate_stall': 2 }, 'search.ideate_stall 2'],
    [{ 'execution.services': { db: { image: 'x' } } }, 'execution.services'],
    [{ 'execution.runs_on': 'macos-15' }, 'execution.runs_on macos-15'],
    [{ 'execution.runs_on': ['self-hosted'] }, 'execution.runs_on'],
    [{ 'execution.codex_security': 'yolo' }, 'execution.codex_security yolo'],
    [{ 'dependencies.approvers': 'admin' }, 'dependencies.approvers admin'],
    [{ 'dependencies.approvers': ['ada'] }, 'dependencies.approvers'],
  ]
  it('is a metered harness on GitHub, where no job that runs it may hold a key', () => {
    const metered = counting({ 'measurement.models': 'metered', models: [{ id: 'm' }] })
    expect(listPlannedFeatures(metered)).toEqual([])
    for (const where of ['github', 'single-job'] as const)
      expect(listPlannedFeatures(metered, where)).toEqual([
        expect.stringContaining('run this campaign on one machine with winnow run'),
      ])
  })

  it('is less on GitHub, where people can be told apart', () => {
    expect(listPlannedFeatures(counting({ 'dependencies.approvers': 'admin' }), 'github')).toEqual([])
    expect(listPlannedFeatures(counting({ 'dependencies.approvers': ['ada'] }), 'github')).toEqual([])
    expect(listPlannedFeatures(counting({ 'dependencies.approvers': ['ada'] }), 'single-job')).toEqual([])
    expect(listPlannedFeatures(counting({ 'merge.via': 'api' }), 'github')).toEqual([])
    expect(listPlannedFeatures(counting({ 'merge.max_pull_requests_per_hour': 9 }), 'github')).toEqual([])
    expect(listPlannedFeatures(counting({ 'report.comment': 'never' }), 'github')).toEqual([])
    expect(listPlannedFeatures(counting({ 'dependencies.approvers': ['team/core'] }), 'github')).toEqual([])
    expect(listPlannedFeatures(counting({ 'dependencies.approvers': ['team/core'] }))).toHaveLength(1)
  })

  it.each([
    { 'execution.runs_on': ['self-hosted', 'bench'] },
    { 'execution.services': { db: { image: 'postgres:17' } } },
  ])('is less where measuring jobs are told what to run on: %j', changes => {
    expect(listPlannedFeatures(counting(changes), 'github')).toEqual([])
    for (const where of ['local', 'single-job'] as const) {
      expect(listPlannedFeatures(counting(changes), where)).toEqual([
        expect.stringMatching(
          /^execution\..* is, but for measuring jobs on GitHub, not built yet; remove it/,
        ),
      ])
    }
    expect(noteGithubOnlyKeys(counting(changes))).toEqual([
      expect.stringMatching(
        /^execution\.\w+ is for campaigns on GitHub: on this machine winnow run refuses it$/,
      ),
    ])
  })

  it.each(cases)('%j is one sentence with its key and what to use now', (changes, key) => {
    const sentences = listPlannedFeatures(counting(changes))
    expect(sentences).toHaveLength(1)
    const [sentence = ''] = sentences
    expect(sentence.startsWith(key)).toBe(true)
    expect(sentence).toMatch(/^.+: .+ not built yet; .+\.$/)
  })

  it('includes a network that is cut and a judge, and no loss of a suite', () => {
    const cut = listPlannedFeatures(
      counting({ 'measurement.isolation': 'bwrap', 'measurement.network': 'off' }),
    )
    expect(cut).toContainEqual(expect.stringContaining('measurement.network off'))
    const carried = { 'metric.judge.hidden_reference_paths': ['x'], 'execution.sanctioned_env': ['X'] }
    expect(listPlannedFeatures(parsed(changed('ce-judge-example.yaml', carried)).spec)).toEqual([
      expect.stringContaining('execution.sanctioned_env'),
    ])
    const suite = listPlannedFeatures(parsed(fixture('winnow-suite.yaml')).spec)
    expect(suite.filter(each => /suite|loss/.test(each))).toEqual([])
  })

  it('beside a judged metric includes other forms of output than JSON', () => {
    const lines = { 'measurement.mode': 'paired', 'measurement.output': 'metric-lines' }
    const [sentence = '', ...others] = listPlannedFeatures(parsed(changed('ce-judge.yaml', lines)).spec)
    expect(others).toEqual([])
    expect(sentence).toMatch(/^measurement\.output: .+, beside a judged metric, not built yet; .+\.$/)
  })

  it.each([
    {},
    { 'measurement.mode': 'paired', 'policy.tie_breakers': [{ lower: 'a' }] },
    { 'policy.tie_breakers': [{ lower: 'a' }] },
    { 'measurement.holdout': { command: 'h' }, 'measurement.score': { command: 's' } },
    { 'metric.objectives': [{ name: 'a', direction: 'minimize', role: 'guardrail' }] },
    { 'metric.judge.singleton_sample': 2, 'metric.judge.singleton_rubric': 'r' },
    { 'metric.judge.calibration': { labels: 'l.json' }, 'metric.judge.models': ['a', 'b'] },
  ])('beside a judged metric does not include %j', changes => {
    expect(listPlannedFeatures(parsed(changed('ce-judge.yaml', changes)).spec)).toEqual([])
  })

  it('includes judging where the key of the models would lie beside what is measured', () => {
    const { spec } = parsed(changed('ce-judge.yaml', { 'measurement.mode': 'paired' }))
    for (const where of ['local', 'github'] as const) expect(listPlannedFeatures(spec, where)).toEqual([])
    const said = /^metric\.primary\.type judge: in single-job mode the code /
    expect(listPlannedFeatures(spec, 'single-job')).toEqual([expect.stringMatching(said)])
  })

  it('does not include what is built', () => {
    const built = {
      'measurement.mode': 'once',
      'measurement.isolation': 'uid',
      'measurement.holdout': { command: 'x', source: 'refs/holdout/a' },
      'measurement.output': 'metric-lines',
      'metric.objectives': [{ name: 'rss', direction: 'minimize', role: 'guardrail' }],
      'search.frontier': { use: 'incumbent' },
      'execution.backend': 'worktree',
      'evidence.min_effect': 0.1,
      'merge.unisolated': 'deny',
      propose: [
        { use: 'patch', dir: 'ideas' },
        { use: 'command', command: 'agent' },
      ],
    }
    expect(listPlannedFeatures(counting(built))).toEqual([])
  })

  it.each(BENCHMARK_FORMATS)('is no output of %s', output => {
    expect(listPlannedFeatures(counting({ 'measurement.output': output }))).toEqual([])
  })

  it('is no noise, asked for by name or known beforehand', () => {
    expect(listPlannedFeatures(counting({ 'measurement.mode': 'paired' }))).toEqual([])
    expect(listPlannedFeatures(parsed(fixture('winnow-smallest.yaml')).spec)).toEqual([])
  })

  it('is no metric that is only logged, nor one that is compared with a stored score', () => {
    const logged = [{ name: 'wall_seconds', direction: 'minimize', role: 'secondary' }]
    expect(listPlannedFeatures(counting({ 'metric.objectives': logged }))).toEqual([])
    const tied = { 'measurement.stability': {}, 'policy.tie_breakers': [{ lower: 'kb' }] }
    expect(listPlannedFeatures(winnowSpec(tied))).toEqual([])
  })
})

describe('what a ce spec brings along for machinery of its own', () => {
  const brought = {
    'execution.codex_security': 'full-auto',
    'execution.backend': 'codex',
    'execution.max_concurrent': 8,
  }

  it('is said, and does not stop it', () => {
    const { spec, notes } = parsed(changed('ce-hard.yaml', brought))
    expect(listPlannedFeatures(spec)).toEqual([])
    for (const key of ['execution.codex_security', 'execution.backend'])
      expect(notes).toContainEqual(expect.stringMatching(new RegExp(`^${key} changes nothing: `)))
  })

  it('is not said where it asks for nothing', () => {
    const nothing = { 'execution.codex_security': null }
    expect(parsed(changed('ce-hard.yaml', nothing)).notes.join()).not.toContain('changes nothing')
  })

  it("is not winnow's own, which is refused there as well", () => {
    expect(listPlannedFeatures(ceSpec({ 'report.webhook': 'https://example.com' }))).toEqual([
      expect.stringContaining('report.webhook'),
    ])
    expect(listPlannedFeatures(ceSpec({ 'execution.backend': 'remote' }))).toHaveLength(1)
  })
})
