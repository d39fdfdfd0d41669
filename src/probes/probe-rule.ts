import type { Calibration } from '../model/campaign.ts'
import type { StopRule } from '../model/order.ts'
import type { Spec } from '../spec/schema.ts'
import { countSampleItems, findScoreScale, isJudgedMetric } from '../spec/spec-facts.ts'

/** Noise never shows such a gain twice in a row, and a change that skips the work shows more. */
const NOISY_GAIN = 0.2
/** Below NOISY_GAIN where the calibration showed less noise: a gain of so many of its standard deviations. */
const DEVIATIONS = 6

/** One run of each side, and a second one of a gain. */
export function buildProbeRule(
  spec: Spec,
  calibration: Pick<Calibration, 'deterministic' | 'scale' | 'noise'> | null,
): Extract<StopRule, { rule: 'once' }> {
  if (isJudgedMetric(spec)) return buildScoreRule(spec, calibration?.noise?.pair_sd ?? null)
  const scale = calibration?.scale ?? 'log'
  if (calibration?.deterministic ?? spec.measurement.mode === 'once')
    return { rule: 'once', min_effect: spec.evidence.min_effect ?? 0, scale }
  const sd = scale === 'log' ? (calibration?.noise?.pair_sd ?? null) : null
  const least = sd === null ? NOISY_GAIN : Math.min(NOISY_GAIN, Math.max(0.02, DEVIATIONS * sd))
  return { rule: 'once', min_effect: least, scale: 'log', noisy: true }
}

/** As shares of the scale: how much the scores of one item differ while that is not known, and the most to ask for. */
const ASSUMED_SPREAD = 1 / 8
const MOST_ASKED = 1 / 4
/** Two halves of a sample have to show the gain, each beyond so many standard deviations of its mean. */
const SCORE_DEVIATIONS = 2

/** The gain that an idea needs, or more where scores differ so much that half of a sample often shows that by chance. */
function buildScoreRule({ metric }: Spec, pairSd: number | null): Extract<StopRule, { rule: 'once' }> {
  const { judge } = metric
  const [low, high] = (judge === null ? null : findScoreScale(judge)) ?? [0, 1]
  const half = Math.max(1, Math.floor((judge === null ? 0 : countSampleItems(judge)) / 2))
  const chance = (SCORE_DEVIATIONS * (pairSd ?? ASSUMED_SPREAD * (high - low))) / Math.sqrt(half)
  const least = Math.max(judge?.minimum_improvement ?? 0, Math.min(chance, MOST_ASKED * (high - low)))
  return { rule: 'once', min_effect: least, scale: 'linear', noisy: true }
}

/**
 * A linter or a formatter objects to how a probe is written, which a careful author avoids. Only gates that run the
 * code count.
 */
const READING =
  /(?:^|[\s:;&|./])(?:eslint|oxlint|biome|prettier|tsc|vue-tsc|dprint|stylelint|ruff|flake8|pylint|black|isort|mypy|pyright|clippy|rustfmt|fmt|vet|gofmt|staticcheck|golangci-lint|checkstyle|spotless\w*|rubocop|standardrb|shellcheck|shfmt|clang-format|clang-tidy|cppcheck|lint|format|types|typecheck|knip)(?=$|[\s:;&|])/

/** The spec with only those gates that a probe has to pass. */
export function selectProbeGates(spec: Spec): Spec {
  const gates = spec.gates.filter(({ name, command }) => !READING.test(name) && !isReadingOnly(command))
  return gates.length === spec.gates.length ? spec : { ...spec, gates }
}

/** True if every command of the line only reads the code. */
function isReadingOnly(command: string): boolean {
  return command.split(/&&|;|\|\|/).every(part => READING.test(part.trim()))
}
