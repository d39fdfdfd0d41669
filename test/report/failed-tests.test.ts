import { describe, expect, it } from 'vitest'
import { countFailedTests } from '../../src/report/verdict-markdown.ts'

const counted = (stdout: string, stderr = '') => countFailedTests({ failing: [], stdout, stderr })

describe('the number of failed tests', () => {
  it.each([
    [
      'vitest',
      ' Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 131 passed (133)\n   Start at  12:00',
    ],
    [
      'jest',
      'Test Suites: 1 failed, 3 passed, 4 total\nTests:       2 failed, 131 passed, 133 total\nTime: 1 s',
    ],
    ['node:test, TAP', '1..133\n# tests 133\n# suites 0\n# pass 131\n# fail 2\n# cancelled 0'],
    ['node:test, spec', 'ℹ tests 133\nℹ pass 131\nℹ fail 2\nℹ duration_ms 4'],
    ['cargo', 'failures:\n    adds\n\ntest result: FAILED. 131 passed; 2 failed; 0 ignored; 0 measured'],
    ['pytest', 'FAILED tests/test_a.py::test_adds\n========= 2 failed, 131 passed in 0.12s ========='],
    ['mocha', '  131 passing (12ms)\n  2 failing\n\n  1) adds:'],
  ])('is parsed from the summary of %s', (_runner, text) => {
    expect(counted(text)).toEqual({ failed: 2, total: 133 })
    expect(counted('', text)).toEqual({ failed: 2, total: 133 })
  })

  it('is unknown without a plausible summary', () => {
    expect(countFailedTests(null)).toBeNull()
    expect(counted('make: *** [test] Error 2\n2 failed')).toBeNull()
    expect(counted('# tests 1\n# fail 2')).toBeNull()
    expect(counted('# tests 3\n# fail 0')).toBeNull()
  })
})
