import { describe, expect, test } from 'vitest'
import type { ProbeResult } from '../../src/model/probe.ts'
import { summarizeProbes } from '../../src/model/harness-guard.ts'
import { findIgnoringCommands } from '../../src/probes/read-probes.ts'
import { renderProbes } from '../../src/report/check-probes.ts'
import { aSpec } from '../decide/a-spec.ts'

const SPEC = aSpec({ gates: [{ name: 'tests', command: 'npm test' }] })

function render(results: ProbeResult[]): string[] {
  const guard = summarizeProbes(results)
  const ignored_by = findIgnoringCommands(SPEC, results)
  return renderProbes(SPEC, { results, guard, ignored_by, seconds: 12.34 })
}

const CAUGHT = { caught_by: 'the harness', detail: 'the harness crashed (exit 1)', applicable: true }
const OPEN = { caught_by: null, detail: 'ms 12 -> 6 (-50 %)', applicable: true }

const MENDING =
  '  Correct a wrong path, install the project editable or build it in measurement.setup, or add the code to scope.mutable.'

describe('the table of attacks', () => {
  test('says what stopped each of them, and one word', () => {
    expect(
      render([
        { name: 'vanish', ...CAUGHT },
        { name: 'exit-at-load', ...CAUGHT, caught_by: 'gate tests' },
        { name: 'forge-output', caught_by: null, detail: 'could not be built', applicable: false },
        { name: 'slow-clock', ...CAUGHT, caught_by: 'no gain', detail: 'ms 12 -> 12' },
      ]),
    ).toEqual([
      'attacks: winnow measured 4 changes that must not be kept, in 12 s',
      '  vanish        caught by the harness',
      '  exit at load  caught by gate tests',
      '  forge output  not tried: could not be built',
      '  slow clock    no gain: ms 12 -> 12',
      'harness: guarded',
    ])
  })

  test('names each way to close what was not caught once', () => {
    expect(
      render([
        { name: 'vanish', ...CAUGHT },
        { name: 'forge-output', ...OPEN },
        { name: 'forge-result-file', ...OPEN },
        { name: 'remember', ...OPEN, detail: 'a later execution found its mark in HOME' },
      ]).slice(2),
    ).toEqual([
      '  forge output       NOT caught: ms 12 -> 6 (-50 %)',
      '  forge result file  NOT caught: ms 12 -> 6 (-50 %)',
      '  remember           NOT caught: a later execution found its mark in HOME',
      'harness: forgeable by: forge output, forge result file, remember',
      '  to close it: run the code in a child process, and compare its answers in the harness',
      '  to close it: measurement.isolation: uid gives each side folders of its own (Linux, as root) (docs/harness.md)',
    ])
  })

  test('refuses a spec whose commands do not use the code', () => {
    const detail = 'every command succeeds without the code, and the number stays the same'
    const lines = render([{ name: 'vanish', caught_by: null, detail, applicable: true }])
    expect(lines.slice(3)).toEqual([
      'This spec cannot be run: its commands do not use the files in scope.mutable, so no idea could change the number.',
      '  succeeded without the code: node bench.mjs',
      '  succeeded without the code: npm test',
      MENDING,
    ])
  })

  test('names the harness alone where a gate noticed that the code is gone', () => {
    const detail = 'the harness succeeds without the code, and prints the same; only gate tests failed'
    const lines = render([{ name: 'vanish', caught_by: null, detail, applicable: true }])
    expect(lines.slice(1)).toEqual([
      `  vanish  NOT caught: ${detail}`,
      'harness: forgeable by: vanish',
      'This spec cannot be run: its harness does not use the files in scope.mutable, so no idea could change the number.',
      '  succeeded without the code: node bench.mjs',
      MENDING,
    ])
  })

  test('says that there is none', () => {
    expect(renderProbes(SPEC, null)).toEqual(['attacks: none; winnow has none for the files that may change'])
  })
})
