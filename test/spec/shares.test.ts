import { describe, expect, test } from 'vitest'
import { ceSpec, changed, parsed, problemsOf, refusals, winnowSpec } from './problems-of.ts'

const W = 'winnow-smallest.yaml'
const CE = 'ce-hard.yaml'
const regression = (type: string, value: unknown) => ({
  'metric.objectives': [{ name: 'rss', direction: 'minimize', max_regression: { type, value } }],
})

describe('a percentage', () => {
  test.each(['5%', '5 %', '5.0%', '+5%', '005%'])('%s is the share 0.05', written => {
    const spec = winnowSpec({ 'evidence.min_effect': written, ...regression('relative', written) })
    expect(spec.evidence.min_effect).toBe(0.05)
    expect(spec.metric.objectives[0]?.max_regression).toEqual({ type: 'relative', value: 0.05 })
  })

  test('is taken by every key that takes a share', () => {
    expect(
      winnowSpec({
        'evidence.min_effect': '4%',
        'evidence.null_effect': '0.5%',
        'evidence.alpha': '1%',
        'evidence.q': '20%',
      }).evidence,
    ).toMatchObject({ min_effect: 0.04, null_effect: 0.005, alpha: 0.01, q: 0.2 })
    const stability = ceSpec({ 'measurement.stability': { comparison: { relative_threshold: '3%' } } })
    expect(stability.measurement.stability?.comparison.relative_threshold).toBe(0.03)
  })

  test('says that the scale is relative', () => {
    expect(winnowSpec({ 'evidence.min_effect': '5%' }).evidence.scale).toBe('log')
    expect(winnowSpec({ 'evidence.min_effect': 0.05 }).evidence.scale).toBe('auto')
  })

  test('may be 100 % and more where that is meant', () => {
    expect(winnowSpec({ 'evidence.min_effect': '500%' }).evidence.min_effect).toBe(5)
  })

  test.each([
    [W, { 'evidence.min_effect': '5%', 'evidence.scale': 'linear' }, 'evidence.min_effect: "5%"'],
    [W, regression('absolute', '5%'), 'metric.objectives[0].max_regression.value: "5%"'],
    [CE, { 'measurement.stability.noise_threshold': '5%' }, 'measurement.stability.noise_threshold: "5%"'],
  ])('is refused in metric units', (name, changes, refusal) => {
    expect(refusals(name, changes)).toEqual([refusal])
  })

  test('out of bounds, or of something else, is refused with what would do', () => {
    const said = (value: unknown) => problemsOf(changed(W, { 'evidence.min_effect': value }))[0]?.expected
    expect([said('-5%'), said(-1)]).toEqual(['a number, at least 0', 'a number, at least 0'])
    const either = 'a number, at least 0, or a percentage such as 5%'
    expect([said('5 percent'), said(true), said('5')]).toEqual([either, either, either])
  })
})

describe('a bare number of 1 or more in a relative scale', () => {
  test('is an error with what it means, its place and what to write', () => {
    const text =
      'winnow: 1\nmetric: { primary: { name: ms, direction: minimize } }\nmeasurement: { command: x }\ngates: [{ name: t, command: t }]\nscope: { mutable: [src] }\nevidence:\n  min_effect: 5\n'
    expect(problemsOf(text)).toMatchObject([
      {
        line: 7,
        column: 15,
        path: 'evidence.min_effect',
        found: '5, which means 500 %',
        fix: 'did you mean 5%? for the units of ms write evidence.scale: linear',
      },
    ])
  })

  test.each([
    [W, { 'evidence.null_effect': 1 }, 'evidence.null_effect: 1, which means 100 %'],
    [W, regression('relative', 2), 'metric.objectives[0].max_regression.value: 2, which means 200 %'],
    [
      CE,
      { 'measurement.stability.comparison': { relative_threshold: 5 } },
      'measurement.stability.comparison.relative_threshold: 5, which means 500 %',
    ],
  ])('is an error elsewhere too', (name, changes, refusal) => {
    expect(refusals(name, changes)).toEqual([refusal])
  })

  test('is fine in metric units', () => {
    for (const changes of [
      { 'evidence.min_effect': 5, 'evidence.scale': 'linear' },
      regression('absolute', 5),
    ])
      expect(() => parsed(changed(W, changes))).not.toThrow()
  })
})
