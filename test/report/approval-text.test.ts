import { describe, expect, it } from 'vitest'
import type { PackageAddition } from '../../src/model/approval.ts'
import { renderAdditions, renderApprovalMarkdown, renderApprovalRequest } from '../../src/report/approval.ts'
import { renderPersonalTasks } from '../../src/report/experiment-state.ts'
import { EventRenderer } from '../../src/report/event-log.ts'
import { renderPullBody } from '../../src/report/pull-request.ts'
import { renderCampaignPullBody } from '../../src/report/campaign-pull-request.ts'
import { renderFinalSummary } from '../../src/report/run-summary.ts'
import { LEFT_PAD } from '../plan/an-addition.ts'
import { campaignOf, decided, eventsOf, LANDS, opened, started, type Told } from './campaign-of.ts'

const DIGEST = 'd'.repeat(64)
const ODD: PackageAddition = {
  ...LEFT_PAD,
  name: 'odd',
  version: '1.0.0\n| @everyone |',
  direct: null,
  scripts: null,
  licence: null,
}

function requested(additions: PackageAddition[] = [LEFT_PAD], packages = ['left-pad']): Told {
  return { kind: 'approval-requested', experiment: 'exp-001', digest: DIGEST, packages, additions, why: 'w' }
}
const approved: Told = { kind: 'approved', experiment: 'exp-001', digest: DIGEST, packages: ['left-pad'] }

function waiting(...more: Told[]) {
  const campaign = campaignOf(started(), opened(1), requested(), ...more)
  const experiment = campaign.experiments['exp-001']
  if (!experiment) throw new Error('it was not opened')
  return { campaign, experiment }
}

describe('an approval request', () => {
  it('is one sentence in the log, like the approval with its author', () => {
    const lines = eventsOf(requested(), approved, requested([], [])).map(event =>
      new EventRenderer().next(event),
    )
    expect(lines).toEqual([
      'exp-001 is waiting for approval of left-pad 1.3.0 (npm)',
      expect.stringMatching(/^exp-001 approved by \w+: left-pad$/),
      'exp-001 no longer needs an approval',
    ])
  })

  it('lists everything to review', () => {
    expect(renderApprovalRequest(waiting().experiment)).toEqual([
      'exp-001 is waiting for approval of left-pad 1.3.0 (npm)',
      '  why: idea 1',
      '  package   version  from                              how                        brings   install scripts  licence  released   state',
      '  left-pad  1.3.0    npm, https://registry.npmjs.org/  direct, package-lock.json  unknown  none             WTFPL    not asked  waits',
      '  set dddddddddddddddd',
    ])
  })

  it('has one row for a package that a manifest asks for and a lockfile pins', () => {
    const manifest = { version: '^1.3.0', source: 'registry', integrity: null, scripts: null, licence: null }
    const asked: PackageAddition = { ...LEFT_PAD, ...manifest, path: 'package.json' }
    const [, ...rows] = renderAdditions(waiting(requested([LEFT_PAD, asked])).experiment)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatch(
      /^ {2}left-pad +1\.3\.0 .* direct, package-lock\.json, \^1\.3\.0 in package\.json /,
    )
    // Another source, or several locked versions, are for a person to compare.
    const elsewhere = requested([LEFT_PAD, { ...asked, source: 'git+https://example.com/left-pad' }])
    expect(renderAdditions(waiting(elsewhere).experiment)).toHaveLength(3)
    const twice = requested([LEFT_PAD, { ...LEFT_PAD, version: '1.2.0' }, asked])
    expect(renderAdditions(waiting(twice).experiment)).toHaveLength(4)
  })

  it('has one row for each package, also with hostile names', () => {
    const { experiment } = waiting(requested([ODD], ['odd', 'zlib']))
    const rows = renderApprovalRequest(experiment).slice(2, -1)
    expect(rows).toHaveLength(3)
    expect(rows[1]).toMatch(
      /^ {2}odd +1\.0\.0 \| @everyone \| .* unknown, package-lock\.json( +unknown){3} +not asked +waits$/,
    )
    expect(rows[2]).toMatch(/^ {2}zlib +not in the change yet .* waits$/)
    expect(renderApprovalMarkdown(experiment).join('\n')).toContain('| odd 1.0.0 \\| @\u200beveryone \\| |')
  })

  it('shows transitive packages and age, and which of them are unknown', () => {
    const rows = (change: Partial<PackageAddition>, min_age_days = 7) => {
      const asked = { ...requested([{ ...LEFT_PAD, ...change }]), min_age_days } as Told
      const campaign = campaignOf(started(), opened(1), asked)
      const { experiments } = campaign
      const [experiment] = Object.values(experiments)
      if (!experiment) throw new Error('it was not opened')
      const [line = ''] = renderApprovalRequest({
        ...experiment,
        asked_at: '2026-01-10T00:00:00.000Z',
      }).slice(3)
      return line.split(/ {2,}/).slice(5)
    }
    const scripts = ['none', 'WTFPL']
    expect(rows({ brings: 12, released: '2026-01-02T00:00:00.000Z' })).toEqual([
      '12 more',
      ...scripts,
      '2026-01-02 (8 days)',
      'waits',
    ])
    expect(rows({ brings: 0, released: '2026-01-09T12:00:00.000Z' })).toEqual([
      'no other',
      ...scripts,
      '2026-01-09 (less than a day, less than 7 days)',
      'waits',
    ])
    const by = (released_by: 'name' | 'range') =>
      rows({ brings: 0, released: '2020-01-01T00:00:00.000Z', released_by }).join()
    expect(by('name')).toMatch(/2020-01-01 \(\d+ days, by name\)/)
    expect(by('range')).toMatch(/2020-01-01 \(\d+ days, the youngest in range\)/)
    expect(rows({ brings: null, released: null })).toEqual(['unknown', ...scripts, 'unknown', 'waits'])
  })

  it('asks nothing when the spec approves all packages', () => {
    const [line] = eventsOf(requested([LEFT_PAD], [])).map(event => new EventRenderer().next(event))
    expect(line).toBe('exp-001 adds left-pad 1.3.0 (npm), which the spec approves')
  })

  it('starts the pull request, with a table and instructions', () => {
    const { campaign, experiment } = waiting()
    const body = renderPullBody(campaign, experiment)
    expect(body).toMatch(/^\*\*Waiting for approval of left-pad 1\.3\.0 \(npm\)\.\*\*\n/)
    expect(body).toContain('\n| left-pad 1.3.0 | npm, registry.npmjs.org | direct,')
    expect(body).toContain(
      'choose *Approve*, or comment `/winnow approve dddddddddddddddd`. Everyone with write access can do this, but not its author. In a terminal: `winnow approve exp-001 --digest dddddddddddddddd`.',
    )
  })

  it('keeps its table after approval and decision', () => {
    const { campaign, experiment } = waiting(approved, decided(1))
    expect(renderPullBody(campaign, experiment)).toMatch(
      /\| left-pad 1\.3\.0 .*\| approved \|\n\nWhy it is needed: w\n/,
    )
    expect(renderAdditions(experiment).at(-1)).toMatch(/approved$/)
  })
})

