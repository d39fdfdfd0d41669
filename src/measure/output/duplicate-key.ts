const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/** JSON.parse keeps the last of two members with one name; a result that says a thing twice says nothing. */
export function findDuplicateKey(json: string): string | null {
  const open: (Set<string> | null)[] = []
  let pending: string | null = null
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':' && pending !== null) {
      const keys = open.at(-1)
      if (keys?.has(pending)) return pending
      keys?.add(pending)
    }
    pending = token.startsWith('"') ? String(JSON.parse(token)) : null
  }
  return null
}
