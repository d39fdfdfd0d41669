import { describe, expect, it } from 'vitest'
import { WINNOW } from './happenings.ts'
import { type Idea, Site } from './plan-site.ts'

/** A hundred letters, of which two short lines can become one that costs a letter more. */
const FILES = {
  'bench/run': 'wc',
  'src/a': 'a\nb',
  'src/b': 'a\nb',
  'src/c': 'a\nb',
  'src/d': 'x'.repeat(91),
}

function simpler(letter: string, content = 'abcd'): Idea {
  const files = { [`src/${letter}`]: content }
  return { name: `simpler ${letter}`, files, category: letter, priority: 'medium', simplifies: true }
}

function ended(ideas: Idea[], metric = 'wall_seconds'): Site {
  const spec = WINNOW('execution: { mode: serial }\n').replace('name: bytes', `name: ${metric}`)
  const site = new Site({ spec, files: FILES, ideas })
  site.run()
  return site
}

function endings({ campaign }: Site) {
  return Object.values(campaign.experiments).map(({ outcome, reason }) => [outcome, reason])
}

describe('a simplification', () => {
  it('lands when it is shown to cost less than min_effect, though it gains nothing', () => {
    const site = ended([simpler('a')])
    expect(endings(site)).toEqual([
      ['kept', expect.stringContaining('simpler, and proven to cost less than 2.0 %')],
    ])
    expect(site.campaign.experiments['exp-001']?.purpose).toBe('simplify')
    expect(site.campaign.simplified).toBeCloseTo(Math.log(1.01), 6)
  })

  it('may cost one min_effect together with all others, and beyond that is dropped, saying so', () => {
    const site = ended([simpler('a'), simpler('b'), simpler('c')])
    expect(endings(site)).toEqual([
      ['kept', expect.any(String)],
      ['kept', expect.any(String)],
      ['dropped', 'it costs 1.0 %, and simplifications may cost 2.0 % in all, of which 2.0 % is spent'],
    ])
    expect(site.campaign.simplified).toBeLessThanOrEqual(0.02)
  })

  it('that costs more than min_effect does not land', () => {
    expect(endings(ended([simpler('a', 'abcdefghij')]))).toEqual([
      ['dropped', expect.stringContaining('wall_seconds 7.0 % slower (at least ')],
    ])
  })

  it('has to remove lines', () => {
    const why = 'kind: simplify has to remove lines, and this adds 1 and removes 1'
    expect(endings(ended([simpler('d', 'y')]))).toEqual([['refused', why]])
  })

  it('is refused where no pairs are measured, and says what to do instead', () => {
    expect(endings(ended([simpler('a')], 'bytes'))).toEqual([
      ['refused', expect.stringContaining('this campaign compares numbers: submit it as an ordinary idea')],
    ])
  })

  it('is no discovery: what comes after it is tested as strictly as before', () => {
    const site = ended([simpler('a'), { ...simpler('b', 'ab'), simplifies: false }])
    const levels = site.ledger.events.flatMap(event =>
      event.kind === 'order-issued' && event.stop.rule === 'paired'
        ? Object.values(event.stop.terms).map(({ alpha }) => alpha)
        : [],
    )
    expect(Math.max(...levels) - Math.min(...levels)).toBeLessThan(1e-9)
  })
})
