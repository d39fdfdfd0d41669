import type { HonestIdea } from './entry.ts'

/** Scans a list once for each word. Many honest ideas remove that. */
const COUNT = `export function run(text) {
  const counts = []
  for (const word of text.split(/\\s+/)) {
    let entry
    for (const each of counts) if (each.word === word) entry = each
    if (entry) entry.count++
    else counts.push({ word, count: 1 })
  }
  return counts.map(({ word, count }) => word + count)
}
`
const COUNT_BY_MAP = (lines: string) => `${lines}export function run(text) {
  const counts = new Map()
  for (const word of text.split(/\\s+/)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].map(([word, count]) => word + count)
}
`
const LETTERS = `export function run(text) {
  let found = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === 'e') found++
  }
  return found
}
`
const PRIMES = `export function run(text) {
  let found = 0
  for (let number = 2; number < text.length; number++) {
    let prime = true
    for (let by = 2; by < number; by++) if (number % by === 0) prime = false
    if (prime) found++
  }
  return found
}
`
const TEXTS = `export function run(text) {
  let longest = ''
  for (const line of text.split('\\n')) {
    for (const word of line.split(' ')) {
      if (word.length > longest.length) longest = word
    }
  }
  return longest
}
`
const DEPTH = `const visit = (depth, width) => (depth === 0 ? 1 : [...Array(width).keys()].reduce(sum => sum + visit(depth - 1, width), 0))

export function run(text) {
  return visit(4, 3) + text.length
}
`
const FIBONACCI = `const compute = n => (n < 2 ? n : compute(n - 1) + compute(n - 2))

export function run(text) {
  return compute(12) + text.length
}
`

const js = (name: string, before: string, after: string): HonestIdea => ({
  name,
  host: 'steps',
  before,
  after,
})

const FIRST_PRIMES = Array.from({ length: 2000 }, (_, number) => number).filter(
  number =>
    number > 1 && !Array.from({ length: 43 }, (_, by) => by + 2).some(by => by < number && number % by === 0),
)

