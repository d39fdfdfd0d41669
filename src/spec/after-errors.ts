import { isMapping, type Raw } from './prepare.ts'
import { type SpecFinding, formatPath, type SpecPath } from './problem.ts'

/** Stands in for what is required and missing, so that the rules over several keys can be checked in the same run. */
const PLACEHOLDER_SPEC: Raw = {
  description: 'x',
  metric: { primary: { type: 'hard', name: 'x', direction: 'minimize' } },
  measurement: { command: 'x' },
  scope: { mutable: ['x'], immutable: ['y'] },
}

/** Everything but the refused parts. A list loses all its entries when one is refused: their places must not shift. */
function removeRefusedParts(value: unknown, paths: readonly SpecPath[]): unknown {
  if (!isMapping(value)) return value
  const kept: Raw = {}
  for (const [key, part] of Object.entries(value)) {
    const below = paths.filter(path => path[0] === key).map(path => path.slice(1))
    if (below.some(path => path.length === 0 || typeof path[0] === 'number')) continue
    kept[key] = below.length === 0 ? part : removeRefusedParts(part, below)
  }
  return kept
}

function mergeOverDefaults(standIn: unknown, value: unknown): unknown {
  if (!isMapping(standIn) || !isMapping(value)) return value ?? standIn
  const both: Raw = { ...value }
  for (const [key, part] of Object.entries(standIn)) both[key] = mergeOverDefaults(part, value[key])
  return both
}

export function completeRefusedSpec(raw: Raw, found: readonly SpecFinding[]): unknown {
  const paths = found.map(({ path }) => path)
  const kept = removeRefusedParts(
    raw,
    paths.filter(path => formatPath(path) !== 'winnow'),
  )
  return mergeOverDefaults(PLACEHOLDER_SPEC, kept)
}

/** Where the key was probably meant to stand. */
function listMeantPlaces({ path, didYouMean }: SpecFinding): string[] {
  return didYouMean === undefined ? [] : [didYouMean, formatPath([...path.slice(0, -1), didYouMean])]
}

/** `comand` is one mistake: that `command` is then missing is only its echo. */
export function removeFollowOnFindings(found: readonly SpecFinding[]): SpecFinding[] {
  const meant = new Set(found.flatMap(listMeantPlaces))
  return found.filter(({ path, found: what }) => what !== 'nothing' || !meant.has(formatPath(path)))
}

/** A rule that complains about a place already complained about only hides the real mistake. */
export function removeRelatedFindings(
  findings: readonly SpecFinding[],
  told: readonly SpecFinding[],
): SpecFinding[] {
  const places = told.flatMap(one => [formatPath(one.path), ...listMeantPlaces(one)])
  return findings.filter(finding => {
    const path = formatPath(finding.path)
    return !places.some(place => path.startsWith(place) || place.startsWith(path))
  })
}
