import { type FailedOutput, type GateOutput, isEmptyOutput } from '../../model/report.ts'
import type { SidePaths } from '../session.ts'
import { isLongerThanItsEnd, readOutputTail } from './capped-file.ts'

type OutputPaths = Pick<SidePaths, 'stdout' | 'stderr'>

const TAIL_CHARACTERS = 2_000

/** Extracts the helpful lines of a failed command's output. Null if it printed nothing. */
export function readFailed({ stdout, stderr }: OutputPaths): FailedOutput | null {
  const printed = { stdout: readOutputTail(stdout), stderr: readOutputTail(stderr) }
  const output = {
    failing: selectFailingLines([printed.stdout, printed.stderr].join('\n')),
    stdout: takeLastLines(stripInstallNoise(printed.stdout)),
    stderr: takeLastLines(stripInstallNoise(printed.stderr)),
  }
  return isEmptyOutput(output) ? null : output
}

/** Drops a partial first line. */
function takeLastLines(text: string): string {
  const trimmed = text.trim()
  const tail = trimmed.slice(-TAIL_CHARACTERS)
  const cut = tail.length < trimmed.length ? tail.indexOf('\n') + 1 : 0
  return tail.slice(cut)
}

/**
 * How a test runner reports failures: `names` matches a line that names a failing test, `says` matches the
 * lines below it that give the reason. If these could match ordinary output, `when` must match some line.
 */
interface TestRunner {
  when?: RegExp
  names: RegExp
  says: RegExp
  /** A line of `says` whose text follows in the lines below, indented further. */
  opens?: RegExp
}

const ERROR = String.raw`(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception|Failure)\b.*`

