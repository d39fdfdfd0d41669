import { describe, expect, it } from 'vitest'
import { findSuspiciousChanges } from '../../src/decide/suspicious-changes.ts'

function findRules(path: string, after: string, before: string | null = null): string[] {
  return findSuspiciousChanges([{ path, before, after: `${after}\n` }]).map(({ rule }) => rule)
}

describe('a name that can deceive, where it cannot', () => {
  it.each([
    ['a.js', 'const { nextTick } = process\nconst { platform, arch } = process'],
    ['a.js', "const isWindows = process.platform === 'win32'\nconst start = process.hrtime.bigint()"],
    ['a.js', 'for (const process of list) {\n  if (process.exit > 0) total += process.exit\n}'],
    ['a.js', 'const done = list.filter(process => process.exit === 0).length'],
    ['a.js', 'list.forEach((process, at) => {\n  process.exit = at\n})'],
    ['a.js', 'class Queue {\n  add(process) {\n    process.exit = 0\n  }\n}'],
    ['a.js', 'function rate(performance) {\n  return performance * 2\n}'],
    ['a.js', 'process.exit(1)'],
    ['a.js', "Object.defineProperty(proto, 'size', { get: computeSize })"],
    ['a.c', `#define ADD(a) do { ${' '.repeat(80)}\\\n  n += a;${' '.repeat(90)}\\\n} while (0)`],
    ['a.js', "import { availableParallelism, EOL } from 'node:os'"],
    ['a.js', "if (scheme === 'http' || kind !== 'module') next()"],
    ['a.py', 'sys.exit(2)\nraise SystemExit(1)'],
    ['a.py', 'def __getattr__(name):\n    globals()[name] = value = load(name)\n    return value'],
    ['a.py', 'import importlib\nmodule = importlib.import_module("." + name, __name__)'],
    ['a.py', 'import mmap\nview = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)'],
    ['a.py', 'gc.disable()\ntry:\n    run()\nfinally:\n    gc.enable()'],
    ['a.go', '\tfmt.Fprintln(os.Stderr, err)\n\tos.Exit(1)'],
    [
      'a.go',
      '//go:build (amd64 || arm64) && !purego && go1.21\n\npackage a\n\nimport "golang.org/x/sys/cpu"',
    ],
    ['a.go', 'import (\n\t"unsafe"\n)\n\nfunc text(b []byte) string { return unsafe.String(&b[0], len(b)) }'],
    ['a.go', 'func init() {\n\tfor i := range table {\n\t\ttable[i] = bits.Reverse8(uint8(i))\n\t}\n}'],
    ['a.rs', '#[cfg(test)]\nmod tests {\n    #[test]\n    fn counts() {}\n}'],
    ['a.rs', 'std::process::exit(1);\nif cfg!(target_endian = "little") {}\nuse libc::{c_int, size_t};'],
    ['A.java', 'System.exit(1);'],
    ['a.rb', 'exit 1\nprepend :root do\nend\npath = File.join(a, b)'],
    ['a.rb', "define_method(:size) { @size }\nautoload :Reader, 'app/reader'"],
    ['a.c', '__asm__("roll %%cl, %0" : "+r"(x) : "c"(n));\n__asm__ volatile("" ::: "memory");'],
    ['a.sh', 'source=$1\ncp_count=0'],
  ])('is none: %s: %s', (path, after) => {
    expect(findRules(path, after)).toEqual([])
  })

  it.each([
    ['a.js', 'for (const process of []) {\n}\nprocess.exit(0)'],
    ['a.js', 'for (const process of []) if (a) {} process.exit(0)'],
    ['a.js', 'for (const process of [])\n;process.exit(0)'],
    ['a.js', 'const a = b ? process => 1 : process.exit(0)'],
    ['a.js', 'list.map(process => process.id), process.exit(0)'],
    ['a.js', 'class A extends f(process) {\n  static { process.exit(0) }\n}'],
    ['a.js', 'if (process) {\n  process.exit(0)\n}'],
    ['a.js', 'run(process)\n{\n  process.exit(0)\n}'],
    ['a.js', 'for (const one of [process]) one.exit(0)'],
    ['a.js', 'const all = process\nall.exit(0)'],
    ['a.js', 'function f({ process }) {\n  process.exit(0)\n}'],
    ['a.js', 'let b = a++ /"/ ; for (const process of []) run("{\n"); process.exit(0)'],
    ['a.js', 'process.hrtime = () => [0, 0]\nprocess.hrtime.bigint = () => 0n'],
    ['a.js', 'const { nextTick, exit } = process'],
    ['a.js', 'process.exit(0)'],
    ['a.js', 'process.exit(256)'],
    ['a.js', "import { hostname, EOL } from 'node:os'"],
    ['a.js', "const name = 'fs'"],
    ['a.js', "Object.defineProperty(answer, 'size', { get: computeSize })"],
    ['a.js', 'Object.defineProperty(proto, name, { get })\nconst proto = Array.prototype'],
    ['a.py', 'sys.exit(0)'],
    ['a.py', 'importlib.import_module(name, __name__)'],
    ['a.py', 'import mmap\nview = mmap.mmap(-1, 4096)'],
    ['a.py', "globals()['x'].y = 1"],
    ['a.py', 'gc.disable()\nrun()'],
    ['a.go', 'os.Exit(256)'],
    ['a.go', '//go:build !race && amd64'],
    ['a.go', 'p := (*int)(unsafe.Pointer(uintptr(0x1000)))'],
    ['a.go', 'import _ "unsafe"\n\n//go:linkname now time.now'],
    ['a.go', 'func init() {\n\tfmt.Println("{}")\n}'],
    ['a.rs', '#[cfg(test)]\nfn slow() {}'],
    ['a.rs', 'if cfg!(test) {}'],
    ['a.rs', 'libc::kill(1, 9);'],
    ['a.rb', 'exit 0'],
    ['a.rb', 'Kernel.define_method(:puts) { |*| }\nprepend Fast'],
    ['a.rb', "File.write('memo', data)"],
    ['a.c', '__asm__("mov $60, %eax\\n\\tsyscall");'],
    ['a.c', '__asm__(".byte 0x0f, 0x05");'],
    ['a.c', 'exit(256);'],
    ['a.sh', 'exit 256'],
    ['a.sh', 'source "$1"'],
  ])('is one elsewhere: %s: %s', (path, after) => {
    expect(findRules(path, after)).not.toEqual([])
  })

  it('may print in another way where it printed before', () => {
    const base = 'for (const line of lines) console.log(line)\n'
    expect(findRules('a.js', "process.stdout.write(lines.join('\\n'))", base)).toEqual([])
    expect(findRules('a.js', "process.stdout.write(lines.join('\\n'))", 'run()\n')).toEqual(['processes'])
    expect(findRules('a.go', 'out := bufio.NewWriter(os.Stdout)', 'fmt.Println(a)\n')).toEqual([])
    expect(findRules('a.go', 'os.Stdout.Close()', 'fmt.Println(a)\n')).not.toEqual([])
    expect(findRules('a.py', 'sys.stdout.write(text)', 'print(text)\n')).toEqual([])
    expect(findRules('a.py', 'sys.stdout.close()', 'print(text)\n')).not.toEqual([])
  })
})

