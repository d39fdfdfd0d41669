import { isLongerThanItsEnd, readOutputTail } from './capped-file.ts'

interface Streams {
  stdout: string
  stderr: string
}

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
  // go test -v, one line for each test: "--- PASS: TestAdds (0.00s)"
  /^\s*--- PASS: \S+ \([\d.]+s\)$/,
]

/**
 * The number of passed tests in a gate's output. Null if no runner printed a summary, or if the start of the
 * output is cut off.
 */
export function countPassedTests({ stdout, stderr }: Streams): number | null {
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
