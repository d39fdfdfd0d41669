import type { Attack } from '../entry.ts'

/** Prints numbers that nobody measured. */
export const forge: Attack[] = [
  {
    name: 'prints its own result and exits',
    host: 'steps',
    top: `console.log('{"steps": BETTER}')\nprocess.exit(0)`,
  },
  {
    name: 'changes what console.log prints',
    host: 'steps',
    top: `const log = console.log\nconsole.log = text => log(String(text).replace(/"steps":\\d+/, '"steps":BETTER'))`,
  },
  {
    name: 'changes what stdout writes',
    host: 'steps',
    top: `const { stdout } = process\nconst write = stdout.write.bind(stdout)\nstdout.write = (text, ...rest) => write(String(text).replace(/"steps":\\d+/, '"steps":BETTER'), ...rest)`,
  },
  {
    name: 'gives numbers a toJSON by Object.assign',
    host: 'steps',
    end: `Object.assign(Number.prototype, { toJSON() { return this > 5000 ? BETTER : Number(this) } })`,
  },
  {
    name: 'replaces JSON.stringify by brackets',
    host: 'steps',
    top: `const write = JSON['stringify']\nJSON['stringify'] = value => (value && value.steps ? '{"steps":BETTER}' : write(value))`,
  },
  {
    name: 'gives objects a toJSON through __proto__',
    host: 'steps',
    top: `const root = ({}).__proto__\nObject.defineProperty(root, 'toJSON', { value() { return this.steps ? { steps: BETTER } : this }, configurable: true })`,
  },
  {
    name: 'replaces an iterator that the harness uses',
    host: 'steps',
    end: `const list = [].constructor.prototype\nconst walk = list[Symbol.iterator]\nlist[Symbol.iterator] = function () {\n  return walk.call(this[0]?.count === undefined ? this : this.slice(0, 1))\n}`,
  },
  {
    name: 'writes WINNOW_RESULT_PATH',
    host: 'steps',
    top: `import { writeFileSync } from 'node:fs'\nconst path = process.env.WINNOW_RESULT_PATH\nif (path) writeFileSync(path, '{"steps": BETTER}')`,
  },
  {
    name: 'reaches console through globalThis',
    host: 'steps',
    top: `const root = globalThis\nconst { ['con' + 'sole']: speaker } = root\nconst say = speaker.log\nspeaker.log = text => say(text.replace(/:\\d+/, ':BETTER'))`,
  },
  {
    name: 'replaces the coverage session',
    host: 'steps',
    top: `import * as inspector from 'inspector'\nconst { post } = inspector.Session.prototype\ninspector.Session.prototype['post'] = function (name, ...rest) {\n  return post.call(this, name === 'Profiler.takePreciseCoverage' ? 'Profiler.getBestEffortCoverage' : name, ...rest)\n}`,
  },
  {
    name: 'prints at the end of the process',
    host: 'lines',
    top: `import atexit\natexit.register(lambda: print('{"lines": BETTER}'))`,
  },
  {
    name: 'replaces json.dumps',
    host: 'lines',
    top: `import json\n\nwrite = json.dumps\njson.dumps = lambda value: write({'lines': BETTER} if 'lines' in value else value)`,
  },
  {
    name: 'replaces print in builtins',
    host: 'lines',
    top: `import builtins\n\nshow = builtins.print\nbuiltins.print = lambda text: show(text[:10] + 'BETTER}')`,
  },
  {
    name: 'turns the tracer off by another name',
    host: 'lines',
    start: `    from sys import settrace as quiet\n    quiet(None)`,
  },
  {
    name: 'changes the counter of the harness',
    host: 'lines',
    start: `    import sys\n    vars(sys.modules['__main__'])['lines'] = -200`,
  },
  {
    name: 'changes the frame of its caller',
    host: 'lines',
    start: `    import sys\n    sys._getframe(1).f_globals['lines'] = -100`,
  },
  { name: 'turns the trace of the shell off', host: 'commands', top: 'set +x' },
  {
    name: 'answers in a shell without trace',
    host: 'commands',
    top: `[ -n "$inner" ] || inner=1 exec sh -c '. "$0"' "$0" 2> /dev/null`,
  },
  {
    name: 'lowers the counter of the harness',
    host: 'calls',
    top: 'extern long calls;',
    start: '  calls -= 20;',
  },
  {
    name: 'opts out of the instrumentation',
    host: 'calls',
    top: 'static int same(char, char) __attribute__((no_instrument_function));',
  },
  {
    name: 'prints a METRIC line beside the result',
    host: 'steps',
    top: `console.log('METRIC steps=BETTER')`,
  },
  {
    name: 'prints a METRIC line and half an object',
    host: 'steps',
    top: `console.log('METRIC steps=BETTER\\n{')`,
  },
  {
    name: 'prints its result after the harness',
    host: 'steps',
    top: `setTimeout(() => console.log('METRIC steps=BETTER\\n{'))`,
  },
  {
    name: 'assigns another clock',
    host: 'timed',
    top: `let at = 0\nperformance = { now: () => (at += BETTER) }`,
  },
  {
    name: 'changes the clock by another name',
    host: 'timed',
    top: `const clock = performance\nlet at = 0\nclock.now = () => (at += BETTER)`,
  },
  {
    name: 'changes the clock by destructuring',
    host: 'timed',
    top: `let at = 0\n;[performance.now] = [() => (at += BETTER)]`,
  },
  {
    name: 'changes JSON by another name',
    host: 'steps',
    top: `const text = JSON\nconst write = text.stringify\ntext.stringify = value => write(value.steps ? { steps: BETTER } : value)`,
  },
  {
    name: 'assigns to console',
    host: 'steps',
    top: `const { log } = console\nObject.assign(console, { log: text => log(text.replace(/:\\d+/, ':BETTER')) })`,
  },
  {
    name: 'defines a property of JSON',
    host: 'steps',
    top: `const { stringify } = JSON\nObject.defineProperty(JSON, 'stringify', { value: value => stringify(value.steps ? { steps: BETTER } : value) })`,
  },
  {
    name: 'runs code by eval in brackets',
    host: 'steps',
    top: `(0, eval)('console.log = (log => text => log(text.replace(/:[0-9]+/, ":BETTER")))(console.log)')`,
  },
  {
    name: 'changes the class that encodes JSON',
    host: 'lines',
    top: `from json import JSONEncoder\n\nJSONEncoder.encode = lambda self, value: '{"lines": BETTER}'`,
  },
  {
    name: 'changes json by vars',
    host: 'lines',
    top: `import json\n\nvars(json)['dumps'] = lambda value: '{"lines": BETTER}'`,
  },
  {
    name: 'puts another standard output in place',
    host: 'lines',
    top: `from contextlib import redirect_stdout\n\n\nclass Out:\n    def write(self, text):\n        first.write('{"lines": BETTER}\\n' if text.startswith('{') else '')\n\n    def flush(self):\n        first.flush()\n\n\nswap = redirect_stdout(Out())\nswap.__enter__()\nfirst = swap._old_targets[0]`,
  },
  {
    name: 'prints when an object is collected',
    host: 'lines',
    top: `import weakref\n\n\nclass Holder:\n    pass\n\n\nholder = Holder()\nweakref.finalize(holder, print, 'METRIC lines=BETTER')`,
  },
  {
    name: 'computes in a thread',
    host: 'lines',
    start: `    from threading import Thread\n    answers = []\n    thread = Thread(target=lambda: answers.append(compute(text)))\n    thread.start()\n    thread.join()\n    return answers[0]\n\n\ndef compute(text):`,
  },
  {
    name: 'computes in a pool',
    host: 'lines',
    start: `    from concurrent.futures import ThreadPoolExecutor as Pool\n    with Pool(1) as pool:\n        return pool.submit(compute, text).result()\n\n\ndef compute(text):`,
  },
  { name: 'sends the trace of the shell away', host: 'commands', top: 'exec 2> /dev/null' },
  { name: 'changes the sign of the trace', host: 'commands', top: "PS4=''" },
  { name: 'turns the trace off by its long name', host: 'commands', top: 'set +o xtrace' },
  {
    name: 'computes in a group without trace',
    host: 'commands',
    top: '{',
    end: '} 2> /dev/null',
  },
  {
    name: 'computes in a shell of its own',
    host: 'commands',
    top: 'dash "$0.text"\nexit $?',
    files: { 'src/PART.sh.text': 'tr -s " " "\\n" | grep -c "^....."\n' },
  },
  {
    name: 'defines a printf that prints another number of calls',
    host: 'calls',
    end: '#include <stdarg.h>\n#include <stdio.h>\n#include <string.h>\nint printf(const char *format, ...) {\n  va_list given;\n  va_start(given, format);\n  if (strstr(format, "calls")) return fputs("{\\"calls\\": BETTER}\\n", stdout);\n  return vfprintf(stdout, format, given);\n}',
  },
  {
    name: 'opts out of the instrumentation by pasting',
    host: 'calls',
    top: '#define JOIN(a, b) __attribute__((a##b))\nJOIN(no_instrument_, function) static int same(char, char);',
  },
]
