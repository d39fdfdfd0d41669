import { readSourceText } from './source-text.ts'
import type { SourceLanguage } from './suspicious-words.ts'

/**
 * The code of a file in which uses that can deceive nobody, of names that can, are crossed out. Lines stay where they
 * are. `base` is the file before the change: what printed there may print in another way.
 */
export function readSuspectCode(text: string, language: SourceLanguage, base: string): string {
  const { code, skeleton } = readSourceText(text, language)
  const crossed = language === 'js' ? removeLocalNames(code, skeleton) : code
  const printing = PRINTING[language]
  const uses = [
    ...(HARMLESS[language] ?? []),
    ...(printing?.plain.test(base) === true ? [printing.other] : []),
  ]
  const without = uses.reduce((left, use) => left.replaceAll(use, found => replaceLetters(found)), crossed)
  return (UNUSED_IMPORTS[language] ?? []).reduce(
    (left, { name, line }) =>
      name.test(left.replaceAll(line, '')) ? left : left.replaceAll(line, replaceLetters),
    without,
  )
}

/** A letter that no rule looks for, and no part of a name. */
const CROSS = '¤'

function replaceLetters(text: string): string {
  return text.replaceAll(/[^\s]/g, CROSS)
}

const PROCESS_FACTS =
  '(?:nextTick|hrtime(?:\\s*\\.\\s*bigint)?|platform|versions?|arch|memoryUsage|cpuUsage|uptime|emitWarning)'
/** 256 would be a success. */
const FAILURE = String.raw`[1-9]\d?\s*\)`
const GO_PLATFORM =
  '!?(?:go1\\.\\d+|amd64|386|arm|arm64|loong64|mips\\w*|ppc64|ppc64le|riscv64|s390x|wasm|js|linux|darwin|windows|unix|freebsd|netbsd|openbsd|solaris|aix|android|ios|plan9|gc|gccgo|purego|noasm|appengine|nounsafe)'
/** Instructions that compute. */
const COMPUTING =
  '(?:v?p?(?:add|sub|mul|mull|cmp|and|andn|or|xor|sh[lr]|sar|sal|shuf|unpck|max|min|mov|blend|abs|avg|sad|test|ext|ins|dep|clmul)\\w*|ro[lr]\\w?|rc[lr]\\w?|i?mul\\w?|adc\\w?|sbb\\w?|bs[fr]\\w?|bswap\\w?|popcnt\\w?|[lt]zcnt\\w?|lea\\w?|neg\\w?|not\\w?|set\\w+|cmov\\w+|crc32\\w?|pause|nop|prefetch\\w*|clz|rbit|rev\\d*|umulh|umull|extr|madd|adds|subs)'

