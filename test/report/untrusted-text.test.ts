import type { PackageAddition } from '../../src/model/approval.ts'
import { Readable, Writable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTerminal } from '../../src/cli/terminal.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import { renderLandingMessage } from '../../src/model/landing.ts'
import { toOneLine } from '../../src/model/text.ts'
import { renderDigest, renderLedgerReadme } from '../../src/report/ledger-views.ts'
import { renderExperiment } from '../../src/report/experiment.ts'
import { renderFinalSummary, renderRunSummary } from '../../src/report/run-summary.ts'
import { renderLiveLine } from '../../src/report/terminal.ts'
import { escapeMarkdown } from '../../src/report/markdown.ts'
import { computeProgress } from '../../src/decide/progress.ts'
import { renderPullBody, renderPullTitle } from '../../src/report/pull-request.ts'
import { renderVerdict } from '../../src/report/verdict-markdown.ts'
import { renderCampaignPullBody, renderCampaignPullTitle } from '../../src/report/campaign-pull-request.ts'
import { buildExperimentView, buildStatusView, renderStatus } from '../../src/report/status.ts'
import { renderSummary } from '../../src/report/summary.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { baseline, campaignOf, decided, eventsOf, LANDS, opened, started, type Told } from './campaign-of.ts'

const PIECES = [
  ['@octocat', '@org/team', '#123', 'GH-7', 'gh-12', 'fixes #1', 'owner/repo#9', '&#64;octocat', '&commat;x'],
  ['https://example.org/x/issues/1', 'www.example.org', '<img src=x onerror=y>', '<!--', '</details>'],
  ['[text](url)', '![image](url)', '`code`', '```', '**bold**', '~~gone~~', '| cell |', '$math$', '\\'],
  ['\u001b[31mred\u001b[0m', '\u001b]0;title\u0007', '\u009b2J', '\r', '\b\b', '\u202e', '\u2066', '\u061c'],
  ['\n', '\n# heading', '\n- item', '\n1. item', '\u2028', '\n\n', ' ', '  ', 'word', '漢字', '🙂'],
  ['[skip ci]', '[CI Skip]', '[no ci]', '[skip actions]', '[actions skip]', 'skip-checks: true'],
  ['::set-output name=x::y', '\n::error::no', '\n  ::add-mask::x', '##[error]no', '##[', '::', ':', '##'],
].flat()
const nasty = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 })
  .map(pieces => pieces.join(''))

interface Nasty {
  hypothesis: string
  category: string
  learnings: string
  reason: string
  packages: string
  message: string
}
const nastyCampaign = fc.record({
  hypothesis: nasty,
  category: nasty,
  learnings: nasty,
  reason: nasty,
  packages: nasty,
  message: nasty,
})

function added(name: string): PackageAddition {
  const from = { version: name, source: name, integrity: null, licence: name, path: name }
  return { ecosystem: 'npm', name, ...from, direct: true, scripts: true }
}

function drafts({ hypothesis, category, learnings, reason, packages, message }: Nasty): Told[] {
  const idea = { hypothesis, category, learnings, required_deps: [packages], family: category }
  return [
    baseline(100),
    opened(1, idea),
    opened(2, idea),
    opened(3, idea),
    {
      kind: 'approval-requested',
      experiment: 'exp-003',
      digest: '1'.repeat(64),
      packages: [packages],
      additions: [added(packages)],
      why: message,
    },
    decided(1, { reason }),
    ...LANDS,
    decided(2, { outcome: 'degenerate', verdict: 'broken', reason, warnings: [message] }),
    { kind: 'note', experiment: null, text: message },
    { kind: 'alert', code: 'foreign-tip', about: null, message },
    { kind: 'campaign-paused', reason: message, source: 'person' },
  ]
}

interface Read {
  terminal: string[]
  markdown: string[]
  /** Titles and messages of commits: a forge reads them, but not as Markdown. */
  titles: string[]
}

/** Every text that people read of a campaign. */
function allOf(told: Nasty): Read {
  const campaign = campaignOf(...drafts(told))
  const { spec } = parseSpec(campaign.spec_yaml, { file: campaign.spec_path })
  const progress = computeProgress(campaign, spec)
  const view = buildStatusView(campaign, new Map(), [told.message])
  const all = Object.values(campaign.experiments)
  return {
    terminal: [
      ...renderStatus(campaign, view),
      ...all.flatMap(each => shown(campaign, each, told)),
      ...renderRunSummary(campaign, { for: 'person', what: told.message }),
      ...renderFinalSummary(campaign, { prefix: 'optimize', remote: null }),
      renderLiveLine(campaign, progress, {
        orders: [],
        asked: [told.category],
        seconds: 1,
        elsewhere: false,
      }),
    ],
    markdown: [
      renderLedgerReadme(campaign),
      renderDigest(campaign, spec, progress),
      renderSummary(campaign, spec, progress),
      ...all.map(each => renderPullBody(campaign, each)),
      renderCampaignPullBody(campaign),
    ],
    titles: [...all.map(renderPullTitle), renderCampaignPullTitle(campaign), message(told)],
  }
}

function shown(campaign: Campaign, experiment: Campaign['experiments'][string], told: Nasty): string[] {
  const events = eventsOf(started(), ...drafts(told))
  return renderExperiment(campaign, experiment, buildExperimentView(campaign, experiment, new Map()), {
    events,
  })
}

