const PLAIN = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/

/** A number as benchmark tools print it, thousands separators included; null for whatever is not a finite one. */
export function parseDecimal(text: string): number | null {
  if (!PLAIN.test(text) && !GROUPED.test(text)) return null
  const value = Number(text.replaceAll(',', ''))
  return Number.isFinite(value) ? value : null
}
