import type { Findings } from '../findings.ts'
import type { NewFile } from './skeleton.ts'
import { headComment } from './words.ts'

/** Bytes of what the project delivers: they repeat exactly, so that one run of each side decides. */
export function sizeHarness(
  { language, entry, mutable }: Findings,
  name: string,
  committed: readonly string[],
): { file: NewFile; command: string; measures: string } {
  const path = `bench/${name}.sh`
  const command = `sh ${path}`
  const built = entry?.kind === 'module' && language === 'node' ? entry.path : null
  // What is built and committed is not built anew from what an idea changes.
  const places = (PLACES[language] ?? []).filter(
    place => !committed.some(path => path.startsWith(`${place}/`)),
  )
  const fallback = built ?? mutable.filter(place => !place.includes('*')).join(' ')
  const text = `${headComment('#', command)}
# ==== SAY WHAT IS MEASURED ====
# The files whose size counts, for example: set -- dist/app.min.js
set -- ${fallback === '' ? '.' : fallback}
${chosenPlace(places)}# ==============================

echo "{\\"bytes\\": $(find "$@" -type f ! -path '*/.*' -exec cat {} + | wc -c | tr -d ' ')}"
`
  return {
    file: { path, text },
    command,
    measures: `the bytes of ${[...places, fallback].filter(Boolean).join(', or else ')}`,
  }
}

function chosenPlace(places: readonly string[]): string {
  if (places.length === 0) return ''
  return `for built in ${places.join(' ')}; do
  if [ -e "$built" ]; then set -- "$built"; break; fi
done
`
}

const PLACES: Partial<Readonly<Record<Findings['language'], readonly string[]>>> = {
  node: ['dist', 'build'],
  rust: ['target/release/deps'],
  java: ['target/classes', 'build/classes'],
}
