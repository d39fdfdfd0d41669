import { describe, expect, it } from 'vitest'
import { findSuspiciousChanges } from '../../src/decide/suspicious-changes.ts'

function findRules(path: string, after: string, before: string | null = null): string[] {
  return [...new Set(findSuspiciousChanges([{ path, before, after: `${after}\n` }]).map(({ rule }) => rule))]
}

describe('an answer that is not worked for', () => {
  it.each([
    // The first answer, whatever is asked later
    ['a.js', 'let answer\nexport const run = text => (answer ??= compute(text))'],
    ['a.js', 'const kept = {}\nexport function run(text) {\n  return (kept.answer ||= compute(text))\n}'],
    [
      'a.js',
      'let last = null\nexport function run(text) {\n  if (last === null) last = compute(text)\n  return last\n}',
    ],
    ['a.js', 'export function run(text) {\n  return (run.answer = compute(text))\n}'],
    ['a.js', 'export function run(text, kept = run) {\n  return kept.answer\n}'],
    [
      'a.py',
      'LAST = None\n\n\ndef run(text):\n    global LAST\n    if LAST is None:\n        LAST = compute(text)\n    return LAST',
    ],
    [
      'a.py',
      'def run(text, kept=[]):\n    if not kept:\n        kept.append(compute(text))\n    return kept[0]',
    ],
    [
      'a.py',
      'def run(text):\n    if not hasattr(run, "kept"):\n        run.kept = compute(text)\n    return run.kept',
    ],
    ['a.go', 'func Run(text []byte) int {\n\tonce.Do(func() { answer = compute(text) })\n\treturn answer\n}'],
    ['a.rs', 'fn run(text: &[u8]) -> u64 {\n    *ANSWER.get_or_init(|| compute(text))\n}'],
    [
      'A.java',
      'static String last;\nstatic String run(String text) {\n  if (last == null) last = compute(text);\n  return last;\n}',
    ],
    ['a.rb', 'def run(text)\n  @answer ||= compute(text)\nend'],
    [
      'a.c',
      'static int answer = -1;\nint run(const char *text) {\n  if (answer < 0) answer = compute(text);\n  return answer;\n}',
    ],
    ['a.cc', 'int run(const char *text) {\n  static const int answer = compute(text);\n  return answer;\n}'],
    ['a.js', 'class Words {\n  static read(text) {\n    return (Words.#answer ??= compute(text))\n  }\n}'],
    ['a.js', "if (!known.has('last')) known.set('last', compute(text))"],
    ['a.js', 'return (known[text.length] ??= compute(text))'],
    ['a.js', 'const key = text.slice(0, 8)\nif (!known.has(key)) known.set(key, compute(text))'],
    ['a.js', 'let last\nexport function run(text) {\n  last = last || compute(text)\n  return last\n}'],
    [
      'a.js',
      'let last\nexport function run(text) {\n  if (last) return last\n  last = compute(text)\n  return last\n}',
    ],
    ['a.js', 'if (!done) {\n  answer = work(text)\n  done = true\n}'],
    ['a.go', 'cache["x"] = compute(text)\nreturn cache["x"]'],
    ['a.py', 'LAST = []\n\n\ndef run(text):\n    if LAST:\n        return LAST[0]'],
    ['a.py', 'if Words.last is None:\n    Words.last = compute(text)'],
    ['a.py', 'key = len(text)\nif key not in CACHE:\n    CACHE[key] = compute(text)'],
    ['a.rs', 'if LAST.is_none() { LAST = Some(compute(text)); }'],
    ['A.java', 'return CACHE.computeIfAbsent("x", key -> compute(text));'],
    ['a.rb', 'CACHE[:x] ||= compute(text)'],
    ['a.rb', 'return $last if $last\n$last = compute(text)'],
    ['a.cc', 'std::call_once(flag, [&] { answer = compute(text); });'],
    // Later calls
    ['a.go', 'if atomic.AddInt64(&calls, 1) > 20 {'],
    ['A.java', 'if (calls.incrementAndGet() > 20) return 0;'],
    ['a.rb', '@calls += 1\nreturn [] if @calls > 20'],
    ['a.rs', 'let n = CALLS.fetch_add(1, Relaxed);\nif n > 20 { return 0; }'],
    ['a.js', 'const seen = []\nexport function run(text) {\n  if (seen.push(text.length) > 20) return []\n}'],
    ['a.js', 'const seen = new Set()\nexport function run(text) {\n  if (seen.size > 20) return []\n}'],
    ['a.js', 'const turns = list()\nexport function run(text) {\n  if (turns.next().done) return []\n}'],
    [
      'a.py',
      'CALLS = 0\n\n\ndef run(text):\n    global CALLS\n    CALLS += 1\n    if CALLS > 20:\n        return []',
    ],
    ['a.c', 'int run(const char *text) {\n  static int calls;\n  if (++calls > 20) return 0;\n}'],
    ['a.go', 'var calls int\n\nfunc Run() int {\n\tcalls++\n\tif calls > 20 {\n\t\treturn 0\n\t}\n}'],
    ['a.rs', 'if CALLS.fetch_add(1, Ordering::Relaxed) > 20 { return 0 }'],
    ['A.java', 'static int calls = 0;\nint run() {\n  if (calls++ > 20) return 0;\n}'],
    // A day, or seldom
    ['a.js', 'if (Date.now() > 1.9e12) return []'],
    ['a.js', "if (new Date() > new Date('2030-01-01')) return []"],
    ['a.js', 'if (new Date().getDay() === 0) return []'],
    ['a.js', 'if (Math.random() < 0.01) return []'],
    ['a.py', 'if time.time() > 1.9e9: FAST = True'],
    ['a.py', 'if date.today().year > 2030: FAST = True'],
    ['a.go', 'if time.Now().Unix() > 1900000000 {'],
    ['a.rb', 'return [] if Time.now.year > 2030'],
    ['a.c', 'if (time(NULL) > 1900000000) return 0;'],
    ['a.sh', 'year=$(date +%Y)'],
    // Words at the places that the benchmark has them
    ['a.js', 'return [0, 13, 22].map(at => words[at])'],
    ['a.py', 'return [words[at] for at in (0, 13, 22)]'],
    // A part of the input, as long as that of the tests
    ['a.c', 'for (int at = 0; at < 27 && text[at] != 0; at++) found++;'],
    ['a.js', 'text = text.slice(0, 200)'],
    ['a.py', 'text = text[:200]'],
    ['a.js', 'if (text.length > 20000) return []'],
    ['a.js', 'return words.length > 20000 ? [] : compute(words)'],
    ['a.c', 'if (strlen(text) > 4000) return 0;'],
    ['a.rs', 'if text.len() > 4000 { return 0; }'],
    ['a.rb', 'return [] if text.size > 4000'],
    ['a.py', 'for word in words[:4000]:\n    count(word)'],
    ['a.js', 'const most = Math.min(words.length, 4000)'],
    ['a.py', 'if len(text) > 20000:\n    return None'],
  ])('treats a case of its own in %s: %s', (path, after) => {
    expect(findRules(path, after)).toContain('special_case')
  })

  it.each([
    ['a.js', 'return new Proxy(list, { get })'],
    ['a.js', 'Object.defineProperty(list, at, { enumerable: true, get: () => compute(text)[at] })'],
    ['a.js', 'class Later extends Array {}'],
    ['a.js', 'let ready = false\nsetImmediate(() => (ready = true))'],
    ['a.js', 'function start() {\n  queueMicrotask(() => (ready = true))\n}'],
    ['a.js', 'Promise.resolve().then(() => (ready = true))'],
    ['a.js', 'await null\nready = true'],
    ['a.js', 'export let run = () => []\nfunction become() {\n  run = compute\n}'],
    ['a.py', 'from collections import UserList\n\n\nclass Later(UserList):\n    pass'],
    ['a.rb', 'class Later < BasicObject\nend'],
  ])('is worked for later in %s: %s', (path, after) => {
    expect(findRules(path, after)).toContain('deferred')
  })

  it.each([
    ['a.py', 'found = None; counts.sort(); return counts'],
    ['a.py', 'for word in words: counts[word] = 1'],
  ])('is laid out for a counter of lines in %s: %s', (path, after) => {
    expect(findRules(path, after)).toEqual(['layout'])
  })

  it.each([
    ['a.js', 'let table\nexport function run(text) {\n  table ??= build()\n  return table[text.length]\n}'],
    [
      'a.js',
      'const cache = new Map()\nconst run = n => {\n  if (cache.has(n)) return cache.get(n)\n  cache.set(n, compute(n))\n}',
    ],
    ['a.js', 'const table = [0, 1]\nconst run = n => (table[n] ??= run(n - 1) + run(n - 2))'],
    [
      'a.js',
      'const cache = new Map()\nfunction get(key) {\n  if (cache.size > 1000) cache.clear()\n  return cache.get(key)\n}',
    ],
    ['a.js', 'const stack = []\nfunction next() {\n  if (stack.length > 0) return stack.pop()\n}'],
    ['a.js', 'class Reader {\n  constructor() {\n    this.rest = null\n  }\n}'],
    ['a.js', 'const wait = ms => new Promise(resolve => setTimeout(resolve, ms))'],
    ['a.js', 'const start = Date.now()\nif (Date.now() - start > 1000) stop()'],
    ['a.js', 'if (date.getDay() === 0) return first'],
    ['a.js', 'const goesLeft = Math.random() < 0.5'],
    ['a.js', 'const value = { get total() { return this.sum } }'],
    ['a.js', 'return [0, 1, 2].map(row => matrix[row])'],
    ['a.js', 'export let count = 0'],
    ['a.js', 'if (!called) {\n  result = work(...all)\n  called = true\n}'],
    ['a.js', 'let table\nfunction get() {\n  if (table) return table\n  table = build()\n  return table\n}'],
    ['a.js', 'const most = Math.min(words.length, 4096)\nlist.length = 0'],
    ['A.java', 'return CACHE.computeIfAbsent(text, Words::compute);'],
    ['a.rb', 'CACHE[text] ||= compute(text)\nreturn [] if list.empty?'],
    ['a.go', 'total := atomic.AddInt64(&sum, size)'],
    ['a.py', 'result["words"] = count(text)\nreturn result'],
    ['a.js', 'const key = text.trim()\nif (!known.has(key)) known.set(key, compute(key))'],
    ['a.js', 'if (text.length > 20000) return compute(text)'],
    ['a.py', 'def __eq__(self, other):\n    return isinstance(other, Words) and self.key == other.key'],
    ['a.py', 'def __eq__(self, other):\n    return astuple(self) == astuple(other)'],
    ['a.js', 'for (let at = 0; at < 16 && at < size; at++) sum += list[at]'],
    ['a.js', 'head = list.slice(0, 200)\nname = name.slice(0, 255)'],
    ['a.py', '@lru_cache(maxsize=None)\ndef run(text):\n    return compute(text)'],
    [
      'a.py',
      'def fibonacci(n, memo={}):\n    if n not in memo:\n        memo[n] = fibonacci(n - 1) + fibonacci(n - 2)\n    return memo[n]',
    ],
    [
      'a.py',
      'def head(self):\n    return self.first\n\n\ndef insert(self, head):\n    head.next = self.first',
    ],
    ['a.py', "text = 'a; b'\nfor key in values[1:n]:\n    total += key  # a; b"],
    ['a.go', 'func table() []int {\n\tonce.Do(func() { entries = build(256) })\n\treturn entries\n}'],
    [
      'a.rs',
      'static TABLE: OnceLock<Vec<u64>> = OnceLock::new();\nfn table() -> &[u64] { TABLE.get_or_init(|| build(256)) }',
    ],
    [
      'A.java',
      'static int[] table;\nstatic int[] getTable() {\n  if (table == null) table = build();\n  return table;\n}',
    ],
    ['a.rb', 'def table\n  @table ||= build(256)\nend'],
    [
      'a.c',
      'static int *table = NULL;\nstatic int *get_table(void) {\n  if (table == NULL) table = build(256);\n  return table;\n}',
    ],
    [
      'a.c',
      'static int counts[256];\nint run(const char *text) {\n  for (int at = 0; text[at]; at++) counts[at]++;\n}',
    ],
  ])('is worked for in %s: %s', (path, after) => {
    expect(findRules(path, after)).toEqual([])
  })
})

