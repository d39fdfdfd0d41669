import { findKeyHomes, type KnownKeys } from './known-keys.ts'
import { type SpecFinding, type SpecPath, UNKNOWN_KEY } from './problem.ts'
import { findContainingWord, findNearestWord } from './suggest.ts'

type KeyAdvice = { didYouMean?: string; fix: string }

function suggestMeantKey(key: string): KeyAdvice {
  return { didYouMean: key, fix: `did you mean "${key}"?` }
}

function suggestKeyHome(key: string, homes: readonly string[]): KeyAdvice {
  const [home = ''] = homes
  const places = homes.slice(0, 3).map(path => (path === '' ? 'at the top level' : `under ${path}`))
  return {
    didYouMean: home === '' ? key : `${home}.${key}`,
    fix: `${key} belongs ${places.join(' or ')}`,
  }
}

/** A near sibling first, then the same key elsewhere, then a longer sibling, then a near key elsewhere. */
function suggestKey(key: string, here: ReadonlySet<string>, known: KnownKeys): KeyAdvice {
  const sibling = findNearestWord(key, here)
  if (sibling !== undefined) return suggestMeantKey(sibling)
  const homes = findKeyHomes(key, known).filter(home => known.get(home) !== here)
  if (homes.length > 0) return suggestKeyHome(key, homes)
  const longer = findContainingWord(key, here)
  if (longer !== undefined) return suggestMeantKey(longer)
  const near = findNearestWord(key, new Set([...known.values()].flatMap(keys => [...keys])))
  if (near !== undefined) {
    const advice = suggestKeyHome(near, findKeyHomes(near, known))
    return { ...advice, fix: `did you mean "${near}"? ${advice.fix}` }
  }
  return { fix: here.size === 0 ? 'remove it' : `known here: ${[...here].join(', ')}` }
}

export function describeUnknownKey(parent: SpecPath, key: string, known: KnownKeys): SpecFinding {
  const home = parent.filter(part => typeof part === 'string').join('.')
  const here = known.get(home) ?? new Set<string>()
  return {
    path: [...parent, key],
    at: 'key',
    found: UNKNOWN_KEY,
    expected: here.size === 0 ? 'no key' : `one of ${[...here].join(', ')}`,
    ...suggestKey(key, here, known),
  }
}
