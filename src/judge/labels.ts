import { z } from 'zod'
import { type ErrorPlace, UserError } from '../errors.ts'
import { MOST_CONTENT } from '../measure/output/harness-output.ts'
import { tryParseJson } from '../model/canonical-json.ts'
import type { ScoreRecord } from '../model/event-schemas.ts'
import { isJudgedOrder, type Order } from '../model/order.ts'
import type { Spec } from '../spec/schema.ts'
import type { ScoreScale } from '../spec/spec-facts.ts'
import { computeMeanScores, getJudgedKey, selectCountedRecords } from './evidence.ts'

export interface Label {
  id: string
  content: string
  score: number
}

const label = z.strictObject({
  id: z.string().min(1).optional(),
  content: z.string().max(MOST_CONTENT),
  score: z.number(),
})
const EXAMPLE = '{"content": "the text that was scored", "score": 4}'

/** The labels travel with the printed items, under a name that no side has. */
export const LABELS = 'labels'

/** Before the first idea: the jobs in which the base is scored for the first time. */
export function isCheckedWithLabels({ order, spec }: { order: Order; spec: Spec }): boolean {
  const { purpose, earlier_jobs } = order
  if ((spec.metric.judge?.calibration ?? null) === null || !isJudgedOrder(order, spec)) return false
  if (purpose === 'baseline') return spec.measurement.stability !== null
  return purpose === 'calibration' && Object.values(earlier_jobs).flat().length === 0
}

/** Reads the file named by `metric.judge.calibration.labels`: a JSON array of labels, or one label a line. */
export function parseLabels(text: string, { file, scale }: { file: string; scale: ScoreScale }): Label[] {
  const labels = splitLabelRows(text, file).map(({ value, place }, index): Label => {
    const parsed = label.safeParse(value)
    if (!parsed.success)
      throw new UserError('this entry is not a label of an item', { place, fix: `write it like ${EXAMPLE}` })
    const { id = String(index + 1), content, score } = parsed.data
    if (score < scale[0] || score > scale[1])
      throw new UserError(`the score ${score} is not on the scale from ${scale[0]} to ${scale[1]}`, {
        place,
        fix: 'correct it, or metric.judge.scoring.scale',
      })
    return { id, content, score }
  })
  checkLabels(labels, file)
  return labels
}

function splitLabelRows(text: string, file: string): { value: unknown; place: ErrorPlace }[] {
  const whole = tryParseJson(text)
  if (Array.isArray(whole))
    return whole.map((value: unknown, index) => ({ value, place: { file, path: `[${index}]` } }))
  return text.split('\n').flatMap((row, index) => {
    return row.trim() === '' ? [] : [{ value: tryParseJson(row), place: { file, line: index + 1 } }]
  })
}

const FEWEST = 5

function checkLabels(labels: readonly Label[], file: string): void {
  const twice = labels.find(({ id }, index) => labels.findIndex(other => other.id === id) < index)
  if (twice !== undefined)
    throw new UserError(`two labels have the id ${JSON.stringify(twice.id)}`, {
      place: { file },
      fix: 'rename one of them, or leave ids out',
    })
  if (labels.length >= FEWEST && new Set(labels.map(({ score }) => score)).size > 1) return
  throw new UserError('the file has too few labels to show whether a judge agrees with people', {
    place: { file },
    fix: `label at least ${FEWEST} items, with more than one score`,
  })
}

// Agreement

/**
 * Agreement of the judges with people. An item without a score counts as far off as the scale allows
 * (invariant 5).
 */
export function computeLabelAgreement({
  labels,
  records,
  judges,
  primary,
  scale,
}: {
  labels: readonly Label[]
  records: readonly ScoreRecord[]
  judges: number
  primary: string
  scale: ScoreScale
}): number | null {
  const [low, high] = scale
  const counted = selectCountedRecords(records)
  return computeAgreement(
    labels.map(({ id, score }) => {
      const all = Array.from(
        { length: judges },
        (_, judge) => counted.get(getJudgedKey({ judge, item: id, side: 'label' }))?.scores ?? null,
      )
      return [score, computeMeanScores(all)?.[primary] ?? (score - low > high - score ? low : high)]
    }),
  )
}

/**
 * Krippendorff's alpha for numbers: 1 is full agreement, 0 is chance, negative is worse than chance. Unlike a
 * share of equal scores, it does not reward giving everything the same score. Null if no unit has two
 * ratings, or if all ratings are the same number. A row is a rated unit, with one rating or null per rater.
 */
export function computeAgreement(ratings: readonly (readonly (number | null)[])[]): number | null {
  const units = ratings.map(unit => unit.filter(value => value !== null)).filter(unit => unit.length > 1)
  const all = units.flat()
  const observed =
    units.reduce((sum, unit) => sum + sumSquaredDifferences(unit) / (unit.length - 1), 0) / all.length
  const expected = sumSquaredDifferences(all) / (all.length * (all.length - 1))
  return expected > 0 ? 1 - observed / expected : null
}

/** Over all ordered pairs. */
function sumSquaredDifferences(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return 2 * values.length * values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
}
