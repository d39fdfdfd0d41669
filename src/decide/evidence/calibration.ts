import { UserError } from '../../errors.ts'
import { findSpeedBorder, listExplainedDifferences, type MeasuredPairs } from './disturbances.ts'
import {
  computeSignedDifference,
  type EvidenceScale,
  findFirstCrossing,
  reverseDifferences,
  toComparable,
} from './rank-test.ts'

/** One job in which both sides were the same tree. */
export type CalibrationJob = {
  pairs: readonly { base: number; candidate: number; base_first?: boolean | undefined }[]
}

export type NoiseCalibration = {
  /** No spread over at least three runs in at least two jobs. */
  deterministic: boolean
  scale: EvidenceScale
  /** 1.4826 MAD of the A/A differences, without what the machine explains: as evidence sees them. */
  pair_sd: number
  /** Its upper 90 % limit, the noise of the hybrid; null below four pairs. */
  pair_sd_upper90: number | null
  /** Spread of the same code between jobs: the noise of a comparison with a stored score. */
  between_job_sd: number | null
  /** The side for which the A/A differences reached E = 20; null: neither, the harness looks fair. */
  favours: 'base' | 'candidate' | null
  pairs: number
  jobs: number
}

/** MAD of a normal distribution times this is its standard deviation. */
const MAD_TO_SD = 1.4826

/** Step 0 of a campaign, from pairs of the same tree. */
export function calibrateNoiseEvidence(
  jobs: readonly CalibrationJob[],
  { scale: requested }: { scale?: EvidenceScale } = {},
): NoiseCalibration {
  const values = jobs.flatMap(listJobValues)
  if (values.length === 0) throw new UserError('a calibration needs at least one pair')
  const scale = requested ?? (values.every(value => value > 0) ? 'log' : 'linear')
  const measure = { direction: 'minimize', scale } as const
  const pairs = jobs.flatMap(job => job.pairs)
  const differences = pairs.map(({ base, candidate }) => computeSignedDifference(measure, base, candidate))
  const turns = pairs.map(({ base_first }) => base_first !== false)
  const { same, factor } = explainNoise({ measured: differences, base_first: turns })
  const upper = computeRobustSpreadUpper(same, 0.9)
  const measured = jobs.map(listJobValues).filter(own => own.length > 0)
  const means = measured.map(own => computeMean(scale === 'log' ? own.map(Math.log) : own))
  return {
    deterministic: measured.length >= 2 && values.length >= 3 && new Set(values).size === 1,
    scale,
    pair_sd: factor * computeRobustSpread(same),
    pair_sd_upper90: upper === null ? null : factor * upper,
    between_job_sd: computeSampleSd(means),
    favours: findFavouredByEvidence(differences),
    pairs: pairs.length,
    jobs: measured.length,
  }
}

/** Pairs across two speeds say little, so the others alone count as fewer, that is noisier, pairs. */
function explainNoise(turns: MeasuredPairs): { same: number[]; factor: number } {
  const explained = listExplainedDifferences(turns).map(toComparable)
  const border = findSpeedBorder(explained)
  const same = explained.filter(each => Math.abs(each) <= border)
  return { same, factor: Math.sqrt(explained.length / Math.max(1, same.length)) }
}

function listJobValues({ pairs }: CalibrationJob): number[] {
  return pairs.flatMap(({ base, candidate }) => [base, candidate])
}

function computeSampleSd(values: readonly number[]): number | null {
  if (values.length < 2) return null
  const mean = computeMean(values)
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1))
}

function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

const BIASED_EVIDENCE = 20

/** If both sides reached the threshold, the first one counts. */
function findFavouredByEvidence(differences: readonly number[]): NoiseCalibration['favours'] {
  const candidate = findFirstCrossing(differences, 0, BIASED_EVIDENCE)
  const base = findFirstCrossing(reverseDifferences(differences), 0, BIASED_EVIDENCE)
  if (candidate === base) return null
  return candidate < base ? 'candidate' : 'base'
}

/** 1.4826 times the median size of a difference: the coin has made 0 their middle. */
export function computeRobustSpread(differences: readonly number[]): number {
  const sizes = sortSizes(differences)
  const upper = sizes[sizes.length >> 1] ?? Number.NaN
  const lower = sizes[(sizes.length - 1) >> 1] ?? Number.NaN
  return replaceZeroSpread((MAD_TO_SD * (lower + upper)) / 2, differences)
}

function sortSizes(differences: readonly number[]): number[] {
  return differences.map(Math.abs).toSorted((a, b) => a - b)
}

/** Where more than half of all pairs tie exactly, the MAD is 0 and says nothing. */
function replaceZeroSpread(spread: number, differences: readonly number[]): number {
  return spread > 0 ? spread : Math.sqrt(differences.reduce((sum, d) => sum + d * d, 0) / differences.length)
}

/**
 * Upper confidence limit of `computeRobustSpread`, from the binomial law of how many sizes lie below their
 * median: exact for every distribution. Null when there are too few pairs for one.
 */
export function computeRobustSpreadUpper(differences: readonly number[], confidence: number): number | null {
  const sizes = sortSizes(differences)
  let lnChance = -sizes.length * Math.LN2
  let below = 0
  for (const [index, size] of sizes.entries()) {
    below += Math.exp(lnChance)
    if (below >= confidence) return replaceZeroSpread(MAD_TO_SD * size, differences)
    lnChance += Math.log((sizes.length - index) / (index + 1))
  }
  return null
}
