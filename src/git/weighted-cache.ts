/** Least recently used values, bounded by their total weight in bytes. */
export interface WeightedCache<T> {
  get(key: string): T | undefined
  set(key: string, value: T, weight: number): void
}

export function createWeightedCache<T>(capacity: number): WeightedCache<T> {
  const kept = new Map<string, { value: T; weight: number }>()
  let total = 0

  function drop(key: string): void {
    total -= kept.get(key)?.weight ?? 0
    kept.delete(key)
  }

  return {
    get(key) {
      const found = kept.get(key)
      if (found === undefined) return undefined
      kept.delete(key)
      kept.set(key, found)
      return found.value
    },
    set(key, value, weight) {
      drop(key)
      if (weight > capacity) return
      kept.set(key, { value, weight })
      total += weight
      for (const oldest of kept.keys()) {
        if (total <= capacity) return
        drop(oldest)
      }
    },
  }
}
