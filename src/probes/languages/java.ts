import {
  escapeBytes,
  addAtMatches,
  MARK_EXIT_CODE,
  MARK_MESSAGE,
  MARK_NAME,
  PARENTS_READ,
  type ProbeDeed,
  type ProbeLanguage,
  toOctalEscape,
} from '../language.ts'

const CLASSES = /^(?:(?:public|final|abstract|sealed|non-sealed)[ \t]+)*(?:class|record)[ \t]+\w+[^{};]*\{/gm
const METHODS =
  /^[ \t]+(?:@\w+[ \t]+)*(?:(?:public|protected|private|static|final|synchronized|default)[ \t]+)+(?:<[^{}()]*?>[ \t]+)?([\w<>[\],.?]+(?:[ \t]+[\w<>[\],.?]+)*?)[ \t]+(\w+)[ \t]*\([^(){}]*\)\s*(?:throws[\w.,\s]+?)?\{/gm

/** Java code cannot replace System.nanoTime. */
export const java: ProbeLanguage = {
  files: /\.java$/,
  addAtLoad(file, deed) {
    if (deed.do === 'slow clock') return null
    const body = writeDeed(deed).map(line => `      ${line}`)
    const code = ['static {', '    try {', ...body, '    } catch (Exception probe) { }', '  }'].join('\n')
    return addAtMatches(file.content, CLASSES, () => `\n  ${code}\n`)
  },
  exitAtCall: file =>
    addAtMatches(file.content, METHODS, ([, type = '']) =>
      isType(type) ? ' Runtime.getRuntime().halt(0);' : null,
    ),
  answerNothing: file =>
    addAtMatches(file.content, METHODS, ([whole, type = '', name]) =>
      isType(type) && name !== 'main' && /\b(?:public|protected)\b/.test(whole)
        ? writeEmptyReturn(type)
        : null,
    ),
}

/** A constructor has no type, so the words before its name are modifiers. */
function isType(type: string): boolean {
  return !/^(?:public|protected|private|static|final|return|new|else|abstract)$/.test(type)
}

const EMPTY: readonly [RegExp, string][] = [
  [/^(?:int|long|short|byte|float|double)$/, '0'],
  [/^char$/, "'0'"],
  [/^boolean$/, 'true'],
  [/^String$/, '""'],
  [/^(?:java\.util\.)?(?:List|Collection|Iterable)<.*>$/, 'java.util.List.of()'],
  [/^(?:java\.util\.)?Set<.*>$/, 'java.util.Set.of()'],
  [/^(?:java\.util\.)?Map<.*>$/, 'java.util.Map.of()'],
]

function writeEmptyReturn(type: string): string {
  if (type === 'void') return ' if (true) return;'
  if (/^\w+\[\]$/.test(type)) return ` if (true) return new ${type.replace('[]', '[0]')};`
  return ` if (true) return ${EMPTY.find(([pattern]) => pattern.test(type))?.[1] ?? 'null'};`
}

function writeDeed(deed: Exclude<ProbeDeed, { do: 'slow clock' }>): string[] {
  if (deed.do === 'remember') return writeMarks(deed.places)
  const end = [...(deed.forged === null ? [] : writeForged(deed.forged)), 'Runtime.getRuntime().halt(0);']
  return deed.only === null ? end : [...writeCondition(deed.only), ...end, '}']
}

/** Leaves a block open. */
function writeCondition(words: readonly string[]): string[] {
  return [
    'StringBuilder seen = new StringBuilder();',
    'java.util.Optional<ProcessHandle> handle = java.util.Optional.of(ProcessHandle.current());',
    `for (int level = 0; level < ${PARENTS_READ} && handle.isPresent(); level++) {`,
    '  seen.append(handle.get().info().commandLine().orElse("")).append((char) 10);',
    '  handle = handle.get().parent();',
    '}',
    `if (${words.map(word => `seen.indexOf(${toLiteral(word)}) >= 0`).join(' || ')}) {`,
  ]
}

function writeForged({ channel, text }: NonNullable<Extract<ProbeDeed, { do: 'exit' }>['forged']>): string[] {
  const bytes = `${toLiteral(text)}.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1)`
  if (channel === 'stdout') return [`System.out.write(${bytes});`, 'System.out.flush();']
  return [
    'String result = System.getenv("WINNOW_RESULT_PATH");',
    `if (result != null) java.nio.file.Files.write(java.nio.file.Path.of(result), ${bytes});`,
  ]
}

function writeMarks(places: Extract<ProbeDeed, { do: 'remember' }>['places']): string[] {
  const listed = places.map(place =>
    'path' in place
      ? `{${toLiteral(place.name)}, ${toLiteral(place.path)}}`
      : `{${toLiteral(place.name)}, System.getenv("${place.variable}")}`,
  )
  return [
    'String own = System.getenv("WINNOW_OUT_DIR") + " ";',
    'String seed = own + System.getenv("WINNOW_SEED");',
    'java.util.List<String> found = new java.util.ArrayList<>();',
    `for (String[] place : new String[][] {${listed.join(', ')}}) {`,
    '  if (place[1] == null) continue;',
    `  java.nio.file.Path mark = java.nio.file.Path.of(place[1], "${MARK_NAME}");`,
    '  try {',
    '    String old = java.nio.file.Files.readString(mark);',
    '    if (old.startsWith(own) && !old.equals(seed)) found.add(place[0]);',
    '  } catch (java.io.IOException missing) { }',
    '  try {',
    '    java.nio.file.Files.writeString(mark, seed);',
    '  } catch (java.io.IOException closed) { }',
    '}',
    'if (!found.isEmpty()) {',
    `  System.err.println("${MARK_MESSAGE} " + String.join(", ", found));`,
    `  Runtime.getRuntime().halt(${MARK_EXIT_CODE});`,
    '}',
  ]
}

function toLiteral(text: string): string {
  return `"${escapeBytes(text, toOctalEscape)}"`
}