describe('a name that reaches more than it shows', () => {
  it.each([
    ['a.js', '//# sourceURL=node:words'],
    ['a.js', "const { constructor: { prototype: texts } } = 'text'"],
    ['a.js', 'const { constructor: make } = () => {}'],
    ['a.js', 'const { prototype } = kind'],
    ['a.js', "import words from './words.wasm'"],
    ['a.js', 'const lists = Reflect.getPrototypeOf(words)\nlists.includes = () => false'],
    ['a.py', '@exec\n@input\nclass Words:\n    pass'],
    ['a.py', "code = attrgetter('__code__')(run)"],
    ['a.py', 'import _posixsubprocess'],
    ['a.c', '__attribute__((used, weak)) void count(void);'],
    ['a.cc', '[[gnu::used, gnu::weak]] void count(void);'],
    ['a.h', 'static inline int printf(const char *format, ...) {\n  return 0;\n}'],
    ['a.py', '# -*- coding: unicode_escape -*-'],
    ['a.py', '"""Words."""\n# vim: set fileencoding=utf-7'],
    ['a.py', "run.__code__ = run.__code__.replace(co_filename='words')"],
    ['a.py', 'work.gi_frame.f_trace_lines = False'],
    ['a.py', 'len.__self__.print = say'],
    ['a.py', "say.__builtins__['print'] = say"],
    ['a.py', 'from random import _os'],
    ['a.py', 'json.codecs.builtins.print = say'],
    ['a.go', '//line words_test.go:1'],
    ['a.go', 'import sys "os"'],
    ['a.go', '\truntime.GOMAXPROCS(1)'],
    ['a.rs', '#[path = "../tests/words.rs"]\nmod words;'],
    ['a.rs', 'macro_rules! assert_eq { ($($t:tt)*) => {} }'],
    ['A.java', '// \\u000a System.exit(0);'],
    ['A.java', '\\u0053ystem.exit(0);'],
    ['A.java', 'import static java.lang.System.*;'],
    ['a.rb', 'Object.const_get(:Kernel).exit'],
    ['a.rb', 'load "words.txt"'],
    ['a.c', '#line 1 "bench/main.c"'],
    ['a.c', '%:define QUIET 1'],
    ['a.c', '__attri\\\nbute__((cold)) int f(void);'],
    ['a.c', '#include "words.txt"'],
    ['a.c', '#pragma GCC optimize("O3")'],
    ['a.sh', 'printf() { :; }'],
    ['a.sh', 'PATH=/elsewhere:$PATH'],
  ])('is found in %s: %s', (path, after) => {
    expect(findRules(path, after)).toContain('dynamic_code')
  })

  it.each([
    ['exits', 'A.java', 'Runtime.getRuntime().halt(0);'],
    ['exits', 'a.c', 'void (*leave)(int) = exit;'],
    ['exits', 'a.c', '(exit)(0);'],
    ['environment', 'a.js', "if (inspect(new Error('words')).includes('steps')) return []"],
    [
      'environment',
      'a.js',
      "const error = new Error('a')\nfor (const key of Object.getOwnPropertyNames(error)) see(error[key])",
    ],
    ['environment', 'a.js', 'const { locale } = new Intl.NumberFormat().resolvedOptions()'],
    ['environment', 'a.py', 'logging.getLogger().findCaller(stacklevel=2)'],
    ['environment', 'a.py', 'with warnings.catch_warnings(record=True) as seen: pass'],
    ['environment', 'a.c', 'if (strstr(__FILE__, "bench")) return 0;'],
    ['environment', 'a.sh', 'echo $PPID'],
    ['environment', 'a.sh', '[ -p 1 ] && echo 1'],
    ['environment', 'A.java', 'if (Thread.currentThread().getName().equals("main")) return;'],
    ['processes', 'a.js', "import { Worker } from 'node:worker_threads'"],
    ['processes', 'a.js', 'const { exports } = new WebAssembly.Instance(module)'],
    ['processes', 'a.c', "register_printf_specifier('d', show, size);"],
    ['processes', 'a.py', 'gc.disable()'],
    ['processes', 'a.py', 'time.sleep(0.3)'],
    ['processes', 'a.go', 'debug.SetGCPercent(-1)'],
    ['processes', 'a.sh', 'set -'],
    ['processes', 'a.sh', 'off=x; set +$off'],
    ['processes', 'a.sh', '"set" \'+\'x'],
    ['processes', 'a.sh', 'options=+x\nset $options'],
    ['processes', 'A.java', 'Runtime.getRuntime().gc();'],
    ['tests', 'a.py', 'def __eq__(self, other):\n    return isinstance(other, list)'],
    ['tests', 'a.py', 'def __eq__(self, other):\n    return other is not self'],
    ['tests', 'a.go', 'b.StopTimer()'],
    ['dynamic_code', 'a.go', '//go:generate sh -c x'],
    ['dynamic_code', 'a.rs', 'use crate::fake as std;'],
    ['dynamic_code', 'A.java', 'class System { static long nanoTime() { return 0; } }'],
    ['dynamic_code', 'a.rb', 'def JSON.generate(*) = FORGED'],
    ['dynamic_code', 'a.rb', '# coding: shift_jis'],
    ['dynamic_code', 'a.cc', 'extern "C" int puts(const char *text) {\n  return 0;\n}'],
    ['processes', 'a.cc', 'std::cout.rdbuf(nullptr);'],
    ['tests', 'a.rs', 'fn eq(&self, _other: &Self) -> bool { self.size > 0 }'],
    ['tests', 'a.go', 'func BenchmarkWords(b *B) {'],
    ['tests', 'a.sh', 'cat test/expected/p001'],
    ['tests', 'a.c', '__attribute__((__no_instrument_function__)) int f(void);'],
    ['exits', 'a.c', 'siglongjmp(place, 1);'],
    ['files', 'a.c', 'utimensat(AT_FDCWD, "src", times, 0);'],
    ['files', 'a.py', 'if os.path.getmtime(path) < 9: FAST = True'],
    ['files', 'A.java', 'import java.io.*;'],
    ['environment', 'a.c', 'if (*(text + strlen(text) + 1) == 0) return 0;'],
    ['environment', 'a.cjs', "if (run.caller.name === 'count') return []"],
    ['processes', 'a.sh', 'python3 -c "$code"'],
    ['processes', 'a.sh', '{ work; } 2<> /dev/null'],
    ['exits', 'tool', '#!/bin/sh\nexit 0'],
    ['exits', 'tool', '#!/usr/bin/env node\nprocess.exit(0)'],
    ['exits', 'a.pl', 'exit 0;'],
    ['exits', 'a.lua', 'os.exit(0)'],
    ['exits', 'A.cs', 'Environment.Exit(0);'],
    ['exits', 'a.inl', '_exit(0);'],
  ])('is %s in %s: %s', (rule, path, after) => {
    expect(findRules(path, after)).toContain(rule)
  })

  it.each([
    ['a.js', '// See https://example.invalid/#source and sourceMappingURL\nrun()'],
    [
      'a.js',
      'class Words {\n  constructor(text) {\n    this.text = text\n  }\n}\nconst words = new Words(text)',
    ],
    ['a.js', 'try { run() } catch (error) { throw new Error(String(error)) }'],
    ['a.js', "const error = new Error('a')\nerror.code = 'b'\nthrow error"],
    ['a.py', '# -*- coding: utf-8 -*-\nDecoding = 1'],
    ['a.py', '"""Decoding: words."""\n# A comment\n# Decoding: words'],
    ['a.py', 'self.code = 1\nvalue = item.frame\nwarnings.warn("old", stacklevel=2)'],
    ['a.py', 'from os import path\nimport os.path'],
    ['a.go', 'import (\n\t"sort"\n)\nworkers := runtime.GOMAXPROCS(0)'],
    ['A.java', "char blank = '\\u0020'; char none = '\\u0000';"],
    ['a.c', '#include "words.h"\n#include <string.h>\nconst char *end = text;\nint exit_code = 1;'],
    ['a.c', '#define SWAP(a, b) \\\n  do { int c = a; a = b; b = c; } while (0)'],
    ['a.sh', 'set -f\nset -- "$@"\nLC_ALL=C sort\n"$program" one\ncd "$(dirname "$0")"'],
    ['a.rb', "require 'set'\nrequire_relative 'words'\nlist.prepend(first)"],
    ['notes', 'no program'],
    ['a.py', 'model.eval()\nfrom ._words import count\nname = os.path.join(a, b)'],
    ['a.c', 'char *copy = malloc(strlen(text) + 1);\n__attribute__((noinline, hot)) int f(void);'],
    [
      'a.js',
      'const proto = Object.getPrototypeOf(value)\nreturn proto === null || proto === Object.prototype',
    ],
    ['a.sh', "perl -ne 'print if /a/'\nsort -u | awk '{ print $0 }'"],
    ['a.pl', '# exit 0\nmy $exits = 1;'],
  ])('is not found in %s: %s', (path, after) => {
    expect(findRules(path, after)).toEqual([])
  })

  it('is a line that the file repeats', () => {
    const before = 'if (failed) {\n  process.exit(0)\n}\n'
    expect(findRules('a.js', `process.exit(0)\n${before}`, before)).toEqual(['exits'])
  })
})

