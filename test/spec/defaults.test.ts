import { describe, expect, it } from 'vitest'
import { changed, fixture, parsed, winnowSpec } from './problems-of.ts'

describe("winnow's defaults", () => {
  const spec = winnowSpec()

  it('time the harness and keep what is shown to be faster', () => {
    expect(spec.metric.primary).toEqual({
      type: 'hard',
      name: 'wall_seconds',
      direction: 'minimize',
      target: null,
    })
    expect(spec.measurement).toMatchObject({
      setup_scope: 'per_job',
      timeout_seconds: 600,
      working_directory: '.',
      output: 'json',
      isolation: 'auto',
      network: 'on',
      mode: 'auto',
      stability: null,
      baseline: 'fresh',
    })
    expect(spec.evidence).toEqual({
      min_effect: null,
      null_effect: null,
      scale: 'auto',
      pairs_per_job: 'auto',
      max_jobs: 8,
      alpha: 0.01,
      screen: 20,
      campaign_control: 'e-lond',
      q: 0.1,
      fresh_runners: 1,
      slow_runs: 0.05,
    })
  })

  it('bound an experiment and a campaign', () => {
    expect(spec.limits).toEqual({
      max_files: 20,
      max_changed_lines: 500,
      allowed_file_types: [],
      max_binary_bytes: 0,
    })
    expect(spec.stopping).toEqual({
      max_iterations: 100,
      max_hours: 8,
      plateau: 40,
      target_reached: true,
      max_runner_minutes: null,
      max_total_cost_usd: null,
      max_failures: null,
    })
    expect(spec.max_runner_up_merges_per_batch).toBe(3)
    expect(spec.gates[0]).toMatchObject({ phase: 'pre', timeout_seconds: 600 })
  })

  it('depend on where the campaign runs', () => {
    const text = fixture('winnow-smallest.yaml')
    const github = parsed(text, { host: 'github', privateRepository: true }).spec.stopping
    expect(github).toMatchObject({ max_hours: null, max_runner_minutes: 600 })
    expect(parsed(text, { host: 'github' }).spec.stopping.max_runner_minutes).toBeNull()
    expect(parsed(fixture('ce-smallest.yaml'), { host: 'github' }).spec.stopping.max_hours).toBe(8)
  })

  it('let ideas in from outside, and review new packages', () => {
    expect(spec.propose).toEqual([{ use: 'external' }])
    expect(spec.dependencies).toEqual({
      approved: [],
      approval: 'review',
      approvers: 'write',
      min_release_age_days: 0,
      allow_scripts: false,
    })
    expect(spec.branches.prefix).toBe('optimize')
    expect(spec.merge).toMatchObject({ via: 'push', auto: true, unisolated: 'auto', on_merge: 'stop' })
  })
})

describe('what a file says', () => {
  it('is never replaced by a default', () => {
    const { spec, notes } = parsed(fixture('winnow-everything.yaml'))
    expect(spec).toMatchObject({
      name: 'everything',
      measurement: { setup_scope: 'once', timeout_seconds: 90, mode: 'paired', network: 'off' },
      evidence: { min_effect: 0.03, pairs_per_job: 6, campaign_control: 'fixed' },
      stopping: { max_hours: 12, plateau: 20, target_reached: false },
      merge: { via: 'api', on_merge: 'restart' },
      schedule: 'weekly',
    })
    expect(notes).toEqual([
      'measurement.baseline is not used: only measurement.stability compares with a stored score',
      'parallel.exclusive_resources (gpu): the campaign is serial',
    ])
    expect(spec.execution.mode).toBe('serial')
  })

  it('is noted where the spec cannot use it', () => {
    const note = (changes: Record<string, unknown>) => parsed(changed('winnow-smallest.yaml', changes)).notes
    expect(note({ 'parallel.port_base': 4000 })).toEqual([
      'parallel: winnow assigns no port without port_env_var',
    ])
    expect(note({ 'parallel.port_env_var': 'PORT', 'parallel.port_base': 4000 })).toEqual([
      'parallel: winnow assigns no port without port_strategy: parameterized',
    ])
    expect(note({ 'measurement.baseline': 'cached' })).toEqual([
      'measurement.baseline is not used: only measurement.stability compares with a stored score',
    ])
    expect(note({ 'measurement.stability': { mode: 'repeat', ladder: {} } })).toContain(
      'measurement.stability.ladder is not used: mode is repeat',
    )
    expect(note({ 'metric.loss': {} })).toEqual(['metric.loss is ignored: metric.primary.type is hard'])
    expect(note({ 'measurement.stability': {}, 'evidence.alpha': 0.02 })).toContain(
      'evidence is not used: measurement.stability selects the comparison with a stored score',
    )
    expect(note({ 'execution.backend': 'worktree', 'execution.max_concurrent': 7 })).toEqual([
      'execution.max_concurrent 7: at most 6 is advised for work trees',
    ])
  })
})
