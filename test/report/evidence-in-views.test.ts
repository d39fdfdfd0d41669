import { describe, expect, it } from 'vitest'
import { fold } from '../../src/model/fold/fold.ts'
import { type Campaign, createEmptyCampaign } from '../../src/model/campaign.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import { formatReason } from '../../src/model/text.ts'
import { EventRenderer } from '../../src/report/event-log.ts'
import { renderLedgerReadme } from '../../src/report/ledger-views.ts'
import { renderPullBody } from '../../src/report/pull-request.ts'
import { ExperimentRecord } from '../../src/report/experiment.ts'
import { buildResults, renderResultsYaml } from '../../src/report/results.ts'
import { renderRunSummary } from '../../src/report/run-summary.ts'
import { getEvidenceLine, getExperimentState } from '../../src/report/experiment-state.ts'
import { renderStateSentence } from '../../src/report/verdict-text.ts'
import { buildExperimentView, buildStatusView, renderStatus } from '../../src/report/status.ts'
import { baseline, decided, NEXT, opened, POINT, type Told } from './campaign-of.ts'
import { FIRST, lastOrder, ledgerOf, measured, paired } from './pairs-of-a-story.ts'

const SENTENCE = 'bytes 5.1 % lower (2.3 to 8.7 %), on this machine.'
const EVIDENCE =
  'evidence 1103 (needed to be sure: 1000) ▕████▏ 13 pairs in 2 jobs on this machine, 30 executions'
const NONE = new Map<string, number>()

const calibrated: Told<'calibrated'> = {
  kind: 'calibrated',
  order: '3'.repeat(64),
  deterministic: false,
  scale: 'log',
  reason: 'pairs of the base with itself differ by 2.9 % (16 pairs)',
  noise: {
    pair_sd: 0.029,
    pair_sd_upper90: 0.04,
    between_job_sd: 0.01,
    pairs: 16,
    jobs: 2,
    execution_seconds: 20,
    overhead_seconds: 60,
  },
}

function kept(order: string): Told[] {
  const reason = formatReason({ sentence: SENTENCE, evidence: EVIDENCE })
  return [
    decided(7, { order, reason }),
    {
      kind: 'merged',
      experiment: 'exp-007',
      ...NEXT,
      base: POINT,
      head: '1'.repeat(40),
      results: null,
      pull: 7,
      decided: { seq: 5, sha256: 'd'.repeat(64) },
    },
  ]
}

/** One idea, its first job, and what came of it. */
function story(end: (order: string) => Told[]): LedgerEvent[] {
  const [first, second] = [0, 1].map(at => (before: readonly LedgerEvent[]) => {
    const told = end(lastOrder(before))[at]
    return told ?? ({ kind: 'note', text: 'nothing', experiment: null } as const)
  })
  return ledgerOf(
    () => calibrated,
    () => opened(7),
    () => paired(),
    before => measured(lastOrder(before), FIRST),
    first ?? (() => baseline(1)),
    second ?? (() => baseline(1)),
  )
}

function ends(end: (order: string) => Told[]): { campaign: Campaign; events: LedgerEvent[] } {
  const events = story(end)
  return { campaign: fold(createEmptyCampaign(), events), events }
}

function seventh({ experiments }: Campaign) {
  const found = experiments['exp-007']
  if (!found) throw new Error('not opened')
  return found
}

describe('a change kept on a single machine', () => {
  const { campaign, events } = ends(kept)

  it('is one sentence in every table', () => {
    const lines = renderStatus(campaign, buildStatusView(campaign, NONE))
    expect(lines.at(-1)).toBe(`exp-007  #7  Kept: ${SENTENCE}  Idea 7`)
    expect(renderLedgerReadme(campaign)).toContain(`| exp-007 | kept | Idea 7 | ${SENTENCE} |`)
    expect(buildExperimentView(campaign, seventh(campaign), NONE).reason).toBe(SENTENCE)
  })

  it('has the evidence after the sentence in longer views', () => {
    const line = events.filter(({ kind }) => kind === 'decided').map(event => new EventRenderer().next(event))
    expect(line).toEqual([`exp-007 Kept: ${SENTENCE} ${EVIDENCE}`])
    const body = renderPullBody(campaign, seventh(campaign)).split('\n')
    const [verdict] = SENTENCE.split(' (')
    expect(body[0]).toBe(`**Kept: ${verdict}** ${SENTENCE.slice((verdict ?? '').length + 1)}`)
    expect(body).toContainEqual(
      expect.stringMatching(
        /^\d+ pairs of runs on this machine · identical code differs by 2\.9 % from run to run · the harness is not probed · merged into `optimize\/size` as ccccccc$/,
      ),
    )
    expect(body.join('\n')).not.toMatch(/evidence|threshold|A\/A/)
    expect(getEvidenceLine(campaign, seventh(campaign))).toBe(EVIDENCE)
  })

  it('has the sentence first in its results', () => {
    const ending = {
      outcome: 'kept',
      reason: formatReason({ sentence: SENTENCE, evidence: EVIDENCE }),
    } as const
    const experiment = seventh(campaign)
    const record = new ExperimentRecord(experiment.id)
    const yaml = renderResultsYaml(buildResults({ spec: 'size', experiment, record, ending, diff: null }))
    expect(yaml.split('\n')[0]).toBe(`summary: "Kept: ${SENTENCE}"`)
  })

  it('is mentioned in the summary of the campaign', () => {
    const said = /^The kept change was measured on a single machine: .* this machine are not averaged out\.$/
    expect(renderRunSummary(campaign, { for: 'ideas' }).at(-1)).toMatch(said)
    expect(renderLedgerReadme(campaign).split('\n')).toContainEqual(expect.stringMatching(said))
  })

  it('is not mentioned for deterministic changes', () => {
    const { campaign: other } = ends(order => kept(order).map(each => ({ ...each, order: null }) as Told))
    expect(renderLedgerReadme(other)).not.toContain('single machine')
  })
})

describe('an experiment under way', () => {
  it('shows the result so far and the next job with its minutes', () => {
    const { campaign } = ends(() => [])
    expect(renderStateSentence(getExperimentState(campaign, seventh(campaign)))).toMatch(
      /^Not proven yet: bytes probably 5\.\d % lower.* so far\. Next: one more job on this machine, about 7 min\.$/,
    )
    expect(getEvidenceLine(campaign, seventh(campaign))).toMatch(
      /^evidence \d+ \(needed to be sure: 1000\) ▕/,
    )
  })

  it('is not proven yet when its jobs are used up', () => {
    const open = { outcome: 'inconclusive', verdict: 'not proven', stays_open: true } as const
    const reason = formatReason({ sentence: 'bytes probably 1.0 % lower.', evidence: EVIDENCE })
    const { campaign, events } = ends(order => [decided(7, { order, reason, ...open })])
    expect(renderStateSentence(getExperimentState(campaign, seventh(campaign)))).toBe(
      'Not proven yet: bytes probably 1.0 % lower. Next: more pairs, once nothing else is queued.',
    )
    expect(
      events.filter(({ kind }) => kind === 'decided').map(event => new EventRenderer().next(event))[0],
    ).toMatch(/^exp-007 Not proven yet: /)
  })
})
