export function quoteShell(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`
}
