import { findChangedProgram } from './lockfile-programs.ts'
import type { ChangedFile } from './selection.ts'
import { SUSPICIOUS_PATTERNS } from './suspicious-patterns.ts'
import { type SourceLanguage, WORD_RULES, type WordRule, type WordRuleName } from './suspicious-words.ts'

/**
 * A line or file of a change that can make a benchmark report a gain which is none. It proves nothing: honest
 * changes contain such lines too. winnow shows it to a person before the change lands.
 */
export interface SuspiciousChange {
  rule: SuspicionRule
  path: string
  /** 1 where the whole file is meant. */
  line: number
  text: string
}

/** Rules about whole files and texts. The words of code are in `suspicious-words.ts`. */
const FILE_RULES = {
  start_up: 'runs before the program, or changes how it is built, started or tested',
  copied_literal: 'contains a literal of a test or a benchmark',
  proportion: 'has a line too long to review',
  hidden_text: 'contains characters that an editor does not show, or that look like others',
} as const
export type SuspicionRule = WordRuleName | keyof typeof FILE_RULES

export function describeSuspicionRule(rule: SuspicionRule): string {
  return rule in WORD_RULES
    ? WORD_RULES[rule as WordRuleName].means
    : FILE_RULES[rule as keyof typeof FILE_RULES]
}

const LANGUAGES: readonly [SourceLanguage, RegExp][] = [
  ['js', /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/],
  ['python', /\.pyi?$/],
  ['go', /\.go$/],
  ['rust', /\.rs$/],
  ['java', /\.(?:java|kt|kts|scala|groovy)$/],
  ['ruby', /\.(?:rb|rake|gemspec|ru)$/],
  ['c', /\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inc|m|mm|cu|s|asm)$/i],
  ['shell', /\.(?:sh|bash|zsh)$/],
]

/** Files that a tool chain reads or runs by itself. */
const START_UP_FILES = compileNames(`
  binding.gyp build.rs build.zig setup.py setup.cfg tox.ini noxfile.py conftest.py pytest.ini .coveragerc
  sitecustomize.py usercustomize.py *.pth .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs bunfig.toml deno.json deno.jsonc
  .mocharc.* .swcrc .babelrc* *.config.js *.config.ts *.config.mjs *.config.cjs *.config.mts *.config.json
  tsconfig*.json jsconfig.json .taprc .nycrc* .c8rc* vitest.workspace.* setupTests.* *.setup.js *.setup.ts *.setup.mjs
  pnpm-workspace.yaml .pnp.cjs .pnp.loader.mjs pyvenv.cfg tasks.py .pytest.ini *._pth spec_helper.rb rails_helper.rb
  test_helper.rb Guardfile .irbrc junit-platform.properties *.mk *.mak *.am *.ac configure SConstruct justfile
  CMakePresets.json *.gradle *.props *.targets .java-version .go-version .sdkmanrc .jvmopts mise.toml .mise.toml
  .gitattributes .gitmodules .lfsconfig Dockerfile docker-compose.yml .gitlab-ci.yml
  rust-toolchain rust-toolchain.toml go.work .rspec .simplecov Rakefile CMakeLists.txt *.cmake Makefile GNUmakefile
  meson.build BUILD BUILD.bazel pom.xml build.gradle build.gradle.kts settings.gradle gradle.properties .envrc .env
  .env.* .tool-versions .node-version .nvmrc .python-version .ruby-version .gitconfig .pre-commit-config.yaml`)
const START_UP_FOLDERS =
  /(?:^|\/)(?:\.cargo|\.mvn|\.husky|\.bundle|\.github|\.devcontainer|\.yarn|node_modules|site-packages|META-INF\/services|[^/]+\.(?:egg|dist)-info)\/|(?:^|\/)vendor\/modules\.txt$/
/** Modules that Python may load instead of its own. */
const SHADOWING =
  /(?:^|\/)(?:builtins|collections|copy|datetime|decimal|doctest|functools|heapq|inspect|io|itertools|json|math|operator|os|pytest|random|re|resource|signal|statistics|string|struct|subprocess|sys|tempfile|threading|time|timeit|unittest)(?:\.py|\/__init__\.py)$/
