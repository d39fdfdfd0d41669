import { describe, expect, it } from 'vitest'
import { PAIRED_NOT_BUILT, unsupported } from '../../src/spec/unsupported.ts'
import { fixture, parsed, winnowSpec } from './problems-of.ts'

describe('what is valid but not built', () => {
  it.each([
    'winnow-smallest.yaml',
    'winnow-deterministic.yaml',
    'winnow-stability.yaml',
    'ce-hard.yaml',
    'ce-expensive.yaml',
  ])('is nothing in %s', name => {
    expect(unsupported(parsed(fixture(name)).spec)).toEqual([])
  })

  const cases: [Record<string, unknown>, string][] = [
    [{ 'measurement.mode': 'paired' }, 'measurement.mode'],
    [{ 'measurement.holdout': { command: 'x' } }, 'measurement.holdout'],
    ...['go', 'cargo', 'pytest-benchmark', 'hyperfine', 'vitest'].map(
      (output): [Record<string, unknown>, string] => [
        { 'measurement.output': output },
        `measurement.output ${output}`,
      ],
    ),
    [{ 'measurement.isolation': 'uid' }, 'measurement.isolation uid'],
    [{ 'measurement.isolation': 'bwrap' }, 'measurement.isolation bwrap'],
    [{ 'measurement.isolation': { container: { image: 'x' } } }, 'measurement.isolation container'],
    [{ propose: [{ use: 'sweep' }] }, 'propose.use sweep'],
    [{ propose: [{ use: 'textgrad' }] }, 'propose.use textgrad'],
    [{ propose: [{ use: 'dispatch', workflow: 'w.yml' }] }, 'propose.use dispatch'],
    [{ propose: [{ use: 'command', preset: 'codex' }] }, 'propose.preset'],
    [{ artifacts: [{ name: 'a', path: 'a' }] }, 'artifacts'],
    [{ epochs: {} }, 'epochs'],
    [{ 'search.frontier': 'softmax' }, 'search.frontier softmax'],
    [{ 'search.frontier': { use: 'top_k', k: 3 } }, 'search.frontier top_k'],
    [{ 'search.controller': {} }, 'search.controller'],
    [{ 'search.skills': ['s.md'] }, 'search.skills'],
    [{ 'execution.backend': 'remote' }, 'execution.backend remote'],
    [{ 'execution.backend': 'codex' }, 'execution.backend codex'],
    [{ 'execution.backend': 'actions' }, 'execution.backend actions'],
    [{ 'merge.via': 'api' }, 'merge.via api'],
    [{ 'report.webhook': 'https://example.com' }, 'report.webhook'],
    [{ 'report.pages_branch': 'gh-pages' }, 'report.pages_branch'],
  ]
  it.each(cases)('%j is one sentence with its key and what to use now', (changes, key) => {
    const sentences = unsupported(winnowSpec(changes))
    expect(sentences).toHaveLength(1)
    expect(sentences[0]).toMatch(
      new RegExp(`^${key}: .+ not .+ yet; .+\\.$`.replace(': .+ not', '.*: .* (?:not|is not)')),
    )
  })

  it('includes a network that is cut, a judge, a loss and a suite', () => {
    const cut = unsupported(winnowSpec({ 'measurement.isolation': 'bwrap', 'measurement.network': 'off' }))
    expect(cut).toContainEqual(expect.stringContaining('measurement.network off'))
    expect(unsupported(parsed(fixture('ce-judge.yaml')).spec)).toEqual([
      expect.stringContaining('type judge'),
    ])
    const suite = unsupported(parsed(fixture('winnow-suite.yaml')).spec)
    expect(suite).toContainEqual(expect.stringContaining('type loss'))
    expect(suite).toContainEqual(expect.stringContaining('measurement.suite'))
  })

  it('does not include what is built', () => {
    const built = {
      'measurement.mode': 'once',
      'measurement.isolation': 'none',
      'measurement.output': 'metric-lines',
      'metric.objectives': [{ name: 'rss', direction: 'minimize', role: 'guardrail' }],
      'search.frontier': { use: 'incumbent' },
      'execution.backend': 'worktree',
      propose: [
        { use: 'patch', dir: 'ideas' },
        { use: 'command', command: 'agent' },
      ],
    }
    expect(unsupported(winnowSpec(built))).toEqual([])
  })

  it('offers the same refusal for mode auto that calibration finds noisy', () => {
    expect(unsupported(winnowSpec({ 'measurement.mode': 'paired' }))).toEqual([PAIRED_NOT_BUILT])
  })
})
