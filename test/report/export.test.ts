import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import { readHistoryFile } from '../../src/ideas/prior-results.ts'
import { importFiles } from '../../src/init/import/import-files.ts'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import { type Experiment, listExperiments } from '../../src/model/experiment.ts'
import { fold } from '../../src/model/fold/fold.ts'
import { outcomeSchema } from '../../src/model/verdict.ts'
import { ExperimentRecord } from '../../src/report/experiment.ts'
import { EXPORT_FORMATS, exportCampaign } from '../../src/report/export.ts'
import { buildResults } from '../../src/report/results.ts'
import { getCampaignSpec } from '../../src/spec/load.ts'
import { CE_OUTCOMES, ceLogSchema } from './ce-log-schema.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures')
const GOLDEN = readdirSync(join(FIXTURES, 'golden')).map(name => `golden/${name}/ledger.jsonl`)
const DIFF = [
  { status: 'M', path: 'src/value', added: 3, deleted: 1 },
  { status: 'A', path: 'src/logo.png', added: null, deleted: null },
]

/** A stored campaign as `winnow export` reads it. */
function readCampaign(file: string, change: (experiment: Experiment) => Experiment = each => each) {
  const lines = readFileSync(join(FIXTURES, file), 'utf8').trimEnd().split('\n')
  const events = lines.map((line): LedgerEvent => JSON.parse(line))
  const campaign = fold(createEmptyCampaign(), events)
  const experiments = listExperiments(campaign).map(one => {
    const record = new ExperimentRecord(one.id)
    for (const event of events) record.take(event)
    const experiment = change(one)
    const { outcome, reason } = experiment
    const ending = outcome === null ? null : { outcome, reason: reason ?? '' }
    const diff = record.decisive.length === 0 ? null : DIFF
    return {
      experiment,
      diff,
      results: buildResults({ spec: campaign.name, experiment, record, ending, diff }),
    }
  })
  return { campaign, spec: getCampaignSpec(campaign), experiments, histories: [] }
}

function exportLog(...given: Parameters<typeof readCampaign>) {
  return ceLogSchema.parse(parse(exportCampaign('ce-optimize', readCampaign(...given)).text))
}

function exportLines(file: string): Record<string, unknown>[] {
  const { text } = exportCampaign('jsonl', readCampaign(file))
  return text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
}

describe('an export as a log of ce-optimize', () => {
  it.each(GOLDEN)('of %s is valid', file => {
    const log = exportLog(file)
    expect(log.experiments.length).toBeGreaterThan(0)
  })

  it('contains what was tried, with its numbers and its commit', () => {
    const log = exportLog('golden/ce/ledger.jsonl')
    expect(log.baseline.metrics['bytes']).toEqual({ aggregate: 48, samples: [48, 48, 48] })
    const kept = log.experiments.find(({ outcome }) => outcome === 'kept')
    expect(kept).toMatchObject({
      batch: expect.any(Number),
      gates_passed: true,
      primary_delta: expect.stringMatching(/^\+/),
      objective_results: { bytes: { verdict: 'improved' } },
      changes: [
        { file: 'src/value', summary: '+3 -1' },
        { file: 'src/logo.png', summary: 'binary' },
      ],
      commit: expect.any(String),
      next_measurement: 'none',
    })
    expect(log.experiments.map(({ outcome }) => outcome)).toEqual(
      expect.arrayContaining(['kept', 'runner_up_kept', 'reverted', 'degenerate']),
    )
    const runnerUp = log.experiments.find(({ outcome }) => outcome === 'runner_up_kept')
    expect(runnerUp?.merged_with).toBe(kept?.iteration)
    expect(log.best.iteration).toBe(Math.max(kept?.iteration ?? 0, runnerUp?.iteration ?? 0))
  })

  it('maps every outcome of winnow to one of the thirteen', () => {
    const found = outcomeSchema.options.map(outcome => {
      const change = (each: Experiment): Experiment => ({ ...each, outcome, status: 'ended' })
      const [first] = exportLog('golden/paired/ledger.jsonl', each =>
        change({ ...each, id: each.id === 'exp-001' ? 'exp-999' : each.id }),
      ).experiments
      return [outcome, first?.outcome]
    })
    expect(Object.fromEntries(found)).toEqual({
      kept: 'kept',
      runner_up_kept: 'runner_up_kept',
      revert_landed: 'kept',
      runner_up_dropped: 'runner_up_reverted',
      not_selected: 'not_selected',
      inconclusive: 'inconclusive',
      dropped: 'reverted',
      degenerate: 'degenerate',
      censored: 'censored',
      refused: 'reverted',
      error: 'error',
      timeout: 'timeout',
      withdrawn: 'reverted',
    })
    for (const [, mapped] of found) expect(CE_OUTCOMES).toContain(mapped)
  })

  it('shows what is open: measured, parked, waiting for packages, or still an idea', () => {
    const open = (status: Experiment['status']) =>
      exportLog('golden/paired/ledger.jsonl', each => ({ ...each, outcome: null, verdict: null, status }))
        .experiments[0]?.outcome
    expect(open('not-proven')).toBe('inconclusive')
    expect(open('deferred')).toBe('deferred_needs_approval')
    expect(open('landing')).toBe('measured')
    expect(['measured', 'promising']).toContain(open('measured'))
    const input = readCampaign('golden/refusals/ledger.jsonl', each => ({
      ...each,
      outcome: null,
      status: 'queued',
    }))
    const unmeasured = input.experiments.filter(({ results }) => results.links.orders.length === 0)
    const log = ceLogSchema.parse(parse(exportCampaign('ce-optimize', input).text))
    expect(log.hypothesis_backlog.map(({ description }) => description)).toEqual(
      unmeasured.map(({ experiment }) => experiment.hypothesis),
    )
  })

  it('counts a change that was kept and reverted later as reverted', () => {
    const log = exportLog('golden/revert/ledger.jsonl')
    expect(log.experiments.some(({ outcome }) => outcome === 'reverted')).toBe(true)
  })
})

