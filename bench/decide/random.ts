import { createHash } from 'node:crypto'

/** Everything by chance in the simulation comes from here: same words, same numbers, on every machine. */
export interface Random {
  /** In [0, 1). */
  fraction: () => number
  coin: () => boolean
  normal: () => number
  /** Of the given mean. */
  exponential: (mean: number) => number
  /** Student's t with these degrees of freedom, scaled to standard deviation 1 where it has one. */
  student: (df: number) => number
  shuffled: <T>(items: readonly T[]) => T[]
}

export function seeded(...words: (string | number)[]): Random {
  const fraction = small32(createHash('sha256').update(JSON.stringify(words)).digest())
  const normal = normals(fraction)
  const exponential = (mean: number) => -mean * Math.log(1 - fraction())
  return {
    fraction,
    coin: () => fraction() < 0.5,
    normal,
    exponential,
    student: df =>
      (normal() / Math.sqrt(chiSquare(df, exponential, normal) / df)) *
      (df > 2 ? Math.sqrt((df - 2) / df) : 1),
    shuffled: items => shuffled(items, fraction),
  }
}

/** Four words of state, a counter among them: a small fast counting generator with a period above 2^32. */
function small32(seed: Buffer): () => number {
  let [a, b, c, counter] = [seed.readInt32LE(0), seed.readInt32LE(4), seed.readInt32LE(8), 1]
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  for (let i = 0; i < 12; i++) next()
  return next
}

/** Box and Muller: two at a time. */
function normals(fraction: () => number): () => number {
  let spare: number | null = null
  return () => {
    if (spare !== null) {
      const value = spare
      spare = null
      return value
    }
    const radius = Math.sqrt(-2 * Math.log(1 - fraction()))
    const angle = 2 * Math.PI * fraction()
    spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }
}

function chiSquare(df: number, exponential: (mean: number) => number, normal: () => number): number {
  let sum = df % 2 === 1 ? normal() ** 2 : 0
  for (let i = 1; i < df; i += 2) sum += exponential(2)
  return sum
}

function shuffled<T>(items: readonly T[], fraction: () => number): T[] {
  const left = [...items]
  return items.flatMap(() => left.splice(Math.floor(fraction() * left.length), 1))
}
