const MOST = 40

/** So many lines at most, and how many more there are. */
export function limitLines(lines: readonly string[]): string[] {
  const more = lines.length - MOST
  return more <= 0 ? [...lines] : [...lines.slice(0, MOST), `and ${more} more`]
}
