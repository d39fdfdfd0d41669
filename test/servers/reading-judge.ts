import type { AskedModel, ModelReply } from './model-server.ts'

/** An item as a judge finds it between its marks. */
export interface ShownItem {
  key: string
  content: string
}

/** What a judge that goes by the marks makes out of its question. */
export function shownIn({ system, user }: Pick<AskedModel, 'system' | 'user'>): ShownItem[] {
  const mark = /"BEGIN ([0-9a-f]{32}) <item>"/.exec(system)?.[1] ?? 'none'
  const shown = new RegExp(`^BEGIN ${mark} ([0-9a-f]{8})\\n([\\s\\S]*?)\\nEND ${mark} \\1$`, 'gm')
  return [...user.matchAll(shown)].map(([, key = '', content = '']) => ({ key, content }))
}

/** It scores every item it is shown by its content alone. */
export function readingJudge(
  asked: AskedModel,
  score: (item: ShownItem) => number,
  field = 'quality',
): ModelReply {
  const scores = shownIn(asked).map(item => ({ item: item.key, [field]: score(item) }))
  return { text: JSON.stringify({ scores }) }
}
