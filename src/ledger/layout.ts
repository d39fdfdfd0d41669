/** Where an event lives: one file an event, at most 1,000 to a directory, so that an append stays cheap. */
export const SHARD_SIZE = 1_000

export interface EventPath {
  shard: string
  file: string
  path: string
}

export function shardName(shard: number): string {
  return String(shard).padStart(4, '0')
}

export function numberedPath(root: string, number: number): EventPath {
  const shard = shardName(Math.floor(number / SHARD_SIZE))
  const file = `${String(number).padStart(6, '0')}.json`
  return { shard, file, path: `${root}/${shard}/${file}` }
}

export function eventPath(seq: number): EventPath {
  return numberedPath('events', seq)
}

/** null: not the name of a shard or of a file in one. */
export function shardOf(name: string): number | null {
  const shard = /^\d{4,}$/.test(name) ? Number(name) : null
  return shard !== null && shardName(shard) === name ? shard : null
}

export function seqOf(shard: number, name: string): number | null {
  const seq = /^\d{6,}\.json$/.test(name) ? Number.parseInt(name, 10) : null
  if (seq === null || Math.floor(seq / SHARD_SIZE) !== shard) return null
  return eventPath(seq).file === name ? seq : null
}
