const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const LONGEST = 60

/** Text of others inside an SVG stays text, on one line, and has an end. */
export function escapeSvg(text: string): string {
  const plain = text.replace(/[\p{C}\s]+/gu, ' ').trim()
  const letters = Array.from(plain)
  const short = letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join('')}…` : plain
  return short.replace(/[&<>"']/g, character => ENTITIES[character] ?? '')
}

/** One decimal is finer than a pixel, and the same bytes everywhere. */
export function formatPixels(value: number): string {
  return String(Math.round(value * 10) / 10)
}
