/** How long an answer asks to be left alone, in milliseconds; null where it says nothing that can be read. */
export function parseRetryDelay(headers: Headers, now: number): number | null {
  const exact = parseHeaderNumber(headers.get('retry-after-ms'))
  if (exact !== null) return exact
  const value = headers.get('retry-after')
  const seconds = parseHeaderNumber(value)
  if (seconds !== null) return seconds * 1000
  const date = value === null ? Number.NaN : Date.parse(value)
  return Number.isFinite(date) ? Math.max(0, date - now) : null
}

function parseHeaderNumber(value: string | null): number | null {
  return value !== null && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : null
}
