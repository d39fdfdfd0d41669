import type { Campaign, MeasuredEpoch } from '../model/campaign.ts'
import type { Spec } from '../spec/schema.ts'

type EpochSections = Pick<Spec, 'epochs' | 'propose' | 'metric'>

/** One pass over the suite: what it measured, and the update that it measured for the first time. */
export interface Epoch {
  /** The mean of the primary metric over the tasks; null when it is missing. */
  mean: number | null
  tree: string
  /** The landing since the epoch before, and the tree that a rollback of it returns to. */
  update: { id: string; replaced: string } | null
}

export interface EpochRules {
  /** Passes after the baseline-only ones; with `compat: awp` all passes. */
  count: number
  /** Passes of the unchanged start, which show how much the mean varies by itself. */
  baseline: number
  learning_rate: number
  rollback_on_regression: boolean
  /** Epochs without a regression until the learning rate is restored. */
  recover: number
  compat: 'awp' | null
  direction: 'minimize' | 'maximize'
}

export interface EpochStep {
  /** 0 for a baseline-only pass. */
  number: number
  /** A mean beyond it is a regression; null where no update is to be judged, or nothing is known to judge it by. */
  limit: number | null
  regressed: boolean
  /** The update to roll back. */
  rollBack: string | null
  /** The rate of the next proposal. */
  learningRate: number
  next: 'measure' | 'propose' | 'end'
}

/** Null where the spec has no epochs. Without a text gradient every pass is an epoch of the unchanged start. */
export function buildEpochRules({ epochs, propose, metric }: EpochSections): EpochRules | null {
  if (epochs === null) return null
  const { direction } = metric.primary
  const learns = propose.some(({ use }) => use === 'textgrad')
  return { ...epochs, baseline: learns && epochs.compat === null ? epochs.baseline : 0, direction }
}

/** The steps of a campaign, one for each pass with the harness in force. */
export function listEpochSteps(
  { epochs, harness }: Pick<Campaign, 'epochs' | 'harness'>,
  spec: EpochSections,
): { epoch: MeasuredEpoch; step: EpochStep }[] {
  const rules = buildEpochRules(spec)
  const own = epochs.filter(epoch => epoch.harness === harness)
  const steps = rules === null ? [] : foldEpochs(rules, own)
  return own.flatMap((epoch, index) => {
    const step = steps[index]
    return step === undefined ? [] : [{ epoch, step }]
  })
}

/** The rate of the next proposal. */
export function getLearningRate(campaign: Pick<Campaign, 'epochs' | 'harness'>, spec: EpochSections): number {
  return listEpochSteps(campaign, spec).at(-1)?.step.learningRate ?? spec.epochs?.learning_rate ?? 1
}

/** `compat: awp` applies an update without proof: its gates have to hold, and its own epoch judges it. */
export function isLandedUnproven(
  { epochs }: Pick<Spec, 'epochs'>,
  { source }: { source: { use: string; key: string } },
): boolean {
  return epochs?.compat === 'awp' && source.use === 'command' && source.key.startsWith('command:textgrad:')
}

/** Returns a step for each epoch: what has to be done after it. Only the last one is still to be done. */
export function foldEpochs(rules: EpochRules, epochs: readonly Epoch[]): EpochStep[] {
  return rules.compat === 'awp' ? foldAsAwp(rules, epochs) : foldWithBand(rules, epochs)
}

/**
 * An update regresses if the mean is worse than that of the tree it replaced, by more than the baseline-only passes
 * vary. Every pass of that tree counts, so that one lucky pass is no reference.
 */
function foldWithBand(rules: EpochRules, epochs: readonly Epoch[]): EpochStep[] {
  const passes = new Map<string, number[]>()
  const spread = computeSpread(epochs.slice(0, rules.baseline).map(({ mean }) => mean))
  let learningRate = rules.learning_rate
  let good = 0
  return epochs.map(({ mean, tree, update }, index) => {
    const number = Math.max(0, index + 1 - rules.baseline)
    const limit = update && computeLimit(rules, passes.get(update.replaced) ?? [], spread)
    const regressed = limit !== null && (mean === null || isWorse(rules, mean, limit))
    const rollBack = regressed && rules.rollback_on_regression ? (update?.id ?? null) : null
    if (mean !== null) passes.set(tree, [...(passes.get(tree) ?? []), mean])
    good = regressed ? 0 : good + 1
    if (rollBack !== null) learningRate /= 2
    else if (good >= rules.recover) learningRate = rules.learning_rate
    const next = chooseNext(rules, { number, rollBack, isBaseline: index + 1 < rules.baseline })
    return { number, limit, regressed, rollBack, learningRate, next }
  })
}

/** The rule of AWP as its document has it: any mean above the one before it, and a rate that only falls. */
function foldAsAwp(rules: EpochRules, epochs: readonly Epoch[]): EpochStep[] {
  let learningRate = rules.learning_rate
  return epochs.map(({ mean, update }, index) => {
    const number = index + 1
    const limit = update && (epochs[index - 1]?.mean ?? null)
    const regressed = limit !== null && mean !== null && isWorse(rules, mean, limit)
    const rollBack = regressed && rules.rollback_on_regression ? (update?.id ?? null) : null
    if (rollBack !== null) learningRate /= 2
    const next = chooseNext(rules, { number, rollBack, isBaseline: false })
    return { number, limit, regressed, rollBack, learningRate, next }
  })
}

function chooseNext(
  { count }: EpochRules,
  { number, rollBack, isBaseline }: Pick<EpochStep, 'number' | 'rollBack'> & { isBaseline: boolean },
): EpochStep['next'] {
  if (number >= count) return 'end'
  return isBaseline || rollBack !== null ? 'measure' : 'propose'
}

/** The tasks of a pass have another order each time, so equal scores may have means that differ in their last digits. */
const ROUNDING = 1e-12

function isWorse({ direction }: EpochRules, mean: number, limit: number): boolean {
  const margin = ROUNDING * Math.max(1, Math.abs(limit))
  return direction === 'minimize' ? mean > limit + margin : mean < limit - margin
}

/** Upper limit of a further pass of the same tree: the spread of one pass, and that of the reference. */
function computeLimit(
  { direction }: EpochRules,
  reference: readonly number[],
  spread: Spread | null,
): number | null {
  if (spread === null || reference.length === 0) return null
  const band = spread.quantile * spread.sd * Math.sqrt(1 + 1 / reference.length)
  const center = computeMean(reference)
  return direction === 'minimize' ? center + band : center - band
}

export interface Spread {
  mean: number
  sd: number
  /** One-sided 95 % quantile of Student's t for this number of passes. */
  quantile: number
}

/** Null below two passes, or when the mean of one is missing. */
export function computeSpread(means: readonly (number | null)[]): Spread | null {
  const known = means.filter(mean => mean !== null)
  if (known.length < 2 || known.length < means.length) return null
  const mean = computeMean(known)
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const quantile = STUDENT_95[known.length - 2] ?? 1.697
  const sd = Math.sqrt(squares / (known.length - 1))
  return { mean, sd: sd < ROUNDING * Math.max(1, Math.abs(mean)) ? 0 : sd, quantile }
}

const STUDENT_95 = [
  6.314, 2.92, 2.353, 2.132, 2.015, 1.943, 1.895, 1.86, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753,
  1.746, 1.74, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697,
]

export function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
