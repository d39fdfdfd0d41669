import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PlanWaiting } from '../../src/plan/action.ts'
import { outcomeSchema, toVerdictWord, verdictWordSchema } from '../../src/model/verdict.ts'
import {
  describeVerdict,
  describeWaiting,
  type ExperimentState,
  renderStateSentence,
  renderVerdictSentence,
} from '../../src/report/verdict-text.ts'

const open: ExperimentState = { status: 'queued', verdict: null, outcome: null, reason: null }
const ended = (
  result: (typeof outcomeSchema.options)[number],
  reason: string,
  worse = false,
): ExperimentState => ({
  status: 'ended',
  outcome: result,
  verdict: toVerdictWord(result, worse),
  reason,
})

describe('the verdict sentence', () => {
  it('starts with a verdict word or a more exact label', () => {
    const words = ['Kept', 'No gain', 'Worse', 'Not proven', 'Refused', 'Broken']
    const said = [...outcomeSchema.options.map(each => ended(each, 'why')), ended('dropped', 'why', true)]
    const firsts = said.map(each => renderStateSentence(each).split(/[:(.]/)[0]?.trim() ?? '')
    const others = ['Better, not taken', 'Promising alone', 'Reverted', 'Withdrawn']
    expect([...new Set(firsts)].toSorted()).toEqual([...words, ...others].toSorted())
    expect(verdictWordSchema.options).toHaveLength(6)
  })

  it('gives the reason after the word', () => {
    const kept = ended('kept', 'bytes 1200 -> 1100 (-8.3 %), deterministic')
    expect(renderVerdictSentence(kept)).toBe('Kept: bytes 1200 -> 1100 (-8.3 %), deterministic')
  })

  it('does not repeat the verdict', () => {
    expect(renderVerdictSentence(ended('dropped', 'no gain: bytes 2 -> 2 (0.0 %)'))).toBe(
      'No gain: bytes 2 -> 2 (0.0 %)',
    )
    expect(renderVerdictSentence(ended('dropped', 'worse: bytes 2 -> 3 (+50.0 %)', true))).toBe(
      'Worse: bytes 2 -> 3 (+50.0 %)',
    )
  })

  it('distinguishes a withdrawn idea from one without gain', () => {
    expect(renderVerdictSentence(ended('withdrawn', 'its branch is gone'))).toBe(
      'Withdrawn: its branch is gone',
    )
  })

  it('mentions that a kept change was reverted', () => {
    const undone = { ...ended('kept', 'bytes 2 -> 1 (-50.0 %)'), reverted: true }
    expect(renderVerdictSentence(undone)).toBe('Kept, then reverted: bytes 2 -> 1 (-50.0 %)')
    expect(describeVerdict(undone)).toBe('kept, then reverted')
  })

  it('describes a runner-up on top of kept changes', () => {
    const reason = 'promising alone, harmful in combination: bytes 10 -> 12 (+20.0 %)'
    expect(renderVerdictSentence(ended('runner_up_dropped', reason))).toBe(
      'Promising alone, harmful in combination: bytes 10 -> 12 (+20.0 %)',
    )
  })

  it('is complete without a reason', () => {
    expect(renderVerdictSentence(ended('kept', ''))).toBe('Kept.')
    expect(renderVerdictSentence({ verdict: null, outcome: null, reason: null })).toBe('Closed.')
  })

  it.each([
    ['queued', 'waiting for a runner'],
    ['ordered', 'waiting for a runner'],
    ['deferred', 'waiting for approval'],
    ['measured', 'waiting for the rest of its round'],
    ['not-proven', 'waiting for more evidence'],
  ] as const)('says what a %s experiment is %s', (status, phrase) => {
    expect(describeVerdict({ ...open, status })).toBe(phrase)
    expect(renderStateSentence({ ...open, status })).toBe(`W${phrase.slice(1)}.`)
  })
})

describe('what waits for an approval', () => {
  const standing: ExperimentState = { ...open, status: 'deferred', packages: 'left-pad 1.3.0 (npm)' }

  it('names the packages and the command', () => {
    expect(describeVerdict(standing)).toBe('waiting for approval of left-pad 1.3.0 (npm)')
    expect(renderStateSentence({ ...standing, next: 'winnow approve exp-007' })).toBe(
      'Waiting for approval of left-pad 1.3.0 (npm). Next: winnow approve exp-007.',
    )
  })
})

describe('an unproven experiment', () => {
  const reason =
    'score probably 3.1 % lower (0.9 to 5.2 %).\nevidence 8.6 (needed to measure more: 20) 8 pairs in 1 job on 1 runner'
  const said = 'score probably 3.1 % lower (0.9 to 5.2 %).'

  it('has its evidence on a separate line', () => {
    expect(renderVerdictSentence(ended('inconclusive', reason))).toBe(`Not proven: ${said}`)
  })

  it('is not proven yet while it is open, with the next step', () => {
    const open: ExperimentState = { ...ended('inconclusive', reason), status: 'not-proven', stays_open: true }
    expect(renderStateSentence({ ...open, next: 'more runners' })).toBe(
      `Not proven yet: ${said} Next: more runners.`,
    )
    expect(renderStateSentence(open)).toBe(`Not proven yet: ${said}`)
  })

  it('shows the result of its pairs before the verdict', () => {
    const live: ExperimentState = { ...open, progress: said, next: 'one more runner, about 12 min' }
    expect(renderStateSentence(live)).toBe(`Not proven yet: ${said} Next: one more runner, about 12 min.`)
    expect(describeVerdict(live)).toBe('waiting for a runner')
  })

  it('is never called worse, and the reverse', () => {
    const harm = ended('dropped', 'score 3.1 % higher (0.9 to 5.2 %).', true)
    expect(renderVerdictSentence(harm)).toBe('Worse: score 3.1 % higher (0.9 to 5.2 %).')
  })
})

describe('what a campaign waits for', () => {
  it.each([
    [{ for: 'ideas' }, 'Waiting for ideas: no idea is queued, and no proposer has another.'],
    [
      { for: 'ideas', disabled: ['claude'] },
      'Waiting for ideas: no idea is queued, and claude is disabled after failing to produce a usable idea. winnow resume asks it again.',
    ],
    [
      { for: 'proposers', who: ['thinker', 'thinker', 'codex'] },
      'Waiting for an idea from thinker (2 at once), codex.',
    ],
    [{ for: 'orders', orders: ['a'] }, 'Waiting for a measurement.'],
    [{ for: 'orders', orders: ['a', 'b'] }, 'Waiting for 2 measurements.'],
    [{ for: 'person', what: 'approval of exp-001' }, 'Waiting for a person: approval of exp-001'],
    [{ for: 'nothing', reason: 'stopped by ada' }, 'Stopped by ada'],
    [{ for: 'nothing', reason: '3 experiments ended' }, 'Stopped: 3 experiments ended'],
  ] as const)('%j reads %s', (waiting, expected) => {
    expect(describeWaiting(structuredClone(waiting) as PlanWaiting)).toBe(expected)
  })
})

describe('the six words', () => {
  /** Design section 7, line by line. */
  const DESIGN = {
    kept: 'kept',
    runner_up_kept: 'kept',
    revert_landed: 'kept',
    runner_up_dropped: 'no gain',
    not_selected: 'no gain',
    inconclusive: 'not proven',
    dropped: 'no gain',
    degenerate: 'broken',
    censored: 'no gain',
    refused: 'refused',
    error: 'broken',
    timeout: 'broken',
    withdrawn: 'no gain',
  }

  it('match the design for every outcome; only dropped can be worse', () => {
    const table = Object.fromEntries(outcomeSchema.options.map(each => [each, toVerdictWord(each, false)]))
    expect(table).toEqual(DESIGN)
    const harmed = outcomeSchema.options.filter(each => toVerdictWord(each, true) === 'worse')
    expect(harmed).toEqual(['dropped'])
  })

  it('are in one table of the code', () => {
    const src = join(import.meta.dirname, '..', '..', 'src')
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
    const says =
      /\b(?:dropped|degenerate|censored|not_selected|inconclusive|runner_up_kept|timeout): '(?:kept|no gain|worse|not proven|refused|broken)'/
    const own = files.filter(name => says.test(readFileSync(join(src, name), 'utf8')))
    expect(own).toEqual(['model/verdict.ts'])
  })

  it('start the sentence of every outcome', () => {
    const standing: fc.Arbitrary<ExperimentState> = fc.record({
      status: fc.constantFrom('queued', 'deferred', 'ordered', 'measured', 'not-proven', 'ended'),
      verdict: fc.option(fc.constantFrom(...verdictWordSchema.options)),
      outcome: fc.option(fc.constantFrom(...outcomeSchema.options)),
      reason: fc.option(fc.string()),
      reverted: fc.boolean(),
      stays_open: fc.boolean(),
    })
    const instead = ['kept, then reverted', 'better, not taken', 'promising alone', 'reverted', 'withdrawn']
    const words = [...verdictWordSchema.options, ...instead]
    fc.assert(
      fc.property(standing, each => {
        const phrase = describeVerdict(each)
        expect(words.includes(phrase) || phrase.startsWith('waiting for ')).toBe(true)
        const sentence = renderStateSentence(each).toLowerCase()
        const first = each.verdict === null && each.reverted ? 'kept, then reverted' : phrase
        expect(sentence.startsWith(first)).toBe(true)
      }),
    )
  })
})
