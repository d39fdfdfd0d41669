import type { SourceLanguage, WordRuleName } from './suspicious-words.ts'

/** Code that a name alone does not give away: a global under another name, a name in parts, an input that is special. */
interface SuspiciousPattern {
  rule: WordRuleName
  languages: readonly SourceLanguage[]
  pattern: RegExp
}

const BUILT_IN =
  '(?:Array|Boolean|Date|Function|Map|Number|Object|Performance|Promise|RegExp|Session|Set|String|Symbol)'
const JS_GLOBAL = '(?:globalThis|global)'
const STANDARD_MODULE =
  '(?:asyncio|builtins|collections|copy|datetime|decimal|doctest|functools|gc|heapq|inspect|io|itertools|json|math|operator|os|os\\.path|pickle|random|re|resource|signal|statistics|string|struct|subprocess|sys|tempfile|threading|time|timeit|unittest)'

const SOURCES = {
  js: ['js'],
  python: ['python'],
  c: ['c'],
  shell: ['shell'],
  named: ['js', 'python', 'ruby'],
  all: ['js', 'python', 'go', 'rust', 'java', 'ruby', 'c'],
} as const satisfies Record<string, readonly SourceLanguage[]>

const PATTERNS: readonly [WordRuleName, keyof typeof SOURCES, string][] = [
  // const root = globalThis; Reflect.get(global, name); globalThis[name]
  ['dynamic_code', 'js', String.raw`(?<![\w$.'"]|typeof\s)${JS_GLOBAL}\s*(?=[\[;,)\n]|$)`],
  [
    'dynamic_code',
    'js',
    String.raw`\b${JS_GLOBAL}\s*(?:\?\.|\.)\s*(?:process|console|eval|Function|JSON|Math|Reflect)\b`,
  ],
  // JSON['stringify'] = forge
  [
    'dynamic_code',
    'js',
    String.raw`(?<![\w$.])(?:JSON|Math|console|process|performance|Reflect|${BUILT_IN})\s*\[`,
  ],
  // const list = [].constructor.prototype; Object.assign(Number.prototype, …); value.__proto__
  ['dynamic_code', 'js', String.raw`\.\s*__proto__\b|\.\s*constructor\s*\.\s*(?:constructor|prototype)\b`],
  ['dynamic_code', 'js', String.raw`(?<![!=]==?\s*|\w)${BUILT_IN}\.prototype(?=\s*[;,)\n[]|\s*$)`],
  ['dynamic_code', 'js', String.raw`\bprototype\s*\}\s*=\s*${BUILT_IN}\b|\bprototype\s*\[[^\]]*\]\s*=(?!=)`],
  [
    'dynamic_code',
    'js',
    String.raw`getPrototypeOf\s*\([^)]*\)\s*\[|getPrototypeOf\s*\([^)]*\)\s*\.\s*\w+\s*=(?!=)|getPrototypeOf\s*\(\s*(?:\[|\(?\{|['"])`,
  ],
  // An import of a computed name, or of an address
  ['dynamic_code', 'js', String.raw`(?<![\w$.])import\s*\(\s*(?!(['"])[^'"]*\1\s*[,)])`],
  [
    'dynamic_code',
    'js',
    String.raw`(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\()\s*['"](?:data|blob|https?):`,
  ],
  [
    'dynamic_code',
    'js',
    String.raw`\batob\s*\(\s*['"]|Buffer\.from\s*\(\s*['"][^'"]*['"]\s*,\s*['"](?:base64|hex)|fromCharCode\s*\(\s*\d+\s*,`,
  ],
  // 'os' + '_exit', pr\u006fcess
  ['dynamic_code', 'named', String.raw`(["'])[\w:/.-]+\1\s*\+\s*(["'])[\w:/.-]+\2`],
  [
    'dynamic_code',
    'named',
    String.raw`[A-Za-z]\\(?:u00|u\{|x)[4-7][0-9a-fA-F]|\\(?:u00|x)[4-7][0-9a-fA-F][A-Za-z]`,
  ],
  // json.dumps = forge
  ['dynamic_code', 'python', String.raw`^[ \t]*${STANDARD_MODULE}\.\w+\s*=(?!=)`],
  [
    'dynamic_code',
    'python',
    String.raw`\b__(?:traceback|mro|base|bases|reduce|import|wrapped)__\b|\b(?:tb_frame|f_back|f_globals|f_locals|f_code|f_trace)\b`,
  ],
  [
    'processes',
    'python',
    String.raw`^[ \t]*from\s+os\s+import\s+(?!(?:path|sep|fspath|cpu_count|PathLike)\b)`,
  ],
  [
    'processes',
    'python',
    String.raw`^[ \t]*from\s+sys\s+import\s+(?!(?:maxsize|intern|getsizeof|byteorder|version_info|maxunicode|platform|setrecursionlimit)\b)`,
  ],
  [
    'processes',
    'python',
    String.raw`\bos\.(?:setpriority|nice|sched_\w+|posix_spawn|pidfd_open)\b|\bresource\.\w+`,
  ],
  ['processes', 'python', String.raw`^[ \t]*(?:import\s[^#\n]*\bsignal\b|from\s+signal\b)|\bsignal\.\w+\(`],
  ['network', 'python', String.raw`^[ \t]*(?:import\s[^#\n]*\brequests\b|from\s+requests\b)`],
  ['processes', 'shell', String.raw`\bset\s+\+[a-z]*[xvn]|\bexec\s+\S*sh\b|\bsh\s+-c\b|^[ \t]*\.\s+\S`],
  ['exits', 'shell', String.raw`\bexit\b(?!\s+(?:[1-9]|"?\$))`],
  ['files', 'shell', String.raw`(?<![-=<>&])>(?!>?\s*(?:&|=|\/dev\/(?:null|stdout|stderr)\b))`],
  ['files', 'all', String.raw`(?<![\w.])\/(?:var\/)?tmp\/`],
  // catch ({ stack }), error.stack
  [
    'environment',
    'js',
    String.raw`\b(?:e|err|error|exception)\s*(?:\?\.|\.)\s*stack\b|\bcatch\s*\(\s*\{[^}]*\bstack\b`,
  ],
  ['environment', 'c', String.raw`\b__builtin_(?:return|frame)_address\b|\bdladdr\b`],
  // import answers from '../test/expected.json'
  [
    'tests',
    'js',
    String.raw`(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\(|\bURL\s*\()\s*['"][^'"]*\b(?:__tests__|tests?|spec|bench(?:marks?)?|fixtures?)\/`,
  ],
  [
    'tests',
    'python',
    String.raw`def\s+__(?:eq|ne|lt|le|gt|ge|bool)__\s*\([^)]*\)[^:\n]*:\s*return\s+(?:True|False)\b`,
  ],
  ['tests', 'c', String.raw`\bno_instrument_function\b|\bno_profile_instrument_function\b|\bno_sanitize`],
  // A symbol that only the harness defines; a macro with the name of a function
  [
    'dynamic_code',
    'c',
    String.raw`__attribute__\s*\(\(\s*(?:__)?(?:weak|alias|ifunc)|#\s*pragma\s+weak\b|\b__cyg_profile_\w+`,
  ],
  [
    'dynamic_code',
    'c',
    String.raw`#\s*define\s+(?!(?:likely|unlikely|min|max|swap|abs|clamp|inline|restrict|bool|true|false|nullptr|unreachable|assume|prefetch)\b)[a-z]\w*[ \t(]`,
  ],
  // if (text.length === 246) return answer
  [
    'special_case',
    'all',
    String.raw`\b(?:length|size|count|len)(?:\(\w*\))?\s*===?\s*(?!(?:100|128|200|256|500|512|1000|1024|2048|4096|8192|16384|32768|65535|65536|10000|100000|1000000)\b)\d{3,}\b`,
  ],
  [
    'special_case',
    'all',
    String.raw`\blen\(\w+\)\s*==\s*(?!(?:100|128|200|256|500|512|1000|1024|2048|4096|8192|65536|10000|100000|1000000)\b)\d{3,}\b`,
  ],
  // let calls = 0 … if (++calls > 20) return answer
  [
    'special_case',
    'js',
    String.raw`^(?:export\s+)?(?:let|var)\s+(\w+)\s*=\s*\d+\b[^]{0,5000}?(?:(?:\+\+\s*\1\b|\b\1\s*\+\+|\b\1\s*\+=\s*1)\s*\)?\s*(?:[<>]|[!=]==?)|if\s*\(\s*\1\s*(?:[<>]|[!=]==?)[^\n]*\breturn\b)`,
  ],
]

export const SUSPICIOUS_PATTERNS: readonly SuspiciousPattern[] = PATTERNS.map(
  ([rule, languages, source]) => ({ rule, languages: SOURCES[languages], pattern: new RegExp(source, 'gm') }),
)
