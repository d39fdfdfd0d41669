import { type AskedModel, type ModelReply, type ModelServer, modelServer } from '../servers/model-server.ts'
import { readingJudge } from '../servers/reading-judge.ts'
import {
  patchOf,
  type TestRepository,
  createTestRepository,
  type TestRepositoryOptions,
} from './repository.ts'

/** Of one sample; the harness prints twice as many. */
export const SAMPLE = 12
const ITEMS = 2 * SAMPLE

/** What a harness prints of a file: one item a line. */
export const ITEMS_HARNESS = `BEGIN { printf "{\\"answers\\": 24, \\"items\\": [" }
{ printf "%s{\\"id\\": \\"q%d\\", \\"content\\": \\"%s\\"}", (NR > 1 ? ", " : ""), NR, $0 }
END { printf "]}" }
`

export const JUDGED_SPEC = `winnow: 1
metric:
  primary: { type: judge, name: quality, direction: maximize }
  degenerate_gates: [{ name: answers, check: '>= 24' }]
  judge:
    rubric: Score 1 to 5 how good the answer is.
    scoring: { primary: quality }
    model: the-judge
    sample_size: 12
    minimum_improvement: 0.5
measurement: { command: exec awk -f bench/items.awk src/answers.txt, probes: off }
scope: { mutable: [src/] }
propose: [{ use: patch, dir: ideas }]
`

/** The file of answers, all of one kind, or those of another from this item on. */
export function answers(kind: string, others = kind, from = ITEMS): string {
  return Array.from({ length: ITEMS }, (_, at) => `${at < from ? kind : others} ${at}\n`).join('')
}

export function idea(hypothesis: string, to: string): string {
  return patchOf({ 'src/answers.txt': [answers('poor'), to] }, { hypothesis })
}

const GOOD: Record<string, number> = { good: 4.5, poor: 2.5, bad: 1.5 }

/** It goes by the first word, and is seldom quite sure: the same of the same text, whenever it is asked. */
export function scoresByWord(asked: AskedModel): ModelReply {
  return readingJudge(asked, ({ content }) => {
    const [word = '', number = '0'] = content.split(' ')
    return (GOOD[word] ?? 1) + ((Number(number) * 7 + word.length) % 5) / 10 - 0.2
  })
}

export interface JudgedRepository extends TestRepository {
  server: ModelServer
}

export async function createJudgedRepository(
  ideas: Record<string, string>,
  options: Partial<TestRepositoryOptions> & {
    reply?: Parameters<typeof modelServer>[0]
    price?: string
  } = {},
): Promise<JudgedRepository> {
  const { reply = scoresByWord, price = '1/5', ...rest } = options
  const server = await modelServer(reply)
  const patches = Object.entries(ideas).map(([hypothesis, to], at) => [
    `ideas/${at}.patch`,
    idea(hypothesis, to),
  ])
  const site = await createTestRepository({
    files: {
      'bench/items.awk': ITEMS_HARNESS,
      'src/answers.txt': answers('poor'),
      ...Object.fromEntries(patches),
    },
    spec: JUDGED_SPEC,
    name: 'judged',
    env: { WINNOW_MODEL_URL: server.url, WINNOW_MODEL_KEY: 'sk-of-the-judge', WINNOW_MODEL_PRICE: price },
    ...rest,
  })
  return Object.assign(site, { server })
}
