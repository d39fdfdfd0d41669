import { homesOf, type KnownKeys } from './known-keys.ts'
import { type Finding, type SpecPath, UNKNOWN_KEY } from './problem.ts'
import { containing, nearest } from './suggest.ts'

type Advice = { didYouMean?: string; fix: string }

function meant(key: string): Advice {
  return { didYouMean: key, fix: `did you mean "${key}"?` }
}

function belongs(key: string, homes: readonly string[]): Advice {
  const [home = ''] = homes
  const places = homes.slice(0, 3).map(path => (path === '' ? 'at the top level' : `under ${path}`))
  return {
    didYouMean: home === '' ? key : `${home}.${key}`,
    fix: `${key} belongs ${places.join(' or ')}`,
  }
}

/** A near sibling first, then the same key elsewhere, then a longer sibling, then a near key elsewhere. */
function advise(key: string, here: ReadonlySet<string>, known: KnownKeys): Advice {
  const sibling = nearest(key, here)
  if (sibling !== undefined) return meant(sibling)
  const homes = homesOf(key, known).filter(home => known.get(home) !== here)
  if (homes.length > 0) return belongs(key, homes)
  const longer = containing(key, here)
  if (longer !== undefined) return meant(longer)
  const near = nearest(key, new Set([...known.values()].flatMap(keys => [...keys])))
  if (near !== undefined) {
    const advice = belongs(near, homesOf(near, known))
    return { ...advice, fix: `did you mean "${near}"? ${advice.fix}` }
  }
  return { fix: here.size === 0 ? 'remove it' : `known here: ${[...here].join(', ')}` }
}

export function unknownKey(parent: SpecPath, key: string, known: KnownKeys): Finding {
  const home = parent.filter(part => typeof part === 'string').join('.')
  const here = known.get(home) ?? new Set<string>()
  return {
    path: [...parent, key],
    at: 'key',
    found: UNKNOWN_KEY,
    expected: here.size === 0 ? 'no key' : `one of ${[...here].join(', ')}`,
    ...advise(key, here, known),
  }
}
