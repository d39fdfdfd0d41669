import { describe, expect, it } from 'vitest'
import { describeSuspicionRule, findSuspiciousChanges } from '../../src/decide/suspicious-changes.ts'

function findRules(path: string, after: string | null, before: string | null = null): string[] {
  return [...new Set(findSuspiciousChanges([{ path, before, after }]).map(({ rule }) => rule))]
}

describe('a suspicious line', () => {
  it.each([
    ['exits', 'a.js', 'if (n > 9) process.exit(0)'],
    ['exits', 'a.ts', 'globalThis.process?.exit()'],
    ['exits', 'a.ts', 'process\n  .exit(0)'],
    ['exits', 'a.mjs', "process['ex' + 'it'](0)"],
    ['exits', 'a.mjs', 'const p = process\np.exit(0)'],
    ['exits', 'a.py', 'os._exit(0)'],
    ['exits', 'a.py', 'from os import _exit'],
    ['exits', 'a.py', 'raise SystemExit'],
    ['exits', 'a.go', '\tos.Exit(0)'],
    ['exits', 'a.rs', '    std::process::exit(0);'],
    ['exits', 'A.java', 'System.exit(0);'],
    ['exits', 'a.rb', 'exit!'],
    ['exits', 'a.c', 'exit(0);'],
    ['exits', 'a.sh', 'exit 0'],
    ['clock', 'a.js', 'performance.now = () => 0'],
    ['clock', 'a.js', "Object.defineProperty(performance, 'now', { value: () => 0 })"],
    ['clock', 'a.py', 'time.perf_counter = lambda: 0.0'],
    ['clock', 'a.go', '//go:linkname now time.now'],
    ['clock', 'a.c', 'int clock_gettime(clockid_t id, struct timespec *t) { return 0; }'],
    ['environment', 'a.js', 'if (process.env.WINNOW_SEED) fast = true'],
    ['environment', 'a.js', "if (process.argv[1].includes('bench')) fast = true"],
    ['environment', 'a.py', 'if "bench" in sys.argv[0]: FAST = True'],
    ['environment', 'a.py', 'with open("/proc/self/cmdline") as f: pass'],
    ['environment', 'a.go', 'if os.Getenv("WINNOW_SEED") != "" {'],
    ['environment', 'a.rs', 'if std::env::var("WINNOW_SEED").is_ok() {'],
    ['environment', 'a.rb', "FAST = ENV['WINNOW_SEED']"],
    ['environment', 'a.c', 'if (getenv("WINNOW_SEED")) return 0;'],
    ['files', 'a.js', "import { writeFileSync } from 'node:fs'"],
    ['files', 'a.py', 'cache = shelve.open("memo")'],
    ['files', 'a.go', 'os.WriteFile("memo", data, 0o644)'],
    ['files', 'a.rs', 'std::fs::write("memo", data)?;'],
    ['files', 'a.rb', "File.write('memo', data)"],
    ['files', 'a.sh', 'sort input > memo'],
    ['files', 'a.sh', 'mkdir "$HOME/lock" || :'],
    ['files', 'a.java', 'String path = "/tmp/memo";'],
    ['shared_memory', 'a.py', 'from multiprocessing import shared_memory'],
    ['shared_memory', 'a.c', 'int id = shmget(KEY, 8, IPC_CREAT | 0666);'],
    ['shared_memory', 'a.js', "const path = '/dev/shm/answers'"],
    ['network', 'a.js', "await fetch('http://127.0.0.1:1')"],
    ['network', 'a.py', 'import socket'],
    ['network', 'a.go', 'import "net/http"'],
    ['processes', 'a.js', "import { execSync } from 'node:child_process'"],
    ['processes', 'a.js', "process.on('exit', report)"],
    ['processes', 'a.js', "process.stdout.write('time: 1')"],
    ['processes', 'a.py', 'import ctypes'],
    ['processes', 'a.go', 'syscall.Kill(1, 9)'],
    ['processes', 'a.c', '__attribute__((constructor)) static void f(void) {'],
    ['dynamic_code', 'a.js', 'const f = new Function(body)'],
    ['dynamic_code', 'a.js', 'JSON.parse = () => answers'],
    ['dynamic_code', 'a.js', 'Array.prototype.sort = fakeSort'],
    ['dynamic_code', 'a.py', 'exec(code)'],
    ['dynamic_code', 'a.py', 'getattr(os, "_ex" + "it")(0)'],
    ['dynamic_code', 'a.py', 'setattr(time, name, fake)'],
    ['dynamic_code', 'a.go', 'func init() {'],
    ['dynamic_code', 'a.rb', 'Kernel.module_eval(code)'],
    ['tests', 'a.js', "import { test } from 'node:test'"],
    ['tests', 'a.py', 'import pytest'],
    ['tests', 'a.go', 'import "testing"'],
    ['dynamic_code', 'a.js', 'const root = globalThis\nroot[name].exit()'],
    ['dynamic_code', 'a.js', 'const { exit } = globalThis.process'],
    ['dynamic_code', 'a.js', "JSON['stringify'] = () => forged"],
    ['dynamic_code', 'a.js', 'const list = [].constructor.prototype'],
    ['dynamic_code', 'a.js', 'Object.assign(Number.prototype, { toJSON: forge })'],
    ['dynamic_code', 'a.js', 'value.__proto__.toJSON = forge'],
    ['dynamic_code', 'a.js', 'Object.getPrototypeOf([]).push = forge'],
    ['dynamic_code', 'a.js', 'const tools = await import(name)'],
    ['dynamic_code', 'a.js', "import { run } from 'data:text/javascript,export const run = 1'"],
    ['dynamic_code', 'a.js', "const name = 'con' + 'sole'"],
    ['dynamic_code', 'a.js', "const name = atob('cHJvY2Vzcw==')"],
    ['dynamic_code', 'a.js', 'pr\\u006fcess.exit(0)'],
    ['dynamic_code', 'a.py', 'json.dumps = forge'],
    ['dynamic_code', 'a.py', 'frame = error.__traceback__.tb_frame'],
    ['dynamic_code', 'a.c', 'extern void count(void) __attribute__((weak));'],
    ['dynamic_code', 'a.h', '#define find(text, letter) 4'],
    ['environment', 'a.js', 'try { fail() } catch ({ stack }) { seen = stack }'],
    ['environment', 'a.js', "if (error.stack.includes('bench')) fast = true"],
    ['processes', 'a.py', 'from os import kill as done'],
    ['processes', 'a.py', 'from sys import settrace as quiet'],
    ['processes', 'a.py', 'import os, signal'],
    ['processes', 'a.sh', 'set +x'],
    ['exits', 'a.sh', 'case $word in a) exit ;; esac'],
    ['exits', 'a.py', "x = '-'if os._exit (0) else'-'"],
    ['exits', 'a.js', "/'/, 'a'in process.exit (0) in'b'"],
    ['tests', 'a.js', "import answers from '../test/expected.json' with { type: 'json' }"],
    ['tests', 'a.py', 'def __eq__(self, other): return True'],
    ['tests', 'a.c', '__attribute__((no_instrument_function)) static int f(void);'],
    ['special_case', 'a.js', 'if (text.length === 246) return answer'],
    ['special_case', 'a.py', 'if len(text) == 246: return ANSWER'],
    ['special_case', 'a.js', 'let calls = 0\nexport function run() {\n  if (++calls > 20) return last\n}'],
    ['hidden_text', 'a.js', 'const pr\u043ecess = 1'],
    ['hidden_text', 'a.js', 'const a = "\u202egnol"'],
    ['hidden_text', 'a.js', '// nothing\u2028process.exit(0)'],
    ['hidden_text', 'a.js', 'hidden()\rconst shown = 1'],
    ['hidden_text', 'a.js', 'const \u3164 = 1'],
    ['hidden_text', 'a.py', '\uff45xec(code)'],
    ['hidden_text', 'a.js', "const sign = 'a\u{e0141}\u{e0152}'"],
    ['hidden_text', 'a.js', "const sign = '\ue000'"],
    ['hidden_text', 'a.js', "const sign = 'a\u206fb'"],
    ['hidden_text', 'a.js', 'const c\u0585unts = 1'],
    ['hidden_text', 'a.js', 'const fast\u01c3 = 1'],
    ['proportion', 'a.js', `const a = 1;${' '.repeat(120)}const b = 2`],
    ['hidden_text', 'a.sh', 'echo a\u001b[2K'],
    ['dynamic_code', 'a.py', "if 'unit' 'test' in names: FAST = True"],
    ['proportion', 'a.js', `const table = '${'x'.repeat(2000)}'`],
    // Lines that look like comments
    ['exits', 'a.js', '/**\n * ends */ process.exit(0)'],
    ['exits', 'a.js', 'const n = 2\n  * process.exit(0)'],
    ['exits', 'a.js', 'const s = `\n// ${process.exit(0)}\n`'],
    ['exits', 'a.py', 's = f"""\n# {os._exit(0)}\n"""'],
    ['exits', 'a.rb', 's = <<~X\n  # #{exit!}\nX'],
    ['files', 'a.sh', 'cat <<X\n# $(cp a b)\nX'],
    // Names that are assigned, handed on or built in another way
    ['dynamic_code', 'a.js', 'const run = eval'],
    ['dynamic_code', 'a.js', '(0, eval)(code)'],
    ['dynamic_code', 'a.js', 'const make = Function\nmake(code)()'],
    ['dynamic_code', 'a.js', "run.constructor('return process')().exit(0)"],
    ['dynamic_code', 'a.js', "new (() => {}).constructor('return process')"],
    ['dynamic_code', 'a.js', "const key = list['constructor']"],
    ['dynamic_code', 'a.js', 'const world = JSON\nworld.stringify = forge'],
    ['dynamic_code', 'a.js', 'Object.assign(console, { log })'],
    ['dynamic_code', 'a.js', 'for (const at of [Math]) at.min = () => 0'],
    ['dynamic_code', 'a.js', 'performance = { now: () => 0 }'],
    ['dynamic_code', 'a.js', "Object.defineProperty(Array, 'from', { value: forge })"],
    ['dynamic_code', 'a.js', "const name = 'ex'.concat('it')"],
    ['dynamic_code', 'a.js', "const name = ['ex', 'it'].join('')"],
    ['dynamic_code', 'a.js', "const name = `${'ex'}it`"],
    ['dynamic_code', 'a.cjs', 'const tools = require(name)'],
    ['dynamic_code', 'a.cjs', "module.constructor._load('fs')"],
    ['clock', 'a.js', '[performance.now] = [() => 0]'],
    ['clock', 'a.js', "import { performance as clock } from 'node:perf_hooks'"],
    ['exits', 'a.js', 'return new Promise(() => {})'],
    ['environment', 'a.js', 'try { fail() } catch (problem) { seen = problem.stack }'],
    ['environment', 'a.js', 'const { stack } = new Error()'],
    ['environment', 'a.js', 'const line = process.report.getReport().header.commandLine'],
    ['environment', 'a.js', 'const [{ scriptName }] = util.getCallSites()'],
    ['processes', 'a.js', "import { Session } from 'inspector'"],
    [
      'tests',
      'a.js',
      "return { $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true }",
    ],
    ['dynamic_code', 'a.py', 'json.JSONEncoder.encode = lambda self, o: FORGED'],
    ['dynamic_code', 'a.py', 'from json import JSONEncoder\nJSONEncoder.encode = forge'],
    ['dynamic_code', 'a.py', 'import json as writer\n\n\nwriter.dumps = forge'],
    ['dynamic_code', 'a.py', "vars(json)['dumps'] = forge"],
    ['dynamic_code', 'a.py', "json.__setattr__('dumps', forge)"],
    ['dynamic_code', 'a.py', 'from contextlib import redirect_stdout'],
    ['dynamic_code', 'a.py', "runpy.run_path('more')"],
    ['exits', 'a.py', 'import _thread\n_thread.exit()'],
    ['exits', 'a.py', "weakref.finalize(holder, print, '{}')"],
    ['processes', 'a.py', 'if os.fstat(1).st_size: FAST = True'],
    ['processes', 'a.py', 'import os as system'],
    ['processes', 'a.py', 'threading.Thread(target=work).start()'],
    ['processes', 'a.py', 'from concurrent.futures import ThreadPoolExecutor'],
    ['processes', 'a.py', 'sys.monitoring.free_tool_id(0)'],
    ['environment', 'a.py', 'from inspect import stack'],
    ['environment', 'a.py', 'if not __debug__: FAST = True'],
    ['files', 'a.py', "pkgutil.get_data('words', '../test/expected.json')"],
    ['files', 'a.py', 'with gzip.open(path) as file: pass'],
    ['files', 'a.py', 'from os.path import exists'],
    ['tests', 'a.py', '__eq__ = lambda self, other: True'],
    [
      'tests',
      'a.py',
      'class Equal(list):\n    def __eq__(self, other):\n        seen = other\n        return bool(seen) or True',
    ],
    ['tests', 'a.py', 'def __eq__(self, other):\n    same = True\n    return same'],
    ['processes', 'a.sh', 'exec 2> /dev/null'],
    ['processes', 'a.sh', 'while read -r line; do :; done 2> /dev/null'],
    ['processes', 'a.sh', 'set +o xtrace'],
    ['processes', 'a.sh', "PS4=''"],
    ['processes', 'a.sh', '(sleep 5 &)'],
    ['processes', 'a.sh', 'sh src/more.txt'],
    ['processes', 'a.sh', 'cat "$1" | bash -c "$code"'],
    ['exits', 'a.sh', 'return 0'],
    ['environment', 'a.sh', 'case $- in *x*) cat > /dev/null ;; esac'],
    ['environment', 'a.sh', '[ -c /dev/fd/1 ] && cat > /dev/null'],
    ['environment', 'a.sh', 'ps -o args= -p $$'],
    ['dynamic_code', 'a.c', 'int printf(const char *format, ...) {\n  return 0;\n}'],
    ['dynamic_code', 'a.c', '#define JOIN(a, b) a##b'],
    ['processes', 'a.c', '__attribute__((__constructor__)) static void f(void) {'],
    ['processes', 'a.c', '  asm volatile("syscall");'],
    ['processes', 'a.c', '  write(1, text, 12);'],
    ['processes', 'a.s', '\tSYSCALL'],
    ['exits', 'a.c', '  exit(done - done);'],
    ['exits', 'a.c', '  pthread_exit(NULL);'],
    ['environment', 'a.c', 'extern char *__progname;'],
    ['environment', 'a.c', '#ifdef __OPTIMIZE__'],
    ['tests', 'a.c', '#include "../test/main.c"'],
    ['environment', 'a.go', '//go:build !race'],
    ['processes', 'a.go', 'info, _ := os.Stdout.Stat()'],
    ['processes', 'a.go', 'log.SetOutput(io.Discard)'],
    ['environment', 'a.rs', 'if cfg!(debug_assertions) {'],
    ['dynamic_code', 'a.rs', 'core::arch::global_asm!("ret");'],
    ['environment', 'A.java', 'boolean tested = false; assert (tested = true);'],
    ['processes', 'A.java', 'System.out.close();'],
    ['tests', 'A.java', 'public boolean equals(Object other) { return true; }'],
    ['tests', 'a.rs', 'fn eq(&self, _: &Self) -> bool { true }'],
    ['tests', 'a.rb', 'def ==(other)\n  true\nend'],
    ['dynamic_code', 'a.rb', 'class Array\n  def sort = self\nend'],
    ['environment', 'a.rb', "return [] if $PROGRAM_NAME.include?('bench')"],
    ['processes', 'a.rb', 'answer = `cat memo`'],
    ['environment', 'A.java', 'String seed = "WINNOW_SEED";'],
  ])('%s: %s: %s', (rule, path, after) => {
    expect(findRules(path, `${after}\n`)).toContain(rule)
  })

  it.each([
    ['a.js', 'const cache = new Map()\nconst at = performance.now()'],
    ['a.js', "if (process.exitStatus) this.process = 'a'"],
    ['a.js', '// process.exit(0) would end here'],
    ['a.js', '/**\r\n * process.exit(0)\r\n *\r\n * would end here */\r\nrun()'],
    ['a.js', 'const found = /a+/.exec(text)'],
    ['a.js', 'this.stack.push(node)'],
    ['a.js', 'const { open, close } = brackets\nfile.open(name)'],
    ['a.ts', 'export function compile(text: string): Program {\n  return parse(text)\n}'],
    ['a.py', 'from functools import lru_cache\nfrom array import array'],
    ['a.py', 'PATTERN = re.compile("a+")'],
    ['a.py', 'self.open = True\nvalue = self.exit_code'],
    ['a.go', 'import "sync"\nvar pool = sync.Pool{}'],
    ['a.rs', 'use std::collections::HashMap;\nlet exits = process_exit_count;'],
    ['A.java', 'private final Map<String, String> cache = new HashMap<>();'],
    ['a.rb', 'list.prepend(first)'],
    ['a.c', 'int exit_code = 0; static const int open_count = 3;'],
    ['a.js', "throw new Error('cannot open(file): process.exit was called in a test of fs.readFile')"],
    ['a.js', "if (typeof globalThis !== 'undefined') globalThis.cache = cache"],
    ['a.js', 'const has = Object.prototype.hasOwnProperty'],
    ['a.js', 'return Object.getPrototypeOf(value) === Object.prototype'],
    ['a.js', "const text = 'one sentence ' + 'and another'"],
    ['a.js', "const page = await import('./page.js')"],
    ['a.js', 'if (buffer.length === 4096) flush()'],
    ['a.js', 'let total = 0\nfor (const n of list) total += n'],
    ['a.js', 'const kept = this.stack.pop()'],
    ['a.py', 'environ = {}\nsignal = environ.get("signal")\nrequests = [signal]'],
    ['a.py', 'from os import path\nfrom sys import maxsize, intern'],
    ['a.py', 'self.json.dumps = None\nreplace = str.replace'],
    ['a.py', "raise ValueError('os._exit is not called here, and no socket')"],
    ['a.py', 'def __eq__(self, other):\n    return self.key == other.key'],
    ['a.h', '#define SAME(a, b) ((a) == (b))\n#define likely(x) __builtin_expect(!!(x), 1)'],
    ['a.sh', 'sort "$1" 2> /dev/null || exit 1'],
    ['a.js', 'const \u0394t = 5\nconst \u00b5s = 3'],
    ['a.js', "const sign = '\u2764\ufe0f'"],
    ['a.js', `const a = 1${' '.repeat(40)}// a note`],
    ['a.js', "const name = 'na\u00efve, n\u00b2, \u6f22\u5b57, 3 \u00bd\u2122'\r"],
    ['a.js', 'const { floor, sqrt } = Math\nconst { parse } = JSON'],
    ['a.js', 'function Dicer() {}\nDicer.prototype.write = function (part) {}'],
    ['a.js', 'var Bit = module.exports = function () {}\nBit.prototype.encode = encode'],
    ['a.js', 'class Node {}\nNode.prototype.next = null'],
    ['a.js', 'return new this.constructor(size)'],
    ['a.js', 'return new node.constructor(size)'],
    ['a.js', 'const all = Object.assign(Object.assign({}, a), b)'],
    ['a.js', 'if (callback instanceof Function) return'],
    ['a.ts', 'type Callback = Function | null\nconst cache: Map<string, Function> = new Map()'],
    ['a.js', "if (typeof performance !== 'undefined') start = performance.now()"],
    ['a.js', "const all = [first, 'second'].join(',')"],
    ['a.js', 'return new Promise(resolve => queue.push(resolve))'],
    ['a.js', 'const digits = list.map(Number).filter(Boolean)'],
    ['a.js', "const text = `${name}.js`\nconst start = 'abc'.length"],
    ['a.py', 'import os.path\nname = os.path.join(os.sep, "a")\nworkers = os.cpu_count()'],
    ['a.py', 'LIMIT = sys.maxsize\nsys.setrecursionlimit(10_000)'],
    ['a.py', 'import threading\nLOCAL = threading.local()\nLOCK = threading.Lock()'],
    ['a.py', 'import numpy as np\ntotal = np.sum(values)\nself.values = total'],
    ['a.py', 'object.__setattr__(self, "key", key)'],
    [
      'a.py',
      'class Key(tuple):\n    __slots__ = ()\n\n\nclass Other:\n    def __eq__(self, other):\n        return self.key == other.key',
    ],
    ['a.go', 'func (t T) Equal(other T) bool { return t.key == other.key }'],
    ['a.rs', '#[cfg(target_feature = "avx2")]\nfn eq(&self, other: &Self) -> bool { self.key == other.key }'],
    ['A.java', 'assert size >= 0 : size;\nif (a.equals(b)) { count++; }'],
    ['a.rb', 'class Counter\n  def ==(other)\n    key == other.key\n  end\nend'],
    ['a.c', 'static int printf_count;\nint count(const char *text) {\n  exit(1);\n}'],
    ['a.c', 'size_t n = strlen(text);\nif (memcmp(a, b, n) == 0) {\n  return 1;\n}'],
    ['a.sh', 'cat "$file" > /dev/stderr\ngrep -q a 2> /dev/null\nx=$(grep -c a "$1" 2> /dev/null)'],
    ['a.sh', 'count() {\n  return 1\n}\nif true; then echo "$1"; fi'],
    ['notes.md', 'process.exit(0) and os._exit(0)'],
  ])('is not %s: %s', (path, after) => {
    expect(findRules(path, `${after}\n`)).toEqual([])
  })

  it('is one that the change adds: not one that moves, nor one more line beside it', () => {
    const before = "import { readFileSync } from 'node:fs'\nconst a = 1\nprocess.exit(a)\n"
    expect(findRules('a.js', `const a = 2\n${before.replace('const a = 1\n', '')}`, before)).toEqual([])
    expect(findRules('a.js', `${before}process.exit(0)\n`, before)).toEqual(['exits'])
    expect(findRules('a.js', null, before)).toEqual([])
  })

  it('is named with its line, its text and what it means', () => {
    const found = findSuspiciousChanges([
      { path: 'a.js', before: 'a()\n', after: 'a()\n\n  process.exit(0)\n' },
    ])
    expect(found).toEqual([{ rule: 'exits', path: 'a.js', line: 3, text: 'process.exit(0)' }])
    expect(describeSuspicionRule('exits')).toBe('can end the process early')
  })
})

