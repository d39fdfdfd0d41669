const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const
const FULL = '█'
const EMPTY = '·'

/**
 * Evidence as a bar on a log scale: empty at 1, where nothing is known, full at what it has to reach. Never full
 * before it is reached.
 */
export function evidenceBar(evidence: number, threshold: number, width: number): string {
  const share = evidence >= threshold ? 1 : Math.log(evidence) / Math.log(threshold)
  const eighths = Math.floor(Math.min(1, Math.max(0, share)) * width * EIGHTHS.length)
  const filled =
    evidence >= threshold ? width * EIGHTHS.length : Math.min(eighths, width * EIGHTHS.length - 1)
  const cells = FULL.repeat(Math.floor(filled / EIGHTHS.length)) + (EIGHTHS[filled % EIGHTHS.length] ?? '')
  return cells.padEnd(width, EMPTY)
}