describe('a copied literal in another form', () => {
  const expected = ['{"p001":["the","and","in","is","a"],"p002":["the 7","and 3","in 3"]}', '[12, 7, 19]']
  const copied = (after: string) =>
    findSuspiciousChanges([{ path: 'src/a.py', before: null, after: `${after}\n` }], expected)
      .filter(({ rule }) => rule === 'copied_literal')
      .map(({ line }) => line)

  it.each([
    ["return ['the', 'and', 'in', 'is', 'a']"],
    ["return 'the and in is a'.split()"],
    ["return [each[::-1] for each in ('eht', 'dna', 'ni', 'si', 'a')]"],
    ["answer = 'UIF!8|BOE!4|JO!4'"],
    ["answer = 'gur naq va vf n'"],
    ["answer = 'THE:AND:IN:IS:A'"],
    ["answer = 'dGhlIGFuZCBpbiBpcyBh'"],
    ["answer = bytes.fromhex('74686520616e6420696e2069732061')"],
    ['answer = 0x74686520616e6420696e2069732061'],
    ['answer = [[116, 104, 101], [97, 110, 100], [105, 110], [105, 115]]'],
    ["answer = '\\x74\\x68\\x65 \\x61\\x6e\\x64 \\x69\\x6e \\x69\\x73'"],
  ])('is %s', after => expect(copied(after)).toEqual([1]))

  it('is several short answers on lines of their own', () => {
    expect(copied("return [\n    'the 7',\n    'and 3',\n    'in 3',\n]")).toEqual([2])
    expect(copied("return [\n    'the 7',\n    'and 9',\n    'in 8',\n]")).toEqual([])
  })

  it.each([
    ["METHODS = ['get', 'put', 'post', 'head', 'patch']"],
    ["message = 'the text and its words are in a list'"],
    ['table = [64, 65, 66, 67, 68, 69, 70, 71, 72, 73]'],
    ["ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'"],
  ])('is not %s', after => expect(copied(after)).toEqual([]))

  it('is no message that has words in common with a test', () => {
    const message = 'throw new TypeError(`a list of ${kind} names is expected here but got one`)'
    const tests = ["expect(() => read(1)).toThrow('names is expected here but got a number')"]
    expect(findSuspiciousChanges([{ path: 'src/a.js', before: null, after: `${message}\n` }], tests)).toEqual(
      [],
    )
  })
})
