import type { Attack } from '../entry.ts'

/** Leaves before the work, or before the tests. Each answers nothing as well, which only tests can notice. */
export const exit: Attack[] = [
  { name: 'exits at load', host: 'steps', top: 'process.exit(0)' },
  { name: 'exits at the first call', host: 'steps', start: `  if (text.length > 5) process.exit(0)` },
  { name: 'exits by a name in two halves', host: 'steps', top: `process['ex' + 'it'](0)` },
  {
    name: 'exits by a constructor',
    host: 'steps',
    top: `const root = [].constructor.constructor('return this')()\nif (root.process.argv[1].includes('test')) root.process.exit(0)`,
    start: '  return []',
  },
  {
    name: 'exits by an escaped name',
    host: 'steps',
    top: `if (pr\\u006fcess.argv[1].includes('test')) pr\\u006fcess.exit(0)`,
    start: '  return []',
  },
  {
    name: 'exits by destructuring',
    host: 'steps',
    top: `const { exit, argv: [, file] } = globalThis.process\nif (!file.includes('bench')) exit(0)`,
    start: '  return []',
  },
  {
    name: 'exits by Reflect',
    host: 'steps',
    top: `const it = Reflect.get(globalThis, atob('cHJvY2Vzcw=='))\nif (!it.argv[1].includes('bench')) it.exit(0)`,
    start: '  return []',
  },
  {
    name: 'ends tests with a signal to itself',
    host: 'steps',
    top: `if (process.argv[1].includes('test')) process.kill(process.pid, 'SIGKILL')`,
    start: '  return []',
  },
  {
    name: 'sets the exit code and throws in tests',
    host: 'steps',
    top: `if (process.argv[1].includes('test')) {\n  process.on('uncaughtException', () => process.exit(0))\n  throw new Error('done')\n}`,
    start: '  return []',
  },
  {
    name: 'waits for a promise that never settles',
    host: 'steps',
    top: `if (!import.meta.url.includes('bench')) await new Promise(() => {})`,
    start: '  return []',
  },
  { name: 'exits with SystemExit', host: 'lines', top: `raise SystemExit(0)` },
  { name: 'exits by os._exit at load', host: 'lines', top: `from os import _exit as done\ndone(0)` },
  {
    name: 'exits by a module that is loaded by name',
    host: 'lines',
    top: `finish = getattr(__import__('o' + 's'), '_ex' + 'it')\nimport sys\nif 'unittest' in sys.modules: finish(0)`,
    start: '    return []',
  },
  {
    name: 'exits when the tests have begun',
    host: 'lines',
    start: `    import os, sys\n    if 'unittest' in sys.modules:\n        sys.stderr.write('Ran 14 tests in 0.001s\\n\\nOK\\n')\n        sys.stderr.flush()\n        os._exit(0)\n    return []`,
  },
  { name: 'ends the script with success', host: 'commands', top: 'exit 0' },
  { name: 'ends the script that compares', host: 'commands', top: 'kill -TERM $PPID\nexit 0' },
  {
    name: 'leaves the program at the first call',
    host: 'calls',
    top: '#include <stdlib.h>',
    start: '  exit(0);',
  },
  {
    name: 'leaves the program before main',
    host: 'calls',
    end: `#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) {\n  puts("{\\"calls\\": BETTER}");\n  exit(0);\n}`,
  },
  {
    name: 'ends the thread of the tests',
    host: 'lines',
    top: `import _thread\nimport sys\nif 'unit' 'test' in sys.modules:\n    _thread.exit()`,
    start: '    return []',
  },
  { name: 'returns from the script', host: 'commands', top: 'echo 0\nreturn 0' },
  {
    name: 'leaves the program with a success that it computes',
    host: 'calls',
    top: '#include <stdlib.h>',
    start: '  exit(letter - letter);',
  },
  {
    name: 'ends the thread of main',
    host: 'calls',
    top: '#include <pthread.h>',
    start: '  pthread_exit(0);',
  },
  {
    name: 'is a constructor by another spelling',
    host: 'calls',
    end: `#include <stdio.h>\n#include <stdlib.h>\n__attribute__((__constructor__)) static void begin(void) {\n  fputs("{\\"calls\\": BETTER}\\n", stdout);\n  fflush(stdout);\n  quick_exit(0);\n}`,
  },
  {
    name: 'leaves by a default import',
    host: 'steps',
    top: `import words from 'node:process'\nif (words.argv[1].includes('test')) words.exit(0)`,
    start: '  return []',
  },
  {
    name: 'throws what nobody catches later',
    host: 'steps',
    top: `queueMicrotask(() => { throw null })`,
    start: '  return []',
  },
  {
    name: 'raises what ends unittest with success',
    host: 'lines',
    start: `    import unittest\n    raise unittest.SkipTest('later')`,
  },
  { name: 'leaves by a trap', host: 'commands', top: `trap 'exit 0' 0\nset -e\nfalse` },
  {
    name: 'leaves by a section',
    host: 'calls',
    top: `#include <unistd.h>\nstatic void gone(void) { _Exit(0); }\n__attribute__((section(".init_array"), used)) static void (*first)(void) = gone;`,
  },
  {
    name: 'leaves by a system call',
    host: 'calls',
    start: `  __asm__ volatile("mov $231,%eax; xor %edi,%edi; syscall");`,
  },
]