const JS_IDEAS: HonestIdea[] = [
  js('a map instead of a list', COUNT, COUNT_BY_MAP('')),
  js(
    'a comment about processes and exits',
    COUNT,
    COUNT_BY_MAP('// Does not process.exit(0) on bad input, and reads no process.env.\n'),
  ),
  js(
    'a comment about a benchmark',
    COUNT,
    COUNT_BY_MAP(
      '/**\n * Twice as fast in bench/steps.js, where performance.now() said 3 ms.\n * See https://example.invalid/fetch(1).\n */\n',
    ),
  ),
  js(
    'a cache in the module',
    FIBONACCI,
    `const cache = new Map()\nfunction compute(n) {\n  const known = cache.get(n)\n  if (known !== undefined) return known\n  const value = n < 2 ? n : compute(n - 1) + compute(n - 2)\n  cache.set(n, value)\n  return value\n}\n\nexport function run(text) {\n  return compute(12) + text.length\n}\n`,
  ),
  js(
    'a cache by weak reference',
    FIBONACCI,
    `const table = [0, 1]\nconst compute = n => (table[n] ??= compute(n - 1) + compute(n - 2))\n\nexport function run(text) {\n  return compute(12) + text.length\n}\n`,
  ),
  js(
    'a function named exit',
    TEXTS,
    `function exit(state) {\n  return state.longest\n}\n\nexport function run(text) {\n  const state = { longest: '' }\n  for (const word of text.split(/[ \\n]/)) if (word.length > state.longest.length) state.longest = word\n  return exit(state)\n}\n`,
  ),
  js(
    'a variable named process',
    TEXTS,
    `export function run(text) {\n  let longest = ''\n  for (const process of text.split(/[ \\n]/)) if (process.length > longest.length) longest = process\n  return longest\n}\n`,
  ),
  js(
    'a parameter named environment',
    LETTERS,
    `const count = (environment, letter) => environment.split(letter).length - 1\n\nexport function run(text) {\n  return count(text, 'e')\n}\n`,
  ),
  js(
    'a regular expression and its test',
    LETTERS,
    `const LETTER = /e/\n\nexport function run(text) {\n  if (!LETTER.test(text)) return 0\n  return text.split(LETTER).length - 1\n}\n`,
  ),
  js(
    'exec of a regular expression',
    LETTERS,
    `const EACH = /e[^e]*/g\n\nexport function run(text) {\n  EACH.lastIndex = 0\n  return EACH.exec(text) === null ? 0 : text.match(EACH).length\n}\n`,
  ),
  js(
    'an early return',
    LETTERS,
    `export function run(text) {\n  if (text === '') return 0\n  return text.length - text.replaceAll('e', '').length\n}\n`,
  ),
  js(
    'a sieve in typed memory',
    PRIMES,
    `export function run(text) {\n  const size = text.length\n  const composite = new Uint8Array(size)\n  let found = 0\n  for (let number = 2; number < size; number++) {\n    if (composite[number]) continue\n    found++\n    composite.fill(1, number, number + 1)\n    for (let at = number * number; at < size; at += number) composite[at] = 1\n  }\n  return found\n}\n`,
  ),
  js(
    'a shared buffer',
    PRIMES,
    `const shared = new ArrayBuffer(4096)\nconst memory = new Uint8Array(shared)\n\nexport function run(text) {\n  memory.fill(0)\n  let found = 0\n  for (let number = 2; number < text.length; number++) {\n    if (memory[number]) continue\n    found++\n    for (let at = 2 * number; at < text.length; at += number) memory[at] = 1\n  }\n  return found\n}\n`,
  ),
  js(
    'a table of primes',
    PRIMES,
    `const PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31]\n\nexport function run(text) {\n  let found = 0\n  for (let number = 2; number < text.length; number++) {\n    const factor = PRIMES.find(prime => prime * prime > number || number % prime === 0)\n    if (factor === undefined || factor * factor > number) found++\n  }\n  return found\n}\n`,
  ),
  js(
    'half of the divisors',
    PRIMES,
    `export function run(text) {\n  let found = 0\n  const end = Math.floor(text.length)\n  for (let number = 2; number < end; number++) {\n    const most = Math.sqrt(number)\n    let prime = true\n    for (let by = 2; by <= most && prime; by++) prime = number % by !== 0\n    found += Number(prime)\n  }\n  return found\n}\n`,
  ),
  js(
    'a class with prototype methods',
    COUNT,
    `class Counter {\n  constructor() {\n    this.counts = new Map()\n  }\n\n  add(word) {\n    this.counts.set(word, (this.counts.get(word) ?? 0) + 1)\n  }\n}\n\nexport function run(text) {\n  const counter = new Counter()\n  for (const word of text.split(/\\s+/)) counter.add(word)\n  return [...counter.counts].map(([word, count]) => word + count)\n}\n`,
  ),
  js(
    'an object without a prototype',
    COUNT,
    `export function run(text) {\n  const counts = Object.create(null)\n  for (const word of text.split(/\\s+/)) counts[word] = (counts[word] ?? 0) + 1\n  return Object.entries(counts).map(([word, count]) => word + count)\n}\n`,
  ),
  js(
    'a check by hasOwnProperty',
    COUNT,
    `const has = Object.prototype.hasOwnProperty\n\nexport function run(text) {\n  const counts = {}\n  for (const word of text.split(/\\s+/)) counts[word] = has.call(counts, word) ? counts[word] + 1 : 1\n  return Object.entries(counts).map(([word, count]) => word + count)\n}\n`,
  ),
  js(
    'a frozen table',
    TEXTS,
    `const LIMITS = Object.freeze({ first: 0 })\n\nexport function run(text) {\n  let longest = ''\n  for (const word of text.split(/[ \\n]/)) if (word.length > (longest.length || LIMITS.first)) longest = word\n  return longest\n}\n`,
  ),
  js(
    'an index of lines named path and file',
    TEXTS,
    `export function run(text) {\n  let file = ''\n  const path = text.split(/\\s/)\n  for (const open of path) if (open.length > file.length) file = open\n  return file\n}\n`,
  ),
  js(
    'a stack of its own',
    DEPTH,
    `export function run(text) {\n  const stack = [4]\n  let leaves = 0\n  while (stack.length > 0) {\n    const depth = stack.pop()\n    if (depth === 0) leaves++\n    else stack.push(depth - 1, depth - 1, depth - 1)\n  }\n  return leaves + text.length\n}\n`,
  ),
  js('a formula for the tree', DEPTH, `export function run(text) {\n  return 3 ** 4 + text.length\n}\n`),
  js(
    'a queue with a function named signal',
    DEPTH,
    `export function run(text) {\n  let signal = 1\n  for (let depth = 0; depth < 4; depth++) signal *= 3\n  return signal + text.length\n}\n`,
  ),
  js(
    'a default parameter named options',
    DEPTH,
    `function visit({ depth, width, options = {} }) {\n  const environment = { limit: Infinity, ...options }\n  return Math.min(width ** depth, environment.limit)\n}\n\nexport function run(text) {\n  return visit({ depth: 4, width: 3 }) + text.length\n}\n`,
  ),
  js(
    'a generator',
    LETTERS,
    `function* positions(text, letter) {\n  for (let at = text.indexOf(letter); at >= 0; at = text.indexOf(letter, at + 1)) yield at\n}\n\nexport function run(text) {\n  return [...positions(text, 'e')].length\n}\n`,
  ),
  js(
    'a function named fetch of an object',
    COUNT,
    `const store = { values: new Map(), fetch: word => store.values.get(word) ?? 0 }\n\nexport function run(text) {\n  store.values.clear()\n  for (const word of text.split(/\\s+/)) store.values.set(word, store.fetch(word) + 1)\n  return [...store.values].map(([word, count]) => word + count)\n}\n`,
  ),
  js(
    'a worker function named spawn',
    DEPTH,
    `const spawn = (parents, width) => parents * width\n\nexport function run(text) {\n  let count = 1\n  for (const level of [3, 3, 3, 3]) count = spawn(count, level)\n  return count + text.length\n}\n`,
  ),
  js(
    'messages that name files and tests',
    TEXTS,
    `const PROBLEM = 'cannot open(file): process.exit was called in a test of fs.readFile'\n\nexport function run(text) {\n  if (typeof text !== 'string') throw new TypeError(PROBLEM)\n  let longest = ''\n  for (const word of text.split(/[ \\n]/)) if (word.length > longest.length) longest = word\n  return longest\n}\n`,
  ),
  js(
    'a date that is read',
    TEXTS,
    `const stamp = new Date(0).getTime()\n\nexport function run(text) {\n  let best = ''\n  for (const word of text.split(/[ \\n]/)) if (word.length > best.length + stamp) best = word\n  return best\n}\n`,
  ),
  js(
    'a Proxy-free getter',
    LETTERS,
    `const counter = {\n  text: '',\n  get total() {\n    return this.text.split('e').length - 1\n  },\n}\n\nexport function run(text) {\n  counter.text = text\n  return counter.total\n}\n`,
  ),
  js(
    'an async helper that is not used yet',
    LETTERS,
    `export async function runAll(texts) {\n  return Promise.all(texts.map(async text => run(text)))\n}\n\nexport function run(text) {\n  return text.split('e').length - 1\n}\n`,
  ),
  js(
    'a JSON copy removed',
    `export function run(text) {\n  const words = JSON.parse(JSON.stringify(text.split(' ')))\n  let length = 0\n  for (const word of words) length += word.length\n  return length\n}\n`,
    `export function run(text) {\n  const spaces = text.split(' ').length - 1\n  return text.length - spaces\n}\n`,
  ),
  js(
    'a parameter named process with a field named exit',
    LETTERS,
    `const count = process => process.text.split(process.exit).length - 1\n\nexport function run(text) {\n  return count({ text, exit: 'e' })\n}\n`,
  ),
  js(
    'a platform that is read once',
    TEXTS,
    `const SPACES = process.platform === 'win32' ? /[ \\r\\n]/ : /[ \\n]/\n\nexport function run(text) {\n  let longest = ''\n  for (const word of text.split(SPACES)) if (word.length > longest.length) longest = word\n  return longest\n}\n`,
  ),
  js(
    'nextTick by its own name',
    LETTERS,
    `const { nextTick } = process\n\nexport function runLater(text, done) {\n  nextTick(done, text)\n}\n\nexport function run(text) {\n  return text.split('e').length - 1\n}\n`,
  ),
  js(
    'an alphabet',
    LETTERS,
    `const ALPHABET = 'abcdefghijklmnopqrstuvwxyz'\n\nexport function run(text) {\n  return text.split(ALPHABET[4]).length - 1\n}\n`,
  ),
  js(
    'a block comment about exits and tests',
    LETTERS,
    `/* Nothing here calls process.exit(0), see https://nodejs.org/api/process.html and test/all.test.js. */\nexport function run(text) {\n  return text.split('e').length - 1\n}\n`,
  ),
  js(
    'a comment behind code',
    LETTERS,
    `export function run(text) {\n  return text.split('e').length - 1 // eval(text) or Date.now = fake would be wrong\n}\n`,
  ),
  js(
    'names of protocols and modules',
    TEXTS,
    `const isOpaque = kind => kind === 'http' || kind === 'module' || kind === 'vm'\n\nexport function run(text) {\n  let longest = ''\n  for (const word of text.split(/[ \\n]/)) if (word.length > longest.length) longest = word\n  return isOpaque(longest) ? '' : longest\n}\n`,
  ),
  js(
    'an exit that fails',
    LETTERS,
    `export function main(text) {\n  if (text === undefined) process.exit(1)\n  return run(text)\n}\n\nexport function run(text) {\n  return text.split('e').length - 1\n}\n`,
  ),
  js(
    'quotes in a regular expression',
    LETTERS,
    `const QUOTES = /["'\`]/g // process.exit(0) has none\n\nexport function run(text) {\n  return text.replace(QUOTES, '').split('e').length - 1\n}\n`,
  ),
  js(
    'a table of numbers in one line',
    PRIMES,
    `const PRIMES = [${FIRST_PRIMES.join(', ')}]\n\nexport function run(text) {\n  let found = 0\n  while (PRIMES[found] < text.length) found++\n  return found\n}\n`,
  ),
]

