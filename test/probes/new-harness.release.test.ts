import { describe, expect, test } from 'vitest'
import { buildSkeleton } from '../../src/init/detect.ts'
import { laboratory } from '../measure/laboratory.ts'
import { attack } from './attack.ts'
import { PROGRAMS } from './programs.ts'
import { SOURCES } from './sources.ts'

const PYTHON = PROGRAMS['python']?.run.split(' ')[0] ?? 'python3'

describe('a harness that init writes', () => {
  test.each([
    [
      'node',
      { kind: 'module', path: 'src/sum.mjs' },
      'node',
      SOURCES['javascript'],
      [/return Object\.keys\(.*/, 'return String((await import(ENTRY)).sum(500_000))'],
    ],
    [
      'python',
      { kind: 'module', path: 'sums' },
      `PYTHONPATH=src ${PYTHON}`,
      SOURCES['python'],
      [/return repr\(dir\(.*/, 'return str(subject.total(100_000) or "")'],
    ],
  ] as const)(
    'in %s stops every attack',
    { timeout: 600_000 },
    async (language, entry, interpreter, source, workload) => {
      const made = buildSkeleton(language, { name: 'speed', entry, interpreter })
      const files = Object.fromEntries(
        made.files.map(({ path, text }) => [path, text.replace(workload[0], workload[1])]),
      )
      const { path = '', content = '' } = source ?? {}
      const { results } = await attack(
        await laboratory(),
        { files: { ...files, [path]: content }, setup: null, run: '', count: 0 },
        { command: made.command, metric: 'milliseconds' },
        {},
        [{ name: 'output_bytes', check: '> 0' }],
      )
      const caught = results.map(({ name, caught_by }) => [name, caught_by])
      expect(caught, JSON.stringify(results, null, 1)).toEqual([
        ['vanish', 'the harness'],
        ['exit-at-load', 'the harness'],
        ['exit-at-call', 'the harness'],
        ['forge-output', 'the harness'],
        ['forge-result-file', 'the harness'],
        ['answer-nothing', expect.stringMatching(/./)],
        ['detect', 'the harness'],
        // All sides share a home.
        ['remember', null],
        ['slow-clock', 'no gain'],
      ])
    },
  )
})
