import type { SuspiciousSource } from './suspicious-words.ts'

const ROUND = String.raw`(?:1[06]|32|64|100|128|255|256|512|1000|1024|2048|4096|8192|10000|65535|65536)`
const FEW = String.raw`(?:100|128|200|256|500|512|1000|1024|2048|4096|8192|16384|32768|65535|65536|10000|100000|1000000)`
/** A call whose argument is a parameter, so that its result differs from call to call. */
const CALL = (argument: string) => String.raw`[\w.:]+\s*\([^()\n;]*(?<![\w.])${argument}(?!\w)[^()\n;]*\)`
const LATER = '(?:setImmediate|setTimeout|setInterval|queueMicrotask|nextTick)'
const NOW_JS = String.raw`(?:Date\s*\.\s*now\s*\(\s*\)|new\s+Date\s*\(\s*\)(?:\s*\.\s*get\w+\s*\(\s*\))?)`
const NOW_PYTHON = String.raw`(?:\btime\.time(?:_ns)?\(\)|\b(?:date\.today|datetime\.(?:now|utcnow|today))\([^()]*\)(?:\.\w+(?:\(\))?)?|\b(?:local|gm)time\(\)\.\w+)`
/** Odds of one half, as random trees use them, treat no call unlike the others. */
const RARELY = String.raw`\(\)\s*[<>]=?\s*0?\.(?!(?:5|25)\b)\d`

/**
 * Answers that do not come from the work that they promise: the first answer kept for every input, a call, an input or
 * a day that is treated unlike the others, work that waits until somebody reads the answer.
 */