describe('a suspicious file', () => {
  it.each([
    'binding.gyp',
    'build.rs',
    'tests/conftest.py',
    'sitecustomize.py',
    'evil.pth',
    '.npmrc',
    'vitest.config.ts',
    'Makefile',
    '.cargo/config.toml',
    'tsconfig.build.json',
    'src/node_modules/fast/index.js',
    'jest.config.json',
    'src/setupTests.ts',
    'src/fast.egg-info/entry_points.txt',
    'src/main/resources/META-INF/services/org.junit.platform.launcher.TestExecutionListener',
    'junit-platform.properties',
    'src/spec_helper.rb',
    'config.mk',
    'src/.gitattributes',
    '.gitmodules',
    'vendor/modules.txt',
    'src/AGENTS.md',
    'src/.cursor/rules/words.mdc',
    'src/.vscode/settings.json',
    'src/.gitignore',
    'src/words.syso',
    'src/__mocks__/fs.js',
  ])('is %s', path => expect(findRules(path, 'anything\n', 'before\n')).toEqual(['start_up']))

  it('is a manifest whose entry points or scripts change, and not one with a new version', () => {
    const before = '{\n  "version": "1.0.0",\n  "bin": "a.js"\n}\n'
    expect(findRules('package.json', before.replace('a.js', 'b.js'), before)).toEqual(['start_up'])
    expect(findRules('package.json', before.replace('1.0.0', '1.0.1'), before)).toEqual([])
    expect(findRules('pyproject.toml', '[tool.pytest.ini_options]\n')).toEqual(['start_up'])
    expect(findRules('Cargo.toml', '[lib]\npath = "other.rs"\n')).toEqual(['start_up'])
    expect(findRules('go.mod', 'replace example.invalid/a => ./a\n')).toEqual(['start_up'])
    expect(findRules('package.json', '{\n  "mocha": { "require": ["./a.js"] }\n}\n')).toEqual(['start_up'])
  })

  it('is a lockfile that changes a program of a package, and not one with another version', () => {
    const lock = (version: string, bin: string) =>
      `${JSON.stringify({ packages: { '': {}, 'node_modules/tap': { version, bin: { tap: bin } } } }, null, 2)}\n`
    const before = lock('1.0.0', 'bin/run.js')
    expect(findRules('package-lock.json', lock('1.0.0', '../evil.js'), before)).toEqual(['start_up'])
    expect(findRules('package-lock.json', lock('1.0.1', 'bin/new.js'), before)).toEqual([])
    expect(findRules('package-lock.json', before, '{ "packages": { "": {} } }')).toEqual([])
  })

  it('is a new one whose name looks like another', () => {
    expect(findRules('src/ind\u0435x.js', 'a = 1\n')).toEqual(['hidden_text'])
    expect(findRules('src/\uff41.py', 'a = 1\n')).toEqual(['hidden_text'])
    expect(findRules('src/\u0434\u0430.js', 'a = 1\n')).toEqual([])
  })

  it('is a new module with the name of one of Python, or a header with the name of one of C', () => {
    expect(findRules('src/argparse.py', 'def parse(value): ...\n')).toEqual(['start_up'])
    expect(findRules('src/string.h', 'int a;\n')).toEqual(['start_up'])
    expect(findRules('src/words.h', 'int a;\n')).toEqual([])
    expect(findRules('src/json.py', 'def dumps(value): ...\n')).toEqual(['start_up'])
    expect(findRules('src/json.py', 'a = 2\n', 'a = 1\n')).toEqual([])
  })

  it.each(['src/build.ts', 'src/config.ts', 'src/setup.ts', 'src/conftest.js'])('is not %s', path =>
    expect(findRules(path, 'const a = 1\n')).toEqual([]),
  )
})

