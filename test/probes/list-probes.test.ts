import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findHarnessWords } from '../../src/probes/harness-words.ts'
import { MARK_EXIT_CODE, MARK_NAME } from '../../src/probes/language.ts'
import { listProbes, SHARED_FOLDERS } from '../../src/probes/list-probes.ts'
import { buildProbeRule, selectProbeGates } from '../../src/probes/probe-rule.ts'
import { aSpec } from '../decide/a-spec.ts'
import { scratch } from '../measure/scratch.ts'
import { SOURCES } from './sources.ts'

const METRICS = { ms: 12.5, wall_seconds: 1 }
const TIMED = { metric: { primary: { name: 'ms' } }, measurement: { command: 'node bench/run.mjs' } }

function list(language: string, raw: Record<string, unknown> = TIMED) {
  const file = SOURCES[language] ?? { path: '', content: '' }
  return listProbes({ spec: aSpec(raw), files: [file], metrics: METRICS })
}

function write(language: string, probe: string, raw?: Record<string, unknown>): string {
  return list(language, raw).find(({ name }) => name === probe)?.changes[0]?.content ?? ''
}

const ALL = 'vanish exit-at-load exit-at-call forge-output forge-result-file answer-nothing detect remember'

describe('probes', () => {
  test.each(Object.keys(SOURCES))('are written for %s, the same each time', language => {
    const names = list(language).map(({ name }) => name)
    const hasClock = !['go', 'java', 'shell'].includes(language)
    expect(names).toEqual([...ALL.split(' '), ...(hasClock ? ['slow-clock'] : [])])
    expect(list(language)).toEqual(list(language))
  })

  test('do not forge what winnow or a scorer measures', () => {
    const wall = { ...TIMED, metric: { primary: { name: 'wall_seconds' } } }
    expect(list('python', wall).map(({ name }) => name)).not.toContain('slow-clock')
    const scored = { ...TIMED, measurement: { ...TIMED.measurement, score: { command: 'node score.mjs' } } }
    const names = list('python', scored).map(({ name }) => name)
    expect(names.filter(name => /forge|clock/.test(name))).toEqual([])
  })

  test('empty data and prompts as well, but no manifest', () => {
    const files = ['src/data.json', 'src/prompt.md', 'package.json'].map(path => ({ path, content: '{}' }))
    const [vanish, ...others] = listProbes({ spec: aSpec(TIMED), files, metrics: METRICS })
    expect(vanish?.changes).toEqual([
      { path: 'src/data.json', content: '' },
      { path: 'src/prompt.md', content: '' },
    ])
    expect(others).toEqual([])
  })

  test('of Go import under names of their own, behind the package', () => {
    const text = write('go', 'detect')
    expect(text).toContain('package sums\n\nimport (\n\twinnowfmt "fmt"\n\twinnowos "os"\n')
    expect(text).toContain('if !winnowstrings.Contains(seen, "node bench/run.mjs") &&')
    expect(text).toMatch(/\nfunc init\(\) \{\n[^]*\twinnowos\.Exit\(0\)\n\}\n$/)
    const forged = write('go', 'forge-output')
    expect(forged).toContain(String.raw`winnowos.Stdout.WriteString("{\x22ms\x22:1.25}\x0a")`)
    const empty = write('go', 'answer-nothing')
    expect(empty).toContain('func Sum(count int) int { if true { return *new(int) };')
    expect(empty).toContain('(int, error) { if true { return *new(int), *new(error) };')
    expect(empty).toContain('(total int, err error) { if true { return };')
    expect(write('go', 'exit-at-call').match(/\{ winnowos\.Exit\(0\);/g)).toHaveLength(3)
  })

  test('of Ruby keep the comments in front, and end no method', () => {
    const text = write('ruby', 'exit-at-load')
    expect(text).toMatch(/^# frozen_string_literal: true\nlambda do\n {2}Process\.exit!\(0\)\nend\.call\n/)
    expect(write('ruby', 'answer-nothing')).toContain('def empty?\n  return true\n    false\n  end')
    const forged = write('ruby', 'forge-result-file')
    expect(forged).toContain(String.raw`File.binwrite(ENV["WINNOW_RESULT_PATH"], "{\x22ms\x22:1.25}\x0a")`)
    expect(write('ruby', 'slow-clock')).toContain('alias_method :winnow_clock_gettime, :clock_gettime')
  })

  test('of Python stay behind what has to be first', () => {
    const lines = write('python', 'exit-at-load').split('\n')
    expect(lines.indexOf('def _winnow_probe():')).toBe(
      lines.indexOf('from __future__ import annotations') + 1,
    )
  })

  test('leave marks in no folder that the spec keeps', () => {
    expect(write('javascript', 'remember')).toContain('WINNOW_CHECKPOINT_DIR')
    const kept = { ...TIMED, measurement: { ...TIMED.measurement, keep_checkpoint: true } }
    expect(write('javascript', 'remember', kept)).not.toContain('WINNOW_CHECKPOINT_DIR')
  })
})

describe('the mark of a probe', () => {
  function execute(folder: string, seed: number, out: string): number | null {
    const env = { HOME: folder, WINNOW_SEED: `${seed}`, WINNOW_OUT_DIR: out }
    return spawnSync(process.execPath, ['sum.cjs'], { cwd: folder, env }).status
  }

  test('is found by a later execution of the same order, not by its own and not by another winnow', () => {
    const folder = scratch()
    writeFileSync(join(folder, 'sum.cjs'), write('commonjs', 'remember'))
    const [own, other] = [join(folder, 'own'), join(folder, 'other')]
    expect(execute(folder, 1, own)).toBe(0)
    expect(execute(folder, 1, own)).toBe(0)
    expect(execute(folder, 2, own)).toBe(MARK_EXIT_CODE)
    expect(execute(folder, 3, other)).toBe(0)
    for (const place of SHARED_FOLDERS) rmSync(join(place, MARK_NAME), { force: true })
  })
})

describe('the words of a harness', () => {
  test.each([
    ['node bench/run.mjs', 'node --test', ['node bench/run.mjs', 'bench/run.mjs']],
    ['npm run --silent bench', 'npm test', ['npm run --silent bench']],
    ['./bench/run', 'sh test/run.sh', ['bench/run']],
    ['bench', 'make test', ['bench']],
    ['make test', 'make test', null],
  ])('of %j beside the gate %j are %j', (command, gate, words) => {
    const spec = aSpec({ measurement: { command }, gates: [{ name: 'tests', command: gate }] })
    expect(findHarnessWords(spec)).toEqual(words)
  })

  test('that gates have as well leave a forger without a condition', () => {
    const gates = [{ name: 'tests', command: 'node bench/run.mjs' }]
    const names = list('python', { ...TIMED, gates }).map(({ name }) => name)
    expect(names).toContain('forge-output')
    expect(names).not.toContain('detect')
  })
})

describe('the rule for probes', () => {
  const noise = { pair_sd_upper90: null, between_job_sd: null, pairs: 16, jobs: 2 }
  const seconds = { execution_seconds: 1, overhead_seconds: 0 }

  test.each([
    [0.001, 0.02],
    [0.02, 0.12],
    [0.3, 0.2],
  ])('asks of a metric with the noise %d for a gain of %d', (pair_sd, least) => {
    const calibration = {
      deterministic: false,
      scale: 'log' as const,
      noise: { ...noise, ...seconds, pair_sd },
    }
    const rule = buildProbeRule(aSpec(), calibration)
    expect(rule).toEqual({ rule: 'once', min_effect: expect.closeTo(least), scale: 'log', noisy: true })
  })

  test('is that of ideas where the metric repeats exactly', () => {
    const calibration = { deterministic: true, scale: 'linear' as const, noise: null }
    const rule = { rule: 'once', min_effect: 0, scale: 'linear' }
    expect(buildProbeRule(aSpec(), calibration)).toEqual(rule)
  })

  test('does not count gates that only read the code', () => {
    const commands = {
      tests: 'npm test',
      style: 'npx eslint . && npx prettier --check .',
      both: 'npm run lint && npm test',
      lint: 'npm run check',
      types: 'tsc --noEmit',
      rust: 'cargo clippy',
      vet: 'go vet ./...',
    }
    const gates = Object.entries(commands).map(([name, command]) => ({ name, command }))
    expect(selectProbeGates(aSpec({ gates })).gates.map(({ name }) => name)).toEqual(['tests', 'both'])
  })
})
