/** A campaign whose metric models judge, under a cap in US dollars. */
export function judgedSpec(cap: number): string {
  return `winnow: 1
metric:
  primary: { type: judge, name: quality, direction: maximize }
  judge:
    rubric: Score 1 to 5.
    scoring: { primary: quality }
    sample_size: 12
    minimum_improvement: 0.4
    max_total_cost_usd: ${cap}
measurement: { command: sh bench/run, probes: off }
gates: [{ name: tests, command: sh bench/test }]
scope: { mutable: [src/] }
`
}
