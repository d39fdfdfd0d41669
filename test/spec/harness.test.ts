import { describe, expect, it } from 'vitest'
import { getHarnessSection } from '../../src/spec/spec-facts.ts'
import { parseGateCheck } from '../../src/spec/schema-values.ts'
import { ceSpec, changed, fixture, parsed, winnowSpec } from './problems-of.ts'

describe('the harness section of a spec', () => {
  it('is measurement, metric and gates, with defaults filled in, and survives JSON', () => {
    const section = getHarnessSection(winnowSpec())
    expect(Object.keys(section).toSorted()).toEqual(['gates', 'measurement', 'metric'])
    expect(section.measurement.timeout_seconds).toBe(600)
    expect(JSON.parse(JSON.stringify(section))).toEqual(section)
  })

  it.each(['winnow-everything.yaml', 'winnow-suite.yaml', 'ce-clustering.yaml'])(
    'of %s survives JSON',
    name => {
      const section = getHarnessSection(parsed(fixture(name)).spec)
      expect(JSON.parse(JSON.stringify(section))).toEqual(section)
    },
  )

  it('is the same whether a default is written out or not', () => {
    const written = winnowSpec({ 'measurement.timeout_seconds': 600, 'metric.primary.name': 'wall_seconds' })
    expect(getHarnessSection(written)).toEqual(getHarnessSection(winnowSpec()))
  })

  it('does not change with what changes no measurement', () => {
    const other = ceSpec({
      description: 'other',
      'metric.primary.baseline': 7,
      'measurement.output_format': undefined,
    })
    expect(getHarnessSection(other)).toEqual(getHarnessSection(ceSpec()))
  })

  it('changes with the ruler', () => {
    const section = getHarnessSection(winnowSpec())
    expect(getHarnessSection(winnowSpec({ 'measurement.command': 'other' }))).not.toEqual(section)
    expect(getHarnessSection(winnowSpec({ gates: [{ name: 'tests', command: 'true' }] }))).not.toEqual(
      section,
    )
    expect(parsed(changed('winnow-smallest.yaml', { advice: ['x'] })).spec.advice).toEqual(['x'])
  })

  it('shares nothing with the spec it came from', () => {
    const spec = winnowSpec()
    getHarnessSection(spec).gates.length = 0
    expect(spec.gates).toHaveLength(1)
  })
})

describe('a gate check', () => {
  it.each([
    ['>= 5', { op: '>=', value: 5 }],
    ['==1', { op: '==', value: 1 }],
    [' != -0.5 ', { op: '!=', value: -0.5 }],
    ['< .95', { op: '<', value: 0.95 }],
    ['> +1e3', { op: '>', value: 1000 }],
    ['== true', { op: '==', value: true }],
    ['!= false', { op: '!=', value: false }],
  ])('%j is read', (check, expected) => {
    expect(parseGateCheck(check)).toEqual(expected)
  })

  it.each(['', '5', '=> 5', '>= ', '>= five', '== NaN', '< Infinity', '> 1e999', '>= 5 6', '== True'])(
    '%j is no check',
    check => {
      expect(parseGateCheck(check)).toBeUndefined()
    },
  )
})