describe('a campaign that stopped', () => {
  it('lists waiting experiments, and the effect of an approval', () => {
    const { campaign } = waiting({ kind: 'campaign-stopped', code: 'plateau', reason: 'enough' })
    const line =
      'exp-001 is waiting for approval of left-pad 1.3.0 (npm): winnow approve exp-001 gives it one more round at the next winnow run'
    expect(renderPersonalTasks(campaign)).toEqual([line])
    expect(renderFinalSummary(campaign, { prefix: 'optimize', remote: null })).toContain(
      `  waiting      ${line}`,
    )
  })
})

describe('packages of kept changes', () => {
  function kept(additions: PackageAddition[]) {
    const asked = requested(additions, ['left-pad'])
    return campaignOf(started(), opened(1), asked, approved, decided(1), ...LANDS)
  }

  it('are listed in the pull request of the campaign', () => {
    const campaign = kept([LEFT_PAD, { ...LEFT_PAD, name: '@everyone/x', direct: false }])
    const body = renderCampaignPullBody(campaign)
    expect(body).toContain('**Packages it adds**')
    expect(body).toMatch(/\n\| left-pad 1\.3\.0 \| npm, .* \| WTFPL \| not asked \| exp-001 \|\n/)
    expect(body).toContain('\n| @\u200beveryone/x 1.3.0 |')
    expect(renderFinalSummary(campaign, { prefix: 'optimize', remote: null })).toEqual(
      expect.arrayContaining([
        '  packages  left-pad 1.3.0 (npm), with exp-001',
        '            @everyone/x 1.3.0 (npm), with exp-001',
      ]),
    )
    expect(renderCampaignPullBody(kept([]))).not.toContain('Packages')
  })

  it('leave room for the text after them', () => {
    const many = Array.from({ length: 3_000 }, (_, at) => ({ ...LEFT_PAD, name: `p${at}-${'|'.repeat(40)}` }))
    const names = many.map(({ name }) => name)
    const waits = campaignOf(started(), opened(1), requested(many, names))
    const { experiments } = waits
    const [experiment] = Object.values(experiments)
    if (!experiment) throw new Error('it was not opened')
    const body = renderPullBody(waits, experiment)
    expect(body.length).toBeLessThan(60_000)
    expect(body).toMatch(/\n… and \d+ more: `winnow show exp-001` lists all of them\.\n/)
    expect(body).toContain('In a terminal: `winnow approve exp-001 --digest')

    const long = renderCampaignPullBody(kept(many))
    expect(long.length).toBeLessThan(60_000)
    expect(long).toMatch(/… and \d+ more: `winnow show`/)
    expect(long).toMatch(/0 min of measuring[^]*To merge a single change/)
  })
})
