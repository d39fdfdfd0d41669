import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { NOT_NOISE_PROOF } from '../../src/spec/notes.ts'
import { type AskedModel, type ModelReply, modelServer } from '../servers/model-server.ts'
import { readingJudge } from '../servers/reading-judge.ts'
import { createTestRepository, patchOf } from '../support/repository.ts'

/** The spec as it is, and where its ideas come from, which ce-optimize's agent would know. */
const SPEC = `${readFileSync('fixtures/specs/ce-seed-clustering.yaml', 'utf8')}propose: [{ use: patch, dir: ideas }]\n`

const BUCKETS = ['top_by_size', 'mid_range', 'small_clusters']

/** Clusters, one a line. Every clustering names its clusters anew. */
function clusters(name: string, word: string, solo = 0.3): string {
  const lines = Array.from({ length: 36 }, (_, at) => `${name}-${at} ${BUCKETS[at % 3]} ${word} ${at}\n`)
  return `solo_pct ${solo}\n${lines.join('')}`
}

const HARNESS = `awk '
NR == 1 { printf "{\\"solo_pct\\": %s, \\"max_cluster_size\\": 12, \\"cluster_count\\": 36, \\"items\\": [", $2; next }
{ printf "%s{\\"id\\": \\"%s\\", \\"bucket\\": \\"%s\\", \\"content\\": \\"%s %s\\"}", (NR > 2 ? ", " : ""), $1, $2, $3, $4 }
END {
  printf "], \\"summaries\\": [\\"crash on start\\", \\"dark mode\\"], \\"singletons\\": ["
  for (at = 0; at < 20; at++) printf "%s{\\"id\\": \\"%d\\", \\"content\\": \\"alone %d\\"}", (at > 0 ? ", " : ""), at, at
  printf "]}"
}' src/clusters.txt
`

const WORDS: Record<string, number> = { tight: 4, mixed: 3, blurred: 2, alone: 5, solo: 5 }

function scoring(asked: AskedModel): ModelReply {
  const score = (content: string) => WORDS[content.split(' ')[0] ?? ''] ?? 1
  const reply = readingJudge(asked, ({ content }) => score(content), 'mean_score')
  return { ...(reply as { text: string }), tokens: [100, 50] }
}

describe("ce-optimize's clustering example", () => {
  it('runs unchanged: gates first, strata, singletons, and means compared with the stored score', async () => {
    const server = await modelServer(scoring)
    const idea = (name: string, to: string) =>
      patchOf({ 'src/clusters.txt': [clusters('old', 'mixed'), to] }, { hypothesis: name })
    const site = await createTestRepository({
      spec: SPEC,
      name: 'issue-clusters',
      files: {
        'bench/cluster': HARNESS,
        'src/clusters.txt': clusters('old', 'mixed'),
        'ideas/1.patch': idea('blurred', clusters('blurred', 'blurred')),
        'ideas/2.patch': idea('solo', clusters('solo', 'solo', 0.99)),
        'ideas/3.patch': idea('tight', clusters('tight', 'tight')),
      },
      env: { WINNOW_MODEL_URL: server.url, WINNOW_MODEL_KEY: 'sk', WINNOW_MODEL_PRICE: '1/5' },
    })
    await site.start()
    await site.run()
    expect(await site.outcomes()).toEqual({ tight: 'kept', blurred: 'dropped', solo: 'degenerate' })
    expect(await site.reasonOf('tight')).toContain('mean_score')

    const { asked } = server
    expect(asked.every(({ model }) => model === 'haiku')).toBe(true)
    // A clustering that fails its gate costs nothing.
    expect(asked.some(({ user }) => user.includes('solo '))).toBe(false)
    // 30 items in 6 requests and 15 singletons in 3, for the base and for two ideas. Of winnow's own attacks rules stop
    // some, and the others print the 30 items of the base, which are scored once more.
    expect(asked).toHaveLength(3 * (6 + 3) + 6)
    expect((await site.campaign()).probes).toMatchObject({ not_probed: null, ignored_by: null })
    const alone = asked.filter(({ user }) => user.includes('alone '))
    expect(alone).toHaveLength(9)
    for (const { system, user } of alone) {
      expect(system).toContain('Rate 1-5 whether this item is rightly alone')
      expect(user).toContain('dark mode')
    }

    const events = await site.events()
    const reports = events.flatMap(event => (event.kind === 'measured' ? [event.report] : []))
    const compared = reports.filter(
      ({ executions }) => !executions.some(({ side }) => side.startsWith('probe')),
    )
    const scores = compared.flatMap(({ executions, judging }) =>
      judging === undefined ? [] : executions.map(({ metrics }) => metrics),
    )
    expect(new Set(scores.map(({ mean_score }) => mean_score))).toEqual(new Set([2, 3, 4]))
    expect(scores).toHaveLength(3)
    expect(scores[0]).toMatchObject({ scored_items: 30, singleton_mean_score: 5, cluster_count: 36 })
    const buckets = compared.flatMap(({ executions }) =>
      executions.flatMap(({ tasks }) => Object.keys(tasks ?? {})),
    )
    for (const bucket of [0, 1, 2])
      expect(buckets.filter(id => id.startsWith('old-') && Number(id.slice(4)) % 3 === bucket)).toHaveLength(
        10,
      )
    const decided = events.filter(event => event.kind === 'decided' && event.outcome === 'kept')
    expect(decided).toMatchObject([{ warnings: expect.arrayContaining([NOT_NOISE_PROOF]) }])
    expect((await site.campaign()).spent.requests).toBe(asked.length)
    await site.proven()
  }, 240_000)
})