/** Uses that compute, name a platform, read the time, or end the process as a failure. */
const HARMLESS: Partial<Record<SourceLanguage, readonly RegExp[]>> = {
  js: [
    compile(String.raw`(?<![\w$.])process\s*\.\s*${PROCESS_FACTS}(?![\w$]|(?:\s*\.\s*\w+)*\s*=(?![=>]))`),
    compile(
      String.raw`\{\s*${PROCESS_FACTS}(?:\s*,\s*${PROCESS_FACTS})*\s*,?\s*\}\s*=\s*process(?![\w$]|\s*(?:\?\.|[.[(,]))`,
    ),
    compile(String.raw`(?<![\w$.])process\.exit\(\s*${FAILURE}`),
    compile(
      String.raw`\bimport\s*\{\s*(?:availableParallelism|cpus|EOL|endianness)(?:\s*,\s*(?:availableParallelism|cpus|EOL|endianness))*\s*\}\s*from\s*['"](?:node:)?os['"]`,
    ),
    // A property of a module or of a prototype of its own, that is made when it is first read
    compile(String.raw`\bObject\.defineProperty\(\s*(?:exports|module\.exports|proto)(?=\s*,)`),
    // scheme === 'http'
    compile(
      String.raw`(?<=(?:[!=]==?|\bcase)\s*)(['"])(?:fs|os|net|http|https|dns|tls|vm|v8|repl|module|cluster|inspector|assert|expect|tap|ava|chai|mocha|benchmark|timers)\1`,
    ),
  ],
  python: [
    compile(String.raw`\bsys\.exit\(\s*${FAILURE}|\bSystemExit\(\s*${FAILURE}`),
    compile(String.raw`\bglobals\(\)\[\w+\]\s*=(?!=)`),
    // Collecting goes on afterwards.
    compile(String.raw`\bgc\.disable\(\)(?=[^]{0,800}?\bfinally:[^]{0,200}?\bgc\.enable\(\))`),
    // Modules of the package itself
    compile(
      String.raw`\bimportlib\.import_module\(\s*(?:f?(["'])\.[\w.{}]*\1|(["'])\.\2\s*\+\s*\w+)\s*,\s*(?:__name__|__package__)\s*\)`,
    ),
    compile(String.raw`\bmmap\.mmap\((?:[^()\n]|\(\))*\bmmap\.ACCESS_READ\s*\)`),
  ],
  go: [
    compile(String.raw`\bos\.Exit\(\s*${FAILURE}`),
    compile(String.raw`\bfmt\.Fprint(?:ln|f)?\(\s*os\.Stderr\b`),
    compile(String.raw`"golang\.org/x/sys/cpu"`),
    compile(String.raw`^//go:build\s+(?:[\s()&|]|${GO_PLATFORM}(?![\w.]))+$`),
    compile(
      String.raw`\bunsafe\.(?:String|StringData|Slice|SliceData|Sizeof|Alignof|Offsetof)\b|\bunsafe\.Pointer\((?=&\w)`,
    ),
    // A table that is made when the program starts
    compile(
      String.raw`\bfunc\s+init\s*\(\s*\)\s*(?=\{(?:(?!^\}|\b(?!(?:math|bits|strings|strconv|unicode|utf8)\.)[a-z]\w*\.[A-Z]\w*\(|\bgo\s|\bprint|\bpanic|\bselect\b)[^])*^\})`,
    ),
  ],
  rust: [
    compile(String.raw`\bprocess::exit\(\s*${FAILURE}`),
    compile(String.raw`#\[test\]|#\[cfg\(test\)\](?=\s*(?:#\[[^\]\n]*\]\s*)*(?:pub\s+)?mod\s+\w+)`),
    compile(String.raw`\bcfg!\s*\(\s*target_\w+\s*=\s*"\w*"\s*\)`),
    compile(
      String.raw`\blibc::(?:c_\w+|size_t|ssize_t|memr?chr|memcmp|strlen)\b|\blibc::\{\s*(?:c_\w+|s?size_t)(?:\s*,\s*(?:c_\w+|s?size_t))*\s*\}`,
    ),
  ],
  java: [compile(String.raw`\bSystem\.exit\(\s*${FAILURE}`)],
  ruby: [
    compile(String.raw`(?<![\w.])exit\(\s*${FAILURE}|(?<![\w.])exit[ \t]+[1-9]\d?$`),
    compile(String.raw`(?<![\w.])prepend[ \t(]+:\w`),
    compile(String.raw`(?<![\w:])File\.(?:join|basename|dirname|extname)\b`),
    compile(String.raw`(?<![\w.])define_method\b`),
    compile(String.raw`(?<![\w.])autoload[ \t(]+:[A-Z]\w*,[ \t]*(['"])[\w/]+\1`),
  ],
  c: [
    compile(
      String.raw`\b(?:__asm__|__asm|asm)\s*(?:__volatile__|volatile)?\s*\(\s*(?=(?:"\s*(?:${COMPUTING}\b[^"\\;\n]*(?:(?:;|\\n|\\t)+\s*(?:${COMPUTING}\b[^"\\;\n]*)?)*)?"\s*)+[:)])`,
    ),
  ],
  shell: [compile(String.raw`(?<=^|[\s;])(?:source|trap|tee|eval|touch)=`)],
}

