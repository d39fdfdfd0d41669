import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Campaign, createEmptyCampaign } from '../../src/model/campaign.ts'
import { parseEvent } from '../../src/model/event.ts'
import { fold } from '../../src/model/fold/fold.ts'
import { renderCampaignPullBody, renderCampaignPullTitle } from '../../src/report/campaign-pull-request.ts'
import { buildCheckRun } from '../../src/report/check-run.ts'
import { buildChartUrl, buildRunUrl } from '../../src/report/github-names.ts'
import { renderEndedComment, renderPullBody } from '../../src/report/pull-request.ts'
import { baseline, campaignOf, decided, LANDS, opened } from './campaign-of.ts'

const PAGE = 'https://github.com/ada/words'

function pictured(): Campaign {
  const lines = readFileSync('fixtures/pictured-campaign/events.jsonl', 'utf8').trimEnd().split('\n')
  return fold(
    createEmptyCampaign(),
    lines.map(line => parseEvent(JSON.parse(line))),
  )
}

const campaign = pictured()
const experiment = (id: string, of = campaign) => {
  const found = of.experiments[id]
  if (found === undefined) throw new Error(`there is no ${id}`)
  return found
}

function allTexts(of: Campaign): string[] {
  const all = Object.values(of.experiments)
  return [
    renderCampaignPullTitle(of),
    renderCampaignPullBody(of, PAGE),
    ...all.map(each => renderPullBody(of, each, { page: PAGE })),
    ...all.map(each => renderEndedComment(of, each, PAGE)),
    ...all.flatMap(each => {
      const check = buildCheckRun(of, each, PAGE)
      return check === null ? [] : [check.title, check.summary]
    }),
  ]
}

describe('texts on GitHub', () => {
  it('use no internal words', () => {
    for (const text of allTexts(campaign))
      expect(text).not.toMatch(/evidence|threshold|\bA\/A\b|degenerate|incumbent|\blevel\b|▕/)
  })

  it('are the same for the same events', () => {
    expect(allTexts(pictured())).toEqual(allTexts(campaign))
  })

  it('have no links when the page of the repository is unknown', () => {
    const texts = [renderCampaignPullBody(campaign), renderPullBody(campaign, experiment('exp-001'))]
    for (const text of texts) expect(text).not.toMatch(/\]\(/)
  })
})

