import { describe, expect, it } from 'vitest'
import { awaitedPackages, awaitedText, packagesText } from '../../src/model/approval.ts'
import { type EventDraft, parseEvent } from '../../src/model/event.ts'
import { eventLine } from '../../src/report/event-line.ts'
import { campaign } from '../plan/a-campaign.ts'
import { LEFT_PAD } from '../plan/an-addition.ts'

const RANGE = { ...LEFT_PAD, version: '^1.3.0', integrity: null, path: 'package.json' }
const OTHER = 'e'.repeat(64)
const approval = {
  digest: 'd'.repeat(64),
  packages: ['left-pad', 'zlib'],
  additions: [RANGE, LEFT_PAD],
  why: 'pads faster',
}

describe('what an experiment waits for', () => {
  it('is nothing before it was asked for', () => {
    expect(awaitedPackages({ approval: null, approved: {} })).toEqual([])
  })

  it('is what was not approved in the same set', () => {
    const approved = { [approval.digest]: ['zlib'], [OTHER]: ['left-pad'] }
    expect(awaitedPackages({ approval, approved })).toEqual(['left-pad'])
    expect(awaitedText({ approval, approved })).toBe('left-pad 1.3.0 (npm)')
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

  it('is read as it was written, and waits for the same', () => {
    const built = campaign()
      .withExperiment()
      .add({ ...request, cause: 'opened' })
    const event = parseEvent(JSON.parse(JSON.stringify(built.events.at(-1))))
    expect(event).toEqual(built.events.at(-1))
    expect(eventLine(event)).toContain('exp-001 is waiting for approval of zlib')
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'deferred',
      approval: { additions: [], why: '' },
    })
    built.add({ kind: 'approved', cause: 'spec', experiment: 'exp-001', digest: OTHER, packages: ['zlib'] })
    expect(built.experiment('exp-001').status).toBe('queued')
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
  ])('have %s', (_, additions, said) => {
    expect(packagesText(['left-pad'], additions)).toBe(said)
  })

  it('are three at most', () => {
    expect(packagesText(['a', 'b', 'c', 'd', 'e'], [])).toBe('a, b, c and 2 more')
  })
})
