/** One glob of git's kind as a machine over bytes: linear in the path, whatever the pattern. */
export type GlobToken =
  | { kind: 'byte'; accepts(byte: string): boolean }
  | { kind: 'star'; crossesSlash: boolean }
  | { kind: 'directories' }
  | { kind: 'throughSlash' }

type TokenRead = { tokens: GlobToken[]; next: number }

const NEVER_MATCHES: GlobToken = { kind: 'byte', accepts: () => false }

function matchLiteral(byte: string): GlobToken {
  return { kind: 'byte', accepts: other => other === byte }
}

/** Two stars cross slashes only when they are a whole segment; `**` and a slash may also stand for nothing. */
function readStars(glob: string, start: number): TokenRead {
  let next = start
  while (glob[next] === '*') next += 1
  const opens = start === 0 || glob[start - 1] === '/'
  const closes = next === glob.length || glob[next] === '/' || glob.startsWith('\\/', next)
  if (next - start < 2 || !opens || !closes) return { tokens: [{ kind: 'star', crossesSlash: false }], next }
  if (glob[next] !== '/') return { tokens: [{ kind: 'star', crossesSlash: true }], next }
  return { tokens: [{ kind: 'directories' }, { kind: 'throughSlash' }], next: next + 1 }
}

const POSIX: Record<string, RegExp> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /[^\x20-\x7e\x80-\xff]/,
  digit: /[0-9]/,
  graph: /[\x21-\x7e]/,
  lower: /[a-z]/,
  print: /[\x20-\x7e]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
}

type ClassMember = { accepts(byte: string): boolean; last: string; next: number }

/** `[:alpha:]`; 'broken' where git gives up on the whole pattern, undefined where it is no named class at all. */
function readNamedClass(glob: string, at: number): ClassMember | 'broken' | undefined {
  if (!glob.startsWith('[:', at)) return undefined
  const end = glob.indexOf(']', at + 2)
  if (end === -1) return 'broken'
  if (end === at + 2 || glob[end - 1] !== ':') return undefined
  const named = Object.hasOwn(POSIX, glob.slice(at + 2, end - 1))
    ? POSIX[glob.slice(at + 2, end - 1)]
    : undefined
  return named === undefined ? 'broken' : { accepts: byte => named.test(byte), last: '', next: end + 1 }
}

/** A byte that may be escaped; undefined at the end of the pattern. */
function readPlainByte(glob: string, at: number): { byte: string; next: number } | undefined {
  const escaped = glob[at] === '\\' ? 1 : 0
  const byte = glob[at + escaped]
  return byte === undefined ? undefined : { byte, next: at + escaped + 1 }
}

function readClassMember(glob: string, at: number, last: string): ClassMember | undefined {
  const afterDash = glob[at + 1]
  if (glob[at] === '-' && last !== '' && afterDash !== undefined && afterDash !== ']') {
    const end = readPlainByte(glob, at + 1)
    return end && { accepts: byte => byte >= last && byte <= end.byte, last: '', next: end.next }
  }
  const named = readNamedClass(glob, at)
  if (named === 'broken') return undefined
  if (named !== undefined) return named
  const one = readPlainByte(glob, at)
  return one && { accepts: byte => byte === one.byte, last: one.byte, next: one.next }
}

/** A class never accepts a slash, whatever it lists. One without its end makes the pattern match nothing. */
function readByteClass(glob: string, start: number): TokenRead {
  const negated = glob[start + 1] === '!' || glob[start + 1] === '^'
  const members: ClassMember[] = []
  let next = start + (negated ? 2 : 1)
  do {
    const one = readClassMember(glob, next, members.at(-1)?.last ?? '')
    if (one === undefined) return { tokens: [NEVER_MATCHES], next: glob.length }
    members.push(one)
    next = one.next
  } while (glob[next] !== ']')
  const accepts = (byte: string) => byte !== '/' && members.some(one => one.accepts(byte)) !== negated
  return { tokens: [{ kind: 'byte', accepts }], next: next + 1 }
}

function readToken(glob: string, at: number): TokenRead {
  if (glob[at] === '*') return readStars(glob, at)
  if (glob[at] === '[') return readByteClass(glob, at)
  if (glob[at] === '?') return { tokens: [{ kind: 'byte', accepts: byte => byte !== '/' }], next: at + 1 }
  const one = readPlainByte(glob, at)
  return one === undefined
    ? { tokens: [NEVER_MATCHES], next: glob.length }
    : { tokens: [matchLiteral(one.byte)], next: one.next }
}

export function parseGlob(glob: string): GlobToken[] {
  const tokens: GlobToken[] = []
  for (let at = 0; at < glob.length; ) {
    const { tokens: found, next } = readToken(glob, at)
    tokens.push(...found)
    at = next
  }
  return tokens
}

function enterState(tokens: readonly GlobToken[], state: number, active: Set<number>): void {
  if (active.has(state)) return
  active.add(state)
  const kind = tokens[state]?.kind
  if (kind === 'star' || kind === 'directories') enterState(tokens, state + 1, active)
  if (kind === 'directories') enterState(tokens, state + 2, active)
}

function advanceStates(tokens: readonly GlobToken[], active: Set<number>, byte: string): Set<number> {
  const next = new Set<number>()
  for (const state of active) {
    const token = tokens[state]
    if (token?.kind === 'byte' && token.accepts(byte)) enterState(tokens, state + 1, next)
    if (token?.kind === 'star' && (token.crossesSlash || byte !== '/')) enterState(tokens, state, next)
    if (token?.kind !== 'throughSlash') continue
    enterState(tokens, state, next)
    if (byte === '/') enterState(tokens, state + 1, next)
  }
  return next
}

export function matchTokens(tokens: readonly GlobToken[], text: string): boolean {
  let active = new Set<number>()
  enterState(tokens, 0, active)
  for (const byte of text) {
    active = advanceStates(tokens, active, byte)
    if (active.size === 0) return false
  }
  return active.has(tokens.length)
}