const RUNNERS: readonly TestRunner[] = [
  // vitest and jest: "FAIL  test/a.test.ts > adds", "● adds"
  {
    when: /^\s*(?:FAIL|×|●)\s+\S/,
    names: /^\s*(?:FAIL\s+\S+ > .+|● .+)$/,
    says: new RegExp(
      `^\\s*(?:${ERROR}|expect\\(.*|(?:Expected|Received)\\b.*:.*|❯ .+:\\d+:\\d+.*|at .+\\.(?:test|spec)\\..+)$`,
    ),
  },
  // jest and vitest, where a whole file fails: "FAIL src/a.test.js"
  {
    names: /^\s*FAIL\s+\S+\.[cm]?[jt]sx?(?:\s.*)?$/,
    says: new RegExp(`^\\s*(?:Test suite failed.*|${ERROR})$`),
  },
  // mocha: "  1) adds", below "1 failing"; the reason follows
  {
    when: /^\s*\d+ failing\b/,
    names: /^\s*\d+\) .+$/,
    says: new RegExp(`^\\s*(?:${ERROR}|\\S+ !== \\S+|[+-]\\S.*|\\S.*:)$`),
  },
  // node:test and everything else that prints TAP: "not ok 2 - adds"
  {
    names: /^\s*not ok \d+(?!.*# (?:TODO|SKIP)).*$/,
    says: /^\s*(?:location|error|expected|actual|operator|message|at|found|wanted):.*$/,
    opens: /: [|>]-?$/,
  },
  // node:test, reporter spec: "✖ adds (1.2ms)"
  { names: /^\s*✖ (?!failing tests:).+$/, says: new RegExp(`^\\s*(?:${ERROR}|[+-] .+|\\S+ !== \\S+.*)$`) },
  // pytest: "FAILED tests/test_a.py::test_adds - assert 3 == 4"
  { names: /^(?:FAILED|ERROR) \S+\.py\b.*$/, says: /^E {3}.*$/ },
  // pytest without its summary
  {
    when: /^=+ FAILURES =+$|^=+ ERRORS =+$/,
    names: /^_{3,} .+ _{3,}$/,
    says: /^(?:E {3}.*|\S+\.py:\d+: .+)$/,
  },
  // unittest: "FAIL: test_adds (test_a.Adds.test_adds)"
  { names: /^(?:FAIL|ERROR): \S+ \(.+\)$/, says: new RegExp(`^(?:${ERROR}|  File ".+", line \\d+.*)$`) },
  // go test: "--- FAIL: TestAdds (0.00s)"
  { names: /^\s*--- FAIL: .+$/, says: /^\s+\S+\.go:\d+: .+$/ },
  { names: /^(?:panic: .+|FAIL\t\S+.*|\S+\.go:\d+:\d+: .+)$/, says: /^\t\S+\.go:\d+.*$/ },
  // cargo test: "test tests::adds ... FAILED", "thread 'tests::adds' panicked at src/lib.rs:9:5:"
  {
    names: /^(?:test .+ \.\.\. FAILED|thread '.+'.* panicked at .+)$/,
    says: /^(?:assertion .+|\s*(?:left|right): .+|called `.+)$/,
  },
  { names: /^error(?:\[E\d+\])?: (?!test failed|could not compile|aborting).+$/, says: /^\s*--> .+$/ },
  // rspec: "  1) Adder adds", below "Failures:"
  {
    when: /^\d+ examples?, \d+ failures?/,
    names: /^\s*\d+\) .+$/,
    says: /^\s*(?:Failure\/Error: .+|expected:? .+|got: .+|# \.\/.+|[A-Z]\w*Error:?)$/,
  },
  // maven: "[ERROR] AdderTest.adds:12 expected: <3> but was: <4>"
  { names: /^\[ERROR\] +\S+(?:\.|:)\S+(?::\d+| -- Time elapsed).*$/, says: new RegExp(`^(?:${ERROR})$`) },
  {
    names: /^\[ERROR\] +.*(?:<<< (?:FAILURE|ERROR)!.*|\.java:\[\d+,\d+\] .+)$/,
    says: new RegExp(`^(?:${ERROR})$`),
  },
  // gradle, and the console of JUnit: "AdderTest > adds() FAILED"
  { names: /^\S.* > .+ FAILED$/, says: new RegExp(`^\\s+(?:${ERROR}|.* at \\S+\\.(?:java|kt):\\d+)$`) },
  { names: /^\s*(?:JUnit \w+:.+|.*\[X\] .+)$/, says: /^\s*=> .+$/ },
]

const MOST_LINES = 24
const MOST_REASONS = 4
const MOST_OF_BLOCK = 8
/** Number of lines below a failure's name that are searched for the reason. */
const REACH = 14
const LINE_LENGTH = 200
/** In a line of a megabyte, some patterns would search for hours. */
const LINE_SEARCHED = 1_000

/**
 * The lines in which a known test runner names failures and their reasons, in order. Leaves out the lines
 * between them: sources, stack traces, passed tests.
 */
export function selectFailingLines(text: string): string[] {
  const lines = text.split('\n').map(line => line.slice(0, LINE_SEARCHED).trimEnd())
  const chosen = new Set<number>()
  for (const runner of RUNNERS) {
    const { when, names } = runner
    if (when !== undefined && !lines.some(line => line !== '' && when.test(line))) continue
    for (const at of findFailures(lines, names)) {
      chosen.add(at)
      for (const reason of findReasons(lines, at, runner)) chosen.add(reason)
    }
  }
  const found = [...chosen].toSorted((a, b) => a - b).slice(0, MOST_LINES)
  return removeIndent(found.map(at => (lines[at] ?? '').slice(0, LINE_LENGTH)))
}

/** Deduplicates: some runners name a failure where it happens and again in a final list. */
function findFailures(lines: readonly string[], names: RegExp): number[] {
  const found = new Map<string, number>()
  for (const [at, line] of lines.entries())
    if (line !== '' && names.test(line) && !found.has(line.trim())) found.set(line.trim(), at)
  return [...found.values()]
}

function findReasons(lines: readonly string[], at: number, { names, says, opens }: TestRunner): number[] {
  const below = lines.slice(at + 1, at + 1 + REACH)
  const next = below.findIndex(line => names.test(line))
  const own = next === -1 ? below : below.slice(0, next)
  const reasons = own
    .flatMap((line, index) => (says.test(line) ? [at + 1 + index] : []))
    .slice(0, MOST_REASONS)
  return reasons.flatMap(reason =>
    opens?.test(lines[reason] ?? '') ? [reason, ...findReasonBlock(lines, reason)] : [reason],
  )
}

/** The lines of a YAML block, which are indented further than the line that opens it. */
function findReasonBlock(lines: readonly string[], opening: number): number[] {
  const outer = countIndent(lines[opening] ?? '')
  const below = lines.slice(opening + 1)
  const end = below.findIndex(line => line !== '' && countIndent(line) <= outer)
  const block = end === -1 ? below : below.slice(0, end)
  return block.flatMap((line, index) => (line === '' ? [] : [opening + 1 + index])).slice(0, MOST_OF_BLOCK)
}

function countIndent(line: string): number {
  return line.length - line.trimStart().length
}

function removeIndent(lines: readonly string[]): string[] {
  const indents = lines.filter(line => line.trim() !== '').map(countIndent)
  const common = indents.length === 0 ? 0 : Math.min(...indents)
  return lines.map(line => line.slice(common))
}

// Package manager output

/** Progress output of package managers. `npm error` stays: it is the failure. */
const INSTALLING = new RegExp(
  [
    String.raw`npm (?:warn|WARN|notice|http|timing|info|verb|sill)\b.*`,
    String.raw`npm (?:error|ERR!) A complete log of this run can be found in:?.*`,
    String.raw`npm (?:error|ERR!)\s+\S*_logs/\S*|npm (?:error|ERR!)\s*`,
    String.raw`(?:added|removed|changed|up to date|audited)\b.*\bpackages?\b.*`,
    String.raw`\d+ packages are looking for funding.*|\s*run \`npm fund\` for details.*`,
    String.raw`found 0 vulnerabilities.*|\d+ .*vulnerabilit(?:y|ies).*|Run \`npm audit\` for details.*`,
    String.raw`To address (?:all|issues).*|\s+npm audit fix.*`,
    String.raw`yarn (?:install|run) v[\d.]+|\[\d/\d\] .*\.\.\.|warning (?:".+"|package\.json).*|➤ YN\d+: .*`,
    String.raw`Progress: resolved \d+.*|Packages: [+-]\d+.*|[+-]+|Lockfile is up to date.*|Already up to date`,
    String.raw`Collecting \S+.*|Requirement already satisfied: .*|Using cached \S+.*|Installing collected packages: .*|Successfully installed .*`,
    String.raw`\s*(?:Downloading|Downloaded|Installing build dependencies|Getting requirements to build|Preparing metadata)\b.*`,
    String.raw`\[notice\] .*|WARNING: (?:Running pip as|You are using pip).*`,
    String.raw`\s*(?:Updating crates\.io index|(?:Compiling|Downloading|Downloaded|Locking|Adding|Fetching) \S+ v?\d.*)`,
    String.raw`go: (?:downloading|finding|extracting) .*`,
    String.raw`\[INFO\] Download(?:ing|ed) from .*|Download(?:ing|ed) from .*|Progress \(\d+\).*`,
    String.raw`Fetching gem metadata.*|Using \S+ \d[\w.]*|Fetching \S+ \d[\w.]*|Installing \S+ \d[\w.]*`,
  ]
    .map(pattern => `^(?:${pattern})$`)
    .join('|'),
)

/** Removes package manager lines. If no other lines are left, returns the text as it is. */
export function stripInstallNoise(text: string): string {
  const left = text.split('\n').filter(line => !INSTALLING.test(line.trimEnd()))
  return left.every(line => line.trim() === '') ? text : left.join('\n').trim()
}

// Printed lines

/**
 * How much a command printed, and its last line with numbers set aside. A command that ends early prints less, or
 * not its last line.
 */
export function describePrinted({ stdout }: Pick<OutputPaths, 'stdout'>): GateOutput {
  const lines = listPrintedLines(stdout)
  return { lines: lines.length, last: setNumbersAside(lines.at(-1) ?? '') }
}

export function countPrintedLines({ stdout }: Pick<OutputPaths, 'stdout'>): number {
  return listPrintedLines(stdout).length
}

function listPrintedLines(stdout: string): string[] {
  const lines = readOutputTail(stdout).split('\n')
  return lines.map(line => line.trim()).filter(line => line !== '')
}

const LAST_LINE_SHOWN = 200

function setNumbersAside(line: string): string {
  return line.replaceAll(/\d+(?:[.,:]\d+)*/g, '#').slice(0, LAST_LINE_SHOWN)
}

// Passed tests

/**
 * Summary lines of test runners. Either `passed`, or `total` minus the tests that did not pass. Several
 * packages print several lines, which are added up.
 */
const SUMMARIES: readonly RegExp[] = [
  // vitest: "Tests  2 failed | 131 passed | 1 skipped (134)"
  /^\s*Tests {2}(?:.+ \| )?(?<passed>\d+) passed\b.*\(\d+\)$/,
  // jest: "Tests:       1 skipped, 131 passed, 132 total"
  /^\s*Tests: +(?:.+, )?(?<passed>\d+) passed,.* \d+ total$/,
  // node:test, TAP and spec: "# pass 131"
  /^[#ℹ] pass +(?<passed>\d+)$/,
  // mocha: "  131 passing (12ms)"
  /^\s*(?<passed>\d+) passing(?: \(\S+\))?$/,
  // cargo: "test result: ok. 131 passed; 0 failed; …"
  /^test result: \w+\. (?<passed>\d+) passed; \d+ failed;/,
  // pytest: "=== 131 passed, 2 skipped in 0.12s ==="
  /^(?:=+ )?(?:\d+ \w+, )*(?<passed>\d+) passed(?:, \d+ \w+)* in [\d.]+s(?: \([\d:]+\))?(?: =+)?$/,
  // rspec: "133 examples, 0 failures, 2 pending"
  /^(?<total>\d+) examples?, (?<failed>\d+) failures?(?:, (?<skipped>\d+) pending)?$/,
  // maven: "[INFO] Tests run: 133, Failures: 0, Errors: 0, Skipped: 2", for each module once
  /^(?:\[\w+\] )?Tests run: (?<total>\d+), Failures: (?<failed>\d+), Errors: (?<errors>\d+), Skipped: (?<skipped>\d+)$/,
  // phpunit: "OK (133 tests, 256 assertions)"
  /^OK \((?<passed>\d+) tests?, \d+ assertions?\)$/,
  // dotnet: "Passed!  - Failed:     0, Passed:   131, Skipped:     2, …"
  /^\s*(?:Passed|Failed)! +- Failed: +\d+, Passed: +(?<passed>\d+),/,
  // unittest: "Ran 133 tests in 0.012s"
  /^Ran (?<passed>\d+) tests? in [\d.]+s$/,
  // minitest: "133 runs, 256 assertions, 0 failures, 0 errors, 2 skips"
  /^(?<total>\d+) (?:runs|tests), \d+ assertions, (?<failed>\d+) failures, (?<errors>\d+) errors, (?<skipped>\d+) skips$/,
  // ctest: "100% tests passed, 0 tests failed out of 133"
  /^\d+% tests passed, (?<failed>\d+) tests? failed out of (?<total>\d+)$/,
  // prove: "Files=3, Tests=133,  1 wallclock secs"
  /^Files=\d+, Tests=(?<passed>\d+), /,
  // ava: "133 tests passed"
  /^\s*(?:✔ )?(?<passed>\d+) tests? passed$/,
  // jasmine: "133 specs, 0 failures, 2 pending specs"
  /^(?<total>\d+) specs?, (?<failed>\d+) failures?(?:, (?<skipped>\d+) pending specs?)?$/,
  // JUnit's console: "[       133 tests successful      ]"
  /^\[ +(?<passed>\d+) tests successful +\]$/,
  // go test -v, one line for each test: "--- PASS: TestAdds (0.00s)"
  /^\s*--- PASS: \S+ \([\d.]+s\)$/,
]

/** Null if no runner printed a summary, or if the start of the output is cut off. */
export function countPassedTests({ stdout, stderr }: OutputPaths): number | null {
  if (isLongerThanItsEnd(stdout) || isLongerThanItsEnd(stderr)) return null
  return findPassedTests([readOutputTail(stdout), readOutputTail(stderr)].join('\n'))
}

const LONGEST_LINE = 300

export function findPassedTests(text: string): number | null {
  // Longer lines are no summary, and would slow down some patterns.
  const lines = text.split('\n').filter(line => line.length <= LONGEST_LINE)
  const counts = lines.flatMap(line => {
    const found = SUMMARIES.map(summary => summary.exec(line.trimEnd())).find(match => match !== null)
    return found === undefined || found === null ? [] : [sumCounts(found.groups ?? {})]
  })
  const sum = counts.reduce((all, count) => all + count, 0)
  return counts.length === 0 || !Number.isSafeInteger(sum) || sum < 0 ? null : sum
}

function sumCounts(groups: Record<string, string | undefined>): number {
  const number = (name: string) => Number(groups[name] ?? 0)
  if (groups['passed'] !== undefined) return number('passed')
  if (groups['total'] === undefined) return 1
  return number('total') - number('failed') - number('errors') - number('skipped')
}
