import { describe, expect, it } from 'vitest'
import { EventRenderer, isNotableEvent } from '../../src/report/event-log.ts'
import { isAboutExperiment, renderExperiment } from '../../src/report/experiment.ts'
import { MACHINE } from '../model/a-machine.ts'
import { formatMetrics } from '../../src/report/metrics.ts'
import { formatTable } from '../../src/report/terminal.ts'
import {
  baseline,
  calibrated,
  campaignOf,
  decided,
  eventsOf,
  NEXT,
  NOISE,
  opened,
  POINT,
  started,
  type Told,
} from './campaign-of.ts'

const ORDER = '1'.repeat(64)
const NONE = { objectives: [] }

/** A report whose base printed these metrics, one sample each. */
function reportOf(samples: readonly Record<string, number>[]): Told<'measured'> {
  const execution = {
    side: 'base',
    role: 'sample',
    build: 0,
    seed: 0,
    status: 'ok',
    exit_code: 0,
    signal: null,
    wall_seconds: 1,
  } as const
  const at = '2026-01-02T03:04:05.000Z'
  const report = {
    order: ORDER,
    run_id: 'run-1',
    started_at: at,
    finished_at: at,
    harness: ORDER,
    trees: {},
    machine: MACHINE,
    flags: [],
    setups: [],
    gates: [],
    executions: samples.map(metrics => ({ ...execution, metrics })),
    tampered: null,
    runner_error: null,
  }
  return { kind: 'measured', order: ORDER, run_id: 'run-1', report }
}

function first<T>([one]: readonly T[]): T {
  if (one === undefined) throw new Error('there is none')
  return one
}

const lineOf = (draft: Told) => new EventRenderer().next(first(eventsOf(draft)))

describe('an event as a line', () => {
  it.each<[Told, string]>([
    [started(), 'campaign size started at aaaaaaaaaaaa'],
    [opened(1), 'exp-001 opened (patch): idea 1'],
    [decided(1), 'exp-001 Kept: bytes 100 -> 90 (-10.0 %), deterministic'],
    [
      decided(2, { outcome: 'degenerate', verdict: 'broken', reason: 'gate tests failed (exit 1)' }),
      'exp-002 Broken: gate tests failed (exit 1)',
    ],
    [
      decided(1, {
        reason: 'r',
        warnings: ['compared with a stored score', 'not isolated: the candidate …'],
      }),
      'exp-001 Kept: r [compared with a stored score; not isolated]',
    ],
    [calibrated(null), 'calibrated: deterministic, equal in 3 runs'],
    [
      calibrated(NOISE),
      'calibrated: noisy, bytes varies; pairs differ by 3.0 %, log scale, fair to both sides',
    ],
    [baseline(100), 'baseline on tree bbbbbbbbbbbb: bytes 100'],
    [
      {
        kind: 'experiment-refused',
        experiment: 'exp-001',
        head: null,
        code: 'scope',
        message: 'x is not mutable',
      },
      'exp-001 Refused: x is not mutable',
    ],
    [
      { kind: 'order-lost', order: ORDER, started: true, reason: 'killed' },
      'order 111111111111 lost: killed',
    ],
    [
      {
        kind: 'order-dispatched',
        order: ORDER,
        run_id: 'local:0bc7e1a4-5f0e-4d3c-9b1e-2f6d7a8c9e01:4711:99',
      },
      'order 111111111111 dispatched to local process 4711',
    ],
    [
      { kind: 'order-dispatched', order: ORDER, run_id: 'actions:123/1' },
      'order 111111111111 dispatched to GitHub run 123',
    ],
    [
      { kind: 'order-printed', order: ORDER, run_id: 'actions:123/2', digest: ORDER },
      'order 111111111111 measured in GitHub run 123, attempt 2; waiting for scores',
    ],
    [
      {
        kind: 'campaign-amended',
        spec_sha256: ORDER,
        spec_yaml: '',
        harness: ORDER,
        source: 'person',
        reason: 'r',
      },
      'spec amended by a person: r',
    ],
    [
      { kind: 'incumbent-moved', from: POINT, to: NEXT, why: 'merged' },
      'incumbent is now cccccccccccc (merged)',
    ],
    [{ kind: 'note', text: 'hello', experiment: 'exp-001' }, 'note on exp-001: hello'],
    [{ kind: 'note', text: 'hello', experiment: null }, 'note: hello'],
    [
      { kind: 'steered', action: 'revert', experiment: 'exp-001', reason: 'breaks' },
      'revert of exp-001 requested: breaks',
    ],
    [
      { kind: 'spent', what: 'propose', who: 'bot', ok: true, minutes: 1.5, requests: 0, tokens: 0, usd: 0 },
      'spent on propose by bot: 1.5 min, 0 USD',
    ],
    [
      {
        kind: 'proposal-requested',
        key: 'command:bot:1',
        who: 'bot',
        base: POINT,
        until: '2026-01-01T00:00:00Z',
      },
      'requested an idea from bot, in a separate job',
    ],
    [
      { kind: 'proposal-lost', key: 'command:bot:1', reason: 'late' },
      'command:bot:1 returned no answer: late',
    ],
    [{ kind: 'campaign-stopped', code: 'plateau', reason: '40 experiments' }, 'stopped: 40 experiments'],
  ])('%#: %j', (draft, expected) => {
    expect(lineOf(draft)).toBe(expected)
  })

  it('stays one line for hostile text', () => {
    const line = lineOf(opened(1, { hypothesis: `first\nexp-999 Kept: fake\u001b[2J${'x'.repeat(900)}` }))
    expect(line).not.toContain('\n')
    expect(line?.length).toBeLessThanOrEqual(400)
  })
})