/** Keys of a package manifest that decide what runs. */
const MANIFEST = /(?:^|\/)(?:package\.json|pyproject\.toml|Cargo\.toml)$/
const MANIFEST_KEYS =
  /^\s*(?:"(?:bin|scripts|main|module|exports|imports|type|browser|gypfile|overrides|resolutions|(?:pre|post)?(?:install|test|prepare|build))"\s*:|\[(?:tool\.pytest|tool\.setuptools|build-system|project\.scripts|project\.entry-points|profile|build|target|patch)\b|(?:build|harness|proc-macro|rustflags)\s*=)/

const LONGEST_LINE = 1000
const HIDDEN_CHARACTERS =
  /\u034f|[\u00ad\u061c\u0085\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\u2800\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]|[^\P{Cc}\t\r]|\r(?!$)/u
/** Letters that look like Latin ones, beside those. */
const MIXED_ALPHABETS = /[A-Za-z][\u0400-\u04ff\u03bf]|[\u0400-\u04ff\u03bf][A-Za-z]/
const SHOWN = 100

interface Line {
  number: number
  text: string
}

/** `rulers`: texts of tests, benchmarks and their data, whose literals a candidate has no reason to contain. */
export function findSuspiciousChanges(
  files: readonly ChangedFile[],
  rulers: readonly string[] = [],
): SuspiciousChange[] {
  const copied = { texts: rulers, literals: collectLiterals(rulers) }
  return files.flatMap(file => checkFile(file, copied))
}

function checkFile(file: ChangedFile, copied: RulerTexts): SuspiciousChange[] {
  const { path, before } = file
  const added = listAddedLines(file)
  const [first = { number: 1, text: path }] = added
  if (before === null && (MIXED_ALPHABETS.test(path) || hasOtherLetters(path)))
    return [toFinding('hidden_text', path, first)]
  const isNewModule = before === null && SHADOWING.test(path)
  if (isNewModule || START_UP_FILES.test(path) || START_UP_FOLDERS.test(path))
    return [toFinding('start_up', path, first)]
  const program = findChangedProgram(file)
  if (program !== null) return [toFinding('start_up', path, findLine(added, '"bin"') ?? first)]
  const manifest = MANIFEST.test(path) ? added.filter(({ text }) => MANIFEST_KEYS.test(text)) : []
  return [
    ...manifest.map(line => toFinding('start_up', path, line)),
    ...findWords(file, added).map(([rule, line]) => toFinding(rule, path, line)),
    ...added
      .filter(({ text }) => hasCopiedLiteral(text, copied, before ?? ''))
      .map(line => toFinding('copied_literal', path, line)),
    ...added
      .filter(({ text }) => text.length > LONGEST_LINE)
      .map(line => toFinding('proportion', path, line)),
    ...added
      .filter(
        ({ text }) => HIDDEN_CHARACTERS.test(text) || MIXED_ALPHABETS.test(text) || hasOtherLetters(text),
      )
      .map(line => toFinding('hidden_text', path, line)),
  ]
}

/** Python takes a fullwidth or bold letter in a name for the plain one. */
function hasOtherLetters(text: string): boolean {
  const letters = text.match(/[\p{L}\p{Nl}\p{Pc}]/gu) ?? []
  return letters.some(letter => letter > '\u007f' && isPlain(letter))
}

function isPlain(letter: string): boolean {
  return /^\w+$/.test(letter.normalize('NFKC'))
}

function findLine(lines: readonly Line[], word: string): Line | undefined {
  return lines.find(({ text }) => text.includes(word))
}

function toFinding(rule: SuspicionRule, path: string, { number, text }: Line): SuspiciousChange {
  return { rule, path, line: number, text: text.trim().slice(0, SHOWN) }
}

function listAddedLines({ before, after }: ChangedFile): Line[] {
  const old = new Set((before ?? '').split('\n').map(text => text.trim()))
  return (after ?? '')
    .split('\n')
    .map((text, at) => ({ number: at + 1, text }))
    .filter(({ text }) => text.trim() !== '' && !old.has(text.trim()))
}

// Words of code

const WORD_RULE_NAMES = Object.keys(WORD_RULES) as WordRuleName[]

/**
 * Finds words that the file holds more often than before, at lines that the change adds: a line that only moved is
 * no finding.
 */
function findWords({ path, before, after }: ChangedFile, added: readonly Line[]): [WordRuleName, Line][] {
  const language = LANGUAGES.find(([, pattern]) => pattern.test(path))?.[0]
  if (language === undefined || after === null) return []
  const lines = new Map(added.map(line => [line.number, line]))
  const [old, now] = [clearProse(before ?? '', language), clearProse(after, language)]
  return listPatterns(language).flatMap(([rule, pattern]) => {
    const known = countWords(old.matchAll(pattern))
    const found = new Map<number, [WordRuleName, Line]>()
    for (const match of now.matchAll(pattern)) {
      const word = normalizeWord(match)
      const left = known.get(word) ?? 0
      known.set(word, left - 1)
      const line = findAddedLine(now, match, lines)
      if (left <= 0 && line !== null) found.set(line.number, [rule, line])
    }
    return [...found.values()]
  })
}

function listPatterns(language: SourceLanguage): [WordRuleName, RegExp][] {
  const words = WORD_RULE_NAMES.flatMap((rule): [WordRuleName, RegExp][] => {
    const { [language]: named }: WordRule = WORD_RULES[rule]
    return named === undefined ? [] : [[rule, compileWords(named)]]
  })
  const patterns = SUSPICIOUS_PATTERNS.filter(({ languages }) => languages.includes(language))
  return [...words, ...patterns.map(({ rule, pattern }): [WordRuleName, RegExp] => [rule, pattern])]
}

function countWords(matches: Iterable<RegExpMatchArray>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const match of matches) counts.set(normalizeWord(match), (counts.get(normalizeWord(match)) ?? 0) + 1)
  return counts
}