/** Where a file prints line by line, it may as well print at once. */
const PRINTING: Partial<Record<SourceLanguage, { plain: RegExp; other: RegExp }>> = {
  js: { plain: /\bconsole\.log\(/, other: compile(String.raw`(?<![\w$.])process\.stdout\.write(?=\()`) },
  python: {
    plain: /\bprint\(/,
    other: compile(String.raw`(?<![\w.])sys\.stdout(?:\.buffer)?\.write\b(?!\s*=)`),
  },
  go: {
    plain: /\bfmt\.Print/,
    other: compile(String.raw`\bbufio\.NewWriter(?:Size)?\(\s*os\.Stdout\b`),
  },
  rust: { plain: /\bprintln?!/, other: compile(String.raw`\b(?:std::)?(?:io::)?stdout\(\)`) },
  java: {
    plain: /\bSystem\.out\.print/,
    other: compile(
      String.raw`\bnew\s+(?:PrintWriter|PrintStream|BufferedOutputStream|OutputStreamWriter)\(\s*System\.out\b`,
    ),
  },
}

/** An import whose other uses are all crossed out. */
const UNUSED_IMPORTS: Partial<Record<SourceLanguage, readonly { name: RegExp; line: RegExp }[]>> = {
  python: ['mmap', 'importlib'].map(name => ({
    name: new RegExp(String.raw`\b${name}\b`),
    line: compile(String.raw`^[ \t]*import[ \t]+${name}[ \t]*$`),
  })),
  go: [
    {
      name: /\bunsafe\b|\blinkname\b|\buintptr\b/,
      line: compile(String.raw`^(?:import)?[ \t]*"unsafe"[ \t]*$`),
    },
  ],
}

function compile(source: string): RegExp {
  return new RegExp(source, 'gm')
}

// Names that a file of JavaScript binds itself

/** Globals that no code may hand on, so that a value of the same name is another one. */
const GLOBALS = ['process', 'performance', 'console'] as const

function removeLocalNames(code: string, skeleton: string): string {
  return GLOBALS.reduce((left, name) => {
    if (!new RegExp(String.raw`(?<![\w$.])${name}(?![\w$])`).test(skeleton)) return left
    const scopes = listScopes(skeleton, name)
    return left.replaceAll(
      new RegExp(String.raw`(?<![\w$.]|\.\s)${name}(?![\w$])`, 'g'),
      (found, at: number) =>
        scopes.some(({ start, end }) => start <= at && at < end) ? replaceLetters(found) : found,
    )
  }, code)
}

interface NameSpan {
  start: number
  end: number
}

/** Where the name is a loop's, a parameter or an import from a file beside. Other forms count as the global one. */
function listScopes(skeleton: string, name: string): NameSpan[] {
  const loop = compile(String.raw`\bfor\s*\(\s*(?:const|let|var)\s+${name}\s+(?:of|in)\b`)
  const arrow = compile(
    String.raw`(?:(?<![\w$.])${name}|\((?:[\w$\s,]*,)?\s*${name}\s*(?:,[\w$\s,]*)?\))\s*=>[ \t]*`,
  )
  const named = compile(
    String.raw`(?<![\w$.]|\bextends\s+|\bnew\s+)(?!(?:if|while|for|switch|with)\b)[\w$]+\s*\((?:[\w$\s,]*,)?\s*${name}\s*(?:,[\w$\s,]*)?\)[ \t]*(?=\{)`,
  )
  const loops = [...skeleton.matchAll(loop)].map(({ index }) => {
    const head = findClosing(skeleton, skeleton.indexOf('(', index))
    return { start: index, end: findBodyEnd(skeleton, head) }
  })
  const functions = [...skeleton.matchAll(arrow), ...skeleton.matchAll(named)].map(({ 0: text, index }) => ({
    start: index,
    end: findBodyEnd(skeleton, index + text.length),
  }))
  return [...loops, ...functions]
}

/** A block, or what stands in the same line before a sign that may end it. */
function findBodyEnd(skeleton: string, from: number): number {
  let at = from + (/^\s*/.exec(skeleton.slice(from))?.[0].length ?? 0)
  while (at < skeleton.length && !')]},:;\n'.includes(skeleton.charAt(at))) {
    if (skeleton[at] === '{') return findClosing(skeleton, at)
    at = '(['.includes(skeleton.charAt(at)) ? Math.max(at + 1, findClosing(skeleton, at)) : at + 1
  }
  return at
}

/** The place behind the bracket that closes the one here. */
function findClosing(skeleton: string, from: number): number {
  let depth = 0
  for (let at = from; at < skeleton.length; at += 1) {
    if ('([{'.includes(skeleton.charAt(at))) depth += 1
    else if (')]}'.includes(skeleton.charAt(at))) depth -= 1
    if (depth === 0) return at + 1
  }
  return from
}