describe('metrics for people', () => {
  it('omits built-in metrics when the harness prints others', () => {
    expect(formatMetrics({ bytes: 12.5, wall_seconds: 1, cpu_seconds: 1 }, NONE)).toBe('bytes 12.5')
    expect(formatMetrics({ wall_seconds: 1.25 }, NONE)).toBe('wall_seconds 1.25')
    expect(formatMetrics({ bytes: null }, NONE)).toBe('bytes missing')
  })

  it('start with the primary at any position of the output', () => {
    const primary = { objectives: ['bytes', 'score'] }
    expect(formatMetrics({ zeros: 0, score: 2, bytes: 12 }, primary)).toBe('bytes 12, score 2, zeros 0')
    expect(formatMetrics({ zeros: 0, bytes: null }, primary)).toBe('bytes missing, zeros 0')
  })

  it('include a built-in primary beside printed metrics', () => {
    const primary = { objectives: ['wall_seconds'] }
    expect(formatMetrics({ ops: 7, wall_seconds: 1.5, cpu_seconds: 1 }, primary)).toBe(
      'wall_seconds 1.5, ops 7',
    )
  })

  it('are the objectives and a count of the rest when there are too many', () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`m${at}`, at]))
    expect(formatMetrics(many, { objectives: ['m7'] })).toBe('m7 7, 11 more')
  })
})

describe('the log', () => {
  const spec_yaml = started().spec_yaml.replace(
    'measurement: { command: x }',
    'measurement: { command: x, baseline: fresh, stability: { mode: repeat, repeat_count: 4, aggregation: mean } }',
  )
  const samples = [10, 20, 20, 70].map(bytes => ({ zeros: 0, bytes }))

  it('shows the primary first, and the aggregate of several samples', () => {
    const lines = new EventRenderer()
    const [beginning, measured] = eventsOf({ ...started(), spec_yaml }, reportOf(samples))
    if (!beginning || !measured) throw new Error('there are two')
    lines.next(beginning)
    expect(lines.next(measured)).toBe('measured: base bytes 30, zeros 0')
  })

  it('shows a measurement as base and candidate, the primary first', () => {
    const measured = reportOf(samples)
    const halved = measured.report.executions.map(run => ({
      ...run,
      side: 'exp-001' as const,
      metrics: { zeros: 1, bytes: Number(run.metrics['bytes']) / 2 },
    }))
    // The candidate's turn came first.
    const report = { ...measured.report, executions: [...halved, ...measured.report.executions] }
    const [beginning, event] = eventsOf({ ...started(), spec_yaml }, { ...measured, report })
    if (!beginning || !event) throw new Error('there are two')
    const lines = new EventRenderer()
    lines.next(beginning)
    expect(lines.next(event)).toBe('measured: exp-001 bytes 30 -> 15 (-50.0 %), zeros 0 -> 1')
  })

  it('mentions a side without a result, and a run without executions', () => {
    const measured = reportOf(samples)
    const timedOut = measured.report.executions.map(run => ({
      ...run,
      side: 'exp-001' as const,
      metrics: {},
    }))
    const withRuns = (executions: typeof measured.report.executions) => {
      const events = eventsOf(started(), { ...measured, report: { ...measured.report, executions } })
      const lines = new EventRenderer()
      return events.map(event => lines.next(event)).at(-1)
    }
    expect(withRuns([...measured.report.executions, ...timedOut])).toBe('measured: exp-001 has no result')
    expect(withRuns([])).toBe('measured nothing: setup or a gate failed')
  })

  it('uses the spec that was in force at each event', () => {
    const median = { kind: 'campaign-amended', spec_sha256: ORDER, harness: ORDER, source: 'person' } as const
    const amended = { ...median, spec_yaml: started().spec_yaml, reason: 'r' }
    const events = eventsOf({ ...started(), spec_yaml }, amended, reportOf(samples))
    const lines = new EventRenderer()
    expect(events.map(event => lines.next(event)).at(-1)).toBe('measured: base bytes 20, zeros 0')
  })
})

