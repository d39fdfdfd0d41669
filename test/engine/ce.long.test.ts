import { describe, expect, it } from 'vitest'
import type { LedgerEvent } from '../../src/model/event.ts'
import { letters, SIZE_FILES, shorter } from '../support/size-repository.ts'
import { patchOf, type TestRepository, createTestRepository } from '../support/repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

/** A ce-optimize spec as people have them: no winnow: 1, a stored score, several samples. */
function ceSpec(stability: string): string {
  return `name: size
description: Fewer bytes below src.
metric:
  primary: { type: hard, name: bytes, direction: minimize }
  degenerate_gates:
    - { name: passed, check: "== 1" }
measurement:
  command: sh bench/size.sh
  timeout_seconds: 60
  probes: off
  stability: ${stability}
scope:
  mutable: [src/]
  immutable: [bench/]
propose: [{ use: patch, dir: ideas }]
max_runner_up_merges_per_batch: 1
`
}

const HARNESS = `#!/bin/sh
passed=1
grep -q broken src/*.txt && passed=0
printf '{"bytes": %s, "passed": %s}' "$(cat src/*.txt | wc -c)" "$passed"
`

async function campaign(stability: string, files: Record<string, string> = {}): Promise<TestRepository> {
  const site = await createTestRepository({
    spec: ceSpec(stability),
    files: {
      ...SIZE_FILES,
      'bench/size.sh': HARNESS,
      'bench/smoke.sh': '#!/bin/sh\n! grep -q unsmokable src/*.txt\n',
      'ideas/01.patch': shorter('a', 3),
      'ideas/02.patch': shorter('b', 5),
      'ideas/03.patch': patchOf({ 'src/c.txt': [letters('c', 15), 'broken\n'] }, { hypothesis: 'broken' }),
      'ideas/04.patch': patchOf(
        { 'src/c.txt': [letters('c', 15), letters('c', 17)] },
        { hypothesis: 'longer' },
      ),
      ...files,
    },
  })
  await site.start()
  return site
}

function decisions(events: readonly LedgerEvent[]) {
  return events.flatMap(event => (event.kind === 'decided' ? [event] : []))
}

async function samplesOf(site: TestRepository, experiment: string): Promise<number[]> {
  return (await site.events()).flatMap(event => {
    if (event.kind !== 'measured') return []
    const own = event.report.executions.filter(({ side, role }) => side === experiment && role === 'sample')
    return own.length > 0 ? [own.length] : []
  })
}

const KINDS = [
  { stability: '{ mode: stable }', samples: 1, baselines: 1 },
  { stability: '{ mode: repeat, repeat_count: 3 }', samples: 3, baselines: 3 },
  {
    stability: '{ mode: ladder, ladder: { exploratory_pairs: 1, confirmation_repeats: 3 } }',
    samples: 3,
    baselines: 3,
  },
]

describe.each(selectCases(KINDS))(
  'a ce-optimize spec with stability $stability',
  ({ stability, samples, baselines }) => {
    it('runs a whole campaign against a stored score, and says so in every verdict', async () => {
      const site = await campaign(stability)
      expect(await site.run()).toMatchObject({ for: 'nothing' })
      expect(await site.outcomes()).toEqual({
        a3: 'kept',
        b5: 'runner_up_kept',
        broken: 'degenerate',
        longer: 'dropped',
      })
      expect(site.bare('show', 'optimize/size:src/a.txt')).toBe('aaa')
      expect(site.bare('show', 'optimize/size:src/b.txt')).toBe('bbbbb')
      const decided = decisions(await site.events())
      for (const { warnings } of decided) {
        expect(warnings).toContainEqual(expect.stringContaining('compared with a stored score'))
      }
      expect(await samplesOf(site, 'exp-001')).toEqual([samples])
      expect(await samplesOf(site, 'exp-002')).toEqual([samples, samples])
      expect(await samplesOf(site, 'base')).toHaveLength(baselines)
      await site.proven()
    })
  },
)

describe('gains beyond max_runner_up_merges_per_batch', () => {
  it.each(selectCases([0, 1]))(
    'are carried to the next round and replayed without a difference: %i',
    async most => {
      const site = await createTestRepository({
        spec: ceSpec('{ mode: repeat, repeat_count: 2, aggregation: mean }').replace(
          'per_batch: 1',
          `per_batch: ${most}`,
        ),
        files: {
          ...SIZE_FILES,
          'bench/size.sh': HARNESS,
          'ideas/01.patch': shorter('a', 3),
          'ideas/02.patch': shorter('b', 5),
          'ideas/03.patch': shorter('c', 7),
        },
      })
      await site.start()
      await site.run()
      const outcomes = Object.values(await site.outcomes())
      expect(outcomes.filter(outcome => outcome?.endsWith('kept'))).toHaveLength(3)
      expect(await site.kinds()).toContain('requeued')
      await site.proven()
    },
  )
})

describe('a ladder', () => {
  releaseTest('drops what fails its smoke command without a measurement', async () => {
    const unsmokable = patchOf(
      { 'src/c.txt': [letters('c', 15), 'unsmokable\n'] },
      { hypothesis: 'unsmokable' },
    )
    const site = await campaign('{ mode: ladder, ladder: { smoke_command: sh bench/smoke.sh } }', {
      'ideas/03.patch': unsmokable,
    })
    await site.run()
    expect(await site.outcomes()).toMatchObject({ unsmokable: 'degenerate', a3: 'kept' })
    expect(await samplesOf(site, 'exp-003')).toEqual([])
    await site.proven()
  })
})

describe('a fresh baseline', () => {
  it('is measured beside every candidate', async () => {
    const site = await createTestRepository({
      spec: ceSpec('{ mode: repeat, repeat_count: 2 }').replace('  timeout', '  baseline: fresh\n  timeout'),
      files: { ...SIZE_FILES, 'bench/size.sh': HARNESS, 'ideas/01.patch': shorter('a', 3) },
    })
    await site.start()
    await site.run()
    expect(await site.outcomes()).toEqual({ a3: 'kept' })
    const [decided] = decisions(await site.events())
    expect(decided?.warnings).toContainEqual(expect.stringContaining('one base run in the same job'))
    await site.proven()
  })
})
