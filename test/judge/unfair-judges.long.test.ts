import { describe, expect, it } from 'vitest'
import { createSeededRandom, drawNormal } from '../../src/decide/evidence/planning.ts'
import { getEvidenceStatus } from '../../src/decide/evidence/rules.ts'
import { type Batch, buildBatches, type ItemPair } from '../../src/judge/batch.ts'
import { buildJudgedPairs, computeJudgedEvidence } from '../../src/judge/evidence.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import { judging, pairsOf } from './some-items.ts'

const LEVEL = 0.05
const RUNS = process.env['WINNOW_CASES'] === 'full' ? 600 : 150
const SIZE = 20
const TERMS = {
  judge: { minimum_improvement: 0.3, confirmation_seed: null },
  direction: 'maximize',
  level: LEVEL,
  sampleSize: SIZE,
} as const

/** Where an entry stands: in which batch of how many, and at which place of it. */
type Mood = (at: { batch: number; of: number; place: number }, random: () => number) => number

const MOODS: Record<string, Mood> = {
  'tires from batch to batch': ({ batch, of }) => -1.5 * (batch / of),
  'is generous in the first half': ({ batch, of }) => (batch < of / 2 ? 1 : -1),
  'favours what it is shown first': ({ place }) => (place === 0 ? 1.2 : 0),
  'changes its mind all the time': (_, random) => drawNormal(random),
}

/** Equal candidates: what is scored depends on nothing but the judge. */
interface Bench {
  judges: number
  /** Whole grades only, as most rubrics have them: most items then tie. */
  whole: boolean
}

const ONE: Bench = { judges: 1, whole: false }

function keeps(mood: Mood, run: number, layout = buildBatches, { judges, whole } = ONE): boolean {
  const random = createSeededRandom(run)
  const pairs = pairsOf(SIZE)
  const terms = judging({ coins: run.toString(16).padStart(64, '0'), judges })
  const batches = layout(pairs, terms)
  const records = batches.flatMap(({ judge, entries }, batch) =>
    entries.map(({ item, side }, place): ScoreRecord => {
      const felt = 3 + mood({ batch, of: batches.length, place }, random) + 0.2 * drawNormal(random)
      const quality = whole ? Math.min(5, Math.max(1, Math.round(felt))) : felt
      return { judge, item, side, time: 1, scores: { quality } }
    }),
  )
  const seen = buildJudgedPairs({ pairs, judging: terms, records })
  return (
    getEvidenceStatus(computeJudgedEvidence(TERMS, 'quality', [{ seed: run, pairs: seen }])).status === 'keep'
  )
}

function kept(mood: Mood, layout = buildBatches, bench = ONE): number {
  let count = 0
  for (let run = 0; run < RUNS; run++) if (keeps(mood, run, layout, bench)) count += 1
  return count / RUNS
}

/** As somebody would do it who thinks of no judge's mood. */
function candidatesFirst(pairs: readonly ItemPair[]): Batch[] {
  return (['candidate', 'base'] as const).map(side => ({
    judge: 0,
    mark: 'm',
    entries: pairs.map(pair => ({ key: pair.id, item: pair.id, side, content: pair[side].content })),
  }))
}

describe('an equal candidate before a judge who', () => {
  it.each(Object.entries(MOODS))('%s is kept no more often than the level allows', (_, mood) => {
    expect(kept(mood)).toBeLessThanOrEqual(LEVEL)
  })

  it.each(
    Object.entries(MOODS).flatMap(([name, mood]) =>
      [true, false].map(whole => [name, whole ? 'whole' : 'any', mood, { judges: 2, whole }] as const),
    ),
  )('%s, two of them with %s grades: no more often than the level allows', (_, _grades, mood, bench) => {
    expect(kept(mood, buildBatches, bench)).toBeLessThanOrEqual(LEVEL)
  })

  it('is generous at first would be kept always, if all of its items came first', () => {
    expect(kept(MOODS['is generous in the first half'] ?? (() => 0), candidatesFirst)).toBeGreaterThan(0.95)
  })
})
