import { describe, expect, it } from 'vitest'
import { NOT_NOISE_PROOF, isComparedWithStoredScore } from '../../src/spec/notes.ts'
import { ceSpec, changed, fixture, fixtureNames, parsed, problemsOf, winnowSpec } from './problems-of.ts'

const ceFixtures = fixtureNames.filter(name => name.startsWith('ce-'))
const notes = (name: string, changes = {}): string[] => parsed(changed(name, changes)).notes

describe('a ce-optimize spec', () => {
  it.each(ceFixtures)('%s runs unchanged, and says what its comparison is worth', name => {
    const { spec, notes: told } = parsed(fixture(name), { file: 'spec.yaml' })
    expect(spec.rules).toBe('ce')
    expect(isComparedWithStoredScore(spec)).toBe(true)
    expect(told[0]).toBe(NOT_NOISE_PROOF)
  })

  it("has ce's defaults", () => {
    const { spec } = parsed(fixture('ce-smallest.yaml'))
    expect(spec.measurement.stability).toEqual({
      mode: 'stable',
      repeat_count: 5,
      aggregation: 'median',
      noise_threshold: 0.02,
      comparison: { method: 'absolute', relative_threshold: 0.05 },
      ladder: null,
    })
    expect(spec.measurement.baseline).toBe('cached')
    expect(spec.stopping).toMatchObject({ plateau: 10, max_hours: 8, max_iterations: 100 })
    expect(spec.max_runner_up_merges_per_batch).toBe(1)
    expect(spec.limits).toEqual({
      max_files: null,
      max_changed_lines: null,
      allowed_file_types: [],
      max_binary_bytes: null,
    })
  })

  it('fills an empty futility and an empty stability', () => {
    const spec = ceSpec({ 'measurement.stability': { mode: 'ladder', ladder: { futility: {} } } })
    expect(spec.measurement.stability?.ladder?.futility).toEqual({
      worse_factor: 1.2,
      after_elapsed_seconds: null,
    })
    expect(ceSpec({ 'measurement.stability': null }).measurement.stability?.mode).toBe('stable')
  })

  it('requires what ce requires', () => {
    const text =
      'name: x\nmetric: { primary: { type: hard } }\nmeasurement: { command: x }\nscope: { mutable: [a] }\n'
    expect(
      problemsOf(text)
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual([
      'description',
      'metric.degenerate_gates',
      'metric.primary.direction',
      'metric.primary.name',
      'scope.immutable',
    ])
  })

  it('may ask for evidence by naming a mode, and is then no longer compared with a stored score', () => {
    const { spec, notes: told } = parsed(
      changed('ce-hard.yaml', { 'measurement.mode': 'once', 'measurement.stability': undefined }),
    )
    expect(spec.measurement.stability).toBeNull()
    expect(told).not.toContain(NOT_NOISE_PROOF)
  })

  it('may use every key of winnow', () => {
    expect(ceSpec({ 'limits.max_files': 3, gates: [{ name: 't', command: 'x' }] })).toMatchObject({
      limits: { max_files: 3, max_changed_lines: null },
      gates: [{ name: 't', phase: 'pre' }],
    })
  })

  it('keeps one key where ce has its own word', () => {
    const spec = ceSpec({ constraints: ['Stay small.'], advice: ['Be kind.'] })
    expect(spec.stopping.plateau).toBe(3)
    expect(spec.stopping).not.toHaveProperty('plateau_iterations')
    expect(spec.advice).toEqual(['Be kind.', 'Stay small.'])
    expect(spec.metric.primary).not.toHaveProperty('baseline')
    expect(spec.measurement).not.toHaveProperty('output_format')
  })

  it('counts wall-clock hours, the smaller of two given caps', () => {
    const hours = (stopping: object) => ceSpec({ stopping }).stopping.max_hours
    expect(hours({ max_wall_hours: 72 })).toBe(72)
    expect(hours({ max_wall_hours: 72, max_hours: 5 })).toBe(5)
    expect(hours({ max_wall_hours: 2, max_hours: 5 })).toBe(2)
    expect(hours({ max_wall_hours: null })).toBe(8)
    expect(ceSpec({ stopping: { max_wall_hours: 2 } }).stopping).not.toHaveProperty('max_wall_hours')
  })

  it('says what it accepts and does not use', () => {
    expect(notes('ce-hard.yaml', { 'metric.primary.baseline': 12 })).toContain(
      'metric.primary.baseline is ignored: winnow measures the baseline itself',
    )
    expect(notes('ce-hard.yaml', { 'metric.judge': { rubric: 'r', scoring: { primary: 'p' } } })).toContain(
      'metric.judge is ignored: metric.primary.type is hard',
    )
    expect(notes('ce-clustering.yaml')).toContainEqual(
      expect.stringContaining('proposers get constraints as advice'),
    )
    expect(notes('ce-text-target.yaml')).toContainEqual(
      expect.stringContaining('measurement.per_case is accepted'),
    )
    expect(notes('ce-text-target.yaml')).toContainEqual(expect.stringContaining('wall-clock hours only'))
    expect(notes('ce-hard.yaml', { 'measurement.stability': { mode: 'ladder' } })).toContainEqual(
      expect.stringContaining('compares metric units'),
    )
  })
})

describe("an objective under the primary's name", () => {
  const primary = { type: 'hard', name: 'ms' }

  it('supplies what the primary leaves unset', () => {
    const objectives = [
      { name: 'ms', direction: 'maximize', target: 4, max_regression: { type: 'absolute', value: 1 } },
    ]
    const { metric } = ceSpec({ 'metric.primary': primary, 'metric.objectives': objectives })
    expect(metric.primary).toEqual({ type: 'hard', name: 'ms', direction: 'maximize', target: 4 })
    expect(metric.objectives).toMatchObject([{ name: 'ms', max_regression: { type: 'absolute', value: 1 } }])
  })

  it('never overrides what the primary says', () => {
    const objectives = [{ name: 'ms', direction: 'maximize', target: 4, role: 'guardrail' }]
    const changes = {
      'metric.primary': { ...primary, direction: 'minimize', target: 2 },
      'metric.objectives': objectives,
    }
    expect(ceSpec(changes).metric.objectives).toMatchObject([
      { direction: 'minimize', target: 2, role: 'required' },
    ])
    expect(notes('ce-hard.yaml', changes)).toContain(
      'metric.objectives: ms is the primary, which is always required',
    )
  })

  it('is ignored when it is secondary', () => {
    const objectives = [{ name: 'ms', direction: 'maximize', role: 'secondary' }]
    const changes = {
      'metric.primary': { ...primary, direction: 'minimize' },
      'metric.objectives': objectives,
    }
    expect(ceSpec(changes).metric.objectives).toEqual([])
    expect(notes('ce-hard.yaml', changes)).toContain(
      'metric.objectives: the secondary entry named like the primary (ms) is ignored',
    )
  })
})

describe('stability under winnow: 1', () => {
  it("selects ce's comparison, with ce's values for what it leaves out, and nothing else of ce", () => {
    const spec = winnowSpec({ 'measurement.stability': { mode: 'repeat' } })
    expect(spec.measurement.stability).toMatchObject({
      mode: 'repeat',
      repeat_count: 5,
      noise_threshold: 0.02,
    })
    expect(spec).toMatchObject({
      rules: 'winnow',
      measurement: { baseline: 'fresh' },
      stopping: { plateau: 40 },
    })
    expect(notes('winnow-stability.yaml')).toEqual([NOT_NOISE_PROOF])
  })
})
