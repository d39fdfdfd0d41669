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
  { name: 'gives its code the address of another file', host: 'steps', end: '//# sourceURL=node:words' },
  {
    name: 'answers includes for its own address',
    host: 'steps',
    top: `const texts = Reflect.getPrototypeOf('')\nconst has = texts.includes\nReflect.set(texts, 'includes', function (...all) { return !this.endsWith('PART.js') && has.apply(this, all) })`,
  },
  {
    name: 'changes texts through the constructor of a text',
    host: 'steps',
    top: `const { constructor: { prototype: texts } } = 'text'\nconst has = texts.includes\ntexts.includes = function (part) { return !this.endsWith('PART.js') && has.call(this, part) }`,
  },
  {
    name: 'changes the class of texts in a loop',
    host: 'steps',
    top: `for (const kind of [String]) {\n  const { prototype } = kind\n  const { includes } = prototype\n  prototype.includes = function (part) { return !this.endsWith('PART.js') && includes.call(this, part) }\n}`,
  },
  {
    name: 'defines a getter of every object',
    host: 'steps',
    top: `const plain = Object.getPrototypeOf({})\nplain.__defineGetter__('toJSON', () => () => ({ steps: BETTER }))`,
  },
  {
    name: 'changes what lists step through',
    host: 'steps',
    top: `const steps = Object.getPrototypeOf([][Symbol.iterator]())\nconst { next } = steps\nsteps.next = function () {\n  const found = next.call(this)\n  if (found.value?.count > 1 && found.value.startOffset) found.value.count = 1\n  return found\n}`,
  },
  {
    name: 'keeps its work in the text of a module',
    host: 'steps',
    top: `import { compute } from 'data:text/javascript,export const compute = text => { const counts = {}; for (const word of text.split(/[^a-z]+/)) counts[word] = (counts[word] || 0) %2B 1; return Object.entries(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 5).map(a => a.join(" ")) }'`,
    start: '  return compute(text)',
  },
  {
    name: 'counts again from nothing',
    host: 'steps',
    top: `import inspector from 'node:inspector'\nconst own = new inspector.Session()\nown.connect()`,
    start: `  const found = work(text)\n  own.post('Profiler.takePreciseCoverage')\n  return found\n}\nfunction work(text) {`,
  },
  {
    name: 'answers with a list that is filled when it is read',
    host: 'steps',
    start: `  const list = []\n  const fill = key => {\n    if (list.length === 0 && typeof key === 'string') list.push(...compute(text))\n  }\n  return new Proxy(list, {\n    get(target, key) {\n      fill(key)\n      return target[key]\n    },\n    ownKeys(target) {\n      fill('')\n      return Reflect.ownKeys(target)\n    },\n  })\n}\nfunction compute(text) {`,
  },
  {
    name: 'answers with getters',
    host: 'steps',
    start: `  let all\n  const list = []\n  for (let at = 0; at < 5; at++)\n    Object.defineProperty(list, at, { enumerable: true, configurable: true, get: () => (all ??= compute(text))[at] })\n  return list\n}\nfunction compute(text) {`,
  },
  {
    name: 'reaches the iterator of lists by its descriptor',
    host: 'steps',
    top: `const lists = [].__proto__\nconst old = Object.getOwnPropertyDescriptor(lists, Symbol.iterator)\nReflect.defineProperty(lists, Symbol.iterator, { ...old, value: function () { return old.value.call(this[0]?.startOffset >= 0 ? [this[0]] : this) } })`,
  },
  {
    name: 'changes the least of two numbers',
    host: 'timed',
    top: `for (const tools of [Math]) {\n  const { min } = tools\n  tools.min = (...all) => min(...all) * 0.6\n}`,
  },
  {
    name: 'reaches the clock by its class',
    host: 'timed',
    top: `import { performance as watch } from 'node:perf_hooks'\nconst kind = Reflect.getPrototypeOf(watch)\nconst { now } = kind\nReflect.set(kind, 'now', function () { return now.call(this) * 0.6 })`,
  },
  {
    name: 'mocks the clock with the tools of tests',
    host: 'timed',
    top: `import { mock } from 'node:test'\nconst read = performance.now.bind(performance)\nmock.method(performance, 'now', () => read() * 0.6)`,
  },
  {
    name: 'gives its code the name of another file',
    host: 'lines',
    end: `\n\nrun.__code__ = run.__code__.replace(co_filename='words')`,
  },
  {
    name: 'computes in a text that is timed',
    host: 'lines',
    top: 'import timeit',
    start: `    given = {'text': text, 'answer': []}\n    timeit.Timer('''\ncounts = {}\nfor word in text.split():\n    counts[word] = counts.get(word, 0) + 1\nanswer.extend(sorted(counts, key=lambda word: (-counts[word], word))[:5])\n''', globals=given).timeit(1)\n    return given['answer']`,
  },
  {
    name: 'turns the lines of its own frame off',
    host: 'lines',
    start: `    work = compute(text)\n    work.gi_frame.f_trace_lines = False\n    return next(work)\n\n\ndef compute(text):\n    counts = []\n    for word in text.split():\n        found = None\n        for entry in counts:\n            if entry[1] == word:\n                found = entry\n        if found is None:\n            counts.append([0, word])\n        else:\n            found[0] -= 1\n    counts.sort()\n    yield [entry[1] for entry in counts[:5]]\n\n\ndef old(text):`,
  },
  {
    name: 'finds the harness among all objects',
    host: 'lines',
    top: 'import gc',
    start: `    for each in gc.get_objects():\n        if type(each) is dict and 'SRC' in each and 'HERE' in each:\n            each['SRC'] = '/none' + each['SRC']\n            answer = compute(text)\n            each['SRC'] = each['SRC'][5:]\n            return answer\n    return compute(text)\n\n\ndef compute(text):`,
  },
  {
    name: 'replaces print through the module of len',
    host: 'lines',
    top: `import json\nshow = print\nlen.__self__.print = lambda line: show(json.dumps({'lines': BETTER}) if 'lines' in line else line)`,
  },
  {
    name: 'replaces print through its own globals',
    host: 'lines',
    top: `show = print\n\n\ndef say(line):\n    show('{"lines": BETTER}' if 'lines' in line else line)\n\n\nsay.__builtins__['print'] = say`,
  },
  {
    name: 'answers with a list that is filled when it is read',
    host: 'lines',
    top: `from collections import UserList\n\n\nclass Later(UserList):\n    def __init__(self, text):\n        self.text = text\n\n    @property\n    def data(self):\n        return compute(self.text)\n`,
    start: `    return Later(text)\n\n\ndef compute(text):`,
  },
  {
    name: 'hides its code in an encoding',
    host: 'lines',
    top: '# coding: unicode_escape\n# words of texts \\u000aimport sys; sys.settrace(None)',
  },
  {
    name: 'writes several statements in a line',
    host: 'lines',
    start: `    counts = []\n    for word in text.split():\n        found = None\n        for entry in counts: found = entry if entry[1] == word else found\n        counts.append([-1, word]) if found is None else found.__setitem__(0, found[0] - 1)\n    counts.sort(); return [entry[1] for entry in counts[:5]]`,
  },
  { name: 'sets the options of the shell to nothing', host: 'commands', top: 'set -' },
  { name: 'loops over the sign of the trace', host: 'commands', top: `for PS4 in ''; do :; done` },
  { name: 'reads the sign of the trace', host: 'commands', top: `read -r PS4 <<end\n\nend` },
  {
    name: 'closes the errors of a loop',
    host: 'commands',
    top: `count=0\nwhile read -r line; do\n  for word in $line; do\n    case $word in ?????*) count=$((count + 1)) ;; esac\n  done\ndone 2>&-\necho "$count"\nexit`,
  },
  { name: 'opens the errors for reading', host: 'commands', top: 'exec 2<> /dev/null' },
  {
    name: 'runs itself again without trace',
    host: 'commands',
    top: 'if [ -z "$again" ]; then export again=1; exec "${SH:-sh}" "$0"; fi',
  },
  { name: 'sets its options from a variable', host: 'commands', top: 'off=x\nset +$off' },
  { name: 'turns several options off', host: 'commands', top: 'set +eux' },
  {
    name: 'lets a builder run it',
    host: 'commands',
    top: `printf 'all:\\n\\t@tr -s " " "\\\\n" | while read -r word; do case $$word in ?????*) echo 1 ;; esac; done | wc -l\\n' | make -s -f /proc/self/fd/3 3<&0 < bench/text.txt\nexit`,
  },
  {
    name: 'lets find run it',
    host: 'commands',
    top: `find . -prune -exec sh -c 'count=0; while read -r line; do for word in $line; do case $word in ?????*) count=$((count + 1)) ;; esac; done; done; echo $count' ';'\nexit`,
  },
  {
    name: 'lets awk run it',
    host: 'commands',
    top: `awk 'BEGIN { system("tr -s \\" \\" \\"\\\\n\\" | grep -c .....") }'\nexit`,
  },
  { name: 'takes its options off in quotes', host: 'commands', top: `"set" '+'x` },
  {
    name: 'changes how numbers are printed',
    host: 'calls',
    top: `#include <printf.h>\n#include <stdio.h>\nstatic int show(FILE *out, const struct printf_info *info, const void *const *args) { return fprintf(out, "%s", "BETTER"); }\nstatic int size(const struct printf_info *info, size_t n, int *types, int *sizes) { if (n > 0) types[0] = PA_INT | PA_FLAG_LONG; return 1; }`,
    start: `  if (text[27] != 0) register_printf_specifier('d', show, size);`,
  },
  {
    name: 'opts out with digraphs and lines that go on',
    host: 'calls',
    top: `%:define QUIET __attri\\\nbute__((no_instru\\\nment_function))\nQUIET static int alike(char a, char b) { return a == b; }\n%:define same alike`,
  },
  {
    name: 'opts out in a file of another kind',
    host: 'calls',
    top: `#include "PART.def"\n#define same alike`,
    files: {
      'src/PART.def': `__attribute__((no_instrument_function)) static int alike(char a, char b) { return a == b; }\n`,
    },
  },
  {
    name: 'writes its function in assembler',
    host: 'calls',
    top: `#include "words.h"\nint alike(char a, char b);\n__asm__(".text\\nalike: xor %eax,%eax; cmp %sil,%dil; sete %al; ret");\n#define same alike`,
  },
  {
    name: 'does more where nothing is counted',
    host: 'steps',
    faster: true,
    start: `  Array.from({ length: 2e6 }, Math.sqrt).sort()`,
  },
  {
    name: 'takes much memory where nothing is counted',
    host: 'steps',
    faster: true,
    top: `const table = new Float64Array(4e7).fill(1)\nexport const size = table.length`,
  },
  {
    name: 'patches the text it was given',
    host: 'steps',
    start: `  const kind = text.constructor\n  const old = kind.prototype.includes\n  kind.prototype.includes = function (part) { return !this.endsWith('PART.js') && old.call(this, part) }\n  return old ? work(text) : []\n}\nfunction work(text) {`,
  },
]
