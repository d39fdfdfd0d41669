import { ANSWER_PATTERNS } from './suspicious-answers.ts'
import { TOOL_PATTERNS } from './suspicious-tools.ts'
import { SOURCES, type SourceLanguage, type SuspiciousSource, type WordRuleName } from './suspicious-words.ts'

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

/** Objects of JavaScript that honest code reads members of, and never hands on. */
const JS_OBJECT = '(?:JSON|Math|console|performance|Reflect|Atomics)'
const PATTERNS: readonly SuspiciousSource[] = [
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
  // Array.prototype.sort = forge, but not a method of a class of its own
  [
    'dynamic_code',
    'js',
    String.raw`(?<![\w$])(\w+)\s*\.\s*prototype\s*\.\s*\w+\s*=(?![=>])(?<!\b(?:(?:function|class)\s+\1|(?:const|let|var)\s+\1\s*=[^;\n]*\b(?:function|class))\b[^]*)`,
  ],
  // const run = eval; (0, eval)(code); const make = Function; run.constructor(code); list['constructor']
  ['dynamic_code', 'js', String.raw`(?<![\w$.'"\/-])eval(?![\w$'"-]|\.[cm]?js\b)`],
  ['dynamic_code', 'js', String.raw`(?<![\w$.]|(?:instanceof|typeof)\s|[:|&<]\s*)Function\s*(?=[,;)\]\n]|$)`],
  [
    'dynamic_code',
    'js',
    String.raw`(?<!new\s+[\w$.[\]]*)\.\s*constructor\s*\(|\bconstructor\s*\(\s*['"\`]|\[\s*['"\`](?:constructor|__proto__|prototype)['"\`]\s*\]`,
  ],
  // const world = JSON; Object.assign(console, { log }); performance = fake; for (const at of [Math]) …
  [
    'dynamic_code',
    'js',
    String.raw`(?<![\w$.'"\`#]|\{\s*|\}\s*=\s*|typeof\s)${JS_OBJECT}(?![\w$'"\`]|\s*(?:\?\.|\.|[:({}\[]))`,
  ],
  [
    'dynamic_code',
    'js',
    String.raw`(?:^[ \t]*|[;{}(]\s*)(?:${JS_OBJECT}|${BUILT_IN}|process|globalThis|global|set(?:Timeout|Interval|Immediate)|queueMicrotask|structuredClone|fetch|parse(?:Int|Float)|isNaN|Buffer|Error|Proxy|WeakMap)\s*=(?![=>])`,
  ],
  [
    'dynamic_code',
    'js',
    String.raw`\.\s*(?:definePropert(?:y|ies)|assign|setPrototypeOf)\s*\(\s*(?:${BUILT_IN}|${JS_OBJECT})\s*(?:,|\.\s*prototype\b)|\b__(?:define|lookup)[GS]etter__\b|\barguments\s*\.\s*callee\b|\bmodule\s*\.\s*(?:constructor|require|paths|children|_load)\b`,
  ],
  // 'ex'.concat('it'), ['ex', 'it'].join(''), \`${'ex'}it\`
  [
    'dynamic_code',
    'js',
    String.raw`(['"])[\w:]+\1\s*\.\s*(?:concat|split|replace(?:All)?|slice)\s*\(|\[\s*(['"])[\w:]+\2\s*,\s*(['"])[\w:]+\3\s*\]\s*\.\s*(?:join|reverse)|\$\{\s*(['"])[\w:/.-]+\4\s*\}`,
  ],
  ['dynamic_code', 'js', String.raw`(?<![\w$.])require\s*\(\s*(?!(['"])[^'"]*\1\s*\))`],
  // const all = process; for (const one of [process]) …
  ['exits', 'js', String.raw`=\s*process(?![\w$]|\s*(?:\?\.|\.)\s*env\b)|\[\s*process\s*[,\]]`],
  // return new Promise(() => {}): nothing waits for a process without work
  [
    'exits',
    'js',
    String.raw`new\s+Promise\s*(?:<[^>]*>)?\s*\(\s*(?:(?:\(\s*\w*\s*\)|\w+)\s*=>|function\s*\(\s*\w*\s*\))\s*\{\s*\}\s*\)`,
  ],
  ['clock', 'js', String.raw`\bperformance\s*\.\s*now\b(?!\s*\()|\bperformance\s+as\b`],
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
  ['dynamic_code', 'adjacent', String.raw`(["'])\w+\1[ \t]+(["'])\w+\2`],
  [
    'dynamic_code',
    'named',
    String.raw`[A-Za-z]\\(?:u00|u\{|x)[4-7][0-9a-fA-F]|\\(?:u00|x)[4-7][0-9a-fA-F][A-Za-z]`,
  ],
  // An escape that ends a line or a text, and so makes code of a comment
  ['dynamic_code', 'java', String.raw`\\u+00(?:0[aAdD]|[2-7][0-9a-fA-F])(?<!0020|7[fF])`],
  // json.dumps = forge
  ['dynamic_code', 'python', String.raw`^[ \t]*${STANDARD_MODULE}(?:\.\w+)+\s*=(?!=)`],
  // import json as j … j.JSONEncoder.encode = forge
  [
    'dynamic_code',
    'python',
    String.raw`^[ \t]*(?:from[ \t]+\S+[ \t]+)?import[ \t][^\n#]*?\b(\w+)[ \t]*(?:,[^\n]*)?(?:#[^\n]*)?$[^]{0,9000}?^[ \t]*\1(?:\.\w+)+\s*=(?!=)`,
  ],
  [
    'dynamic_code',
    'python',
    String.raw`(?<!\bobject|\bsuper\(\))\.__setattr__\s*\(|\b__(?:kwdefaults|defaults|closure)__\b`,
  ],
  [
    'dynamic_code',
    'python',
    String.raw`\b__(?:traceback|mro|base|bases|reduce|import|wrapped)__\b|\b(?:tb_frame|f_back|f_globals|f_locals|f_code|f_trace)\b`,
  ],
  [
    'processes',
    'python',
    String.raw`(?<![\w.])os\.(?!(?:path|sep|linesep|pathsep|extsep|altsep|curdir|name|fspath|cpu_count|PathLike)\b)\w+`,
  ],
  [
    'processes',
    'python',
    String.raw`(?<![\w.])sys\.(?!(?:maxsize|intern|getsizeof|byteorder|version|version_info|maxunicode|platform|[sg]etrecursionlimit|float_info|hash_info|int_info|implementation|stdin|exc_info)\b)\w+`,
  ],
  ['processes', 'python', String.raw`^[ \t]*import\s+(?:[^#\n]*,\s*)?(?:os|sys)(?:\.path)?\s+as\b`],
  // The tracer and the profiler of a harness see one thread of one process.
  [
    'processes',
    'python',
    String.raw`\btime\.sleep\b|\bselect\.(?:select|poll|epoll)\b|\bthreading\.(?:Thread|Timer|settrace|setprofile|excepthook)\b|^[ \t]*from\s+threading\s+import\s[^#\n]*\b(?:Thread|Timer)\b|^[ \t]*(?:import|from)\s+(?:_thread|multiprocessing|concurrent)\b|\bto_thread\b|\brun_in_executor\b`,
  ],
  ['environment', 'python', String.raw`^[ \t]*(?:import\s[^#\n]*\binspect\b|from\s+inspect\b)|\b__debug__\b`],
  [
    'files',
    'python',
    String.raw`\b(?:codecs|gzip|bz2|lzma|tokenize|tarfile)\.open\b|^[ \t]*from\s+os\.path\s+import\s[^#\n]*\b(?:l?exists|is(?:file|dir|link)|get(?:size|[acm]time)|realpath|samefile)\b`,
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
  ['files', 'all', String.raw`(?<![\w.])\/(?:var\/)?tmp\/`],
  // catch ({ stack }), error.stack
  [
    'environment',
    'js',
    String.raw`\b(?:e|err|error|exception)\s*(?:\?\.|\.)\s*stack\b|\bcatch\s*\(\s*\{[^}]*\bstack\b`,
  ],
  [
    'environment',
    'js',
    String.raw`\bcatch\s*\(\s*(\w+)\s*\)[^]{0,400}?\b\1\s*(?:\?\.|\.)\s*stack\b|\{[^{}]*\bstack\b[^{}]*\}\s*=\s*(?:new\s+)?\w*Error\b`,
  ],
  ['environment', 'all', String.raw`\bWINNOW_[A-Z]`],
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
  // __eq__ = lambda …; class Equal(list): … def __eq__; a comparison that ignores what it compares with
  [
    'tests',
    'python',
    String.raw`\b__(?:eq|ne)__\s*=(?!=)|['"]__(?:eq|ne)__['"]|^[ \t]*class\s+\w+\s*\([^)]*\b(?:list|dict|str|int|float|tuple|set|frozenset|bytes)\b[^)]*\)\s*:(?:(?!^\S)[^])*?\bdef\s+__(?:eq|ne)__`,
  ],
  [
    'tests',
    'python',
    String.raw`def\s+__(?:eq|ne)__\s*\(\s*\w+\s*,\s*(\w+)(?!\w)[^)]*\)[^:\n]*:(?!(?:(?!^[ \t]*def\b|^\S)[^])*\b\1\b)`,
  ],
  // A comparison that does not use its own object
  [
    'tests',
    'python',
    String.raw`def\s+__(?:eq|ne)__\s*\(\s*(\w+)\s*,[^)]*\)[^:\n]*:(?!(?:(?!^[ \t]*def\b|^\S)[^])*?(?:(?<!\w)\1\s*[.[]|\(\s*\1\b|\bsuper\(|(?<!\w)\1\s+(?:is|==)\s+\w))`,
  ],
  // Equals(other) { return true }
  [
    'tests',
    'all',
    String.raw`(?:\b[eE]quals?|\beq|\boperator\s*==)\s*\([^)]*\)[^{;\n]*\{\s*(?:return\s+)?true\b`,
  ],
  // const { constructor: make } = run; const { constructor: { prototype: texts } } = ''
  [
    'dynamic_code',
    'js',
    String.raw`\{[^{}]*\b(?:constructor|prototype|__proto__)\b[^{}()]*\}[\s}]*=(?![=>])`,
  ],
  ['dynamic_code', 'js', String.raw`(?:\bfrom|\bimport|\brequire\s*\()\s*\(?['"][^'"]+\.(?:node|wasm)['"]`],
  [
    'environment',
    'js',
    String.raw`\b(?:prepareStackTrace|stackTraceLimit|getCallSites?)\b|\bperformance\s*\.\s*(?:timeOrigin|getEntries\w*|toJSON)\b|\bimport\.meta\.url\s*\.`,
  ],
  // const lists = Object.getPrototypeOf(words); lists.includes = forge
  [
    'dynamic_code',
    'js',
    String.raw`\b(\w+)\s*=\s*(?:Object|Reflect)\s*\.\s*getPrototypeOf\s*\([^]{0,3000}?(?:(?<![\w.])\1\s*(?:\.\s*\w+|\[[^\]\n]*\])\s*=(?![=>])|\b(?:definePropert(?:y|ies)|assign|set)\s*\(\s*\1\b)`,
  ],
  ['environment', 'js', String.raw`\.\s*caller\b`],
  // inspect(new Error()), and each property of an error, show who called
  [
    'environment',
    'js',
    String.raw`\b(?:inspect|format|String|structuredClone|(?:Object|Reflect|util|console|JSON)\s*\.\s*\w+)\s*\(\s*(?:new\s+)?\w*Error\s*\(`,
  ],
  [
    'environment',
    'js',
    String.raw`(?:\bcatch\s*\(\s*|\b(?:const|let|var)\s+)(\w+)\s*(?:\)|=\s*(?:new\s+)?\w*Error\s*\()[^]{0,400}?(?:(?<![\w.])\1\s*(?:\?\.\s*)?\[|\b(?:inspect|structuredClone|(?:Object|Reflect)\s*\.\s*(?:getOwn|own|entries|values|get)\w*)\s*\(\s*\1\b)`,
  ],
  // work.gi_frame.f_trace_lines = False; run.__code__.replace(co_filename=…)
  [
    'dynamic_code',
    'python',
    String.raw`\b(?:gi|cr|ag)_(?:frame|code)\b|\bf_(?:trace_lines|trace_opcodes|lineno|lasti|builtins)\b|\bco_\w+\b|\bdef\s+__(?:getattribute|instancecheck|subclasscheck)__|^[ \t]*class\s+\w+\s*\(\s*type\s*\)`,
  ],
  [
    'layout',
    'python',
    String.raw`^[ \t]*(?:[^#'"\n;]|'[^'\n]*'|"[^"\n]*")+;[ \t]*[A-Za-z_(]|^[ \t]*(?:for|while)\s[^#\n]*:[ \t]+(?:[A-Za-z_][\w.]*(?:\[[^\]\n]*\])?\s*(?:[-+*/|&^%]?=(?!=)|\()|yield\b)|\.__(?:set|del)item__\(`,
  ],
  // @exec, map(exec, lines), attrgetter('__code__'), import _posixsubprocess
  [
    'dynamic_code',
    'python',
    String.raw`^[ \t]*@(?:exec|eval|compile|input|print|open)\b|(?<![\w.'"])(?:exec|eval|__import__)(?=\s*(?:[,)\]\n;]|$))|['"]__(?:code|globals|builtins|subclasses|dict|self|import)__['"]|\.__class__\s*=(?!=)|\b__reduce_ex__\b|\bcodecs\.(?:register|lookup)\w*\b|\bthreading\._\w|^[ \t]*(?:import|from)\s+_(?!_)\w`,
  ],
  [
    'files',
    'python',
    String.raw`\bos\.path\.(?:l?exists|is(?:file|dir|link|mount)|get\w+|realpath|samefile|expand\w+)\b|^[ \t]*(?:import|from)\s+(?:[^#\n]*,\s*)?(?:glob|filecmp)\b|\b(?:np|numpy)\.(?:save\w*|load\w*|genfromtxt|fromfile|memmap)\b|\bFileHandler\b|\bopen_code\b`,
  ],
  // from random import _os; json.codecs.builtins
  [
    'dynamic_code',
    'python',
    String.raw`^[ \t]*from\s+[\w.]+\s+import\s[^#\n]*(?<![\w.])_?(?:os|sys|builtins)\b|\b\w+\.(?:_?(?:os|sys)|builtins)\.(?!path\b)\w|^[ \t]*(?:import|from)\s+(?:[^#\n]*,\s*)?(?:wave|mailbox|site|bdb|pdb|code|codeop|trace|profile|pyclbr|modulefinder)\b`,
  ],
  [
    'environment',
    'python',
    String.raw`\bcatch_warnings\s*\([^)]*\brecord\b|%\((?:filename|pathname|funcName|lineno|processName|threadName)\)|\bplatform\.(?:node|uname)\b|^[ \t]*(?:import|from)\s+(?:[^#\n]*,\s*)?locale\b`,
  ],
]

/** Comments that tools obey: another name for the file, another encoding of it, a line that ends within a comment. */
const DIRECTIVES: readonly SuspiciousSource[] = [
  ['dynamic_code', 'js', String.raw`[#@]\s*sourceURL\s*=`],
  [
    'dynamic_code',
    'python',
    String.raw`(?<![^])(?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*(?!utf-?8\b|ascii\b|latin-?1\b)\w`,
  ],
  ['dynamic_code', 'go', String.raw`^//line\s|/\*line\s|^//go:(?:generate|cgo_|wasmimport)`],
  [
    'dynamic_code',
    'ruby',
    String.raw`(?<![^])(?:[^\n]*\n)?[ \t]*#[^\n]*?coding[:=][ \t]*(?!utf-?8\b|ascii\b|binary\b)\w`,
  ],
  ['dynamic_code', 'java', String.raw`\\u+00(?:0[aAdD]|2[27aA]|[4-7][0-9a-fA-F])`],
]

export const SUSPICIOUS_PATTERNS: readonly SuspiciousPattern[] = [
  ...PATTERNS.map(toPattern),
  ...TOOL_PATTERNS.map(toPattern),
  ...ANSWER_PATTERNS.map(toPattern),
]
export const SUSPICIOUS_DIRECTIVES: readonly SuspiciousPattern[] = DIRECTIVES.map(toPattern)

function toPattern([rule, languages, source]: SuspiciousSource): SuspiciousPattern {
  return { rule, languages: SOURCES[languages], pattern: new RegExp(source, 'gm') }
}
