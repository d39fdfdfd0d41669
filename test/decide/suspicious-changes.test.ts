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
    ['hidden_text', 'a.js', 'const a = "\u202egnol"'],
    ['proportion', 'a.js', `const table = '${'x'.repeat(2000)}'`],
  ])('%s: %s: %s', (rule, path, after) => {
    expect(findRules(path, `${after}\n`)).toContain(rule)
  })

  it.each([
    ['a.js', 'const cache = new Map()\nconst at = performance.now()'],
    ['a.js', "if (process.exitStatus) this.process = 'a'"],
    ['a.js', '// process.exit(0) would end here'],
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
  ])('is %s', path => expect(findRules(path, 'anything\n', 'before\n')).toEqual(['start_up']))

  it('is a manifest whose entry points or scripts change, and not one with a new version', () => {
    const before = '{\n  "version": "1.0.0",\n  "bin": "a.js"\n}\n'
    expect(findRules('package.json', before.replace('a.js', 'b.js'), before)).toEqual(['start_up'])
    expect(findRules('package.json', before.replace('1.0.0', '1.0.1'), before)).toEqual([])
    expect(findRules('pyproject.toml', '[tool.pytest.ini_options]\n')).toEqual(['start_up'])
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
    expect(copied('return 2893710463 | 0\n', 'return 2893710463\n')).toEqual([])
  })
})
