import { joinStreams, type FailedOutput } from '../model/failed-output.ts'

/** How many tests failed, of how many that ran. */
export interface FailedTests {
  failed: number
  total: number
}

/** The last lines of test runners: `failed` with either `total` or what passed. */
const RUNNERS: readonly RegExp[] = [
  // vitest: "Tests  2 failed | 131 passed (133)"
  /^\s*Tests\s+(?<failed>\d+) failed.*\((?<total>\d+)\)\s*$/m,
  // jest: "Tests:       2 failed, 131 passed, 133 total"
  /^\s*Tests:\s+(?<failed>\d+) failed,.*\b(?<total>\d+) total\s*$/m,
  // node:test, TAP and spec: "# tests 133" … "# fail 2"
  /^[#ℹ] tests (?<total>\d+)$[^]*^[#ℹ] fail (?<failed>\d+)$/m,
  // cargo: "test result: FAILED. 131 passed; 2 failed; …"
  /^test result: FAILED\. (?<passed>\d+) passed; (?<failed>\d+) failed;/m,
  // pytest: "=== 2 failed, 131 passed in 0.12s ==="
  /^=* ?(?<failed>\d+) failed(?:, (?<passed>\d+) passed)?\b.* in [\d.]+s/m,
  // mocha: "131 passing (12ms)" … "2 failing"
  /^\s*(?<passed>\d+) passing\b[^]*^\s*(?<failed>\d+) failing$/m,
]

/** Read from what a known test runner printed last; null where nothing of it is one. */
export function countFailedTests(output: FailedOutput | null): FailedTests | null {
  const text = joinStreams(output ?? undefined)
  for (const runner of RUNNERS) {
    const groups = runner.exec(text)?.groups
    if (groups === undefined) continue
    const failed = Number(groups['failed'])
    const total = Number(groups['total'] ?? failed + Number(groups['passed'] ?? 0))
    if (failed > 0 && failed <= total && Number.isSafeInteger(total)) return { failed, total }
  }
  return null
}
