import { findCopiedLines, type RulerTexts, readRulerTexts } from './copied-literals.ts'
import { readSuspectCode } from './harmless-uses.ts'
import { findChangedProgram } from './lockfile-programs.ts'
import type { ChangedFile } from './selection.ts'
import { SUSPICIOUS_DIRECTIVES, SUSPICIOUS_PATTERNS } from './suspicious-patterns.ts'
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
  proportion: 'has a line too long to review, or code far to the right',
  hidden_text: 'contains characters that an editor does not show, or that look like others',
} as const
export type SuspicionRule = WordRuleName | keyof typeof FILE_RULES

export function describeSuspicionRule(rule: SuspicionRule): string {
  return rule in WORD_RULES
    ? WORD_RULES[rule as WordRuleName].means
    : FILE_RULES[rule as keyof typeof FILE_RULES]
}

const LANGUAGES: readonly [SourceLanguage, RegExp][] = [
  ['js', /\.(?:[cm]?[jt]sx?|vue|svelte|astro|html?|svg)$/],
  ['python', /\.(?:py[iwx]?|pxd|ipynb)$/],
  ['go', /\.go$/],
  ['rust', /\.rs$/],
  ['java', /\.(?:java|kt|kts|scala|groovy)$/],
  ['ruby', /\.(?:rb|rake|gemspec|ru)$/],
  ['c', /\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inc|inl|ipp|tpp|tcc|def|m|mm|cu|s|asm)$/i],
  ['shell', /\.(?:sh|bash|zsh|ksh|dash|fish)$/],
  ['other', /\.(?:pl|pm|php|lua|awk|cs|fsx?|vb|swift|jl|exs?|erl|dart|zig|nim|d|ps1|r|tcl|ml|hs)$/i],
]
/** Programs that the first line of a file may name. */
const INTERPRETERS: readonly [SourceLanguage, RegExp][] = [
  ['js', /\b(?:node|deno|bun|tsx)\b/],
  ['python', /\bpython/],
  ['ruby', /\bruby\b/],
  ['shell', /sh\b/],
  ['other', /./],
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
  .env.* .tool-versions .node-version .nvmrc .python-version .ruby-version .gitconfig .pre-commit-config.yaml
  .gitignore .npmignore .dockerignore .ignore *.syso module-info.java MANIFEST.MF MANIFEST.in lombok.config
  libs.versions.toml nx.json turbo.json lerna.json .eslintrc* eslint.config.* Pipfile environment.yml constraints.txt
  config.ru AGENTS.md CLAUDE.md GEMINI.md .cursorrules .windsurfrules .clinerules copilot-instructions.md`)
const START_UP_FOLDERS =
  /(?:^|\/)(?:\.cargo|\.mvn|\.cursor|\.claude|\.vscode|\.idea|__mocks__|\.husky|\.bundle|\.github|\.devcontainer|\.yarn|node_modules|site-packages|META-INF\/services|[^/]+\.(?:egg|dist)-info)\/|(?:^|\/)vendor\/modules\.txt$/
/** Modules that Python may load instead of its own, and headers that C may. */
const SHADOWING =
  /(?:^|\/)(?:(?:argparse|asyncio|bisect|builtins|collections|contextlib|copy|csv|ctypes|dataclasses|datetime|decimal|difflib|doctest|fractions|functools|gc|glob|gzip|hashlib|heapq|importlib|inspect|io|itertools|json|linecache|logging|math|multiprocessing|numpy|operator|os|pandas|pathlib|pickle|platform|pprint|psutil|pyperf|pytest|pytest_benchmark|random|re|resource|runpy|secrets|shutil|signal|site|socket|statistics|string|struct|subprocess|sys|sysconfig|tempfile|textwrap|threading|time|timeit|tokenize|traceback|tracemalloc|typing|unittest|urllib|uuid|warnings|weakref)(?:\.pyi?|\/__init__\.py)|(?:assert|ctype|errno|inttypes|limits|malloc|math|memory|setjmp|signal|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|time|unistd)\.h)$/
/** Keys of a package manifest that decide what runs. */
const MANIFEST = /(?:^|\/)(?:package\.json|pyproject\.toml|Cargo\.toml|go\.mod)$/
const MANIFEST_KEYS =
  /^\s*(?:(?:replace|toolchain|exclude|retract|godebug)\b|"(?:bin|scripts|main|module|exports|imports|type|browser|gypfile|overrides|resolutions|workspaces|packageManager|devEngines|volta|config|directories|mocha|jest|vitest|ava|tap|nyc|c8|babel|tsx|nodemonConfig|eslintConfig|bundled?Dependencies|(?:pre|post)?(?:install|test|prepare|build))"\s*:|\[(?:tool\.pytest|tool\.setuptools|tool\.(?:hatch|poetry\.(?:scripts|build|plugins)|coverage|tox|nox)|build-system|project\.scripts|project\.gui-scripts|project\.entry-points|profile|build|target|patch|replace|lib|workspace|features|lints|\[(?:bench|bin|test|example))\b|(?:build|harness|proc-macro|rustflags|links|path|autobenches|autotests|autobins)\s*=)/

const LONGEST_LINE = 1000
/** A generated table, and ranges of letters by their numbers */
const NUMBERS =
  /(?<![\w.])-?(?:0x[\da-fA-F]+|\d+(?:\.\d+)?)n?\s*,\s*|\\x[89a-fA-F][\da-fA-F]-?|\\u(?!00[0-7])[\da-fA-F]{4}-?/g
const HIDDEN_CHARACTERS =
  /\u034f|(?!\ufe0f)\p{Variation_Selector}|[\u00ad\u061c\u0085\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffc]|[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e00ff}]|\p{Co}|[^\P{Cc}\t\r]|\r(?!$)/u
/** Letters of other alphabets that look like Latin ones, beside those, and letters that look like `!` and `|`. */
const MIXED_ALPHABETS =
  /[A-Za-z][\u0400-\u052f\u0531-\u0587\u13a0-\u13ff\u2c80-\u2cff\ua4d0-\ua4ff\u03bf\u03bd\u03c1]|[\u0400-\u052f\u0531-\u0587\u13a0-\u13ff\u2c80-\u2cff\ua4d0-\ua4ff\u03bf\u03bd\u03c1][A-Za-z]|[\u01c0-\u01c3]/u
/** Blanks that move code out of the window. */
const FAR_RIGHT = /\S[ \t]{100,}\S|^[ \t]{300,}\S/
const SHOWN = 100

interface Line {
  number: number
  text: string
}

/**
 * `rulers`: texts of tests, benchmarks and their data, whose literals a candidate has no reason to contain, unless they
 * are in `own`, the program as it was.
 */
export function findSuspiciousChanges(
  files: readonly ChangedFile[],
  rulers: readonly string[] = [],
  own: readonly string[] = [],
): SuspiciousChange[] {
  const ruler = readRulerTexts(rulers)
  return files.flatMap(file => checkFile(file, ruler, own))
}

function checkFile(file: ChangedFile, ruler: RulerTexts, own: readonly string[]): SuspiciousChange[] {
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
    ...findCopiedLines(added, ruler, { before: before ?? '', own }).map(line =>
      toFinding('copied_literal', path, line),
    ),
    ...added
      .filter(
        ({ text }) =>
          text.replaceAll(NUMBERS, '').length > LONGEST_LINE || FAR_RIGHT.test(text.replace(/\s*\\$/, '')),
      )
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
  const left = new Map<string, number>()
  const addLeft = (text: string, count: number) => left.set(text, (left.get(text) ?? 0) + count)
  for (const text of (before ?? '').split('\n')) addLeft(text.trim(), 1)
  return (after ?? '')
    .split('\n')
    .map((text, at) => ({ number: at + 1, text }))
    .filter(({ text }) => {
      addLeft(text.trim(), -1)
      return text.trim() !== '' && (left.get(text.trim()) ?? 0) < 0
    })
}

// Words of code

const WORD_RULE_NAMES = Object.keys(WORD_RULES) as WordRuleName[]

/**
 * Finds words that the file holds more often than before, at lines that the change adds: a line that only moved is
 * no finding.
 */
function findWords({ path, before, after }: ChangedFile, added: readonly Line[]): [WordRuleName, Line][] {
  if (after === null) return []
  const language = findLanguage(path, after)
  if (language === undefined) return []
  const lines = new Map(added.map(line => [line.number, line]))
  const base = before ?? ''
  const [old, now] = [readSuspectCode(base, language, base), readSuspectCode(after, language, base)]
  const directives = SUSPICIOUS_DIRECTIVES.filter(({ languages }) => languages.includes(language))
  return [
    ...findPatterns(listPatterns(language), { old, now, lines }),
    ...findPatterns(directives, { old: before ?? '', now: after, lines }),
  ]
}

interface Texts {
  old: string
  now: string
  lines: ReadonlyMap<number, Line>
}

function findPatterns(
  patterns: readonly { rule: WordRuleName; pattern: RegExp }[],
  { old, now, lines }: Texts,
): [WordRuleName, Line][] {
  return patterns.flatMap(({ rule, pattern }) => {
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

function findLanguage(path: string, text: string): SourceLanguage | undefined {
  const named = LANGUAGES.find(([, pattern]) => pattern.test(path))
  if (named !== undefined) return named[0]
  const [, program] = /^#!(.*)/.exec(text) ?? []
  return program === undefined ? undefined : INTERPRETERS.find(([, pattern]) => pattern.test(program))?.[0]
}

function listPatterns(language: SourceLanguage): { rule: WordRuleName; pattern: RegExp }[] {
  const words = WORD_RULE_NAMES.flatMap(rule => {
    const { [language]: named }: WordRule = WORD_RULES[rule]
    return named === undefined ? [] : [{ rule, pattern: compileWords(named) }]
  })
  return [...words, ...SUSPICIOUS_PATTERNS.filter(({ languages }) => languages.includes(language))]
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
