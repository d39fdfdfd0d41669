/** What test runners print when a test fails, as they print it. */
export const RUNNER_OUTPUTS: Record<string, { printed: string; failing: string[] }> = {
  vitest: {
    printed: `
 RUN  v4.1.12 /home/ada/adder

 ❯ test/a.test.ts (2 tests | 1 failed) 5ms
     × adds 4ms
     ✓ subtracts 0ms

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  test/a.test.ts > adder > adds
AssertionError: expected 3 to be 4 // Object.is equality

- Expected
+ Received

- 4
+ 3

 ❯ test/a.test.ts:2:60
      1| import { describe, expect, it } from 'vitest'
      2| describe('adder', () => { it('adds', () => { expect(1 + 2).toBe(4) });…
       |                                                            ^

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed (2)
   Duration  147ms (transform 11ms, setup 0ms)
`,
    failing: [
      ' FAIL  test/a.test.ts > adder > adds',
      'AssertionError: expected 3 to be 4 // Object.is equality',
      ' ❯ test/a.test.ts:2:60',
    ],
  },
  jest: {
    printed: `FAIL src/sum.test.js
  adder
    ✕ adds (3 ms)
    ✓ subtracts

  ● adder › adds

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3

      1 | test('adds', () => {
    > 2 |   expect(1 + 2).toBe(4)
        |                 ^
      3 | })

      at Object.toBe (src/sum.test.js:2:17)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 passed, 2 total
`,
    failing: [
      'FAIL src/sum.test.js',
      '  ● adder › adds',
      '    expect(received).toBe(expected) // Object.is equality',
      '    Expected: 4',
      '    Received: 3',
      '      at Object.toBe (src/sum.test.js:2:17)',
    ],
  },
  mocha: {
    printed: `

  adder
    1) adds
    ✔ subtracts


  1 passing (4ms)
  1 failing

  1) adder
       adds:

      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

3 !== 4

      + expected - actual

      -3
      +4

      at Context.<anonymous> (test/a.js:3:40)
      at process.processImmediate (node:internal/timers:476:21)


`,
    failing: [
      '    1) adds',
      '  1) adder',
      '       adds:',
      '      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:',
      '3 !== 4',
      '      -3',
    ],
  },
  'node:test, TAP': {
    printed: `TAP version 13
# Subtest: adds
not ok 1 - adds
  ---
  duration_ms: 1.354241
  location: '/home/ada/adder/a.test.mjs:3:1'
  failureType: 'testCodeFailure'
  error: |-
    Expected values to be strictly equal:

    3 !== 4

  code: 'ERR_ASSERTION'
  name: 'AssertionError'
  expected: 4
  actual: 3
  operator: 'strictEqual'
  ...
# Subtest: subtracts
ok 2 - subtracts
not ok 3 - later # TODO
1..3
# pass 1
# fail 1
`,
    failing: [
      'not ok 1 - adds',
      "  location: '/home/ada/adder/a.test.mjs:3:1'",
      '  error: |-',
      '    Expected values to be strictly equal:',
      '    3 !== 4',
      '  expected: 4',
      '  actual: 3',
    ],
  },
  'node:test, spec': {
    printed: `✖ adds (1.33352ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  3 !== 4

      at TestContext.<anonymous> (file:///home/ada/adder/a.test.mjs:3:27)
      at Test.run (node:internal/test_runner/test:796:25) {
    code: 'ERR_ASSERTION',
    actual: 3,
    expected: 4,
  }

✔ subtracts (0.166939ms)
ℹ tests 2
ℹ fail 1

✖ failing tests:

test at a.test.mjs:3:1
✖ adds (1.33352ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  3 !== 4
`,
    failing: [
      '✖ adds (1.33352ms)',
      '  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:',
      '  3 !== 4',
    ],
  },
  pytest: {
    printed: `F.                                                                       [100%]
=================================== FAILURES ===================================
__________________________________ test_adds ___________________________________

    def test_adds():
        a = 1 + 2
>       assert a == 4
E       assert 3 == 4

test_b.py:3: AssertionError
=========================== short test summary info ============================
FAILED test_b.py::test_adds - assert 3 == 4
1 failed, 1 passed in 0.38s
`,
    failing: [
      '__________________________________ test_adds ___________________________________',
      'E       assert 3 == 4',
      'test_b.py:3: AssertionError',
      'FAILED test_b.py::test_adds - assert 3 == 4',
    ],
  },
  unittest: {
    printed: `F.
======================================================================
FAIL: test_adds (test_a.Adds.test_adds)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/ada/adder/test_a.py", line 4, in test_adds
    self.assertEqual(1 + 2, 4)
AssertionError: 3 != 4

----------------------------------------------------------------------
Ran 2 tests in 0.000s

FAILED (failures=1)
`,
    failing: [
      'FAIL: test_adds (test_a.Adds.test_adds)',
      '  File "/home/ada/adder/test_a.py", line 4, in test_adds',
      'AssertionError: 3 != 4',
    ],
  },
  'go test': {
    printed: `--- FAIL: TestAdds (0.00s)
    a_test.go:3: got 3, want 4
--- FAIL: TestSub (0.00s)
    --- FAIL: TestSub/neg (0.00s)
        a_test.go:4: no
FAIL
FAIL\texample.com/adder\t0.001s
FAIL
`,
    failing: [
      '--- FAIL: TestAdds (0.00s)',
      '    a_test.go:3: got 3, want 4',
      '--- FAIL: TestSub (0.00s)',
      '    --- FAIL: TestSub/neg (0.00s)',
      '        a_test.go:4: no',
      'FAIL\texample.com/adder\t0.001s',
    ],
  },
  'go build': {
    printed: `# example.com/adder [example.com/adder.test]
./a_test.go:6:17: undefined: undefinedThing
FAIL\texample.com/adder [build failed]
FAIL
`,
    failing: ['./a_test.go:6:17: undefined: undefinedThing', 'FAIL\texample.com/adder [build failed]'],
  },
  'cargo test': {
    printed: `running 2 tests
test tests::fine ... ok
test tests::adds ... FAILED

failures:

---- tests::adds stdout ----

thread 'tests::adds' (10632) panicked at src/lib.rs:4:17:
assertion \`left == right\` failed
  left: 3
 right: 4
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace


failures:
    tests::adds

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.06s

error: test failed, to rerun pass \`--lib\`
`,
    failing: [
      'test tests::adds ... FAILED',
      "thread 'tests::adds' (10632) panicked at src/lib.rs:4:17:",
      'assertion `left == right` failed',
      '  left: 3',
      ' right: 4',
    ],
  },
  'cargo build': {
    printed: `error[E0425]: cannot find value \`wrong\` in this scope
 --> src/lib.rs:3:5
  |
3 |     wrong
  |     ^^^^^ not found in this scope

For more information about this error, try \`rustc --explain E0425\`.
error: could not compile \`adder\` (lib) due to 1 previous error
`,
    failing: ['error[E0425]: cannot find value `wrong` in this scope', ' --> src/lib.rs:3:5'],
  },
  rspec: {
    printed: `F.

Failures:

  1) Adder adds
     Failure/Error: expect(1 + 2).to eq(4)

       expected: 4
            got: 3

       (compared using ==)
     # ./spec/adder_spec.rb:3:in \`block (2 levels) in <top (required)>'

Finished in 0.01 seconds (files took 0.08 seconds to load)
2 examples, 1 failure

Failed examples:

rspec ./spec/adder_spec.rb:2 # Adder adds
`,
    failing: [
      '1) Adder adds',
      '   Failure/Error: expect(1 + 2).to eq(4)',
      '     expected: 4',
      '          got: 3',
      "   # ./spec/adder_spec.rb:3:in `block (2 levels) in <top (required)>'",
    ],
  },
  maven: {
    printed: `[INFO] Running com.example.AdderTest
[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in com.example.AdderTest
[ERROR] com.example.AdderTest.adds -- Time elapsed: 0.004 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <4> but was: <3>
\tat org.junit.jupiter.api.AssertionFailureBuilder.build(AssertionFailureBuilder.java:151)
[INFO]
[INFO] Results:
[INFO]
[ERROR] Failures:
[ERROR]   AdderTest.adds:12 expected: <4> but was: <3>
[INFO]
[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0
[INFO] BUILD FAILURE
`,
    failing: [
      '[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in com.example.AdderTest',
      '[ERROR] com.example.AdderTest.adds -- Time elapsed: 0.004 s <<< FAILURE!',
      'org.opentest4j.AssertionFailedError: expected: <4> but was: <3>',
      '[ERROR]   AdderTest.adds:12 expected: <4> but was: <3>',
    ],
  },
  gradle: {
    printed: `> Task :test FAILED

AdderTest > adds() FAILED
    org.opentest4j.AssertionFailedError: expected: <4> but was: <3>
        at app//com.example.AdderTest.adds(AdderTest.java:12)

2 tests completed, 1 failed
`,
    failing: [
      'AdderTest > adds() FAILED',
      '    org.opentest4j.AssertionFailedError: expected: <4> but was: <3>',
    ],
  },
}