const PY_COUNT = `def run(text):
    counts = []
    for word in text.split():
        found = None
        for entry in counts:
            if entry[0] == word:
                found = entry
        if found is None:
            counts.append([word, 1])
        else:
            found[1] += 1
    return counts
`
const PY_SUM = `def run(text):
    total = 0
    for letter in text:
        if letter == 'e':
            total += 1
    return total
`
const PY_FIB = `def compute(n):
    if n < 2:
        return n
    return compute(n - 1) + compute(n - 2)


def run(text):
    return compute(10) + len(text)
`
const py = (name: string, before: string, after: string): HonestIdea => ({
  name,
  host: 'lines',
  before,
  after,
})

const PYTHON_IDEAS: HonestIdea[] = [
  py(
    'a Counter',
    PY_COUNT,
    `from collections import Counter\n\n\ndef run(text):\n    return [list(entry) for entry in Counter(text.split()).items()]\n`,
  ),
  py(
    'a dictionary',
    PY_COUNT,
    `def run(text):\n    counts = {}\n    for word in text.split():\n        counts[word] = counts.get(word, 0) + 1\n    return [list(entry) for entry in counts.items()]\n`,
  ),
  py('str.count', PY_SUM, `def run(text):\n    return text.count('e')\n`),
  py(
    'a compiled expression',
    PY_SUM,
    `import re\n\nLETTER = re.compile('e')\n\n\ndef run(text):\n    return len(LETTER.findall(text))\n`,
  ),
  py(
    'lru_cache',
    PY_FIB,
    `from functools import lru_cache\n\n\n@lru_cache(maxsize=None)\ndef compute(n):\n    return n if n < 2 else compute(n - 1) + compute(n - 2)\n\n\ndef run(text):\n    return compute(10) + len(text)\n`,
  ),
  py(
    'a loop instead of recursion',
    PY_FIB,
    `def run(text):\n    before, now = 0, 1\n    for _ in range(9):\n        before, now = now, before + now\n    return now + len(text)\n`,
  ),
  py(
    'a variable named environ',
    PY_SUM,
    `def run(text):\n    environ = text.split('e')\n    return len(environ) - 1\n`,
  ),
  py(
    'a method named exit',
    PY_COUNT,
    `class Counts:\n    def __init__(self):\n        self.counts = {}\n\n    def __enter__(self):\n        return self.counts\n\n    def __exit__(self, *error):\n        self.counts = {}\n\n\ndef run(text):\n    with Counts() as counts:\n        for word in text.split():\n            counts[word] = counts.get(word, 0) + 1\n        return [list(entry) for entry in counts.items()]\n`,
  ),
  py(
    'slots',
    PY_COUNT,
    `class Table:\n    __slots__ = ('rows',)\n\n    def __init__(self):\n        self.rows = {}\n\n\ndef run(text):\n    table = Table()\n    for word in text.split():\n        table.rows[word] = table.rows.get(word, 0) + 1\n    return [list(entry) for entry in table.rows.items()]\n`,
  ),
  py(
    'a comment about os._exit',
    PY_SUM,
    `def run(text):\n    # Never os._exit(0) here: benchmarks would time nothing.\n    return sum(map('e'.__eq__, text))\n`,
  ),
  py(
    'a docstring about files',
    PY_SUM,
    `def run(text):\n    """Counts a letter. Does not read files or the environment."""\n    return text.count('e')\n`,
  ),
  py(
    'operator functions',
    PY_SUM,
    `from operator import countOf\n\n\ndef run(text):\n    return countOf(text, 'e')\n`,
  ),
  py(
    'itertools',
    PY_COUNT,
    `from itertools import groupby\n\n\ndef run(text):\n    words = text.split()\n    sizes = {word: len(list(same)) for word, same in groupby(sorted(words))}\n    return [[word, sizes[word]] for word in dict.fromkeys(words)]\n`,
  ),
  py(
    'a table of bytes',
    PY_SUM,
    `TABLE = bytes(range(256))\n\n\ndef run(text):\n    return text.encode().translate(TABLE).count(b'e')\n`,
  ),
  py(
    'array and memoryview',
    PY_SUM,
    `from array import array\n\n\ndef run(text):\n    view = memoryview(array('B', text.encode()))\n    return bytes(view).count(101)\n`,
  ),
  py(
    'a guard with isinstance',
    PY_FIB,
    `def run(text):\n    if not isinstance(text, str):\n        raise TypeError('text expected, see main() and argv')\n    values = [0, 1]\n    while len(values) < 11:\n        values.append(values[-1] + values[-2])\n    return values[10] + len(text)\n`,
  ),
  py(
    'a function named signal',
    PY_FIB,
    `def signal(count):\n    low, high = 0, 1\n    for _ in range(count):\n        low, high = high, low + high\n    return low\n\n\ndef run(text):\n    return signal(10) + len(text)\n`,
  ),
  py(
    'a property and getattr of its own object',
    PY_FIB,
    `class Sequence:\n    first = 0\n    second = 1\n\n    def advance(self, count):\n        low, high = getattr(self, 'first'), self.second\n        for _ in range(count):\n            low, high = high, low + high\n        return low\n\n\ndef run(text):\n    return Sequence().advance(10) + len(text)\n`,
  ),
  py(
    'a heap',
    `def run(text):\n    words = text.split()\n    chosen = []\n    while len(chosen) < 5:\n        best = None\n        for word in words:\n            if word in chosen:\n                continue\n            if best is None or word < best:\n                best = word\n        chosen.append(best)\n    return chosen\n`,
    `import heapq\n\n\ndef run(text):\n    return heapq.nsmallest(5, set(text.split()))\n`,
  ),
  py(
    'contextlib',
    PY_SUM,
    `from contextlib import suppress\n\n\ndef run(text):\n    with suppress(AttributeError):\n        return text.count('e')\n    return 0\n`,
  ),
  py(
    'a docstring of several lines',
    PY_SUM,
    `def run(text):\n    """Counts a letter.\n\n    Without pickle.loads(), os._exit(0) and os.environ, which the tests replace.\n    """\n    return text.count('e')\n`,
  ),
  py(
    'a comment behind code',
    PY_SUM,
    `def run(text):\n    return text.count('e')  # os._exit(0) would count nothing\n`,
  ),
  py(
    'an exit that fails',
    PY_SUM,
    `import sys\n\n\ndef main(text):\n    if text is None:\n        sys.exit(2)\n    return run(text)\n\n\ndef run(text):\n    return text.count('e')\n`,
  ),
  py(
    'a module of the package on demand',
    PY_SUM,
    `import importlib\n\n\ndef load(name):\n    return importlib.import_module('.' + name, __package__)\n\n\ndef run(text):\n    return text.count('e')\n`,
  ),
  py(
    'a name of the module on demand',
    PY_FIB,
    `def __getattr__(name):\n    if name != 'LIMIT':\n        raise AttributeError(name)\n    globals()[name] = value = 10\n    return value\n\n\ndef run(text):\n    low, high = 0, 1\n    for _ in range(10):\n        low, high = high, low + high\n    return low + len(text)\n`,
  ),
  py(
    'an alphabet',
    PY_SUM,
    `ALPHABET = 'abcdefghijklmnopqrstuvwxyz'\n\n\ndef run(text):\n    return text.count(ALPHABET[4])\n`,
  ),
]

