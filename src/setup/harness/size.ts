import type { Findings } from '../findings.ts'
import type { NewFile } from './skeleton.ts'
import { renderHeadComment } from './words.ts'

/** Bytes of what the project delivers: they repeat exactly, so that one run of each side decides. */
export function buildSizeHarness(
  { language, mutable, product }: Pick<Findings, 'language' | 'mutable' | 'product'>,
  name: string,
  committed: readonly string[],
): { file: NewFile; command: string; measures: string } {
  const path = `bench/${name}.sh`
  const command = `sh ${path}`
  // What is built and committed is not built anew from what an idea changes.
  const places = (PLACES[language] ?? []).filter(
    place => !committed.some(each => each.startsWith(`${place}/`)),
  )
  const sources = mutable.filter(place => !place.includes('*')).join(' ') || '.'
  const files = product?.path ?? sources
  const text = `${renderHeadComment('#', command)}
# ==== SAY WHAT IS MEASURED ====
# The files whose size counts, for example: set -- dist/app.min.js
set -- ${files}
${product === undefined ? renderPlaceChoice(places) : ''}# ==============================

echo "{\\"bytes\\": $(find "$@" -type f ! -path '*/.*' -exec cat {} + | wc -c | tr -d ' ')}"
`
  const measured = product === undefined ? [...places, sources].join(', or else ') : product.path
  return { file: { path, text }, command, measures: `the bytes of ${measured}` }
}

function renderPlaceChoice(places: readonly string[]): string {
  if (places.length === 0) return ''
  return `for built in ${places.join(' ')}; do
  if [ -e "$built" ]; then set -- "$built"; break; fi
done
`
}

const PLACES: Partial<Readonly<Record<Findings['language'], readonly string[]>>> = {
  rust: ['target/release/deps'],
  java: ['target/classes', 'build/classes'],
}
