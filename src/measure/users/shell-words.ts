export function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`
}
