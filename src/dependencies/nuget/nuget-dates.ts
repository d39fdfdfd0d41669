import { z } from 'zod'
import type { ReleaseDate } from '../../ports.ts'
import {
  type AskRegistry,
  type DatedVersion,
  toReleaseDate,
  type ReleaseQuestion,
  getLatestDate,
} from '../release-date.ts'
import { canMatchRange } from '../version-range.ts'

const oneVersion = z.object({ published: z.string() })
const versions = z.array(z.object({ catalogEntry: z.object({ version: z.string(), published: z.string() }) }))
const pages = z.object({
  items: z.array(z.object({ lower: z.string(), upper: z.string(), items: versions.optional() })),
})
const page = z.object({ items: versions })

/** A page has 64 versions; of a package with more than this nobody waits for all of them. */
const MOST_PAGES = 40
const EXACT = /^\[\s*(\d[\w.+-]*)\s*\]$/

/** A reference to one version asks for at least that one, and NuGet takes the least that there is. */
export async function findNugetDate(
  question: ReleaseQuestion,
  ask: AskRegistry,
): Promise<ReleaseDate | null> {
  const id = toUrlSegment(question.name)
  const exact = question.isExact ? question.version : EXACT.exec(question.version)?.[1]
  if (exact !== undefined) {
    const { text } = await ask(`/v3/registration5-semver1/${id}/${toUrlSegment(exact)}.json`)
    return toReleaseDate(oneVersion.parse(JSON.parse(text)).published, 'name')
  }
  const fits = parseNugetRange(question.version)
  return getLatestDate((await fetchNugetVersions(id, ask)).filter(({ version }) => fits(version)))
}

/** All versions, those that need SemVer 2 included. A large package has its versions on pages of their own. */
async function fetchNugetVersions(id: string, ask: AskRegistry): Promise<DatedVersion[]> {
  const folder = `/v3/registration5-gz-semver2/${id}`
  const { items } = pages.parse(JSON.parse((await ask(`${folder}/index.json`)).text))
  if (items.length > MOST_PAGES) throw new Error('too many versions')
  const all = await Promise.all(
    items.map(async ({ lower, upper, items: inside }) => {
      if (inside !== undefined) return inside
      const { text } = await ask(`${folder}/page/${toUrlSegment(lower)}/${toUrlSegment(upper)}.json`)
      return page.parse(JSON.parse(text)).items
    }),
  )
  return all.flat().map(({ catalogEntry: { version, published: at } }) => ({ version, at }))
}

function toUrlSegment(text: string): string {
  return encodeURIComponent(text.toLowerCase())
}

const INTERVAL = /^([[(])\s*([\d.]*(?:\.\*|\*)?)\s*,\s*([\d.]*)\s*([\])])$/

/** `[1.0,2.0)`, `1.*`, `*`. A range that names a prerelease, or is not understood, may come to any version. */
function parseNugetRange(range: string): (version: string) => boolean {
  if (range.includes('-') || range.includes('$')) return () => true
  const [whole, open, least = '', most = '', close] = INTERVAL.exec(range) ?? []
  if (whole === undefined) return version => canMatchRange(version, range)
  const lowest = least.replace(/\.?\*$/, '')
  const bounds = [
    lowest === '' ? '' : `${open === '[' ? '>=' : '>'}${lowest}`,
    most === '' ? '' : `${close === ']' ? '<=' : '<'}${most}`,
  ]
  return version => canMatchRange(version, bounds.join(' '))
}