describe("the campaign's pull request", () => {
  it('starts with the total, in its title too, then facts and chart', () => {
    expect(renderCampaignPullTitle(campaign)).toMatch(/^optimize\(speed\): \d+ % less CPU, 4 changes$/)
    const [total, facts, , chart] = renderCampaignPullBody(campaign, PAGE).split('\n')
    expect(total).toMatch(/^### [\d.]+ % less CPU than at the start \([\d.]+ to [\d.]+ %\)$/)
    expect(facts).toMatch(
      /^`cpu_seconds` [\d.]+ → [\d.]+ · 4 of 9 ideas kept · \d+ job-minutes · the harness is guarded · stopped: enough for this release$/,
    )
    expect(chart).toBe(
      `![cpu_seconds over experiments](${PAGE}/blob/optimize-state/speed/chart.svg?raw=true)`,
    )
  })

  it('lists tasks for people, and every idea once', () => {
    const body = renderCampaignPullBody(campaign, PAGE)
    expect(body).toContain('**Needs you:** #17 adds murmurhash 2.0.1 (npm). Review and approve it there')
    const numbers = [...body.matchAll(/^\| #(\d+) \|/gm)].map(([, number]) => Number(number))
    expect(numbers.toSorted((one, other) => one - other)).toEqual([12, 13, 14, 15, 16, 18, 20, 21])
    expect(body.match(/`\/winnow pick exp-\d{3}`/g)).toHaveLength(4)
  })

  it('counts changes whose effect is not measured', () => {
    const unmeasured = campaignOf(opened(1), decided(1), ...LANDS)
    expect(renderCampaignPullTitle(unmeasured)).toBe('optimize(size): 1 change')
    expect(renderCampaignPullBody(unmeasured)).toContain('### 1 change kept\n')
  })
})

describe('the text of a verdict', () => {
  it('of a kept change shows both sides, other losses and the run', () => {
    const text = renderEndedComment(campaign, experiment('exp-001'), PAGE)
    expect(text).toMatch(/^\*\*Kept: [\d.]+ % less CPU\*\* \([\d.]+ to [\d.]+ %\)\.\n/)
    expect(text).toMatch(/^\| `cpu_seconds` \| [\d.]+ \| [\d.]+ \| [\d.]+ % less CPU \|$/m)
    expect(text).toMatch(/^\| `max_rss_mb` \| [\d.]+ \| [\d.]+ \| \+3\.\d % \|$/m)
    expect(text).toMatch(
      /^\d+ pairs of runs on \d machines · identical code differs by .* · merged into `optimize\/speed` as \w{7} · \[Measuring run\]\(https:\/\/github\.com\/ada\/words\/actions\/runs\/\d+\)$/m,
    )
    expect(text).not.toContain('To try again')
  })

  it('of a broken change shows its last output and next steps', () => {
    const text = renderEndedComment(campaign, experiment('exp-004'), PAGE)
    expect(text).toMatch(/^\*\*Broken: 2 of 133 tests fail\*\*\. They pass without this change\.\n/)
    expect(text).toContain('<details open><summary><code>npm test</code>, last lines</summary>\n\n```text\n')
    for (const stream of ['what failed:', 'last lines of stdout:', 'last lines of stderr:'])
      expect(text).toContain(`\n${stream}\n`)
    expect(text).toMatch(
      /To try again, push a new commit and reopen this pull request\. It will be measured as a new experiment\.\n\nexp-004 of campaign speed, commit `\w{10}`\.$/,
    )
  })

  it('shows time and memory beside the objectives only with pairs', () => {
    const { measured_in, ...rest } = experiment('exp-001')
    const once = campaignOf(baseline(100), opened(1), decided(1))
    const single = { ...rest, measured_in, primary_delta: null, reason: 'bytes 100 -> 90 (-10.0 %)' }
    const metrics = { base_metrics: { bytes: 100, max_rss_mb: 40 }, metrics: { bytes: 90, max_rss_mb: 50 } }
    const text = renderPullBody(
      { ...once, calibration: { order: '', deterministic: true, scale: 'log', reason: '', noise: null } },
      { ...single, ...metrics },
    )
    expect(text).toContain('| `bytes` | 100 | 90 | -10.0 % |')
    expect(text).not.toContain('max_rss_mb')
  })

  it('shows a metric that got worse by a share, also where min_effect has the units of the primary', () => {
    const spec_yaml = `${campaign.spec_yaml}evidence: { min_effect: 5, scale: linear }\n`
    const calibration = campaign.calibration && { ...campaign.calibration, scale: 'linear' as const }
    const text = renderPullBody({ ...campaign, spec_yaml, calibration }, experiment('exp-001'))
    expect(text).toContain('| `max_rss_mb` |')
  })

  it('compares the number of passed tests', () => {
    const kept = experiment('exp-001')
    expect(renderPullBody(campaign, kept)).toContain('\n| tests | 133 passed | 133 passed |  |\n')
    const lost = { task: 'silk_road', base: 0.3, candidate: 0.4, direction: 'minimize' as const }
    const summary = { tasks: 3, better: 2, worse: 1, worst: [lost] }
    expect(renderPullBody(campaign, { ...kept, tasks: summary })).toContain(
      '1 of 3 tasks got worse: silk_road 0.3 → 0.4.',
    )
    const row = (tests: Record<string, number>, base_tests: Record<string, number>) =>
      /\n(\| (?:tests|unit).*)\n/.exec(renderPullBody(campaign, { ...kept, tests, base_tests }))?.[1]
    expect(row({ tests: 120 }, { tests: 133 })).toBe('| tests | 133 passed | 120 passed | **13 fewer** |')
    expect(row({ tests: 134 }, { tests: 133 })).toBe('| tests | 133 passed | 134 passed | 1 more |')
    expect(row({}, { tests: 133 })).toBe('| tests | 133 passed |  |  |')
    expect(row({ 'unit|a': 2 }, {})).toBe('| unit\\|a |  | 2 passed |  |')
    expect(row({}, {})).toBeUndefined()
  })

  it('is a title of a check without Markdown', () => {
    expect(buildCheckRun(campaign, experiment('exp-002'), PAGE)).toMatchObject({
      state: 'neutral',
      title: expect.stringMatching(/^No gain: CPU time differs by less than 2 % \(.*\)\.$/),
    })
  })
})

describe('links', () => {
  it('lead only to runs of GitHub Actions', () => {
    expect(buildRunUrl(PAGE, 'actions:17/1')).toBe(`${PAGE}/actions/runs/17`)
    expect(buildRunUrl(PAGE, 'laptop:17/1')).toBeNull()
    expect(buildRunUrl(null, 'actions:17/1')).toBeNull()
  })

  it('to the chart follow the prefix of the branches', () => {
    const spec_yaml = `${campaign.spec_yaml}branches: { prefix: tuned }\n`
    expect(buildChartUrl(PAGE, { ...campaign, spec_yaml })).toBe(
      `${PAGE}/blob/tuned-state/speed/chart.svg?raw=true`,
    )
    expect(buildChartUrl(null, campaign)).toBeNull()
  })
})
