import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { countPassedTests, findPassedTests } from '../../src/measure/output/failure-output.ts'
import { scratch } from './scratch.ts'

describe('how many tests passed', () => {
  it.each([
    ['vitest', ' Test Files  9 passed (9)\n      Tests  133 passed (133)\n   Start at  17:21:21', 133],
    ['vitest with others', '      Tests  2 failed | 131 passed | 1 skipped (134)', 131],
    [
      'jest',
      'Test Suites: 1 skipped, 8 passed, 8 of 9 total\nTests:       1 skipped, 131 passed, 132 total',
      131,
    ],
    ['node:test, spec', 'ℹ tests 133\nℹ suites 2\nℹ pass 131\nℹ fail 0\nℹ skipped 2', 131],
    ['TAP', '# tests 133\n# pass  133\n# fail  0\n', 133],
    ['mocha', '\n  131 passing (12ms)\n  2 pending\n', 131],
    [
      'cargo',
      'test result: ok. 130 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n   Doc-tests x\ntest result: ok. 3 passed; 0 failed; 0 ignored',
      133,
    ],
    ['pytest', '======= 131 passed, 2 skipped in 0.12s =======', 131],
    ['pytest, quiet', '131 passed, 1 warning in 61.20s (0:01:01)', 131],
    ['rspec', '133 examples, 0 failures, 2 pending', 131],
    [
      'maven',
      '[INFO] Tests run: 100, Failures: 0, Errors: 0, Skipped: 1 -- in a.B\n[INFO] Tests run: 133, Failures: 0, Errors: 0, Skipped: 2',
      131,
    ],
    ['phpunit', 'OK (133 tests, 256 assertions)', 133],
    ['dotnet', 'Passed!  - Failed:     0, Passed:   131, Skipped:     2, Total:   133', 131],
    ['go test -v', '--- PASS: TestAdds (0.00s)\n    --- PASS: TestAdds/two (0.00s)\nok  \ta\t0.01s', 2],
    ['unittest', '..\n----\nRan 133 tests in 0.012s\n\nOK', 133],
    ['minitest', '133 runs, 256 assertions, 0 failures, 0 errors, 2 skips', 131],
    ['ctest', '100% tests passed, 0 tests failed out of 133', 133],
    ['prove', 'All tests successful.\nFiles=3, Tests=133,  1 wallclock secs ( 0.02 usr +  0.01 sys)', 133],
    ['ava', '  ✔ a\n  133 tests passed', 133],
    ['jasmine', '133 specs, 0 failures, 2 pending specs', 131],
    ['JUnit', '[       131 tests successful      ]', 131],
    ['two packages', '      Tests  3 passed (3)\n      Tests  4 passed (4)', 7],
    ['go test', 'ok  \ta\t0.01s', null],
    ['prose', '133 passed. All tests passed, 3 passing grades', null],
    ['nothing', '', null],
  ])('%s', (_name, text, expected) => {
    expect(findPassedTests(text)).toBe(expected)
  })

  it('is not known where the start of the output is cut off', () => {
    const dir = scratch()
    const [stdout, stderr] = [join(dir, 'stdout'), join(dir, 'stderr')]
    writeFileSync(stdout, '# pass 3\n')
    writeFileSync(stderr, '')
    expect(countPassedTests({ stdout, stderr })).toBe(3)
    writeFileSync(stdout, `${'x\n'.repeat(2 ** 20)}# pass 3\n`)
    expect(countPassedTests({ stdout, stderr })).toBeNull()
    expect(countPassedTests({ stdout: join(dir, 'none'), stderr })).toBeNull()
  })
})
