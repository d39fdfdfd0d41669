import {
  CLOCK_SHARE,
  addAfterLines,
  addAtMatches,
  MARK_EXIT_CODE,
  MARK_MESSAGE,
  MARK_NAME,
  PARENTS_READ,
  type ProbeDeed,
  type ProbeLanguage,
} from '../language.ts'
import type { SourceFile } from '../probe.ts'

const PARAMETERS = String.raw`\((?:[^()]|\([^()]*\))*\)`
const RESULT_TYPE = String.raw`(?:\s*:\s*(?:\{[^{}]*\}|[^{};=])+)?`
const FUNCTION = String.raw`function\s*\*?\s*(?<named>[\w$]*)\s*(?:<[^<>]*>)?${PARAMETERS}${RESULT_TYPE}\s*\{`
const ARROW = String.raw`(?:const|let|var)\s+(?<arrow>[\w$]+)\s*=\s*(?:async\s*)?(?:${PARAMETERS}|[\w$]+)${RESULT_TYPE}\s*=>\s*\{`
const METHOD = String.raw`^[ \t]+(?:(?:public|private|protected|static|override|async)\s+)*\*?(?!(?:if|for|while|switch|catch|with|function|constructor|return)\b)(?<method>[\w$]+)\s*${PARAMETERS}${RESULT_TYPE}\s*\{[ \t]*$`
const FUNCTIONS = new RegExp(String.raw`(?<![\w$.])${FUNCTION}|${ARROW}|${METHOD}`, 'gm')

export const javascript: ProbeLanguage = {
  files: /(?<!\.d)\.[cm]?[jt]sx?$/,
  interpreters: /\b(?:node|bun|deno)\b/,
  addAtLoad: (file, deed) => addAtTop(file, `;(() => {\n${writeDeed(deed)}\n})()`),
  exitAtCall: file => addToFunctions(file, () => ' globalThis.process.exit(0);'),
  answerNothing: file =>
    addToFunctions(file, (name, isMethod) =>
      isMethod || isExported(file.content, name) ? ' if (true) return [];' : null,
    ),
}

function addAtTop(file: SourceFile, code: string): string {
  const unchecked = isTypeScript(file) ? '// @ts-nocheck\n' : ''
  return addAfterLines(file.content, line => line.startsWith('#!'), unchecked + code)
}

function isTypeScript({ path }: SourceFile): boolean {
  return /\.[cm]?tsx?$/.test(path)
}

function addToFunctions(
  file: SourceFile,
  write: (name: string, isMethod: boolean) => string | null,
): string | null {
  const changed = addAtMatches(file.content, FUNCTIONS, ({ groups = {} }) =>
    write(groups['named'] ?? groups['arrow'] ?? groups['method'] ?? '', groups['method'] !== undefined),
  )
  return changed === null ? null : addAtTop({ ...file, content: changed }, '')
}

/** Functions without a name are assigned to something or exported. */
function isExported(content: string, name: string): boolean {
  if (name === '') return true
  const escaped = name.replaceAll('$', String.raw`\$`)
  return new RegExp(String.raw`(?:\bexport\b|\bexports\b)[^;(]*?(?<![\w$.])${escaped}(?![\w$])`).test(content)
}

function writeDeed(deed: ProbeDeed): string {
  switch (deed.do) {
    case 'exit': {
      const only = deed.only === null ? '' : writeCondition(deed.only)
      return `${SYSTEM}\n${only}\n${writeForged(deed.forged)}\n  system.exit(0)`
    }
    case 'remember':
      return `${SYSTEM}\n${writeMarks(deed.places)}`
    case 'slow clock':
      return SLOW_CLOCK
    default:
      return deed satisfies never
  }
}

const SYSTEM = `  const system = globalThis.process
  const files = system.getBuiltinModule?.('node:fs') ?? (typeof require === 'function' ? require('node:fs') : undefined)`

/** npm names the script that it runs in a variable. */
function writeCondition(words: readonly string[]): string {
  return `  let seen = [system.argv.join(' '), system.env.npm_lifecycle_script ?? ''].join('\\n')
  for (let id = system.pid, level = 0; files && id > 0 && level < ${PARENTS_READ}; level += 1) {
    try {
      seen += '\\n' + files.readFileSync('/proc/' + id + '/cmdline', 'utf8').split('\\0').join(' ')
      id = Number(files.readFileSync('/proc/' + id + '/stat', 'utf8').replace(/^[^]*\\) \\S+ (\\d+) [^]*$/, '$1'))
    } catch {
      break
    }
  }
  if (!${JSON.stringify(words)}.some(word => seen.includes(word))) return`
}

function writeForged(forged: Extract<ProbeDeed, { do: 'exit' }>['forged']): string {
  if (forged === null) return ''
  const text = JSON.stringify(forged.text)
  if (forged.channel === 'stdout')
    return `  if (files) files.writeSync(1, ${text})\n  else system.stdout.write(${text})`
  return `  if (system.env.WINNOW_RESULT_PATH) files.writeFileSync(system.env.WINNOW_RESULT_PATH, ${text})`
}

function writeMarks(places: Extract<ProbeDeed, { do: 'remember' }>['places']): string {
  const listed = places.map(place =>
    'path' in place
      ? `[${JSON.stringify(place.name)}, ${JSON.stringify(place.path)}]`
      : `[${JSON.stringify(place.name)}, system.env.${place.variable}]`,
  )
  return `  const own = (system.env.WINNOW_OUT_DIR ?? '') + ' '
  const seed = own + (system.env.WINNOW_SEED ?? '')
  const found = []
  for (const [name, folder] of [${listed.join(', ')}]) {
    if (!folder) continue
    const mark = folder + '/${MARK_NAME}'
    try {
      const old = files.readFileSync(mark, 'utf8')
      if (old.startsWith(own) && old !== seed) found.push(name)
    } catch {}
    try {
      files.writeFileSync(mark, seed)
    } catch {}
  }
  if (found.length === 0) return
  files.writeSync(2, '${MARK_MESSAGE} ' + found.join(', ') + '\\n')
  system.exit(${MARK_EXIT_CODE})`
}

const SLOW_CLOCK = `  if (globalThis.winnowSlowClock) return
  globalThis.winnowSlowClock = true
  const { performance: clock, process: system, Date: dates } = globalThis
  const slow = read => {
    const start = read()
    return () => start + (read() - start) * ${CLOCK_SHARE}
  }
  if (clock) Object.defineProperty(clock, 'now', { value: slow(clock.now.bind(clock)) })
  dates.now = slow(dates.now.bind(dates))
  if (!system?.hrtime) return
  const exact = system.hrtime.bigint.bind(system.hrtime)
  const start = exact()
  const bigint = () => start + (exact() - start) / ${Math.round(1 / CLOCK_SHARE)}n
  const hrtime = before => {
    const nanoseconds = bigint() - (before ? BigInt(before[0]) * 1000000000n + BigInt(before[1]) : 0n)
    return [Number(nanoseconds / 1000000000n), Number(nanoseconds % 1000000000n)]
  }
  system.hrtime = Object.assign(hrtime, { bigint })`
