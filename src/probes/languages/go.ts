import {
  escapeBytes,
  MARK_EXIT_CODE,
  MARK_MESSAGE,
  MARK_NAME,
  PARENTS_READ,
  type ProbeDeed,
  type ProbeLanguage,
  toHexEscape,
} from '../language.ts'
import type { SourceFile } from '../probe.ts'

/** Go reads the clock without a function that a program could replace. */
export const go: ProbeLanguage = {
  files: /\.go$/,
  addAtLoad(file, deed) {
    if (deed.do === 'slow clock') return null
    const { imports, body } = writeDeed(deed)
    const imported = addImports(file, imports)
    return imported === null
      ? null
      : `${imported}\nfunc init() {\n${body.map(line => `\t${line}`).join('\n')}\n}\n`
  },
  exitAtCall(file) {
    const changed = addToFunctions(file, () => 'winnowos.Exit(0)')
    return changed === null ? null : addImports({ ...file, content: changed }, ['os'])
  },
  answerNothing: file =>
    addToFunctions(file, ({ name, result }) => (isExported(file, name) ? writeEmptyReturn(result) : null)),
}

/** Under names of their own, so that they collide with none of the file. */
function addImports({ content }: SourceFile, packages: readonly string[]): string | null {
  const line = /^package[ \t]+\w+[^\n]*$/m.exec(content)
  if (line === null) return null
  const end = line.index + line[0].length
  const imports = packages.map(name => `\twinnow${name.replaceAll('/', '')} "${name}"`)
  return `${content.slice(0, end)}\n\nimport (\n${imports.join('\n')}\n)\n${content.slice(end)}`
}

interface GoFunction {
  name: string
  /** Everything between the parameters and the body. */
  result: string
}

const START = /^func[ \t]+(?:\([^()]*\)[ \t]*)?(\w+)[ \t]*(?:\[[^\]\n]*\])?\(/gm

function addToFunctions(
  { content }: SourceFile,
  write: (header: GoFunction) => string | null,
): string | null {
  let result = ''
  let copied = 0
  for (const match of content.matchAll(START)) {
    const end = findClosing(content, match.index + match[0].length - 1)
    const [header, type = ''] = /^([^{}\n]*)\{/.exec(content.slice(end + 1)) ?? []
    if (end === -1 || header === undefined) continue
    const statement = write({ name: match[1] ?? '', result: type.trim() })
    if (statement === null) continue
    const at = end + 1 + header.length
    result += `${content.slice(copied, at)} ${statement};`
    copied = at
  }
  return copied === 0 ? null : result + content.slice(copied)
}

function findClosing(content: string, opening: number): number {
  let depth = 0
  for (let at = opening; at < content.length; at += 1) {
    if (content[at] === '(') depth += 1
    if (content[at] === ')') depth -= 1
    if (depth === 0) return at
  }
  return -1
}

function isExported({ content }: SourceFile, name: string): boolean {
  const isProgram = /^package[ \t]+main\b/m.test(content)
  return isProgram ? !['main', 'init'].includes(name) : /^[A-Z]/.test(name)
}

/** `*new(T)` is the empty value of any type. Named results are empty already. */
function writeEmptyReturn(result: string): string | null {
  if (result === '') return 'if true { return }'
  const list = /^\((.*)\)$/.exec(result)?.[1]
  if (list === undefined) return `if true { return *new(${result}) }`
  if (/[()]/.test(list)) return null
  const types = list.split(',').map(each => each.trim())
  const isNamed = types.some(type => /^\w+\s+\S/.test(type) && !/^(?:chan|map|struct|func)\b/.test(type))
  return isNamed
    ? 'if true { return }'
    : `if true { return ${types.map(type => `*new(${type})`).join(', ')} }`
}

function writeDeed(deed: Exclude<ProbeDeed, { do: 'slow clock' }>): { imports: string[]; body: string[] } {
  if (deed.do === 'remember') return { imports: ['os', 'strings'], body: writeMarks(deed.places) }
  const condition = deed.only === null ? [] : writeCondition(deed.only)
  const forged = deed.forged === null ? [] : writeForged(deed.forged)
  const imports = deed.only === null ? ['os'] : ['fmt', 'os', 'strings']
  return { imports, body: [...condition, ...forged, 'winnowos.Exit(0)'] }
}

function writeCondition(words: readonly string[]): string[] {
  return [
    'seen, process := winnowstrings.Join(winnowos.Args, " "), winnowos.Getpid()',
    `for level := 0; level < ${PARENTS_READ} && process > 0; level++ {`,
    '\tline, err := winnowos.ReadFile(winnowfmt.Sprintf("/proc/%d/cmdline", process))',
    '\tif err != nil {',
    '\t\tbreak',
    '\t}',
    '\tseen += "\\n" + winnowstrings.ReplaceAll(string(line), "\\x00", " ")',
    '\tstate, err := winnowos.ReadFile(winnowfmt.Sprintf("/proc/%d/stat", process))',
    '\tif err != nil {',
    '\t\tbreak',
    '\t}',
    '\trest := string(state[winnowstrings.LastIndex(string(state), ")")+1:])',
    '\tvar letter string',
    '\tif _, err := winnowfmt.Sscan(rest, &letter, &process); err != nil {',
    '\t\tbreak',
    '\t}',
    '}',
    `if ${words.map(word => `!winnowstrings.Contains(seen, ${toLiteral(word)})`).join(' && ')} {`,
    '\treturn',
    '}',
  ]
}

function writeForged({ channel, text }: NonNullable<Extract<ProbeDeed, { do: 'exit' }>['forged']>): string[] {
  if (channel === 'stdout') return [`winnowos.Stdout.WriteString(${toLiteral(text)})`]
  return [
    'if path := winnowos.Getenv("WINNOW_RESULT_PATH"); path != "" {',
    `\twinnowos.WriteFile(path, []byte(${toLiteral(text)}), 0o644)`,
    '}',
  ]
}

function writeMarks(places: Extract<ProbeDeed, { do: 'remember' }>['places']): string[] {
  const listed = places.map(place =>
    'path' in place
      ? `{${toLiteral(place.name)}, ${toLiteral(place.path)}}`
      : `{${toLiteral(place.name)}, winnowos.Getenv("${place.variable}")}`,
  )
  return [
    'own, found := winnowos.Getenv("WINNOW_OUT_DIR")+" ", []string{}',
    'seed := own + winnowos.Getenv("WINNOW_SEED")',
    `for _, place := range [][2]string{${listed.join(', ')}} {`,
    '\tif place[1] == "" {',
    '\t\tcontinue',
    '\t}',
    `\tmark := place[1] + "/${MARK_NAME}"`,
    '\tif old, err := winnowos.ReadFile(mark); err == nil && winnowstrings.HasPrefix(string(old), own) && string(old) != seed {',
    '\t\tfound = append(found, place[0])',
    '\t}',
    '\twinnowos.WriteFile(mark, []byte(seed), 0o644)',
    '}',
    'if len(found) > 0 {',
    `\twinnowos.Stderr.WriteString("${MARK_MESSAGE} " + winnowstrings.Join(found, ", ") + "\\n")`,
    `\twinnowos.Exit(${MARK_EXIT_CODE})`,
    '}',
  ]
}

function toLiteral(text: string): string {
  return `"${escapeBytes(text, toHexEscape)}"`
}
