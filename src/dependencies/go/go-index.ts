import { z } from 'zod'
import type { Release } from '../../ports.ts'

/** Where Go's checksum database, its module proxy and the index of the proxy are. */
export interface GoServers {
  sums: string
  proxy: string
  index: string
}

export const GO_SERVERS: GoServers = {
  sums: 'https://sum.golang.org',
  proxy: 'https://proxy.golang.org',
  index: 'https://index.golang.org',
}

const infoAnswer = z.object({ Time: z.iso.datetime({ offset: true }) })
const indexLine = z.object({ Path: z.string(), Version: z.string(), Timestamp: z.iso.datetime() })
const PAGE = 2_000
const MOST_PAGES = 4

/**
 * When the proxy first had this version: the index of the proxy says so, in the order in which it took them in. The
 * commit's own time, which its author sets, says only from where on to look; a wrong one finds nothing. A go.mod has no
 * hash (null), so that the checksum database has nothing to compare.
 */
export async function fetchProxyDate(
  { name, version }: Pick<Release, 'name' | 'version'>,
  hash: string | null,
  { servers, textAt }: { servers: GoServers; textAt: (url: string) => Promise<string> },
): Promise<string | null> {
  const [path, exact] = [escapeGoPath(name), escapeGoPath(version)]
  if (hash !== null) {
    const sums = await textAt(`${servers.sums}/lookup/${path}@${exact}`)
    if (!sums.split('\n').includes(formatSumLine({ name, version }, hash))) return null
  }
  const info = infoAnswer.parse(JSON.parse(await textAt(`${servers.proxy}/${path}/@v/${exact}.info`)))
  let since = info.Time
  for (let page = 0; page < MOST_PAGES; page++) {
    const lines = parseIndexLines(
      await textAt(`${servers.index}/index?since=${encodeURIComponent(since)}&limit=${PAGE}`),
    )
    const found = lines.find(({ Path, Version }) => Path === name && Version === version)
    if (found !== undefined) return found.Timestamp
    const last = lines.at(-1)?.Timestamp
    if (last === undefined || last === since || lines.length < PAGE) return null
    since = last
  }
  return null
}

/** As go.sum has it, and the checksum database as well. */
function formatSumLine({ name, version }: Pick<Release, 'name' | 'version'>, hash: string): string {
  const sum = /^go\.mod (.*)$/.exec(hash)?.[1]
  return sum === undefined ? `${name} ${version} ${hash}` : `${name} ${version}/go.mod ${sum}`
}

function parseIndexLines(text: string): z.infer<typeof indexLine>[] {
  const lines = text.split('\n').filter(line => line !== '')
  return lines.map(line => indexLine.parse(JSON.parse(line)))
}

/** Go's servers take no capitals, since some disks cannot tell them apart. */
function escapeGoPath(text: string): string {
  const small = text.replace(/[A-Z]/g, letter => `!${letter.toLowerCase()}`)
  return small
    .split('/')
    .map(part => encodeURIComponent(part).replaceAll('%2B', '+'))
    .join('/')
}
