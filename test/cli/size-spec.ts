/** A file of its own: tests that need no command line need not load it. */
export const SPEC = [
  'winnow: 1',
  'metric: { primary: { type: hard, name: bytes, direction: minimize } }',
  'measurement: { command: sh bench/size.sh, probes: off }',
  'gates: [{ name: tests, command: test -s src/value }]',
  'scope: { mutable: [src/] }',
  '',
].join('\n')
