import { describe, expect, it } from 'vitest'
import type { LedgerEvent } from '../../src/model/event.ts'
import type { PairedTerms } from '../../src/model/order.ts'
import { findOrderGaps } from '../../src/engine/verify/orders.ts'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import { applyEvent } from '../../src/model/fold/fold.ts'
import { WINNOW } from './happenings.ts'
import { type Idea, Site } from './plan-site.ts'

const FILES = { 'bench/run': 'wc', 'src/a': 'size = 8\nrest\n', 'src/b': 'other = 8\nrest\n' }

function idea(name: string, files: Record<string, string>): Idea {
  return { name, files, category: name, priority: 'medium' }
}

/** None of them is any better, so that each meets the same incumbent. */
const TUNED = idea('tuned', { 'src/a': 'size = 16\nrest\n' })
const TUNED_AGAIN = idea('tuned again', { 'src/a': 'size = 32\nrest\n' })
const ONCE_MORE = idea('tuned once more', { 'src/a': 'size = 64\nrest\n' })
const ELSEWHERE = idea('elsewhere', { 'src/b': 'other = 16\nrest\n' })

function campaign(ideas: Idea[], execution: string): Site {
  const spec = WINNOW(`execution: ${execution}\n`).replace('name: bytes', 'name: wall_seconds')
  const site = new Site({ spec, files: FILES, ideas })
  site.run()
  return site
}

function issued({ ledger }: Site): LedgerEvent<'order-issued'>[] {
  return ledger.events.filter(event => event.kind === 'order-issued')
}

/** The terms of an experiment's first order. */
function termsOf(site: Site, id: string): PairedTerms | undefined {
  const [first] = issued(site).flatMap(({ stop }) => (stop.rule === 'paired' ? (stop.terms[id] ?? []) : []))
  return first
}

const part = (k: number) => 6 / (Math.PI * k) ** 2

describe.each(['{ mode: serial }', '{ max_concurrent: 4 }'])(
  'ideas tested one by one or together: %s',
  how => {
    const site = campaign([TUNED, ELSEWHERE, TUNED_AGAIN, ONCE_MORE], how)
    const terms = (number: number) => termsOf(site, `exp-00${number}`)

    it('are variants of one where they change the same lines, each tested more strictly than the last', () => {
      expect([1, 2, 3, 4].map(number => terms(number)?.variant)).toEqual([0, 0, 2, 3])
      const level = terms(1)?.alpha ?? 0
      expect(terms(2)?.alpha).toBeCloseTo(level, 9)
      expect(terms(3)?.alpha).toBeCloseTo(level * part(2), 9)
      expect(terms(4)?.alpha).toBeCloseTo(level * part(3), 9)
    })

    it('record what they touch with their first order, so that anybody finds the same', () => {
      expect(terms(1)?.touched).toEqual(terms(3)?.touched)
      expect(terms(1)?.touched).not.toEqual(terms(2)?.touched)
    })

    it('leave terms that an audit finds again, and none that are looser', () => {
      const replayed = createEmptyCampaign()
      for (const event of site.ledger.events) {
        if (event.kind === 'order-issued') {
          const { seq: _seq, kind: _kind, at: _at, by: _by, cause: _cause, prev: _prev, ...order } = event
          expect(findOrderGaps(replayed, site.ledger.spec, order)).toEqual([])
          const { stop } = order
          const third = stop.rule === 'paired' ? stop.terms['exp-003'] : undefined
          if (stop.rule === 'paired' && third !== undefined) {
            const looser = {
              ...stop,
              terms: { ...stop.terms, 'exp-003': { ...third, variant: 0, alpha: 0.01 } },
            }
            expect(findOrderGaps(replayed, site.ledger.spec, { ...order, stop: looser })).toEqual([
              'its terms are not those of the campaign',
            ])
          }
        }
        applyEvent(replayed, event)
      }
    })
  },
)
