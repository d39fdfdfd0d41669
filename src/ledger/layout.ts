/** Where an event lives: one file an event, at most 1,000 to a directory, so that an append stays cheap. */
export const SHARD_SIZE = 1_000

export interface EventPath {
  shard: string
  file: string
  path: string
}

export function formatShardName(shard: number): string {
  return String(shard).padStart(4, '0')
}

export function buildNumberedPath(root: string, number: number): EventPath {
  const shard = formatShardName(Math.floor(number / SHARD_SIZE))
  const file = `${String(number).padStart(6, '0')}.json`
  return { shard, file, path: `${root}/${shard}/${file}` }
}

export function buildEventPath(seq: number): EventPath {
  return buildNumberedPath('events', seq)
}

/** null: not the name of a shard or of a file in one. */
export function parseShardName(name: string): number | null {
  const shard = /^\d{4,}$/.test(name) ? Number(name) : null
  return shard !== null && formatShardName(shard) === name ? shard : null
}

export function parseEventSeq(shard: number, name: string): number | null {
  const seq = /^\d{6,}\.json$/.test(name) ? Number.parseInt(name, 10) : null
  if (seq === null || Math.floor(seq / SHARD_SIZE) !== shard) return null
  return buildEventPath(seq).file === name ? seq : null
}
