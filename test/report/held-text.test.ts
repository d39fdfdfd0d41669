import { describe, expect, it } from 'vitest'
import type { SuspiciousChange } from '../../src/decide/suspicious-changes.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { describeNeededApprovals } from '../../src/plan/approvals.ts'
import { renderApprovalComment, renderApprovalRequest } from '../../src/report/approval.ts'
import { renderCampaignPullBody } from '../../src/report/campaign-pull-request.ts'
import { buildCheckRun } from '../../src/report/check-run.ts'
import { EventRenderer } from '../../src/report/event-log.ts'
import { renderExperiment } from '../../src/report/experiment.ts'
import { renderPersonalTasks } from '../../src/report/experiment-state.ts'
import { renderPullBody, renderPushedBranchBody } from '../../src/report/pull-request.ts'
import { buildStatusView, renderStatus } from '../../src/report/status.ts'
import { campaign, type CampaignBuilder, oidOf, SPEC } from '../plan/a-campaign.ts'
import { settle } from '../plan/a-world.ts'
import { adding, LEFT_PAD } from '../plan/an-addition.ts'

const SUSPICIOUS: SuspiciousChange[] = [{ rule: 'exits', path: 'src/a.js', line: 3, text: 'process.exit(0)' }]
const SHORT = 'its change (src/a.js can end the process early, and 1 more reason)'
const RESULT =
  'bytes 100 → 20 (-80.0 %), deterministic, identical when re-run, but a person has to read the change before winnow keeps it.'
const POINTS = [
  'Check these points. They are often harmless, but they can make a benchmark report a false gain:',
  'src/a.js:3 can end the process early: process.exit(0)',
  'its gain is larger than 3x (merge.hold_above): bytes is 5.00 times better',
]
const DIGEST = /[0-9a-f]{16}/

interface Held {
  built: CampaignBuilder
  candidates: Record<string, { suspicious: SuspiciousChange[]; additions?: ReturnType<typeof adding> }>
}

function measure({ built, candidates }: Held, base: number): void {
  built.measured({ 'exp-001': { base: { bytes: base }, candidate: { bytes: 20 } } })
  settle(built, () => ({ candidates }))
}

/** One idea whose line and gain look suspicious. */
function hold(change: Omit<Held['candidates'][string], 'suspicious'> = {}): Held {
  const built = campaign(SPEC).withExperiments(1)
  const candidates = { 'exp-001': { suspicious: SUSPICIOUS, ...change } }
  const held = { built, candidates }
  settle(built, () => ({ candidates }))
  if (built.experiment('exp-001').status === 'deferred') approve(held)
  measure(held, 100)
  return held
}

function approve({ built, candidates }: Held): void {
  const { digest = '', packages = [] } = built.experiment('exp-001').approval ?? {}
  built.by = { ...built.by, actor: 'ada' }
  built.add({ kind: 'approved', cause: `nonce ${digest}`, experiment: 'exp-001', digest, packages })
  settle(built, () => ({ candidates }))
}

function getSubject({ built }: Held): Experiment {
  return built.experiment('exp-001')
}

function renderLog({ built }: Held): string[] {
  const renderer = new EventRenderer()
  return built.events.map(event => renderer.next(event))
}

