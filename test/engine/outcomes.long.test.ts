import { describe, expect, it } from 'vitest'
import { submitIdea } from '../../src/engine/campaign/submit.ts'
import { letters, shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf } from '../support/repository.ts'

const D = 'src/d.txt'

function oneMore(content: string, hypothesis: string): string {
  return patchOf({ [D]: [null, content] }, { hypothesis })
}

/** Three at a time: a winner, its rivals and partners; then what breaks; then what may not run. */
const IDEAS = [
  patchOf({ 'src/a.txt': [letters('a', 15), 'clash\n'] }, { hypothesis: 'a much shorter' }),
  shorter('a', 13, 'a a little shorter'),
  patchOf({ 'src/b.txt': [letters('b', 15), 'clash 12\n'] }, { hypothesis: 'b shorter, but not with a' }),
  shorter('b', 4, 'b shorter'),
  shorter('c', 8, 'c shorter'),
  oneMore('ddd\n', 'one more file'),
  oneMore('broken\n', 'fails its tests'),
  oneMore('crash\n', 'crashes'),
  oneMore('slow\n', 'never ends'),
  patchOf({ 'bench/more.sh': [null, 'echo 0\n'] }, { hypothesis: 'cheats' }),
  shorter('a', 2, 'comes too late'),
]

const ENDS = {
  'a much shorter': ['kept', 'bytes 48 -> 38 (-20.8 %), deterministic, identical when re-run'],
  'a a little shorter': [
    'not_selected',
    'bytes 48 -> 46 (-4.2 %), deterministic, identical when re-run, but exp-001 was better and changes the same files',
  ],
  'b shorter, but not with a': [
    'runner_up_dropped',
    'promising alone, harmful in combination: bytes 38 -> 131 (+244.7 %), deterministic',
  ],
  'b shorter': ['kept', 'bytes 38 -> 27 (-28.9 %), deterministic, identical when re-run'],
  'c shorter': ['runner_up_kept', 'bytes 27 -> 20 (-25.9 %), deterministic, identical when re-run'],
  'one more file': ['dropped', 'worse: bytes 38 -> 42 (+10.5 %), deterministic'],
  'fails its tests': ['degenerate', 'gate tests failed (exit 1)'],
  crashes: ['error', 'the harness crashed: ended with exit code 3'],
  'never ends': ['timeout', 'the harness timed out: ran longer than 1 s'],
  cheats: ['refused', 'changes 1 file outside scope.mutable: bench/more.sh'],
  'comes too late': ['refused', 'ideas/11.patch conflicts with the incumbent in src/a.txt'],
  mine: ['withdrawn', 'its branch optimize-exp/size/mine was deleted'],
}

describe('a campaign', () => {
  it('has experiments with every outcome that is possible on one machine', async () => {
    const site = await createSizeRepository(IDEAS, {
      spec: text =>
        `${text.replace('timeout_seconds: 60', 'timeout_seconds: 1')}execution: { max_concurrent: 3 }\nmerge: { max_open_experiments: 3 }\n`,
    })
    await site.start()
    const commit = site.commitOn('main', { 'src/e.txt': 'e\n' }, 'mine')
    const from = site.repo
    const message = 'mine\n\n```winnow\npriority: low\n```\n'
    const branch = await submitIdea(site.place, { commit, from, isOurs: false, name: 'mine', message })
    await site.until(({ experiments }) => Object.keys(experiments).length > 0)
    site.bare('update-ref', '-d', `refs/heads/${branch}`)

    expect(await site.run()).toEqual({ for: 'ideas' })

    const { experiments } = await site.campaign()
    const ends = Object.values(experiments).map(({ hypothesis, outcome, reason }) => [
      hypothesis,
      [outcome, reason],
    ])
    expect(Object.fromEntries(ends)).toEqual(ENDS)
    expect(Object.values(experiments).every(({ closed }) => closed)).toBe(true)
    await site.proven()
  })
})
