import { type JudgedItem, listJudgedItems, renderScores } from '../../src/judge/local-model.ts'
import type { AskedModel, ModelReply } from './model-server.ts'

export { type JudgedItem as ShownItem, listJudgedItems as shownIn } from '../../src/judge/local-model.ts'

/** It scores every item it is shown by its content alone. */
export function readingJudge(
  asked: AskedModel,
  score: (item: JudgedItem) => number,
  field = 'quality',
): ModelReply {
  return { text: renderScores(listJudgedItems(asked), item => ({ [field]: score(item) })) }
}
