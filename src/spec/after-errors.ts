import { isMapping, type Raw } from './prepare.ts'
import { type Finding, pathText, type SpecPath } from './problem.ts'

/** Stands in for what is required and missing, so that the rules over several keys can be checked in the same run. */
const STAND_IN: Raw = {
  description: 'x',
  metric: { primary: { type: 'hard', name: 'x', direction: 'minimize' } },
  measurement: { command: 'x' },
  scope: { mutable: ['x'], immutable: ['y'] },
}

/** Everything but the refused parts. A list loses all its entries when one is refused: their places must not shift. */
function pruned(value: unknown, paths: readonly SpecPath[]): unknown {
  if (!isMapping(value)) return value
  const kept: Raw = {}
  for (const [key, part] of Object.entries(value)) {
    const below = paths.filter(path => path[0] === key).map(path => path.slice(1))
    if (below.some(path => path.length === 0 || typeof path[0] === 'number')) continue
    kept[key] = below.length === 0 ? part : pruned(part, below)
  }
  return kept
}

function over(standIn: unknown, value: unknown): unknown {
  if (!isMapping(standIn) || !isMapping(value)) return value ?? standIn
  const both: Raw = { ...value }
  for (const [key, part] of Object.entries(standIn)) both[key] = over(part, value[key])
  return both
}

export function completed(raw: Raw, found: readonly Finding[]): unknown {
  const paths = found.map(({ path }) => path)
  const kept = pruned(
    raw,
    paths.filter(path => pathText(path) !== 'winnow'),
  )
  return over(STAND_IN, kept)
}

/** Where the key was probably meant to stand. */
function meantPlaces({ path, didYouMean }: Finding): string[] {
  return didYouMean === undefined ? [] : [didYouMean, pathText([...path.slice(0, -1), didYouMean])]
}

/** `comand` is one mistake: that `command` is then missing is only its echo. */
export function withoutEchoes(found: readonly Finding[]): Finding[] {
  const meant = new Set(found.flatMap(meantPlaces))
  return found.filter(({ path, found: what }) => what !== 'nothing' || !meant.has(pathText(path)))
}

/** A rule that complains about a place already complained about only hides the real mistake. */
export function unrelated(findings: readonly Finding[], told: readonly Finding[]): Finding[] {
  const places = told.flatMap(one => [pathText(one.path), ...meantPlaces(one)])
  return findings.filter(finding => {
    const path = pathText(finding.path)
    return !places.some(place => path.startsWith(place) || place.startsWith(path))
  })
}