describe('an export as JSON lines', () => {
  it('has one experiment a line with its decision, metrics, verdict and diff', () => {
    const lines = exportLines('golden/ce/ledger.jsonl')
    expect(lines.map(({ decision }) => decision)).toEqual(expect.arrayContaining(['keep', 'discard']))
    expect(lines.find(({ decision }) => decision === 'keep')).toMatchObject({
      experiment: expect.stringMatching(/^exp-\d+$/),
      verdict: 'kept',
      score: expect.any(Number),
      metrics: { bytes: { base: expect.any(Number), candidate: expect.any(Number) } },
      diff_summary: { files: 2, added: 3, deleted: 1, paths: ['M src/value +3 -1', 'A src/logo.png binary'] },
    })
  })

  it('can be imported again as history', () => {
    const { text } = exportCampaign('jsonl', readCampaign('golden/ce/ledger.jsonl'))
    const imported = importFiles([{ file: 'results.jsonl', text }], { name: 'size' })
    const results = readHistoryFile(imported.files[0]?.text ?? '')
    expect(results.map(({ idea }) => idea)).toEqual(
      exportLines('golden/ce/ledger.jsonl').map(({ hypothesis }) => hypothesis),
    )
    expect(results.find(({ result }) => result === 'keep')).toMatchObject({
      metrics: { bytes: expect.any(Number) },
      diff: 'M src/value +3 -1, A src/logo.png binary',
    })
  })
})

describe('an export as CSV', () => {
  it('is a flat table that a spreadsheet cannot run', () => {
    const input = readCampaign('golden/ce/ledger.jsonl', each => ({ ...each, hypothesis: '=1+1, "x"' }))
    const [header, first] = exportCampaign('csv', input).text.split('\r\n')
    expect(header).toMatch(
      /^experiment,verdict,outcome,hypothesis,.*bytes base,bytes candidate,.*,decided_at$/,
    )
    expect(first).toContain(`,"'=1+1, ""x""",`)
  })
})

describe('an export for github-action-benchmark', () => {
  it('has the incumbent of the campaign, and says which tool to set', () => {
    const { text, notes } = exportCampaign('github-action-benchmark', readCampaign('golden/ce/ledger.jsonl'))
    expect(JSON.parse(text)).toEqual([
      {
        name: 'bytes',
        unit: 'bytes',
        value: expect.any(Number),
        extra: expect.stringContaining('campaign size'),
      },
    ])
    expect(notes).toEqual(['set tool: customSmallerIsBetter in the step that uses github-action-benchmark'])
  })

  it('follows the direction of the primary, and names what does not fit', () => {
    const input = readCampaign('golden/ce/ledger.jsonl')
    const { metric } = input.spec
    const bytes = { ...metric.primary, direction: 'maximize' as const }
    const smaller = { name: 'ms', direction: 'minimize', role: 'required', type: 'hard' } as const
    const objectives = [{ ...smaller, target: null, max_regression: null }]
    const spec = { ...input.spec, metric: { ...metric, primary: bytes, objectives } }
    const { notes } = exportCampaign('github-action-benchmark', { ...input, spec })
    expect(notes[0]).toContain('customBiggerIsBetter')
    expect(notes[1]).toContain('left out, because less and more are better in one file each: ms')
  })
})

it.each(EXPORT_FORMATS)('an export as %s works for a campaign without experiments', format => {
  const input = readCampaign('golden/ce/ledger.jsonl')
  const { text } = exportCampaign(format, { ...input, experiments: [] })
  expect(text).not.toContain('undefined')
})