describe('a literal of a test', () => {
  const rulers = [`expect(f('abcdefghijklmnop', "must be a number", 'a; First-Party-Only'))\n`]
  const findCopied = (after: string, before: string, own: string[] = []) =>
    findSuspiciousChanges([{ path: 'a.js', before, after }], rulers, own).length

  it('is none if it is an alphabet, or a message that the program has', () => {
    expect(findCopied("const LETTERS = 'abcdefghijklmnop'\n", '')).toBe(0)
    expect(findCopied("errors.push('must be a number')\n", '', ["fail('must be a number')"])).toBe(0)
    expect(findCopied("errors.push('must be a number')\n", '')).toBe(1)
    expect(findCopied("text += '; First-Party-Only'\n", "list.push('First-Party-Only')\n")).toBe(0)
    expect(findCopied("text += '; First-Party-Only'\n", '')).toBe(1)
  })
})

describe('a long line', () => {
  it('may be a table of numbers', () => {
    expect(findRules('a.js', `const TABLE = [${'17, 0x2f, '.repeat(200)}]`)).toEqual([])
    expect(findRules('a.js', `const TABLE = ["${'\\u0640-\\u064a'.repeat(100)}"]`)).toEqual([])
    expect(findRules('a.js', `run(${'a, '.repeat(400)}1)`)).toContain('proportion')
  })
})
