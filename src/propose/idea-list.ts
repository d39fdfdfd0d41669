import { parse as parseYaml, YAMLParseError } from 'yaml'
import { z } from 'zod'
import { UserError } from '../errors.ts'
import type { IdeaText } from '../plan/world.ts'
import { toIdea } from './idea-block.ts'

const entryText = z.string().regex(/\S/, 'text that is not empty')
const entry = z.union([
  entryText.transform(hypothesis => ({ hypothesis })),
  z.strictObject({
    hypothesis: entryText,
    category: entryText.optional(),
    priority: z.enum(['high', 'medium', 'low']).optional(),
    required_deps: z.array(entryText).optional(),
    family: entryText.nullable().optional(),
  }),
])
const MOST = 500
const list = z.array(entry).max(MOST)

/** Ideas in a file that people keep: a YAML or JSON list, or the items of Markdown lists. */
export function readIdeaList(content: string, file: string): IdeaText[] {
  const found = /\.(?:ya?ml|json)$/i.test(file) ? parseIdeaData(content, file) : parseIdeaMarkdown(content)
  if (found.length > 0 && found.length <= MOST) return found
  const what = found.length === 0 ? 'there is no idea in it' : `it has more than ${MOST} ideas`
  throw new UserError(`${file}: ${what}`, {
    place: { file },
    fix: 'write one idea a line: - [category] text',
  })
}

function parseIdeaData(content: string, file: string): IdeaText[] {
  const parsed = list.safeParse(parseIdeaYaml(content, file))
  if (parsed.success) return parsed.data.map(told => toIdea(told, ''))
  const [issue] = parsed.error.issues
  const at = issue?.path[0]
  const which = typeof at === 'number' ? `entry ${at + 1}` : 'the file'
  throw new UserError(`${file}: ${which} is no idea`, {
    place: { file },
    fix: 'write a list of texts, or of { hypothesis, category, priority, required_deps, family }',
  })
}

/** JSON is YAML as well. */
function parseIdeaYaml(content: string, file: string): unknown {
  try {
    return parseYaml(content)
  } catch (cause) {
    if (!(cause instanceof YAMLParseError)) throw cause
    const line = cause.linePos?.[0].line
    const place = line === undefined ? { file } : { file, line }
    throw new UserError(`${file} cannot be read`, {
      place,
      fix: cause.message.split('\n', 1)[0] ?? '',
      cause,
    })
  }
}

/** `- [category] text`; a box to tick is no category, and what is ticked is done. */
const ITEM = /^\s*[-*+]\s+(?:\[([^\]]*)\]\s+)?(\S.*)$/

function parseIdeaMarkdown(content: string): IdeaText[] {
  return content.split('\n').flatMap(line => {
    const [, box = '', hypothesis = ''] = ITEM.exec(line) ?? []
    if (hypothesis === '' || /^x$/i.test(box)) return []
    const category = box.trim()
    return [toIdea({ hypothesis, ...(category === '' ? {} : { category }) }, '')]
  })
}

/** The same words are the same idea, however they are written. */
export function normalizeHypothesis(hypothesis: string): string {
  return hypothesis
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
