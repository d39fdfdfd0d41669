import { describe, expect, it } from 'vitest'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import {
  type TryContext,
  buildTryAnswer,
  renderTryAnswer,
  buildUnmeasuredAnswer,
  toTryExitCode,
} from '../../src/report/try-answer.ts'

const EXPERIMENT = {
  id: 'exp-007',
  status: 'ended',
  outcome: 'dropped',
  verdict: 'no gain',
  reason: 'bytes 100 -> 100\nevidence E 0.3 of 20',
  hypothesis: 'an idea',
  branch: 'optimize-exp/size/try-1',
  metrics: { bytes: 100 },
  resumed: 0,
  given_up: null,
  approval: null,
  approved: {},
  evidence: null,
  order: null,
} as unknown as Experiment

const AROUND = {
  optimize: 'optimize/size',
  pr: 3,
  triedBefore: false,
  leftOut: [],
  take: 'git merge optimize/size',
  waiting: null,
  measured: { effect: null, evidence: null, metrics: {}, warnings: [], failed: null },
} satisfies TryContext

function answer(about: Partial<Experiment>, around: Partial<TryContext> = {}) {
  const campaign = { ...createEmptyCampaign(), name: 'size' }
  return buildTryAnswer(campaign, { ...EXPERIMENT, ...about }, { ...AROUND, ...around })
}

describe('the answer of winnow try', () => {
  it.each([
    [{}, 10, 'try a different kind of change'],
    [{ verdict: 'worse' }, 15, 'undo the change; it is harmful'],
    [{ verdict: 'kept', outcome: 'kept' }, 0, 'git merge optimize/size'],
    [{ verdict: 'not proven', outcome: 'inconclusive' }, 11, 'look for a larger gain'],
    [{ verdict: 'not proven', outcome: null, status: 'not-proven' }, 11, 'repeat the command for more jobs'],
    [
      { verdict: 'not proven', outcome: null, status: 'queued' },
      14,
      'repeat the command, or winnow show exp-007',
    ],
    [
      { verdict: 'not proven', outcome: null, status: 'not-proven', given_up: 'for_now' },
      11,
      'look for a larger gain, or repeat the command for more jobs',
    ],
    [
      { verdict: 'refused', outcome: 'refused', reason: 'the same files as exp-001' },
      12,
      'fix it (the same files as exp-001), then try again',
    ],
    [
      {
        verdict: 'refused',
        outcome: 'refused',
        reason: 'does not merge with the incumbent: conflict in src/lru.go',
      },
      12,
      'commit it to a branch, merge optimize/size there, resolve, then repeat the command',
    ],
    [{ verdict: 'broken', outcome: 'error' }, 13, 'fix the failure, then try again'],
    [
      { verdict: null, outcome: null, status: 'deferred', reason: null },
      14,
      'ask a person to approve the new packages: winnow approve exp-007',
    ],
    [
      { verdict: null, outcome: null, status: 'queued', reason: null },
      14,
      'repeat the command, or winnow show exp-007',
    ],
  ] as const)('%j is exit code %i and has a next step', (about, code, next) => {
    const said = answer(about)
    expect([toTryExitCode(said), said.next]).toEqual([code, next])
    expect(said.sentence).toMatch(/^[A-Z][^\n]*\.$/)
  })

  it('is the sentence, the evidence, the place and the next step', () => {
    expect(renderTryAnswer(answer({}))).toEqual([
      'No gain: bytes 100 -> 100.',
      '  evidence E 0.3 of 20',
      '  the harness is not probed',
      '  exp-007  #3  optimize-exp/size/try-1',
      'Next: try a different kind of change',
    ])
  })

  it('contains numbers, warnings and the output of a failure', () => {
    const output = { failing: ['not ok 2 - adds'], stdout: 'ok 1', stderr: 'exit 1' }
    const said = answer(
      { verdict: 'broken', outcome: 'degenerate' },
      {
        measured: {
          effect: {
            metric: 'bytes',
            direction: 'minimize',
            scale: 'log',
            value: 0.1,
            interval: [0.05, 0.15],
            pairs: 12,
          },
          evidence: { reached: 31, needed: 1000 },
          metrics: { bytes: { base: 100, candidate: 90, samples: { base: [100], candidate: [90] } } },
          warnings: ['one machine'],
          failed: { what: 'gate tests', output },
        },
      },
    )
    expect(said).toMatchObject({
      evidence_line: 'evidence E 0.3 of 20',
      effect: 0.1,
      interval: [0.05, 0.15],
      scale: 'log',
      evidence: { reached: 31, needed: 1000 },
      metrics: { bytes: 90 },
      base_metrics: { bytes: 100 },
      warnings: ['one machine'],
      failed: { what: 'gate tests', output },
    })
    expect(said.next).toBe(
      'fix the failure, then try again; winnow show exp-007 prints the end of its output',
    )
    expect(renderTryAnswer(said)).toEqual([
      'Broken: bytes 100 -> 100.',
      '  evidence E 0.3 of 20',
      '  the harness is not probed',
      '  what failed:',
      '    not ok 2 - adds',
      '  last lines of stdout:',
      '    ok 1',
      '  last lines of stderr:',
      '    exit 1',
      '  exp-007  #3  optimize-exp/size/try-1',
      'Next: fix the failure, then try again; winnow show exp-007 prints the end of its output',
    ])
  })

  it('mentions an earlier verdict, and what the experiment waits for', () => {
    expect(answer({}, { triedBefore: true }).sentence).toBe(
      'No gain (tried before, as exp-007): bytes 100 -> 100.',
    )
    const waiting = { verdict: null, outcome: null, status: 'queued', reason: null } as const
    expect(answer(waiting, { waiting: 'the campaign is paused: ask Ada' }).sentence).toBe(
      'Waiting for a runner: the campaign is paused: ask Ada.',
    )
  })

  it('is complete when nothing was measured', () => {
    const without = buildUnmeasuredAnswer({
      campaign: 'size',
      verdict: 'refused',
      message: 'nothing changed.',
      next: 'edit',
      leftOut: ['notes'],
    })
    expect(toTryExitCode(without)).toBe(12)
    expect(Object.keys(without)).toEqual(Object.keys(answer({})))
    expect(renderTryAnswer(without)).toEqual(['Refused: nothing changed.', 'Next: edit'])
  })
})