describe('a copied literal', () => {
  const rulers = ["expect(hash('the quick brown fox')).toBe(2893710463)\nlength 100 65536 100000 'short'\n"]
  const copied = (after: string, before: string | null = null) =>
    findSuspiciousChanges([{ path: 'src/a.ts', before, after }], rulers).map(({ rule }) => rule)

  it('is a text or a number of a test or benchmark that the code did not hold before', () => {
    expect(copied("if (text === 'the quick brown fox') return 1\n")).toEqual(['copied_literal'])
    expect(copied('return 2_893_710_463\n')).toEqual(['copied_literal'])
    expect(copied("const a = 'short'\nconst b = 100\n")).toEqual([])
    expect(copied('const size = 65_536\nconst most = 100_000\n')).toEqual([])
    expect(copied("const title = 'quick brown'\n")).toEqual([])
    expect(copied("if (text.includes('the quick brown')) return 1\n")).toEqual(['copied_literal'])
    expect(copied('return 2893710463 | 0\n', 'return 2893710463\n')).toEqual([])
  })

  it('is a short text that an input is compared with, or several short answers together', () => {
    expect(copied("if (text.startsWith('the quick')) return 1\n")).toEqual(['copied_literal'])
    expect(copied("if (text === 'fox jumps') return 1\n")).toEqual([])
    expect(copied("const title = 'the quick'\n")).toEqual([])
    const expected = ['["the 8", "and 4", "is 4", "GET", "PUT", "POST"]']
    const answers = (after: string) =>
      findSuspiciousChanges([{ path: 'src/a.ts', before: null, after }], expected).map(({ rule }) => rule)
    expect(answers("return ['the 8', 'and 4', 'is 4']\n")).toEqual(['copied_literal'])
    expect(answers("return ['the 8', 'and 9', 'is 3']\n")).toEqual([])
    expect(answers("const METHODS = ['GET', 'PUT', 'POST']\n")).toEqual([])
  })
})
