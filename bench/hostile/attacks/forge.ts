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
]