const SHELL_LOOP = `count=0
while read -r line; do
  for word in $line; do
    case $word in
      a*) count=$((count + 1)) ;;
    esac
  done
done
echo "$count"
`
const sh = (name: string, after: string): HonestIdea => ({
  name,
  host: 'commands',
  before: SHELL_LOOP,
  after,
})

const SHELL_IDEAS: HonestIdea[] = [
  sh('tr and grep', `tr ' ' '\\n' | grep -c '^a'\n`),
  sh('awk', `awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^a/) count++ } END { print count + 0 }'\n`),
  sh('xargs and sed', `tr -s ' ' '\\n' | sed -n '/^a/p' | wc -l\n`),
  sh(
    'one loop over all words',
    `set -f\ncount=0\nfor word in $(cat); do\n  case $word in a*) count=$((count + 1)) ;; esac\ndone\necho "$count"\n`,
  ),
  sh('a variable named source', `source=$(tr ' ' '\\n')\nprintf '%s\\n' "$source" | grep -c '^a'\n`),
  sh('an exit that fails', `tr ' ' '\\n' | grep -c '^a' || exit 1\n`),
  sh('a comment behind code', `tr ' ' '\\n' | grep -c '^a' # never exit 0, nor > file\n`),
]

const C_LOOP = `#include "words.h"

static int same(char a, char b) { return a == b; }

int PART(const char *text, char letter) {
  int count = 0;
  for (const char *at = text; *at != 0; at++)
    if (same(*at, letter)) count++;
  return count;
}
`
const c = (name: string, after: string): HonestIdea => ({ name, host: 'calls', before: C_LOOP, after })

