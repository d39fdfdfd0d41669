import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import type { ProbeName } from '../../src/model/probe.ts'
import { laboratory } from '../measure/laboratory.ts'
import { attack } from './attack.ts'
import { PROGRAMS, writeGuardedHarness } from './programs.ts'

const TOOLS = { rust: 'rustc', java: 'javac', c: 'gcc', cpp: 'g++', python: 'python3' }

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
      // All sides share a home.
      expect(open, JSON.stringify(results, null, 1)).toEqual(['remember'])
    })
  })
}
