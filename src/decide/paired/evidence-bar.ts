const BAR_EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const
const FULL_CELL = '█'
const EMPTY_CELL = '·'

/**
 * Evidence as a bar on a log scale: empty at 1, where nothing is known, full at what it has to reach. Never full
 * before it is reached.
 */
export function renderEvidenceBar(evidence: number, threshold: number, width: number): string {
  const share = evidence >= threshold ? 1 : Math.log(evidence) / Math.log(threshold)
  const eighths = Math.floor(Math.min(1, Math.max(0, share)) * width * BAR_EIGHTHS.length)
  const filled =
    evidence >= threshold ? width * BAR_EIGHTHS.length : Math.min(eighths, width * BAR_EIGHTHS.length - 1)
  const cells =
    FULL_CELL.repeat(Math.floor(filled / BAR_EIGHTHS.length)) +
    (BAR_EIGHTHS[filled % BAR_EIGHTHS.length] ?? '')
  return cells.padEnd(width, EMPTY_CELL)
}
