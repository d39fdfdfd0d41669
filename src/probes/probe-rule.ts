import type { Calibration } from '../model/campaign.ts'
import type { StopRule } from '../model/order.ts'
import type { Spec } from '../spec/schema.ts'

/** Noise never shows such a gain twice in a row, and a change that skips the work shows more. */
const NOISY_GAIN = 0.2
/** Below NOISY_GAIN where the calibration showed less noise: a gain of so many of its standard deviations. */
const DEVIATIONS = 6

/** One run of each side, and a second one of a gain. */
export function buildProbeRule(
  spec: Spec,
  calibration: Pick<Calibration, 'deterministic' | 'scale' | 'noise'> | null,
): Extract<StopRule, { rule: 'once' }> {
  const scale = calibration?.scale ?? 'log'
  if (calibration?.deterministic ?? spec.measurement.mode === 'once')
    return { rule: 'once', min_effect: spec.evidence.min_effect ?? 0, scale }
  const sd = scale === 'log' ? (calibration?.noise?.pair_sd ?? null) : null
  const least = sd === null ? NOISY_GAIN : Math.min(NOISY_GAIN, Math.max(0.02, DEVIATIONS * sd))
  return { rule: 'once', min_effect: least, scale: 'log', noisy: true }
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
