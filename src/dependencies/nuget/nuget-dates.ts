import { z } from 'zod'
import type { ReleaseDate } from '../../ports.ts'
import { type Ask, type Dated, dateOf, type Question, youngestOf } from '../release-date.ts'
import { mayBe } from '../version-range.ts'

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
export async function nugetDate(question: Question, ask: Ask): Promise<ReleaseDate | null> {
  const id = segment(question.name)
  const exact = question.isExact ? question.version : EXACT.exec(question.version)?.[1]
  if (exact !== undefined) {
    const { text } = await ask(`/v3/registration5-semver1/${id}/${segment(exact)}.json`)
    return dateOf(oneVersion.parse(JSON.parse(text)).published, 'name')
  }
  const fits = rangeOf(question.version)
  return youngestOf((await versionsOf(id, ask)).filter(({ version }) => fits(version)))
}

/** All versions, those that need SemVer 2 included. A large package has its versions on pages of their own. */
async function versionsOf(id: string, ask: Ask): Promise<Dated[]> {
  const folder = `/v3/registration5-gz-semver2/${id}`
  const { items } = pages.parse(JSON.parse((await ask(`${folder}/index.json`)).text))
  if (items.length > MOST_PAGES) throw new Error('too many versions')
  const all = await Promise.all(
    items.map(async ({ lower, upper, items: inside }) => {
      if (inside !== undefined) return inside
      const { text } = await ask(`${folder}/page/${segment(lower)}/${segment(upper)}.json`)
      return page.parse(JSON.parse(text)).items
    }),
  )
  return all.flat().map(({ catalogEntry: { version, published: at } }) => ({ version, at }))
}

function segment(text: string): string {
  return encodeURIComponent(text.toLowerCase())
}

const INTERVAL = /^([[(])\s*([\d.]*(?:\.\*|\*)?)\s*,\s*([\d.]*)\s*([\])])$/

/** `[1.0,2.0)`, `1.*`, `*`. A range that names a prerelease, or is not understood, may come to any version. */
function rangeOf(range: string): (version: string) => boolean {
  if (range.includes('-') || range.includes('$')) return () => true
  const [whole, open, least = '', most = '', close] = INTERVAL.exec(range) ?? []
  if (whole === undefined) return version => mayBe(version, range)
  const lowest = least.replace(/\.?\*$/, '')
  const bounds = [
    lowest === '' ? '' : `${open === '[' ? '>=' : '>'}${lowest}`,
    most === '' ? '' : `${close === ']' ? '<=' : '<'}${most}`,
  ]
  return version => mayBe(version, bounds.join(' '))
}
