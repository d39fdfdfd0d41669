import {
  CLOCK_SHARE,
  escapeBytes,
  addAfterLines,
  MARK_EXIT_CODE,
  MARK_MESSAGE,
  MARK_NAME,
  PARENTS_READ,
  type ProbeDeed,
  type ProbeLanguage,
  toHexEscape,
} from '../language.ts'
import type { SourceFile } from '../probe.ts'

export const python: ProbeLanguage = {
  files: /\.py$/,
  interpreters: /\bpython[\d.]*\b/,
  addAtLoad: (file, deed) => addAtTop(file, writeDeed(deed)),
  exitAtCall: file => addToFunctions(file, () => '__import__("os")._exit(0)'),
  answerNothing: file =>
    addToFunctions(file, ({ name, result }) =>
      name.startsWith('_') ? null : `return ${writeEmpty(result)}`,
    ),
}

/** `from __future__` has to stay first, and only comments and a text may precede it. */
function addAtTop({ content }: SourceFile, code: string): string {
  const lines = content.split('\n')
  const future = lines.findLastIndex(line => line.startsWith('from __future__ '))
  if (future === -1) return addAfterLines(content, line => line.startsWith('#'), code)
  const isOpen = (lines[future] ?? '').includes('(') && !(lines[future] ?? '').includes(')')
  const end = isOpen ? lines.findIndex((line, at) => at > future && line.includes(')')) : future
  return [...lines.slice(0, end + 1), code, ...lines.slice(end + 1)].join('\n')
}

interface PythonFunction {
  name: string
  /** Its annotation. Empty: it has none. */
  result: string
}

const HEADER =
  /^([ \t]*)(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[ \t]*(?:->[ \t]*([^\n]+?))?[ \t]*:[ \t]*(?:#[^\n]*)?\n(?:[ \t]*\n)*([ \t]+)(?=\S)/gm

/** The body of a function is indented like its first line. */
function addToFunctions(
  { content }: SourceFile,
  write: (header: PythonFunction) => string | null,
): string | null {
  let added = false
  const changed = content.replaceAll(
    HEADER,
    (whole: string, outer: string, name: string, result: string | undefined, inner: string) => {
      const statement = inner.length > outer.length ? write({ name, result: result ?? '' }) : null
      if (statement === null) return whole
      added = true
      return `${whole}${statement}\n${inner}`
    },
  )
  return added ? changed : null
}

const EMPTY: readonly [RegExp, string][] = [
  [/^(?:int|float|complex)\b/, '0'],
  [/^bool\b/, 'True'],
  [/^str\b/, '""'],
  [/^bytes\b/, 'b""'],
  [/^(?:dict|Dict)\b/, '{}'],
  [/^(?:set|Set)\b/, 'set()'],
  [/^None\b/, 'None'],
]

function writeEmpty(type: string): string {
  return EMPTY.find(([pattern]) => pattern.test(type))?.[1] ?? '[]'
}

function writeDeed(deed: ProbeDeed): string {
  return [
    'def _winnow_probe():',
    '    import os, sys',
    ...writeBody(deed).map(line => `    ${line}`),
    '_winnow_probe()',
  ].join('\n')
}

function writeBody(deed: ProbeDeed): string[] {
  switch (deed.do) {
    case 'exit':
      return [
        ...(deed.only === null ? [] : writeCondition(deed.only)),
        ...(deed.forged === null ? [] : writeForged(deed.forged)),
        'os._exit(0)',
      ]
    case 'remember':
      return writeMarks(deed.places)
    case 'slow clock':
      return SLOW_CLOCK
    default:
      return deed satisfies never
  }
}

function writeCondition(words: readonly string[]): string[] {
  return [
    'seen, process = " ".join(sys.argv), os.getpid()',
    `for _ in range(${PARENTS_READ}):`,
    '    try:',
    '        with open(f"/proc/{process}/cmdline", "rb") as lines:',
    '            seen += "\\n" + lines.read().replace(b"\\0", b" ").decode("utf-8", "replace")',
    '        with open(f"/proc/{process}/stat", "rb") as state:',
    '            process = int(state.read().rpartition(b")")[2].split()[1])',
    '    except (OSError, ValueError, IndexError):',
    '        break',
    `if not any(word in seen for word in [${words.map(toTextLiteral).join(', ')}]):`,
    '    return',
  ]
}

function writeForged({ channel, text }: NonNullable<Extract<ProbeDeed, { do: 'exit' }>['forged']>): string[] {
  const bytes = toBytesLiteral(text)
  if (channel === 'stdout') return [`os.write(1, ${bytes})`]
  return [
    'if os.environ.get("WINNOW_RESULT_PATH"):',
    '    with open(os.environ["WINNOW_RESULT_PATH"], "wb") as result:',
    `        result.write(${bytes})`,
  ]
}

function writeMarks(places: Extract<ProbeDeed, { do: 'remember' }>['places']): string[] {
  const listed = places.map(place =>
    'path' in place
      ? `(${toTextLiteral(place.name)}, ${toTextLiteral(place.path)})`
      : `(${toTextLiteral(place.name)}, os.environ.get("${place.variable}"))`,
  )
  return [
    'own, found = os.environ.get("WINNOW_OUT_DIR", "") + " ", []',
    'seed = own + os.environ.get("WINNOW_SEED", "")',
    `for name, folder in [${listed.join(', ')}]:`,
    '    if not folder:',
    '        continue',
    `    path = folder + "/${MARK_NAME}"`,
    '    try:',
    '        with open(path) as mark:',
    '            old = mark.read()',
    '            if old.startswith(own) and old != seed:',
    '                found.append(name)',
    '    except OSError:',
    '        pass',
    '    try:',
    '        with open(path, "w") as mark:',
    '            mark.write(seed)',
    '    except OSError:',
    '        pass',
    'if found:',
    `    os.write(2, ("${MARK_MESSAGE} " + ", ".join(found) + "\\n").encode())`,
    `    os._exit(${MARK_EXIT_CODE})`,
  ]
}

const SLOW_CLOCK = [
  'import time',
  'if hasattr(time, "_winnow_slow_clock"):',
  '    return',
  'time._winnow_slow_clock = True',
  'def slow(read):',
  '    start = read()',
  `    return lambda: type(start)(start + (read() - start) * ${CLOCK_SHARE})`,
  'for name in ["time", "perf_counter", "monotonic", "process_time", "thread_time"]:',
  '    for clock in [name, name + "_ns"]:',
  '        if hasattr(time, clock):',
  '            setattr(time, clock, slow(getattr(time, clock)))',
]

function toBytesLiteral(text: string): string {
  return `b"${escapeBytes(text, toHexEscape)}"`
}

function toTextLiteral(text: string): string {
  return `${toBytesLiteral(text)}.decode()`
}