describe('a held change on GitHub', () => {
  const held = hold()
  const experiment = getSubject(held)

  it('shows its result, the points to check and what a person can do', () => {
    const body = renderPullBody(held.built.campaign, experiment)
    expect(body.replace(/\b[0-9a-f]{16}\b/g, 'DIGEST')).toBe(
      [
        `**Waiting for approval of its change.** Measured: ${RESULT}`,
        '',
        POINTS[0],
        '',
        '- src/a.js:3 can end the process early: `process.exit(0)`',
        '- its gain is larger than 3x (merge.hold_above): bytes is 5.00 times better',
        '',
        '**To approve**, review this pull request and choose *Approve*, or comment `/winnow approve DIGEST`. Everyone with write access can do this, but not its author. In a terminal: `winnow approve exp-001 --digest DIGEST`. Then winnow measures the change once more, and keeps it if it is better again. **To reject** the change, close this pull request.',
        '',
        'exp-001 of campaign size, category category 1: idea 1',
        '',
      ].join('\n'),
    )
  })

  it('says in each comment that it would be kept, and never that it adds something', () => {
    expect(renderApprovalComment(experiment, true)).toBe(
      `Measured: ${RESULT} The points to check are listed above. Review and approve the change here.\n`,
    )
    const sentence =
      'exp-001 would be kept, but a person has to read it first: src/a.js can end the process early, and 1 more reason. Review and approve it there.'
    expect(renderApprovalComment(experiment)).toBe(`${sentence}\n`)
    expect(renderCampaignPullBody(held.built.campaign)).toContain(`**Needs you:** ${sentence}`)
    expect(renderPushedBranchBody(experiment)).toContain(
      `was pushed without a pull request, and waits for approval of ${SHORT}. Review and approve it here.`,
    )
  })

  it('has a neutral check with the same points', () => {
    const check = buildCheckRun(held.built.campaign, experiment)
    expect(check).toMatchObject({ state: 'neutral', title: `Waiting for approval of ${SHORT}` })
    expect(check?.summary).toContain(`**Waiting for approval of its change.** Measured: ${RESULT}`)
    expect(check?.summary).toContain('- src/a.js:3 can end the process early: `process.exit(0)`')
  })

  it('shows hostile lines as text', () => {
    const line = { ...SUSPICIOUS[0], text: '`@everyone` <!-- winnow -->' } as SuspiciousChange
    const body = renderPullBody(...toArguments(holdLine(line)))
    expect(body).not.toContain('@everyone')
    expect(body).toMatch(/^- src\/a\.js:3 can end the process early: `[^`]*`$/m)
  })

  function holdLine(line: SuspiciousChange): Held {
    const built = campaign(SPEC).withExperiments(1)
    const other = { built, candidates: { 'exp-001': { suspicious: [line] } } }
    settle(built, () => ({ candidates: other.candidates }))
    measure(other, 100)
    return other
  }

  function toArguments(other: Held): Parameters<typeof renderPullBody> {
    return [other.built.campaign, getSubject(other)]
  }
})

describe('a held change in a terminal', () => {
  const held = hold()
  const { campaign: folded } = held.built
  const experiment = getSubject(held)

  it('is listed by approve, status and run', () => {
    expect(renderApprovalRequest(experiment)).toEqual([
      `exp-001 is waiting for approval of ${SHORT}`,
      '  idea: idea 1',
      `  ${POINTS[0]}`,
      ...POINTS.slice(1).map(point => `    ${point}`),
      expect.stringMatching(new RegExp(`^ {2}set ${DIGEST.source}$`)),
    ])
    expect(renderStatus(folded, buildStatusView(folded, new Map()))).toContainEqual(
      expect.stringContaining(`exp-001  Waiting for approval of ${SHORT}. Next: winnow approve exp-001.`),
    )
    expect(renderPersonalTasks(folded)).toEqual([
      `exp-001 is waiting for approval of ${SHORT}: winnow approve exp-001`,
    ])
    expect(describeNeededApprovals({ campaign: folded })).toBe(
      `approval of ${SHORT} for exp-001. winnow approve lists what to review; winnow approve <exp> approves it`,
    )
  })

  it('has its points in show, and two lines in the log', () => {
    const shown = renderExperiment(folded, experiment, { pr: null, branch: null }, { events: [] })
    expect(shown).toEqual(expect.arrayContaining([`  ${POINTS[0]}`, `    ${POINTS[1]}`, `    ${POINTS[2]}`]))
    const lines = renderLog(held)
    expect(lines).toContain(`exp-001 held: ${RESULT.replace('→', '->').slice(0, -1)}`)
    expect(lines.at(-1)).toBe(`exp-001 is waiting for approval of ${SHORT}`)
  })
})

describe('an approved held change', () => {
  it('waits to be measured once more, and names its reader', () => {
    const held = hold()
    approve(held)
    const { campaign: folded } = held.built
    const body = renderPullBody(folded, getSubject(held))
    expect(body).toMatch(/^\*\*Being measured\*\*/)
    expect(body).toContain('\n\nChecked and approved by ada:\n\n- src/a.js:3 can end the process early: ')
    expect(body).not.toMatch(/To approve|false gain/)
    expect(renderStatus(folded, buildStatusView(folded, new Map()))).toContainEqual(
      expect.stringContaining('its change is approved, and winnow measures it once more'),
    )
    expect(renderLog(held)).toContainEqual(
      'exp-001 approved by ada: src/a.js can end the process early, its gain is larger than 3x (merge.hold_above)',
    )
  })

  it('keeps the points and its reader after it is kept', () => {
    const held = hold()
    approve(held)
    measure(held, 100)
    const body = renderPullBody(held.built.campaign, getSubject(held))
    expect(body).toMatch(/^\*\*Kept: bytes 100 → 20/)
    expect(body).toContain('Checked and approved by ada:')
  })

  it('does not show the points of an earlier head', () => {
    const held = hold()
    approve(held)
    const { head: from } = getSubject(held)
    const to = oidOf('new head')
    held.built.add({ kind: 'head-moved', cause: 'pushed', experiment: 'exp-001', from, to })
    expect(renderPullBody(held.built.campaign, getSubject(held))).not.toContain('src/a.js')
  })
})

it('a held change that also adds a package asks for both', () => {
  const held = hold({ additions: adding(LEFT_PAD) })
  const experiment = getSubject(held)
  const body = renderPullBody(held.built.campaign, experiment)
  expect(body).toContain('**Waiting for approval of its change and of left-pad 1.3.0 (npm).** Measured: ')
  expect(body).toContain('\n| left-pad 1.3.0 | npm, registry.npmjs.org |')
  expect(renderApprovalComment(experiment)).toContain('It also adds left-pad 1.3.0 (npm). Review and approve')
})
