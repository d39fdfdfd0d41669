import { describe, expect, it } from 'vitest'
import { listAwaitedPackages, describeAwaitedPackages, formatPackages } from '../../src/model/approval.ts'
import { type EventDraft, parseEvent } from '../../src/model/event.ts'
import { EventRenderer } from '../../src/report/event-log.ts'
import { campaign } from '../plan/a-campaign.ts'
import { LEFT_PAD } from '../plan/an-addition.ts'

const RANGE = { ...LEFT_PAD, version: '^1.3.0', integrity: null, path: 'package.json' }
const OTHER = 'e'.repeat(64)
const approval = {
  digest: 'd'.repeat(64),
  packages: ['left-pad', 'zlib'],
  additions: [RANGE, LEFT_PAD],
  findings: [],
  why: 'pads faster',
}

describe('packages that await approval', () => {
  it('are none before a request', () => {
    expect(listAwaitedPackages({ approval: null, approved: {} })).toEqual([])
  })

  it('are those not approved in the same set', () => {
    const approved = { [approval.digest]: ['zlib'], [OTHER]: ['left-pad'] }
    expect(listAwaitedPackages({ approval, approved })).toEqual(['left-pad'])
    expect(describeAwaitedPackages({ approval, approved })).toBe('left-pad 1.3.0 (npm)')
  })
})

/** As ledgers have it from before additions were told: names alone, and an approval by the spec. */
describe('a request of an older ledger', () => {
  const request = {
    kind: 'approval-requested',
    experiment: 'exp-001',
    digest: OTHER,
    packages: ['zlib'],
  } satisfies Omit<EventDraft<'approval-requested'>, 'cause'>

  it('is read with empty additions and awaits the same packages', () => {
    const built = campaign()
      .withExperiment()
      .add({ ...request, cause: 'opened' })
    const event = parseEvent(JSON.parse(JSON.stringify(built.events.at(-1))))
    expect(event).toEqual(built.events.at(-1))
    expect(new EventRenderer().next(event)).toContain('exp-001 is waiting for approval of zlib')
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'deferred',
      approval: { additions: [], why: '' },
    })
    built.add({ kind: 'approved', cause: 'spec', experiment: 'exp-001', digest: OTHER, packages: ['zlib'] })
    expect(built.experiment('exp-001').status).toBe('queued')
  })
})

describe('a withdrawn approval', () => {
  const about = { experiment: 'exp-001', digest: OTHER } as const
  const zlib = { ...about, cause: 'opened', packages: ['zlib', 'zstd'] }

  function asked() {
    return campaign()
      .withExperiment()
      .add({ kind: 'approval-requested', ...zlib })
  }

  it('affects one person and one set; approvals by others stay', () => {
    const built = asked()
    const [one, two] = ['zlib', 'zstd'].map((name, at) => {
      built.add({ kind: 'approved', ...about, cause: `yes ${at}`, packages: [name] })
      return built.experiment('exp-001').consents.at(-1)
    })
    expect([one, two]).toMatchObject([
      { packages: ['zlib'], review: false },
      { packages: ['zstd'], digest: OTHER },
    ])
    expect(built.experiment('exp-001').status).toBe('queued')
    const stranger = { kind: 'approval-withdrawn' as const, ...about, packages: ['zlib'] }
    built.add({ ...stranger, cause: 'no', login: 'somebody else' })
    expect(built.experiment('exp-001').status).toBe('queued')
    built.add({ ...stranger, cause: 'not that', digest: approval.digest, login: one?.login ?? '' })
    expect(built.experiment('exp-001').status).toBe('queued')
    built.add({ ...stranger, cause: 'not any more', login: one?.login ?? '' })
    expect(built.experiment('exp-001')).toMatchObject({ status: 'deferred', consents: [] })
    const event = parseEvent(JSON.parse(JSON.stringify(built.events.at(-1))))
    expect(new EventRenderer().next(event)).toContain('withdrew the approval of zlib')
  })

  it('changes nothing after the experiment has ended', () => {
    const built = asked().add({ kind: 'approved', ...zlib, cause: 'yes' })
    const { login = '' } = built.experiment('exp-001').consents[0] ?? {}
    built.add({
      kind: 'closed',
      cause: 'done',
      experiment: 'exp-001',
      outcome: 'withdrawn',
      reason: 'enough',
      head: null,
      results: null,
    })
    const before = structuredClone(built.experiment('exp-001'))
    built.add({ kind: 'approval-withdrawn', ...zlib, cause: 'no', login })
    expect(built.experiment('exp-001')).toEqual(before)
  })
})

describe('packages in a sentence', () => {
  it.each([
    ['the version that a lockfile says the range comes to', [RANGE, LEFT_PAD], 'left-pad 1.3.0 (npm)'],
    ['the range where nothing says more', [RANGE], 'left-pad ^1.3.0 (npm)'],
    [
      'every version there is',
      [LEFT_PAD, { ...LEFT_PAD, version: '1.2.0' }],
      'left-pad 1.3.0 (npm), left-pad 1.2.0 (npm)',
    ],
    [
      'a version without integrity before a range',
      [RANGE, { ...RANGE, version: '1.3.0' }],
      'left-pad 1.3.0 (npm)',
    ],
    ['no version of what is only said to be needed', [], 'left-pad'],
  ])('show %s', (_, additions, said) => {
    expect(formatPackages(['left-pad'], additions)).toBe(said)
  })

  it('are limited to three', () => {
    expect(formatPackages(['a', 'b', 'c', 'd', 'e'], [])).toBe('a, b, c and 2 more')
  })
})
