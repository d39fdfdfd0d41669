import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { buildProbeCandidates } from '../../src/engine/observe/probe-candidates.ts'
import { measureOrder } from '../../src/measure/measure.ts'
import type { ProbeName } from '../../src/model/probe.ts'
import { type Report, reportSchema } from '../../src/model/report.ts'
import { buildProbeRule } from '../../src/probes/probe-rule.ts'
import { readProbes, summarizeProbes } from '../../src/probes/read-probes.ts'
import { type Laboratory, laboratory } from '../measure/laboratory.ts'
import { scratch } from '../measure/scratch.ts'
import { PROGRAMS, type Program, writeGuardedHarness } from './programs.ts'

const TOOLS = { rust: 'rustc', java: 'javac', c: 'gcc', cpp: 'g++', python: 'python3' }

interface Harness {
  command: string
  metric: string
  files?: Record<string, string>
}

/** Measures all probes of a program, and names those that a harness would keep. */
async function attack(lab: Laboratory, program: Program, { command, metric, files = {} }: Harness) {
  const experiment = {
    files: { ...program.files, ...files },
    spec: {
      metric: { primary: { name: metric } },
      measurement: { command, setup: program.setup },
      gates: [],
    },
    input: { env: { PATH: process.env['PATH'] ?? '', HOME: scratch() } },
  }
  const input = await lab.input(experiment)
  const { spec, order } = input
  const metrics = { ms: 300, wall_seconds: 0.4 }
  const candidates = await buildProbeCandidates(lab.repository, { spec, base: order.base, metrics })
  const probing = { ...order, purpose: 'probe' as const, candidates, stop: buildProbeRule(spec, null) }
  const report: Report = reportSchema.parse(await measureOrder({ ...input, order: probing }))
  const results = readProbes(spec, probing, report)
  const guard = summarizeProbes(results)
  return {
    open: guard.is === 'guarded' ? [] : guard.by,
    untried: results.filter(({ applicable }) => !applicable),
    results,
  }
}

const ENDS_EARLY: ProbeName[] = ['exit-at-load', 'exit-at-call']
const FORGES: ProbeName[] = ['forge-output', 'forge-result-file']
const HAS_SLOW_CLOCK = ['javascript', 'commonjs', 'python', 'rust', 'c', 'cpp']

for (const [language, program] of Object.entries(PROGRAMS)) {
  const tool = TOOLS[language as keyof typeof TOOLS]
  const isMissing = tool !== undefined && spawnSync(tool, ['--version']).error !== undefined

  describe.skipIf(isMissing)(`probes in ${language}`, () => {
    test('defeat a harness that times the code in its own process', { timeout: 600_000 }, async () => {
      const command = `${program.run} timed ${program.count}`
      const { open, untried, results } = await attack(await laboratory(), program, { command, metric: 'ms' })
      expect(untried).toEqual([])
      const clock: ProbeName[] = HAS_SLOW_CLOCK.includes(language) ? ['slow-clock'] : []
      // A call in a subshell ends only the subshell.
      const call: ProbeName[] = language === 'shell' ? ['exit-at-call'] : []
      expect(open, JSON.stringify(results, null, 1)).toEqual([
        ...call,
        ...FORGES,
        'answer-nothing',
        'remember',
        ...clock,
      ])
      const caught = results.filter(({ name }) => ['exit-at-load', 'detect'].includes(name))
      expect(caught.map(({ caught_by }) => caught_by)).toEqual(['the missing output', 'the missing output'])
    })

    test('defeat a harness that only runs the code', { timeout: 600_000 }, async () => {
      const command = `${program.run} answer ${program.count}`
      const { open, untried, results } = await attack(await laboratory(), program, {
        command,
        metric: 'wall_seconds',
      })
      expect(untried).toEqual([])
      expect(open, JSON.stringify(results, null, 1)).toEqual(
        expect.arrayContaining([...ENDS_EARLY, 'answer-nothing', 'detect']),
      )
    })

    test('are caught by a harness that compares the answers of a child', { timeout: 600_000 }, async () => {
      const files = { 'bench/guarded.mjs': writeGuardedHarness(program) }
      const { open, results } = await attack(await laboratory(), program, {
        command: 'node bench/guarded.mjs',
        metric: 'ms',
        files,
      })
      // Without users of their own, all sides share a home.
      expect(open, JSON.stringify(results, null, 1)).toEqual(['remember'])
    })
  })
}
