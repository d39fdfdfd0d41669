import type { Random } from './random.ts'

/** Sums over many plays; a mean is a sum by `plays`. */
export type Tally = Readonly<Record<string, number>>

export type Size = 'quick' | 'usual' | 'full'

/** One cell of a table: played again and again, each play from its own part of the seed's chance. */
export interface Case {
  name: string
  /** How many plays at each size. */
  plays: Readonly<Record<Size, number>>
  play: (random: Random) => Tally
}

export interface Table {
  title: string
  columns: readonly string[]
  rows: readonly (readonly string[])[]
  notes: readonly string[]
}

export type Results = ReadonlyMap<string, Tally>

/** A part of the report: what is to be played for it, and the tables made of that. */
export interface Section {
  name: string
  cases: () => readonly Case[]
  tables: (results: Results) => readonly Table[]
}

export function sum(tallies: readonly Tally[]): Tally {
  const total: Record<string, number> = {}
  for (const tally of tallies) {
    for (const [key, value] of Object.entries(tally)) total[key] = (total[key] ?? 0) + value
  }
  return total
}

export function playMany(count: number, random: Random, { play }: Pick<Case, 'play'>): Tally {
  const total: Record<string, number> = { plays: count }
  for (let i = 0; i < count; i++) {
    for (const [key, value] of Object.entries(play(random))) total[key] = (total[key] ?? 0) + value
  }
  return total
}

export function tallyOf(results: Results, name: string): Tally {
  const tally = results.get(name)
  if (tally === undefined) throw new Error(`${name} was not played`)
  return tally
}

export function per(tally: Tally, key: string, of = 'plays'): number {
  return (tally[key] ?? 0) / (tally[of] ?? Number.NaN)
}

/** Standard error of a mean, from the sums of a value and of its square (`key` and `key²`). */
export function meanError(tally: Tally, key: string): number {
  const plays = tally['plays'] ?? Number.NaN
  return Math.sqrt(Math.max(0, per(tally, `${key}²`) - per(tally, key) ** 2) / plays)
}
