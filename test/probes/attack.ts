import { buildProbeCandidates } from '../../src/engine/observe/probe-candidates.ts'
import { measureOrder } from '../../src/measure/measure.ts'
import type { MeasureInput } from '../../src/measure/session.ts'
import { type Report, reportSchema } from '../../src/model/report.ts'
import { buildProbeRule } from '../../src/probes/probe-rule.ts'
import { summarizeProbes } from '../../src/model/harness-guard.ts'
import { readProbes } from '../../src/probes/read-probes.ts'
import type { Laboratory } from '../measure/laboratory.ts'
import { scratch } from '../measure/scratch.ts'
import type { Program } from './programs.ts'

export interface AttackedHarness {
  command: string
  metric: string
  files?: Record<string, string>
}

/** Measures all probes of a program, and names those that a harness would keep. */
export async function attack(
  lab: Laboratory,
  program: Program,
  { command, metric, files = {} }: AttackedHarness,
  more: Partial<MeasureInput> = {},
  degenerate_gates: readonly { name: string; check: string }[] = [],
) {
  const experiment = {
    files: { ...program.files, ...files },
    spec: {
      metric: { primary: { name: metric }, degenerate_gates },
      // Without users of their own, sides that get the person's home find marks in it.
      measurement: { command, setup: program.setup, env: more.users === undefined ? ['HOME'] : [] },
      gates: [],
    },
    input: { env: { PATH: process.env['PATH'] ?? '', HOME: scratch() }, ...more },
  }
  const input = await lab.input(experiment)
  const { spec, order } = input
  const metrics = { [metric]: 300, ms: 300, output_bytes: 6, wall_seconds: 0.4 }
  const candidates = await buildProbeCandidates(lab.repository, { spec, base: order.base, metrics })
  const probing = { ...order, purpose: 'probe' as const, candidates, stop: buildProbeRule(spec, null) }
  const report: Report = reportSchema.parse(await measureOrder({ ...input, order: probing }))
  const results = readProbes(spec, probing, report)
  const guard = summarizeProbes(results)
  return {
    open: guard.is === 'guarded' ? [] : guard.by,
    untried: results.filter(({ applicable }) => !applicable),
    results,
    report,
  }
}