function normalizeWord([text]: RegExpMatchArray): string {
  return text.replaceAll(/\s/g, '')
}

/** A name may span lines: any of them may be the added one. */
function findAddedLine(
  text: string,
  { 0: word, index = 0 }: RegExpMatchArray,
  added: ReadonlyMap<number, Line>,
): Line | null {
  const first = text.slice(0, index).split('\n').length
  const count = word.split('\n').length
  for (let number = first; number < first + count; number += 1) {
    const line = added.get(number)
    if (line !== undefined) return line
  }
  return null
}

/** Inside a text of several lines, a line that looks like a comment may hold code in braces, so it counts as code. */
const COMMENT_LINES: Readonly<Record<SourceLanguage, RegExp>> = {
  js: /^[ \t]*\/\/(?!.*\$\{).*$/gm,
  python: /^[ \t]*#(?!.*\{).*$/gm,
  go: /^[ \t]*\/\/(?!go:).*$/gm,
  rust: /^[ \t]*\/\/.*$/gm,
  java: /^[ \t]*\/\/(?!.*\$\{).*$/gm,
  ruby: /^(?!.*#\{)[ \t]*#.*$/gm,
  c: /^[ \t]*\/\/.*$/gm,
  shell: /^[ \t]*#(?!!)(?!.*(?:\$\(|`)).*$/gm,
}

/** The lines of a block comment that begin with a star, and have no code behind its end. */
const STARRED: ReadonlySet<SourceLanguage> = new Set(['js', 'java'])
const STARRED_LINES = /(^[ \t]*\/\*(?!.*\*\/).*$)((?:\r?\n[ \t]*\*(?!\/)(?!.*(?:\*\/[ \t]*\S|\$\{)).*$)+)/gm

/** Languages whose quotes pair up on lines without the characters of `UNCLEAR_QUOTES`. */
const QUOTING: ReadonlySet<SourceLanguage> = new Set(['js', 'python', 'java'])
/** A regular expression, an escape, a template or a text of several lines may hold a quote that opens no text. */
const UNCLEAR_QUOTES = /[/\\`]|"{3}|'{3}/
const QUOTED = /(["'])((?:(?!\1).)*)\1/g
const SENTENCE = /^[A-Za-z][\w,.:!?()-]* [\w ,.:!?()-]*$/

/** Removes comments and quoted sentences, which name things without being code. */
function clearProse(text: string, language: SourceLanguage): string {
  const code = clearComments(text, language)
  if (!QUOTING.has(language)) return code
  const lines = code.split('\n')
  return lines
    .map((line, at) =>
      UNCLEAR_QUOTES.test(line) || lines[at - 1]?.endsWith('\\') === true
        ? line
        : line.replaceAll(QUOTED, quoted => (SENTENCE.test(quoted.slice(1, -1)) ? '""' : quoted)),
    )
    .join('\n')
}

function clearComments(text: string, language: SourceLanguage): string {
  const code = text.replaceAll(COMMENT_LINES[language], '')
  if (!STARRED.has(language)) return code
  return code.replaceAll(
    STARRED_LINES,
    (_, first: string, rest: string) => first + rest.replaceAll(/[^\r\n]/g, ''),
  )
}

function compileNames(names: string): RegExp {
  const patterns = names
    .trim()
    .split(/\s+/)
    .map(name => name.replaceAll('.', String.raw`\.`).replaceAll('*', '[^/]*'))
  return new RegExp(`(?:^|/)(?:${patterns.join('|')})$`, 'i')
}

function compileWords(words: string): RegExp {
  return new RegExp(words.split(' ').map(toPattern).join('|'), 'g')
}

function toPattern(word: string): string {
  const start = /^\w/.test(word) ? (/[.:]/.test(word) ? String.raw`(?<![\w$])` : String.raw`(?<![\w$.])`) : ''
  const end = /\w$/.test(word) ? String.raw`(?![\w$])` : ''
  return start + word.replaceAll(/\W/g, toPartPattern) + end
}

function toPartPattern(part: string): string {
  if (part === '~') return String.raw`\s+`
  if (part === '*') return String.raw`\w*`
  if (part === "'") return '[\'"`]'
  if (part === '.') return String.raw`\s*(?:\?\.|\.)\s*`
  if (part === '=') return String.raw`\s*=(?![=>])\s*`
  return `\\s*\\${part}\\s*`
}

// Copied literals

const LITERAL = /(["'`])((?:(?!\1)[^\\\n]|\\.){12,})\1|(?<![\w.])(\d[\d_]*\.?\d*)(?![\w.])/g
/** Names and paths occur in code and tests alike. */
const NAME_OR_PATH = /^[\w@:./-]{1,24}$/
const LEAST_DIGITS = 5

/** Shorter texts and round numbers occur by chance: `utf8`, 100000, 65536. */
function* readLiterals(text: string): Generator<string> {
  for (const [, , quoted, number = ''] of text.matchAll(LITERAL)) {
    if (quoted !== undefined && !NAME_OR_PATH.test(quoted)) yield quoted
    const digits = number.replaceAll('_', '')
    if (digits.length >= LEAST_DIGITS && !isRoundNumber(Number(digits))) yield digits
  }
}

function isRoundNumber(value: number): boolean {
  return (
    Number.isInteger(Math.log2(value)) ||
    Number.isInteger(Math.log2(value + 1)) ||
    /^\d{1,2}0*$/.test(`${value}`)
  )
}

function collectLiterals(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap(text => [...readLiterals(text)]))
}

interface RulerTexts {
  texts: readonly string[]
  literals: ReadonlySet<string>
}

function hasCopiedLiteral(text: string, { texts, literals }: RulerTexts, before: string): boolean {
  if (texts.length === 0) return false
  const isNew = (literal: string) => !before.includes(literal)
  if (listShortAnswers(text).filter(each => isNew(each) && isQuoted(each, texts)).length >= LEAST_ANSWERS)
    return true
  return [...readLiterals(text), ...listComparedTexts(text)].some(
    literal =>
      isNew(literal) &&
      (literals.has(literal) || (literal.includes(' ') && texts.some(ruler => ruler.includes(literal)))),
  )
}

// Short texts, which tell something only together, or where an input is compared with them

const LEAST_ANSWERS = 3
const SHORT_LITERAL = /(["'`])((?:(?!\1)[^\\\n]){2,11})\1/g
/** Words alone occur in code and tests alike. */
const ANSWER = /\d|\S\s+\S/

function listShortAnswers(text: string): string[] {
  return [...new Set([...text.matchAll(SHORT_LITERAL)].map(([, , literal = '']) => literal))].filter(
    literal => ANSWER.test(literal),
  )
}

function isQuoted(literal: string, texts: readonly string[]): boolean {
  return texts.some(ruler => ['"', "'", '`'].some(quote => ruler.includes(`${quote}${literal}${quote}`)))
}

const COMPARED_TEXT =
  /(?:(?:starts|ends)_?[wW]ith|includes|contains|indexOf|find|hasPrefix|HasPrefix|strstr|strn?cmp|[!=]==?|\bin|\bcase)\s*\(?\s*(?:\w+\s*,\s*)?(["'`])((?:(?!\1)[^\\\n]){5,11})\1/g

function listComparedTexts(text: string): string[] {
  return [...text.matchAll(COMPARED_TEXT)].flatMap(([, , literal = '']) =>
    /\S\s+\S/.test(literal) ? [literal] : [],
  )
}