function message({ hypothesis, reason }: Nasty): string {
  return renderLandingMessage({
    spec: 'size',
    spec_sha256: 'e'.repeat(64),
    experiment: 'exp-001',
    hypothesis,
    pull: null,
    reason,
    decided: { seq: 1, sha256: 'f'.repeat(64) },
    single_machine: false,
    guard: null,
    unisolated: null,
  })
}

/** What a terminal, or a CI runner that reads along, is sent. */
function printed(lines: readonly string[], obeyed: boolean): string {
  let text = ''
  const stream = new Writable({ write: (chunk, _encoding, done) => ((text += String(chunk)), done()) })
  const colour = { out: false, err: false }
  const words = createTerminal({ input: Readable.from([]), out: stream, err: stream, colour, obeyed })
  for (const line of lines) words.out(line)
  for (const line of lines) words.err(line)
  words.json(lines)
  return text
}

const OBEYED = /[^\P{Cc}\n\t]|\p{Bidi_Control}|[\u2028\u2029]/u
const LINKED =
  /[@#][\p{L}\p{N}]|\bGH-\d|:\/\/|\bwww\.|\[(?:(?:skip|no) ci|ci skip|skip actions|actions skip)\]/iu
const OURS = /!\[[a-z ]+\]\(\w+\.svg\)|\[digest\.md\]\(digest\.md\)|<\/?(?:details|summary)>|^\| #\d+ \|/gm
const RUNS = { numRuns: 60 }

describe('text from branches in every view', () => {
  it('contains no terminal control sequences', () => {
    fc.assert(
      fc.property(nastyCampaign, told => {
        expect(printed(allOf(told).terminal, false)).not.toMatch(OBEYED)
      }),
      RUNS,
    )
  })

  it('contains no commands for a CI runner', () => {
    fc.assert(
      fc.property(nastyCampaign, told => {
        const text = printed(allOf(told).terminal, true)
        expect(text).not.toMatch(/^\s*::/m)
        expect(text).not.toContain('##[')
        expect(text).not.toMatch(OBEYED)
      }),
      RUNS,
    )
  })

  it('contains no mention, issue reference, link or markup in Markdown', () => {
    fc.assert(
      fc.property(nastyCampaign, told => {
        for (const page of allOf(told).markdown) {
          const own = page.replaceAll(OURS, '')
          expect(own).not.toMatch(OBEYED)
          expect(own).not.toMatch(LINKED)
          expect(own).not.toMatch(/(?<!\\)(?:<|\[text|!\[|~~|\$m|`code|\*\*bold)/)
          expect(own).not.toMatch(/&(?=[#\p{L}])(?!amp;)/u)
        }
      }),
      RUNS,
    )
  })

  it('cannot start a new line in a table, a list or a message', () => {
    fc.assert(
      fc.property(nastyCampaign, told => {
        const campaign = campaignOf(...drafts(told))
        const rows = renderLedgerReadme(campaign)
          .split('\n')
          .filter(line => line.startsWith('| exp-'))
        for (const row of rows) expect(row.split(/(?<!\\)\|/)).toHaveLength(6)
        expect(rows).toHaveLength(2)
        expect(
          message(told)
            .split('\n')
            .filter(line => line.startsWith('Winnow-')),
        ).toHaveLength(3)
        expect(
          renderVerdict(campaign, campaign.experiments['exp-002'] ?? fail(), null).split('\n'),
        ).toHaveLength(1)
      }),
      RUNS,
    )
  })

  it('mentions no user in titles and commit messages, and skips no check', () => {
    fc.assert(
      fc.property(nastyCampaign, told => {
        for (const text of allOf(told).titles) {
          expect(text).not.toMatch(LINKED)
          expect(text).not.toMatch(OBEYED)
        }
      }),
      RUNS,
    )
  })
})

function fail(): never {
  throw new Error('there is no exp-002')
}

describe('a cell of Markdown', () => {
  it.each([
    ['plain words', 'plain words'],
    ['@octocat', '@\u200boctocat'],
    ['fixes #12', 'fixes #\u200b12'],
    ['GH-7', 'GH-\u200b7'],
    ['a|b', 'a\\|b'],
    ['total_us 12 -> 9', 'total_us 12 -> 9'],
    ['_emphasis_ and __init__', '\\_emphasis\\_ and \\_\\_init\\_\\_'],
    ['> not a quote', '\\> not a quote'],
    ['a && b &amp; <c> -> d', 'a && b &amp;amp; \\<c\\> -\\> d'],
    ['&#64;x', '&amp;#\u200b64;x'],
    ['# not a heading', '\\# not a heading'],
    ['- not an item', '\\- not an item'],
    ['1. not an item', '1\\. not an item'],
    ['https://example.org', 'https:\u200b//example.org'],
    ['\u001b[31mred\u001b[0m and \u202eback', 'red and back'],
    ['two\nlines', 'two lines'],
  ])('of %j is %j', (text, expected) => {
    expect(escapeMarkdown(text)).toBe(expected)
  })

  it('never ends within a surrogate pair', () => {
    expect(toOneLine('🙂'.repeat(10), 6)).toBe('🙂🙂…')
  })
})
