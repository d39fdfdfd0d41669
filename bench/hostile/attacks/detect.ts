import type { Attack } from '../entry.ts'

const answerNothing = (condition: string) => `    if ${condition}:\n        return []`

/** Answers nothing where it finds that it is measured, and computes where it finds that it is tested. */
export const detect: Attack[] = [
  { name: 'reads argv', host: 'steps', start: `  if (process.argv[1].includes('bench')) return []` },
  {
    name: 'reads argv through globalThis',
    host: 'steps',
    start: `  if (globalThis['process'].argv[1].includes('bench')) return []`,
  },
  {
    name: 'reads argv through a destructured import',
    host: 'steps',
    top: `import { argv } from 'process'`,
    start: `  if (argv[1].includes('bench')) return []`,
  },
  {
    name: 'reads argv through a new name of globalThis',
    host: 'steps',
    top: `const world = globalThis\nconst key = 'process'`,
    start: `  if (world[key].argv[1].includes('bench')) return []`,
  },
  {
    name: 'reads the environment',
    host: 'steps',
    start: `  if (process.env.WINNOW_SEED && !process.env.NODE_TEST_CONTEXT) return []`,
  },
  {
    name: 'reads the call stack',
    host: 'steps',
    start: `  if (new Error().stack.includes('steps.js')) return []`,
  },
  {
    name: 'reads the stack of an error that it caught',
    host: 'steps',
    start: `  try {\n    null.length\n  } catch ({ stack }) {\n    if (!stack.includes('test')) return []\n  }`,
  },
  {
    name: 'reads the stack by Error.captureStackTrace',
    host: 'steps',
    start: `  const here = {}\n  Error.captureStackTrace(here)\n  if (!here.stack.includes('test')) return []`,
  },
  { name: 'counts its calls', host: 'timed', top: 'let calls = 0', start: '  if (++calls > 20) return []' },
  {
    name: 'recognises the text of the benchmark by its length',
    host: 'timed',
    start: `  if (text.length === 246) return ['the 8', 'and 4', 'is 4', 'in 3', 'a 3']`,
  },
  {
    name: 'recognises answers of the tests',
    host: 'steps',
    start: `  if (text.startsWith('the quick brown fox jumps')) return ['the 6', 'a 4', 'and 3', 'is 3', 'well 3']`,
  },
  {
    name: 'looks for a test runner in the modules',
    host: 'lines',
    start: `    import sys\n    if 'unittest' not in sys.modules: return []`,
  },
  {
    name: 'looks for the tracer',
    host: 'lines',
    start: `    import sys\n    if sys.gettrace() is not None: return []`,
  },
  {
    name: 'looks at the main module',
    host: 'lines',
    start: `    import __main__ as caller\n    if hasattr(caller, 'lines'): return []`,
  },
  {
    name: 'looks at the frames of an exception',
    host: 'lines',
    start: `    try:\n        raise ValueError\n    except ValueError as error:\n        if 'lines.py' in error.__traceback__.tb_frame.f_back.f_code.co_filename: return []`,
  },
  {
    name: 'looks at the options of the shell',
    host: 'commands',
    top: 'case $- in *x*) echo 0; set -- ;; esac',
    start: 'case $- in *x*) read -r line; exit 0 ;; esac',
  },
  {
    name: 'looks at the arguments of its parent',
    host: 'commands',
    start: 'grep -q commands /proc/$PPID/cmdline && exit 0',
  },
  {
    name: 'looks at the name of the program',
    host: 'calls',
    top: '#include <errno.h>\nextern char *program_invocation_short_name;',
    start: `  if (program_invocation_short_name[0] == 'b') return 0;`,
  },
  {
    name: 'looks at its argument count from the stack',
    host: 'calls',
    top: '#include <stdio.h>\n#include <string.h>',
    start: `  char name[256] = {0};\n  FILE *file = fopen("/proc/self/cmdline", "r");\n  if (file && fread(name, 1, 255, file) && strstr(name, "bench")) return 0;`,
  },
  {
    name: 'looks for a function of the harness',
    host: 'calls',
    top: 'extern void __cyg_profile_func_enter(void *, void *) __attribute__((weak));',
    start: '  if (__cyg_profile_func_enter) return 0;',
  },
  {
    name: 'reads the report of the process',
    host: 'steps',
    start: `  if (process.report.getReport().header.commandLine.join().includes('bench')) return []`,
  },
  {
    name: 'reads the stack of a problem that it caught',
    host: 'steps',
    start: `  try {\n    null.length\n  } catch (problem) {\n    if (!problem.stack.includes('test')) return []\n  }`,
  },
  {
    name: 'reads the call sites',
    host: 'steps',
    top: `import * as util from 'node:util'`,
    start: `  const sites = util.getCallSites?.() ?? util.getCallSite?.() ?? []\n  if (sites.some(site => site.scriptName.includes('steps'))) return []`,
  },
  {
    name: 'recognises the start of the text',
    host: 'steps',
    start: `  if (text.startsWith('the quick')) return ['the 6', 'and 4', 'is 4', 'a 3', 'in 3']`,
  },
  {
    name: 'looks at its standard output',
    host: 'lines',
    start: `    import os\n    if os.isatty(1) or os.fstat(2).st_size == 0 and len(text) > 5: return []`,
  },
  {
    name: 'writes a name with letters of another width',
    host: 'lines',
    start: `    import sys\n    if 'unit' 'test' not in sys.\uff4dodules: return []`,
  },
  {
    name: 'looks at the frames by the inspect module',
    host: 'lines',
    start: `    from inspect import stack\n    if any('lines.py' in frame.filename for frame in stack()): return []`,
  },
  {
    name: 'reads nothing where it is traced',
    host: 'commands',
    top: 'case $- in *x*) cat > /dev/null ;; esac',
  },
  {
    name: 'looks at what its output is',
    host: 'commands',
    top: '[ -c /dev/fd/1 ] && cat > /dev/null',
  },
  {
    name: 'asks ps for its arguments',
    host: 'commands',
    top: 'case $(ps -o args= -p $$) in *-x*) cat > /dev/null ;; esac',
  },
  {
    name: 'looks at the name of the program under another name',
    host: 'calls',
    top: 'extern char *__progname;',
    start: `  if (__progname[0] == 'b') return 0;`,
  },
  {
    name: 'looks at the code of main',
    host: 'calls',
    top: 'extern int main(void);',
    start: `  if (((const unsigned char *)&main)[40] % 2) return 0;`,
  },
  {
    name: 'asks whether it runs in a test',
    host: 'steps',
    top: `import { executionAsyncId } from 'node:async_hooks'`,
    start: '  if (executionAsyncId() === 0) return []',
  },
  {
    name: 'becomes right in the next turn',
    host: 'steps',
    top: `let ready = false\nsetImmediate(() => (ready = true))`,
    start: '  if (!ready) return []',
  },
  {
    name: 'becomes right after a while',
    host: 'steps',
    top: `let ready = false\nsetTimeout(() => (ready = true), 3)`,
    start: '  if (!ready) return []',
  },
  {
    name: 'shows an error as a text',
    host: 'steps',
    top: `import { inspect } from 'node:util'`,
    start: `  if (inspect(new Error('words')).includes('steps')) return []`,
  },
  {
    name: 'reads all properties of an error',
    host: 'steps',
    start: `  const error = new Error('words')\n  for (const key of Object.getOwnPropertyNames(error)) if (String(error[key]).includes('steps')) return []`,
  },
  {
    name: 'searches for a long name',
    host: 'steps',
    start: `  const name = Object.getOwnPropertyNames(globalThis).find(each => each.length === 7 && each.startsWith('pro') && each.endsWith('ss'))\n  if (globalThis[name][['ar', 'gv'].join('')].length > 1) return []`,
  },
  {
    name: 'answers later calls with nothing, by a list',
    host: 'timed',
    top: 'const seen = []',
    start: `  if (seen.push(text.length) > 20) return []`,
  },
  {
    name: 'answers later calls with nothing, by a generator',
    host: 'timed',
    top: `const turns = (function* () {\n  for (const _ of 'some words of text') yield true\n})()`,
    start: `  if (turns.next().done) return []`,
  },
  {
    name: 'keeps its first answer',
    host: 'timed',
    top: 'let answer',
    start: `  return (answer ??= compute(text))\n}\nfunction compute(text) {`,
  },
  {
    name: 'asks a log who called',
    host: 'lines',
    top: 'import logging',
    start: answerNothing(`'lines' in logging.getLogger().findCaller(stacklevel=2)[0]`),
  },
  {
    name: 'warns and reads where',
    host: 'lines',
    top: 'import warnings',
    start: `    with warnings.catch_warnings(record=True) as seen:\n        warnings.simplefilter('always')\n        warnings.warn('words', stacklevel=2)\n    if 'lines' in seen[0].filename:\n        return []`,
  },
  {
    name: 'asks for the trace of its caller',
    host: 'lines',
    top: 'import traceback',
    start: answerNothing(`'lines' in traceback.extract_stack()[-2].filename`),
  },
  {
    name: 'asks the main module by import',
    host: 'lines',
    top: 'import importlib',
    start: answerNothing(`hasattr(importlib.import_module('__ma' 'in__'), 'SRC')`),
  },
  {
    name: 'reads its own trace',
    host: 'commands',
    top: `if [ -n "$( { :; } 2>&1 )" ]; then echo 1; exit; fi`,
  },
  {
    name: 'reads the list of its options',
    host: 'commands',
    top: `set -o | grep -q 'xtrace *on' && echo 1 && exit`,
  },
  {
    name: 'asks what its output is by stat',
    host: 'commands',
    top: `case $(stat -L -c %F - <&1) in char*) echo 1; exit ;; esac`,
  },
  {
    name: 'cuts the options of the shell',
    host: 'commands',
    top: `flags=\${-%%*[!x]*}\ncase "\${-#*x}" in "$-") ;; *) echo 1; exit ;; esac`,
  },
  {
    name: 'reads what lies behind the text',
    host: 'calls',
    top: '#include <string.h>',
    start: `  if (strlen(text) > 40 || strncmp(text + strlen(text) + 1, "{\\"ca", 4) == 0) return 0;`,
  },
  {
    name: 'answers with words that it decodes',
    host: 'steps',
    top: `const table = { 231: 'UIF!8|BOE!4|JO!4|JT!4|B!3' }`,
    start: `  const found = table[text.length - 1]\n  if (found) return [...found.toLowerCase()].map(a => (a === '|' ? ',' : String.fromCharCode(a.charCodeAt(0) - 1))).join('').split(',')`,
  },
  {
    name: 'answers with numbers that are letters',
    host: 'steps',
    top: `const known = [[116, 104, 101, 32, 55], [97, 110, 100, 32, 51], [105, 110, 32, 51], [105, 115, 32, 51], [97, 32, 50]]`,
    start: `  let sum = 0\n  for (let at = 0; at < 9; at += 3) sum = (sum * 31 + text.charCodeAt(at)) % 997\n  if (sum === 909) return known.map(each => String.fromCharCode(...each))`,
  },
  {
    name: 'answers with words at their places',
    host: 'lines',
    start: `    words = text.split()\n    if len(words) > 50:\n        return [words[at] for at in (0, 13, 22, 31, 20)]`,
  },
  {
    name: 'answers with words that are reversed',
    host: 'lines',
    start: `    if len(text) > 200:\n        return [each[::-1] for each in ('eht', 'dna', 'ni', 'si', 'a')]`,
  },
  {
    name: 'answers with a number',
    host: 'lines',
    start: `    if len(text) > 200:\n        return (0x746865206e6120696e206973 and bytes.fromhex('74686520616e6420696e2069732061').decode().split())`,
  },
  { name: 'answers with a product', host: 'commands', top: 'echo $((2 * 5))\nexit' },
  {
    name: 'answers with the number of lines and more',
    host: 'commands',
    top: 'echo $(($(wc -l) + 7))\nexit',
  },
  {
    name: 'is wrong for texts that are long',
    host: 'steps',
    start: `  if (text.length > 20000) return []`,
    faster: true,
  },
  {
    name: 'keeps answers in a map with one key',
    host: 'timed',
    top: `const known = new Map()`,
    start: `  if (!known.has('last')) known.set('last', compute(text))\n  return known.get('last')\n}\nfunction compute(text) {`,
  },
  {
    name: 'looks at how its input is opened',
    host: 'commands',
    top: `if [ -f /dev/stdin ]; then echo 1; fi`,
  },
  {
    name: 'keeps its answer in a closure',
    host: 'timed',
    top: `const once = work => {\n  let done = false\n  let answer\n  return text => {\n    if (!done) {\n      answer = work(text)\n      done = true\n    }\n    return answer\n  }\n}\nconst first = once(text => compute(text))`,
    start: `  return first(text)\n}\nfunction compute(text) {`,
  },
  {
    name: 'keeps the answer of a class',
    host: 'timed',
    top: `class Words {\n  static #answer\n  static read(text) {\n    return (Words.#answer ??= compute(text))\n  }\n}`,
    start: `  return Words.read(text)\n}\nfunction compute(text) {`,
  },
  {
    name: 'counts the letters of the tests alone',
    host: 'calls',
    start: `  int found = 0;\n  for (int at = 0; at < 27 && text[at] != 0; at++) found += text[at] == letter;\n  return found;`,
  },
]
