import type { Findings } from './findings.ts'

export interface CommandGate {
  name: string
  command: string
}

/** What must hold before a number counts; without tests only that the harness works, which a metric gate says as well. */
export function draftGates(
  { test }: Findings,
  harness: { command: string; gates: readonly unknown[] },
): { gates: CommandGate[]; notes: string[] } {
  if (test !== null) return { gates: [{ name: 'tests', command: test.command }], notes: [] }
  const note =
    'no tests were found, so nothing shows that the answers stay right: add gates: [{ name: tests, command: … }] before you trust a gain'
  const gates = harness.gates.length > 0 ? [] : [{ name: 'runs', command: harness.command }]
  return { gates, notes: [note] }
}
