import { describe, expect, it } from 'vitest'
import { type AskedModel, type ModelReply, modelServer } from '../servers/model-server.ts'
import { readingJudge } from '../servers/reading-judge.ts'
import { createTestRepository, patchOf } from '../support/repository.ts'

/** As people have them for ce-optimize: no winnow: 1, and a stored score. */
const SPEC = `name: judged
description: Better answers, and shorter ones where they are equally good.
metric:
  primary: { type: judge, name: quality, direction: maximize }
  degenerate_gates: [{ name: answers, check: '>= 12' }]
  judge:
    rubric: Score 1 to 5 how good the answer is.
    scoring: { primary: quality }
    sample_size: 6
    hidden_reference_paths: [src/key.txt]
measurement: { command: exec awk -f bench/items.awk src/answers.txt, probes: off }
policy: { tie_breakers: [{ lower: mistakes }, { lower: words }] }
scope: { mutable: [src/], immutable: [bench/] }
execution: { mode: serial }
propose: [{ use: patch, dir: ideas }]
`
const HARNESS = `{ lines = lines sprintf("%s{\\"id\\": \\"%d\\", \\"content\\": \\"%s\\"}", (NR > 1 ? ", " : ""), NR, $0); words += NF }
/mistake/ { mistakes++ }
END { printf "{\\"answers\\": %d, \\"words\\": %d, \\"mistakes\\": %d, \\"items\\": [%s]}", NR, words, mistakes, lines }
`

const answers = (line: string) => `${line}\n`.repeat(12)

function scoring(asked: AskedModel): ModelReply {
  const score = (content: string) => (content.startsWith('poor') ? 2 : 4)
  return readingJudge(asked, ({ content }) => score(content))
}

describe('a judged metric that is compared with a stored score', () => {
  it('is decided by tie-breakers in their order where scores are equal, and brings no hidden file', async () => {
    const server = await modelServer(scoring)
    const before = answers('good but long answer')
    const idea = (hypothesis: string, after: string) =>
      patchOf({ 'src/answers.txt': [before, after] }, { hypothesis })
    const site = await createTestRepository({
      spec: SPEC,
      name: 'judged',
      files: {
        'src/answers.txt': before,
        'bench/items.awk': HARNESS,
        'ideas/1.patch': idea('poor', answers('poor')),
        'ideas/2.patch': idea('mistaken', answers('good mistake')),
        'ideas/3.patch': idea('leaking', answers('good')).concat(
          'diff --git a/src/key.txt b/src/key.txt\nnew file mode 100644\n--- /dev/null\n+++ b/src/key.txt\n@@ -0,0 +1 @@\n+42\n',
        ),
        'ideas/4.patch': idea('short', answers('good answer')),
        'ideas/5.patch': idea('wordy', answers('good but very very long answer')),
      },
      env: { WINNOW_MODEL_URL: server.url, WINNOW_MODEL_KEY: 'sk', WINNOW_MODEL_PRICE: '1/5' },
    })
    site.write('src/key.txt', '42\n')
    await site.start()
    await site.run()
    expect(await site.outcomes()).toMatchObject({ poor: 'dropped', mistaken: 'inconclusive', short: 'kept' })
    expect(await site.reasonOf('short')).toContain(
      'quality 4 -> 4 (0.0 %), 1 sample: the difference is within the comparison threshold, and tie-breaker words 48 -> 24 (-50.0 %) is better',
    )
    expect(await site.reasonOf('mistaken')).toContain('tie-breaker mistakes 0 -> 12 is worse')
    expect(await site.reasonOf('leaking')).toContain('outside scope.mutable: src/key.txt')
    expect((await site.campaign()).landings).toHaveLength(1)
    await site.proven()
  }, 240_000)
})