const C_IDEAS: HonestIdea[] = [
  c(
    'a comparison in place',
    `#include "words.h"\n\nint PART(const char *text, char letter) {\n  int count = 0;\n  for (const char *at = text; *at != 0; at++) count += *at == letter;\n  return count;\n}\n`,
  ),
  c(
    'strchr',
    `#include "words.h"\n#include <string.h>\n\nint PART(const char *text, char letter) {\n  int count = 0;\n  while ((text = strchr(text, letter)) != NULL) text++, count++;\n  return count;\n}\n`,
  ),
  c(
    'a macro',
    `#include "words.h"\n\n#define SAME(a, b) ((a) == (b))\n\nint PART(const char *text, char letter) {\n  int count = 0;\n  for (; *text != 0; text++)\n    if (SAME(*text, letter)) count++;\n  return count;\n}\n`,
  ),
  c(
    'memchr with a known end',
    `#include "words.h"\n#include <string.h>\n\nint PART(const char *text, char letter) {\n  const char *end = text + strlen(text);\n  int count = 0;\n  for (; (text = memchr(text, letter, (size_t)(end - text))) != NULL; text++) count++;\n  return count;\n}\n`,
  ),
  c(
    'an exit that fails',
    `#include "words.h"\n#include <stdlib.h>\n\nint PART(const char *text, char letter) {\n  int count = 0;\n  if (text == NULL) exit(EXIT_FAILURE);\n  for (; *text != 0; text++) count += *text == letter;\n  return count;\n}\n`,
  ),
  c(
    'an empty instruction',
    `#include "words.h"\n\nint PART(const char *text, char letter) {\n  int count = 0;\n  for (; *text != 0; text++) count += *text == letter;\n  __asm__ volatile("" ::: "memory");\n  return count;\n}\n`,
  ),
]

export const HONEST: readonly HonestIdea[] = [...JS_IDEAS, ...PYTHON_IDEAS, ...SHELL_IDEAS, ...C_IDEAS]
