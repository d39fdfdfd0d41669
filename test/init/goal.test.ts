import { describe, expect, it } from 'vitest'
import { describeAim, findNamedSources, readGoal } from '../../src/init/goal.ts'
import { buildSpecName } from '../../src/init/draft.ts'
import { createUnknownGoalError, renderGoal } from '../../src/init/describe.ts'

describe('a goal in words', () => {
  it.each([
    ['make the parser faster', 'time: minimize wall_seconds', 'speed'],
    ['reduce startup latency', 'time: minimize wall_seconds', 'speed'],
    ['use less memory', 'memory: minimize max_rss_mb', 'memory'],
    ['less CPU please', 'processor time: minimize cpu_seconds', 'cpu'],
    ['a smaller bundle', 'size: minimize bytes', 'size'],
    ['raise test coverage', 'test coverage: maximize coverage', 'coverage'],
    ['better accuracy on the benchmark', 'accuracy: maximize accuracy', 'accuracy'],
    ['more requests per second', 'throughput: maximize throughput', 'throughput'],
    ['friendlier error messages', 'quality as people judge it (a judged metric)', 'quality'],
    ['better onboarding content', 'quality as people judge it (a judged metric)', 'quality'],
    ['compress messages faster', 'time: minimize wall_seconds', 'speed'],
  ])('%s is %s', (words, aim, name) => {
    const goal = readGoal(words)
    expect(goal.aim && describeAim(goal.aim)).toBe(aim)
    expect(buildSpecName(goal, null)).toBe(name)
    expect(goal.words).toBe(words)
  })

  it.each([
    ['startup under 200 ms', 0.2],
    ['make it faster, below 2 seconds', 2],
    ['memory at most 1.5 GB', 1_500_000_000],
    ['faster, over 200 ms', null],
    ['throughput under 10 rps', null],
    ['bundle size less than 40 kB', 40_000],
    ['coverage at least 90%', 90],
    ['memory under 200 ms', null],
    ['faster', null],
    ['parsing under 200 ms', 0.2],
    ['serve over 500 rps', 500],
    ['throughput above 10,000 requests per second', 10_000],
    ['throughput above 1_500_000.5', 1_500_000.5],
    ['accuracy above 0,9', null],
    ['fewer than 3 warnings, under 10', null],
  ])('"%s" has the target %s', (words, target) => {
    expect(readGoal(words).target?.value ?? null).toBe(target)
  })

  it('reports what it did not understand', () => {
    expect(readGoal('make it 20 % faster').notUnderstood).toEqual([expect.stringContaining('"20 %"')])
    expect(readGoal('make it good')).toMatchObject({ aim: null, notUnderstood: ['what is to be measured'] })
  })

  it('has one aim and reports the others', () => {
    const first = { aim: { metric: 'wall_seconds' }, also: ['memory'] }
    expect(readGoal('faster with less memory')).toMatchObject(first)
    const second = { aim: { metric: 'max_rss_mb' }, also: ['time'] }
    expect(readGoal('less memory, and faster')).toMatchObject(second)
  })

  it('finds the files that it names', () => {
    const paths = ['src/parser.js', 'src/parse/index.js', 'src/render.js', 'test/parser.test.js']
    expect(findNamedSources(paths, readGoal('make the parser faster').subjects)).toEqual([
      paths[0],
      paths[1],
      paths[3],
    ])
    expect(findNamedSources(paths, readGoal('make it faster').subjects)).toEqual([])
  })
})

describe('the report about a goal', () => {
  it('says what was understood and what a person has to do', () => {
    const drafted = { metric: 'milliseconds', target: 1000 }
    const told = renderGoal(readGoal('make the parser faster, under 1 s'), ['src/parser.js'], drafted)
    expect(told).toEqual([
      'understood: time: minimize wall_seconds',
      'understood: the target is under 1 s, which is metric.primary.target 1000 of milliseconds',
      'understood: it concerns src/parser.js; you can narrow scope.mutable to that',
      expect.stringMatching(/^gates: the tests/),
    ])
  })

  it.each([
    ['fewer flaky failures', 'It looks hard.', /a command that prints the number/],
    ['a more natural tone of voice in the onboarding text', null, null],
    ['text that feels natural', null, null],
    ['make it good', 'It looks hard or judged, or both.', /hard: .*; judged: /],
  ])('%s: an unknown goal is refused with its likely kind and what is missing', (words, looks, missing) => {
    const goal = readGoal(words)
    if (looks === null) return expect(goal.aim).toEqual({ kind: 'judge' })
    expect(goal.aim).toBeNull()
    const { message } = createUnknownGoalError(goal)
    expect(message).toContain(looks)
    expect(message).toMatch(missing)
  })

  it('prefers words that name a quality over words that may name code', () => {
    expect(readGoal('faster clustering').aim).toMatchObject({ metric: 'wall_seconds' })
    expect(readGoal('recommendation latency').aim).toMatchObject({ metric: 'wall_seconds' })
    expect(readGoal('recommendation relevance').aim).toEqual({ kind: 'judge' })
  })

  it('says what judged metrics need and which metrics the harness must print', () => {
    expect(renderGoal(readGoal('friendlier messages'), []).join('\n')).toContain(
      'a model scores the items that the harness prints',
    )
    expect(renderGoal(readGoal('more accuracy'), []).join('\n')).toContain(
      'the harness has to print {"accuracy": <number>}',
    )
    expect(renderGoal(readGoal('good'), []).join('\n')).toContain('not understood: what is to be measured')
  })
})
