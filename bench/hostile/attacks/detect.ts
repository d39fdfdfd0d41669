import type { Attack } from '../entry.ts'

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
]
