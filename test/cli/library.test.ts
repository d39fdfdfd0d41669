import { describe, expect, it } from 'vitest'
import * as library from '../../src/index.ts'

describe('the library', () => {
  it('is few things, on purpose', () => {
    expect(Object.keys(library).toSorted()).toEqual([
      'ConflictError',
      'ForgeError',
      'HarnessError',
      'LedgerError',
      'SpecErrors',
      'UserError',
      'assess',
      'audit',
      'committedSpec',
      'decideStability',
      'emptyCampaign',
      'eventId',
      'fold',
      'openHands',
      'openWorkshop',
      'parseDecidePayload',
      'parseEvent',
      'parseSpec',
      'plan',
      'replay',
      'run',
      'startCampaign',
      'statusView',
      'tick',
      'verdictOf',
    ])
  })
})