export const ANSWER_PATTERNS: readonly SuspiciousSource[] = [
  // if (text.length === 246) return answer
  ['special_case', 'all', String.raw`\b(?:length|size|count|len)(?:\(\w*\))?\s*===?\s*(?!${FEW}\b)\d{3,}\b`],
  ['special_case', 'all', String.raw`\blen\(\w+\)\s*==\s*(?!${FEW}\b)\d{3,}\b`],
  // for (…; at < 27 && text[at] != 0; …); text = text.slice(0, 200): less work for inputs that no test has
  [
    'special_case',
    'all',
    String.raw`\bfor\s*\([^;{}]*;[^;{}]*(?:<=?\s*(?!${ROUND}\b)\d{2,}\s*&&|&&\s*\w+\s*<=?\s*(?!${ROUND}\b)\d{2,}\b)[^;{}]*;`,
  ],
  [
    'special_case',
    'all',
    String.raw`(?<![\w.])(\w+)\s*=\s*\1\s*(?:\.\s*(?:slice|substr|substring)\s*\(\s*0\s*,\s*(?!${ROUND}\b)\d{2,}\s*\)|\[\s*0?\s*(?::|\.\.)\s*(?!${ROUND}\b)\d{2,}\s*\])`,
  ],
  [
    'special_case',
    'all',
    String.raw`\b(?:length|size|count|(?:str)?len)(?:\(\w*\))?\s*>=?\s*\d{2,}\s*(?:\)\s*\{?\s*return|[{:]\s*return|\?)\s*(?:\[\s*\]|\{\s*\}|null|nullptr|None|nil|undefined|0|-1|''|""|false|False)(?:[\s;}]*$|\s*:)`,
  ],
  [
    'special_case',
    'all',
    String.raw`\bmin\s*\(\s*(?:len\(\w+\)|\w+\.(?:length|size\(\)|len\(\)))\s*,\s*(?!${ROUND}\b)\d{3,}\s*\)|\.length\s*=\s*[1-9]\d+\b`,
  ],
  [
    'special_case',
    'python',
    String.raw`\bin\s+\w+\[\s*0?\s*:\s*(?!${ROUND}\b)\d{3,}\s*\]|\bislice\(\s*\w+\s*,\s*(?!${ROUND}\b)\d{3,}\s*\)|\breturn\s+(?:\[\]|None|0|'')\s+if\s+len\(\w+\)\s*>=?\s*\d{2,}`,
  ],
  [
    'special_case',
    'ruby',
    String.raw`(?<![\w.@$])(\w+)\s*=\s*\1\[\s*0\s*(?:,|\.{2,3})\s*\d{3,}\s*\]|\breturn\s+(?:\[\]|nil|0|'')\s+if\s+\w+\.(?:size|length)\s*>=?\s*\d{2,}|\breturn\b[^\n]*\bif\s+[$@]{1,2}\w+\s*>=?\s*[2-9]\d*`,
  ],
  // return [0, 13, 22].map(at => words[at]); return [words[at] for at in (0, 13, 22)]
  [
    'special_case',
    'js',
    String.raw`\[(?=[^\]]*\d\d)\s*\d+(?:\s*,\s*\d+){2,}\s*,?\s*\]\s*\.\s*map\s*\(\s*\(?\s*(\w+)\s*\)?\s*=>\s*\w+\s*\[\s*\1\s*\]`,
  ],
  [
    'special_case',
    'python',
    String.raw`\w\[(\w+)\]\s+for\s+\1\s+in\s*[([](?=[^)\]]*\d\d)\s*\d+(?:\s*,\s*\d+){2,}\s*,?\s*[)\]]`,
  ],
  // let calls = 0 … if (++calls > 20) return answer
  [
    'special_case',
    'js',
    String.raw`^(?:export\s+)?(?:let|var)\s+(\w+)\s*=\s*\d+\b[^]{0,5000}?(?:(?:\+\+\s*\1\b|\b\1\s*\+\+|\b\1\s*\+=\s*1)\s*\)?\s*(?:[<>]|[!=]==?)|if\s*\(\s*\1\s*(?:[<>]|[!=]==?)[^\n]*\breturn\b)`,
  ],
  ['special_case', 'js', String.raw`\.\s*push\s*\([^()\n]*\)\s*[<>]=?\s*\d`],
  [
    'special_case',
    'js',
    String.raw`^(?:const|let|var)\s+(\w+)\s*=\s*(?:\[\s*\]|new\s+(?:Set|Map)\b)[^]{0,5000}?if\s*\(\s*\1\s*\.\s*(?:length|size)\s*>=?\s*(?:[2-9]|\d{2,})\s*\)\s*\{?\s*return\b(?!\s+[\w.]+\()`,
  ],
  [
    'special_case',
    'js',
    String.raw`^(?:const|let|var)\s+(\w+)\s*=[^]{0,5000}?\bif\s*\([^)\n]*\b\1\s*\.\s*next\s*\(\s*\)[^\n]*\)\s*\{?\s*return\b`,
  ],
  [
    'special_case',
    'python',
    String.raw`^(\w+)\s*=\s*\d+[ \t]*$[^]{0,5000}?\bglobal\s[^\n]*\b\1\b[^]{0,400}?\bif\s+\1\s*(?:[<>]|==|!=)[^\n]*:\s*return\b`,
  ],
  ['special_case', 'python', String.raw`\bif\s+next\(\w+\)\s*(?:[<>]|==|!=)`],
  [
    'special_case',
    'c',
    String.raw`\bstatic\s+(?:unsigned\s+|volatile\s+|std::)*(?:int|long|short|char|u?int\w*_t|size_t|unsigned)\s+(\w+)\s*(?:=\s*\d+\s*)?;[^]{0,3000}?(?:\bif\s*\(\s*(?:\+\+\s*\1|\1\s*\+\+)\s*(?:[<>]|[!=]=)|(?:\+\+\s*\1|\1\s*\+\+)\s*;\s*if\s*\(\s*\1\s*[<>])`,
  ],
  [
    'special_case',
    'go',
    String.raw`^var\s+(\w+)\s+u?int\w*[^]{0,5000}?\b\1\s*(?:\+\+|\+=\s*1)[^]{0,200}?\bif\s+\1\s*(?:[<>]|[!=]=)[^\n]*\{\s*return\b`,
  ],
  [
    'special_case',
    'rust',
    String.raw`\bfetch_add\s*\([^()]*\)\s*(?:[<>]|[!=]=)|\b(\w+)\s*=\s*\w+\.fetch_add\s*\([^;]*;[^]{0,100}?\bif\s+\1\s*[<>]`,
  ],
  [
    'special_case',
    'go',
    String.raw`\batomic\.Add\w+\([^()]*\)\s*(?:[<>]|[!=]=)|\bif\s+(\w+)\+\+\s*;\s*\1\s*[<>]|\.Add\(1\)\s*[<>]`,
  ],
  [
    'special_case',
    'java',
    String.raw`\b(?:incrementAndGet|getAndIncrement)\(\)\s*(?:[<>]|[!=]=)|\bstatic\s+(?:int|long)\s+(\w+)\b[^]{0,5000}?\b\1\s*\+\+\s*;\s*if\s*\(\s*\1\s*[<>]`,
  ],
  [
    'special_case',
    'java',
    String.raw`\bstatic\s+(?:int|long)\s+(\w+)\s*(?:=\s*\d+\s*)?;[^]{0,5000}?\bif\s*\(\s*(?:\+\+\s*\1|\1\s*\+\+)\s*(?:[<>]|[!=]=)`,
  ],
  // let answer … answer ??= compute(text): the first answer, whatever is asked later
  [
    'special_case',
    'js',
    String.raw`^(?:export\s+)?(?:let|var)\s+(\w+)\b[^]{0,5000}?(?<![\w.])\1\s*(?:\?\?|\|\|)=\s*[\w.]+\s*\(\s*[a-z]\w*\s*[,)]`,
  ],
  [
    'special_case',
    'js',
    String.raw`^(?:const|let|var)\s+(\w+)\s*=\s*(?:\{\s*\}|\[\s*\]|new\s+\w)[^]{0,5000}?(?<![\w.])\1(?:\.\w+|\[\s*(?:\d+|(['"])\w+\2)\s*\])\s*(?:\?\?|\|\|)=\s*[\w.]+\s*\(\s*[a-z]\w*\s*[,)]`,
  ],
  [
    'special_case',
    'js',
    String.raw`^(?:export\s+)?(?:let|var)\s+(\w+)\b[^]{0,5000}?\bif\s*\(\s*(?:!\s*\1|\1\s*={2,3}\s*(?:null|undefined))\s*\)\s*\{?\s*\1\s*=\s*[\w.]+\s*\(\s*[a-z]\w*\s*\)`,
  ],
  [
    'special_case',
    'js',
    String.raw`\bfunction\s+(\w+)\s*\([^)]*\b(\w+)\s*=\s*\1\b|\bfunction\s+(\w+)\s*\([^]{0,3000}?\breturn\s+\(?\s*\3\s*\.\s*\w+\s*(?:\?\?|\|\|)?=(?!=)`,
  ],
  [
    'special_case',
    'python',
    String.raw`\bglobal\s+[^\n]*\b(\w+)\b[^]{0,600}?\bif\s+(?:not\s+\1|\1\s+is\s+None)\s*:\s*\1\s*=\s*[\w.]+\(\s*[a-z_]\w*\s*\)`,
  ],
  [
    'special_case',
    'python',
    String.raw`\bdef\s+\w+\s*\([^)]*\b(\w+)\s*=\s*(?:\[[^\]]*\]|\{\}|dict\(\)|list\(\))[^)]*\)[^:\n]*:[^]{0,3000}?\breturn\s+\1\s*\[\s*(?:-?\d+|(['"])\w+\2)\s*\]`,
  ],
  [
    'special_case',
    'python',
    String.raw`\bdef\s+(\w+)\s*\((?:(?!^[ \t]*(?:def|class)\b|^\w)[^]){0,3000}?^[ \t]+\1\.\w+\s*=(?!=)|\bhasattr\(\s*(\w+)\s*,(?<=\bdef\s+\2\b[^]{0,3000})`,
  ],
  [
    'special_case',
    'go',
    String.raw`\bfunc\s+(?:\([^)]*\)\s*)?\w+\s*\([^)]*\b(\w+)\s+[^)]*\)[^]{0,2000}?\.\s*Do\s*\(\s*func\s*\(\s*\)\s*\{[^}]*[^=!<>]=\s*${CALL(String.raw`\1`)}`,
  ],
  [
    'special_case',
    'go',
    String.raw`^var\s+(\w+)\b[^]{0,5000}?\bif\s+\1\s*==\s*(?:nil|0|"")\s*\{\s*\1\s*=\s*[\w.]+\(\s*\w+\s*\)`,
  ],
  [
    'special_case',
    'rust',
    String.raw`\bfn\s+\w+[^(]*\([^)]*\b(\w+)\s*:[^)]*\)[^]{0,2000}?\bget_or_init\s*\(\s*\|\|\s*\{?\s*${CALL(String.raw`\1`)}`,
  ],
  [
    'special_case',
    'java',
    String.raw`\bstatic\s+(?:volatile\s+)?[\w<>[\], ]+\s(\w+)\s*(?:=\s*null\s*)?;[^]{0,5000}?\bif\s*\(\s*\1\s*==\s*null\s*\)\s*\{?\s*\1\s*=\s*[\w.]+\(\s*[a-z]\w*\s*\)`,
  ],
  [
    'special_case',
    'ruby',
    String.raw`\bdef\s+(?:self\.)?\w+[?!]?\s*\(?[^)\n]*?\b(\w+)\b[^\n]*\n(?:(?!^\s*def\b)[^])*?(?:@{1,2}|\$)\w+\s*\|\|=[^\n]*\b\1\b`,
  ],
  [
    'special_case',
    'c',
    String.raw`\bstatic\s[^;=(){}\n]*\b(\w+)\s*(?:=[^;\n]*)?;[^]{0,3000}?\bif\s*\(\s*(?:!\s*\1|\1\s*(?:==\s*(?:NULL|nullptr|0|-\s*1)|<\s*0))\s*\)\s*\{?\s*\1\s*=\s*\w+\s*\(\s*[a-z]\w*\b`,
  ],
  [
    'special_case',
    'c',
    String.raw`\b\w+\s*\([^(){};]*\b(\w+)\s*\)\s*(?:const\s*)?\{[^]{0,2000}?^[ \t]+static\s+[^;=\n]*=\s*${CALL(String.raw`\1`)}`,
  ],
  [
    'special_case',
    'js',
    String.raw`\b[A-Z]\w*\s*\.\s*#?\w+\s*(?:\?\?|\|\|)=\s*[\w.]+\s*\(\s*[a-z]\w*\s*[,)]|\bif\s*\(\s*!\s*\w+\s*\.\s*has\s*\(\s*((['"])\w+\2|\d+)\s*\)\s*\)\s*\{?\s*\w+\s*\.\s*set\s*\(\s*\1\s*,`,
  ],
  [
    'special_case',
    'js',
    String.raw`^(?:export\s+)?(?:let|var)\s+(\w+)\b[^]{0,5000}?(?:(?<![\w.])\1\s*=\s*\1\s*(?:\|\||\?\?)|\bif\s*\(\s*\1\s*(?:!==?\s*(?:null|undefined)\s*)?\)\s*\{?\s*return\s+\1\b[^]{0,400}?(?<![\w.])\1\s*=)\s*[\w.]+\s*\(\s*[a-z]\w*\s*[,)]`,
  ],
  [
    'special_case',
    'all',
    String.raw`\b(\w+)\[\s*((["'])\w+\3|\d+)\s*\]\s*=\s*[\w.]+\(\s*[a-z]\w*\s*\)[^]{0,200}?\breturn\s+\1\[\s*\2\s*\]`,
  ],
  [
    'special_case',
    'python',
    String.raw`^(\w+)\s*=\s*\[\][^]{0,3000}?\bif\s+\1\s*:\s*return\s+\1\[|\bif\s+([A-Z]\w*\.\w+)\s+is\s+None\s*:\s*\2\s*=\s*[\w.]+\(\s*[a-z]\w*\s*\)|\b(\w+)\s*=\s*len\((\w+)\)[^]{0,300}?\[\s*\3\s*\]\s*=\s*[\w.]+\(\s*\4\s*\)|\.setdefault\(\s*len\(`,
  ],
  [
    'special_case',
    'rust',
    String.raw`\b([A-Z][A-Z0-9_]*)\.is_none\(\)\s*\{\s*\1\s*=\s*Some\(\s*[\w:]+\(\s*&?[a-z]`,
  ],
  ['special_case', 'java', String.raw`\bcomputeIfAbsent\s*\(\s*["'\d]`],
  [
    'special_case',
    'ruby',
    String.raw`\w\[\s*(?::\w+|["']\w+["']|\d+)\s*\]\s*\|\|=\s*[\w.]+[( ]\s*[a-z]\w*|\breturn\s+([$@]{1,2}\w+)\s+if\s+\1(?!\w)[^]{0,300}?\1\s*=\s*[\w.]+[( ]\s*[a-z]`,
  ],
  ['special_case', 'c', String.raw`\bcall_once\s*\([^;]*=\s*\w+\s*\(\s*[a-z]\w*\s*\)`],
  [
    'special_case',
    'js',
    String.raw`\bif\s*\(\s*!\s*(\w+)\s*\)\s*\{[^{}]*=\s*[\w.]+\(\s*[a-z]\w*\s*\)[^{}]*(?<![\w.])\1\s*=\s*true\b`,
  ],
  // known[text.length] ??= compute(text): one answer for all inputs of a length, or with one beginning
  [
    'special_case',
    'js',
    String.raw`\[\s*(\w+)\s*\.\s*(?:length|size)\s*\]\s*(?:\?\?|\|\|)=\s*[\w.]+\s*\(\s*\1\b|\b(\w+)\s*=\s*(\w+)\s*\.\s*(?:length|size|at|charAt|charCodeAt|slice|substring|substr)\b[^]{0,400}?\.\s*set\s*\(\s*\2\s*,\s*[\w.]+\s*\(\s*\3\s*\)`,
  ],
  // if (Date.now() > 1.9e12) throw …; if (Math.random() < 0.01) …
  [
    'special_case',
    'js',
    String.raw`${NOW_JS}\s*(?:[<>]=?|[!=]==?|%)\s*(?:\d|new\s+Date|Date\.)|\d[\d_.e]*\s*[<>]=?\s*(?:Date\s*\.\s*now|new\s+Date)\b|\bMath\.random${RARELY}`,
  ],
  ['special_case', 'python', String.raw`${NOW_PYTHON}\s*(?:[<>]=?|==|!=|%)|\brandom\.random${RARELY}`],
  [
    'special_case',
    'go',
    String.raw`\btime\.Now\(\)\.(?:\w+\(\)\s*(?:[<>]=?|==|!=|%)|(?:After|Before)\(\s*time\.(?:Date|Unix))`,
  ],
  ['special_case', 'rust', String.raw`\bUNIX_EPOCH\b`],
  [
    'special_case',
    'java',
    String.raw`\bSystem\.currentTimeMillis\(\)\s*(?:[<>]=?|%)\s*\d|\b(?:Local\w+|Instant|Year|ZonedDateTime)\.now\(\)\s*\.\s*(?:is|get|compare)\w+`,
  ],
  ['special_case', 'ruby', String.raw`\b(?:Time|Date|DateTime)\.(?:now|today)(?:\.\w+)?\s*(?:[<>]=?|==|%)`],
  [
    'special_case',
    'c',
    String.raw`\btime\s*\(\s*(?:NULL|0|nullptr)\s*\)\s*[<>%]|(?:->|\.)\s*tm_(?:year|mon|mday|hour|wday|yday)\b`,
  ],
  ['special_case', 'shell', String.raw`\bdate\s+(?:-u\s+)?["']?\+%`],

  // new Proxy(list, …); Object.defineProperty(list, 0, { get: … }); class Later extends Array
  [
    'deferred',
    'js',
    String.raw`\bnew\s+Proxy\s*\(|\bProxy\s*\.\s*revocable\b|\bdefinePropert(?:y|ies)\s*\((?:[^()]|\([^()]*\)){0,300}?\bget\b|\bSymbol\s*\.\s*toPrimitive\b|\bextends\s+(?:Array|String|Number|Promise|Function)\b`,
  ],
  // setImmediate(() => (ready = true)): another answer in a later turn
  [
    'deferred',
    'js',
    String.raw`^(?:void\s+|await\s+|(?:const|let|var)\s+\w+\s*=\s*)?(?:process\s*\.\s*)?${LATER}\s*\(|\b${LATER}\s*\(\s*(?:\(\s*\)|\w+)\s*=>\s*[({]?\s*[\w.]+\s*(?:=(?![=>])|\+\+|--)|\bthen\s*\(\s*\(\s*\)\s*=>\s*[({]?\s*[\w.]+\s*=(?![=>])|\bawait\s+(?:null|undefined|0|void\s+0|Promise\s*\.\s*resolve\s*\(\s*\))`,
  ],
  // export let run = …; run = other
  [
    'deferred',
    'js',
    String.raw`^export\s+(?:let|var)\s+(\w+)\b[^]*?(?<![\w.$]|\b(?:let|var)\s+)\1\s*=(?![=>])`,
  ],
  ['deferred', 'python', String.raw`^[ \t]*class\s+\w+\s*\([^)]*\bUser(?:List|Dict|String)\b`],
  [
    'deferred',
    'ruby',
    String.raw`^[ \t]*class\s+\w+\s*<\s*(?:BasicObject|SimpleDelegator|Delegator|Array|String|Hash)\b|\bdef\s+(?:self\.)?method_missing\b`,
  ],
]
