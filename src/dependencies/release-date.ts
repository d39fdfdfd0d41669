import type { Release, ReleaseDate } from '../ports.ts'

/** A registry's answer, and when the file was stored there. */
export interface RegistryAnswer {
  text: string
  lastModified: string | null
}
export type AskRegistry = (path: string) => Promise<RegistryAnswer>

export type DatedVersion = { version: string; at: string }
export type ReleaseQuestion = Pick<Release, 'name'> & { version: string; isExact: boolean }

export function toReleaseDate(at: string, by: ReleaseDate['by']): ReleaseDate | null {
  const time = Date.parse(at)
  // nuget.org gives what is unlisted the year 1900.
  return Number.isFinite(time) && time > Date.UTC(1990) ? { at: new Date(time).toISOString(), by } : null
}

/** When the last of the versions that fit a range was published; null where one of them has no date. */
export function getLatestDate(fitting: readonly DatedVersion[]): ReleaseDate | null {
  const dates = fitting.map(({ at }) => toReleaseDate(at, 'range'))
  const known = dates.filter(date => date !== null).map(({ at }) => at)
  const at = known.toSorted().at(-1)
  return at === undefined || known.length < dates.length ? null : { at, by: 'range' }
}