describe('the text of one experiment', () => {
  const drafts = [
    opened(1),
    opened(2),
    {
      kind: 'order-issued',
      purpose: 'experiment',
      round: 1,
      attempt: 1,
      spec_sha256: ORDER,
      harness: ORDER,
      pin: POINT,
      base: POINT,
      candidates: [{ label: 'exp-001', head: POINT.commit, tree: NEXT.tree }],
      coins: '0'.repeat(64),
      earlier_jobs: {},
      stop: { rule: 'once', min_effect: 0, scale: 'linear' },
      deadline: '2026-01-02T03:04:05.000Z',
    },
    decided(1),
    decided(2),
  ] as const satisfies readonly Told[]

  it('lists its own events and those of its orders', () => {
    const events = eventsOf(...drafts)
    const issued = events.find(({ kind }) => kind === 'order-issued')
    const orders = new Set([issued?.id ?? ''])
    const about = events.filter(event => isAboutExperiment(event, 'exp-001', orders)).map(({ kind }) => kind)
    expect(about).toEqual(['experiment-opened', 'order-issued', 'decided'])
    const lost = eventsOf({ kind: 'order-lost', order: issued?.id ?? '', started: true, reason: 'r' })
    expect(lost.map(event => isAboutExperiment(event, 'exp-001', orders))).toEqual([true])
  })

  it('starts with its verdict', () => {
    const campaign = campaignOf(...drafts)
    const experiment = campaign.experiments['exp-001']
    if (experiment === undefined) throw new Error('not opened')
    const judged = eventsOf(decided(1, { warnings: ['not isolated: the candidate ran as you'] }))
    const lines = renderExperiment(
      campaign,
      experiment,
      { pr: 4, branch: 'optimize-exp/size/exp-001' },
      { events: judged },
    )
    expect(lines).toContain('  warning   not isolated: the candidate ran as you')
    expect(lines[0]).toBe('exp-001 Kept: bytes 100 -> 90 (-10.0 %), deterministic')
    expect(lines).toContain('  idea      idea 1')
    expect(lines).toContain('  pull      #4')
  })
})

describe('the events that a run prints', () => {
  it('include the reason of a revert, and no other request', () => {
    const about = { kind: 'steered', experiment: 'exp-001', reason: 'epoch 5: mean loss 0.5' } as const
    const [revert, retry] = eventsOf({ ...about, action: 'revert' }, { ...about, action: 'retry' })
    expect([revert, retry].map(event => event !== undefined && isNotableEvent(event))).toEqual([true, false])
  })
})

describe('a table', () => {
  it('lines up cells whose characters take two columns', () => {
    expect(
      formatTable([
        ['速い', 'x'],
        ['slow', 'y'],
        ['→ …', 'z'],
      ]),
    ).toEqual(['速い  x', 'slow  y', '→ …   z'])
  })

  it('is as wide as its widest cells, without trailing spaces', () => {
    expect(
      formatTable([
        ['a', 'b', 'c'],
        ['long', '', ''],
        ['', 'bb', 'c'],
      ]),
    ).toEqual(['a     b   c', 'long', '      bb  c'])
  })
})
