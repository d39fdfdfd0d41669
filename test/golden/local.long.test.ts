import { describe, test } from 'vitest'
import { answers, createJudgedRepository } from '../support/judged-repository.ts'
import { letters, shorter, SIZE_FILES, SIZE_SPEC } from '../support/size-repository.ts'
import { patchOf } from '../support/repository.ts'
import { BROKEN, compareRepository, FIXED, LONGER, runCampaign, runInTurn } from './golden-repository.ts'

const SERIAL = 'execution: { mode: serial }\n'

describe('a campaign on one machine', () => {
  test('deterministic: kept, worse, broken', async () => {
    const site = await runCampaign([shorter('a', 3), LONGER, BROKEN])
    await compareRepository('deterministic', site)
  })

  test('runner-ups: combined with the winner, or dropped beside it', async () => {
    const clashing = (letter: 'b' | 'c') =>
      patchOf(
        { [`src/${letter}.txt`]: [letters(letter, 15), 'clash\n'] },
        { hypothesis: `${letter} clashes` },
      )
    const site = await runCampaign([shorter('a', 9), clashing('b'), clashing('c'), shorter('a', 4)])
    await compareRepository('runner-ups', site)
  })

  test('paired: pairs decide, effects and progress are measured', async () => {
    const noisy = SIZE_FILES['bench/size.sh'].replace(
      '+ extra ))',
      '* 1000 + extra + WINNOW_SEED % 1009 * $(cat src/*.txt | wc -c) % 401 ))',
    )
    const site = await runCampaign([shorter('a', 3), LONGER], {
      spec: text => text.replace(', { use: external }', ''),
      files: { 'bench/size.sh': noisy },
    })
    await compareRepository('paired', site)
  })

  test('ce: a ce-optimize spec', async () => {
    const harness = `#!/bin/sh
passed=1
grep -q broken src/*.txt && passed=0
printf '{"bytes": %s, "passed": %s}' "$(cat src/*.txt | wc -c)" "$passed"
`
    const spec = `name: size
description: Fewer bytes below src.
metric:
  primary: { type: hard, name: bytes, direction: minimize }
  degenerate_gates:
    - { name: passed, check: "== 1" }
measurement:
  command: sh bench/size.sh
  timeout_seconds: 60
  stability: { mode: repeat, repeat_count: 3 }
scope:
  mutable: [src/]
  immutable: [bench/]
propose: [{ use: patch, dir: ideas }]
max_runner_up_merges_per_batch: 1
`
    const site = await runCampaign([shorter('a', 3), shorter('b', 5), LONGER, BROKEN], {
      spec: () => spec,
      files: { 'bench/size.sh': harness },
    })
    await compareRepository('ce', site)
  })

  test('refusals: out of scope, a duplicate, a conflict, nothing, no patch', async () => {
    const site = await runCampaign([
      shorter('a', 3),
      shorter('a', 3, 'the same again'),
      patchOf({ 'bench/more.sh': [null, 'echo 0\n'] }, { hypothesis: 'edits the harness' }),
      patchOf({ 'src/b.txt': ['not there\n', 'b\n'] }, { hypothesis: 'does not apply' }),
      patchOf({}, { hypothesis: 'changes nothing' }),
      'diff --git a/x b/x\n',
    ])
    await compareRepository('refusals', site)
  })

  test('holdout: what only fits the benchmark does not land', async () => {
    const heldBack = `#!/bin/sh
extra=0
grep -q "$(cat "$WINNOW_HOLDOUT_DIR/word")" src/*.txt && extra=$(cat "$WINNOW_HOLDOUT_DIR/weight")
printf '{"bytes": %s}' "$(( $(cat src/*.txt | wc -c) + extra ))"
`
    const holdout = 'holdout: { command: sh bench/held-back.sh, source: refs/holdout/a, max_uses: 20 }'
    const spec = SIZE_SPEC.replace('timeout_seconds: 60', `timeout_seconds: 60, ${holdout}`)
    const overfitted = patchOf({ 'src/a.txt': [letters('a', 15), 'zz\n'] }, { hypothesis: 'overfitted' })
    const site = await runCampaign([], { spec: () => spec, files: { 'bench/held-back.sh': heldBack } })
    site.bare('update-ref', 'refs/holdout/a', site.commitOn('main', { word: 'zz\n', weight: '100000000\n' }))
    site.write('ideas/01.patch', overfitted)
    site.write('ideas/02.patch', shorter('b', 5))
    site.commit('two ideas')
    await runInTurn(site)
    await compareRepository('holdout', site)
  })
})

describe('a campaign beside people who push', () => {
  test('sync: the default branch moves with another harness and another spec', async () => {
    const site = await runCampaign([shorter('a', 3)], { remote: true })
    site.write('bench/size.sh', '#!/bin/sh\nprintf \'{"bytes": %s000}\' "$(cat src/*.txt | wc -c)"\n')
    site.write('ideas/02.patch', shorter('b', 5))
    site.commit('another harness')
    await runInTurn(site)
    site.write('.winnow/size.yaml', SIZE_SPEC.replace('bench/test.sh', 'bench/test.sh strict'))
    site.commit('another gate')
    await runInTurn(site)
    site.write('src/a.txt', 'something else\n')
    site.commit('a conflict')
    await runInTurn(site)
    await compareRepository('sync', site)
  })

  test('foreign-tip: somebody pushes to the optimize branch, first harmless, then harmful', async () => {
    const site = await runCampaign([shorter('a', 3)], { remote: true, spec: SERIAL })
    for (const length of [9, 40]) {
      const pushed = site.commitOn(
        site.bare('rev-parse', 'optimize/size'),
        { 'src/b.txt': letters('b', length) },
        `by hand: ${length}`,
      )
      site.push(pushed, 'optimize/size')
      await runInTurn(site)
    }
    await compareRepository('foreign-tip', site)
  })

  test('revert: one landing is taken back, and what builds on one cannot be', async () => {
    const again = patchOf({ 'src/a.txt': ['aaa\n', 'a\n'] }, { hypothesis: 'even shorter' })
    const site = await runCampaign([shorter('a', 3), again, shorter('b', 5)], {
      remote: true,
      spec: `${SERIAL}merge: { max_open_experiments: 1 }\n`,
    })
    for (const experiment of ['exp-001', 'exp-003']) {
      await site.person({ kind: 'steered', action: 'revert', experiment, reason: 'it was a mistake' })
      await runInTurn(site)
    }
    await compareRepository('revert', site)
  })

  test('restart: a campaign that was merged, and the next one', async () => {
    const site = await runCampaign([shorter('a', 3), shorter('b', 5)], {
      remote: true,
      spec: `${SERIAL}merge: { on_merge: restart }\n`,
    })
    site.git('fetch', '-q', 'origin')
    site.git('merge', '-q', '--no-ff', '-m', 'merge it', 'origin/optimize/size')
    site.git('push', '-q', 'origin', 'main')
    await runInTurn(site)
    site.write('ideas/03.patch', shorter('c', 4))
    site.commit('another idea')
    await runInTurn(site)
    await compareRepository('restart', site)
  })
})

describe('a campaign with judges', () => {
  test('judge: a model scores what both sides print', async () => {
    const ideas = { better: answers('good'), worse: answers('bad') }
    const site = await createJudgedRepository(ideas, FIXED)
    await site.start()
    await runInTurn(site)
    await compareRepository('judge', site)
  })
})
