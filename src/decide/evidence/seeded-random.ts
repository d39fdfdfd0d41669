/** Numbers in [0, 1), the same for the same seed: randomness as a value, for simulations only. */
export type SeededRandom = () => number

const WEYL_STEP = 0x9e3779b9

/** A Weyl sequence through a 32-bit mixer: fast, and far better than planning needs. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = Math.imul(seed, 0x85ebca6b) ^ WEYL_STEP
  return () => {
    state = (state + WEYL_STEP) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}

export function drawNormal(random: SeededRandom): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** Student's t with four degrees of freedom: the tails of timings on shared machines. */
export function drawHeavyTailed(random: SeededRandom): number {
  const chiSquared = -2 * Math.log((1 - random()) * (1 - random()))
  return drawNormal(random) / Math.sqrt(chiSquared / 4)
}
