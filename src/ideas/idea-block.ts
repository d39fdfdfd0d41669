import { parse as parseYaml, YAMLParseError } from 'yaml'
import { z } from 'zod'
import { UserError } from '../errors.ts'
import type { BacklogIdea } from '../model/campaign.ts'
import { toSafeLine, toSafeParagraphs } from '../model/text.ts'
import type { IdeaText } from '../plan/world.ts'
import { formatProblem, SpecErrors, toFindings } from '../spec/errors.ts'
import { readDocument, type SourceDocument } from '../spec/yaml-document.ts'

const nonEmptyText = z.string().regex(/\S/, 'text that is not empty')

/** The keys that describe an idea in a patch's front matter or a pull request's winnow block. */
const ideaBlock = z.strictObject({
  hypothesis: nonEmptyText,
  category: nonEmptyText.optional(),
  priority: z.enum(['high', 'medium', 'low']).optional(),
  required_deps: z.array(nonEmptyText).optional(),
  family: nonEmptyText.nullable().optional(),
})
/** A pull request may name the backlog idea that it carries out. */
const partialBlock = ideaBlock.partial().extend({ idea: nonEmptyText.optional() })
/** `kind` is allowed only in the spec's own folder of patches, which only maintainers can write to. */
const patchBlock = ideaBlock.extend({ kind: z.enum(['simplify']).optional() })

export type PartialIdeaBlock = z.output<typeof partialBlock>
type BlockResult<T> = { ok: true; fields: T } | { ok: false; problem: string }

export interface YamlBlock {
  yaml: string
  /** For error messages: the file, and the number of its lines before the block. */
  file: string
  linesBefore: number
}

export const LONGEST_HYPOTHESIS = 300
const LONGEST_LEARNINGS = 4_000
const LONGEST_NAME = 60
/** npm allows 214 characters; no ecosystem that winnow supports allows more. */
const LONGEST_PACKAGE = 214
const MOST_PACKAGES = 50

export function readBlock(block: YamlBlock): BlockResult<z.output<typeof patchBlock>> {
  return readIdeaBlock(block, patchBlock)
}

export function readPartialBlock(block: YamlBlock): BlockResult<PartialIdeaBlock> {
  return readIdeaBlock(block, partialBlock)
}

function readIdeaBlock<S extends z.ZodObject>(
  { yaml, file, linesBefore }: YamlBlock,
  schema: S,
): BlockResult<z.output<S>> {
  let source: SourceDocument
  try {
    source = readDocument('\n'.repeat(linesBefore) + yaml, file)
  } catch (error) {
    if (!(error instanceof SpecErrors)) throw error
    return { ok: false, problem: describeBlockProblems(error) }
  }
  const parsed = schema.safeParse(source.value ?? {})
  if (parsed.success) return { ok: true, fields: parsed.data }
  const known = new Map([['', new Set(Object.keys(schema.shape))]])
  const findings = parsed.error.issues.flatMap(issue => toFindings(issue, { raw: source.value, known }))
  const problems = findings.map(finding => source.problem(finding))
  return { ok: false, problem: describeBlockProblems(new SpecErrors(problems)) }
}

function describeBlockProblems({ problems }: SpecErrors): string {
  const [first, ...more] = problems.map(problem => toSafeLine(formatProblem(problem), 300))
  return more.length === 0 ? (first ?? '') : `${first} (and ${more.length} more)`
}

/** Cleans and caps untrusted text, and fills in defaults. */
export function toIdea(fields: PartialIdeaBlock, fallback: string): IdeaText {
  const packages = (fields.required_deps ?? []).map(name => toSafeLine(name, LONGEST_PACKAGE))
  const hypothesis = toSafeLine(fields.hypothesis ?? '', LONGEST_HYPOTHESIS)
  return {
    hypothesis: hypothesis === '' ? toSafeLine(fallback, LONGEST_HYPOTHESIS) : hypothesis,
    category: toSafeLine(fields.category ?? '', LONGEST_NAME) || 'general',
    priority: fields.priority ?? 'medium',
    required_deps: [...new Set(packages)].filter(name => name !== '').slice(0, MOST_PACKAGES),
    family: toSafeLine(fields.family ?? '', LONGEST_NAME) || null,
  }
}

export function toLearnings(text: string | null | undefined): string | null {
  return toSafeParagraphs(text ?? '', LONGEST_LEARNINGS) || null
}

/** The idea's author decides, except where the program that carried it out says more. */
export function mergeBacklogIdea(idea: BacklogIdea | null, answer: IdeaText): IdeaText {
  if (idea === null) return answer
  const { category, priority, required_deps, family } = idea
  return {
    ...answer,
    category: answer.category === 'general' ? category : answer.category,
    priority,
    required_deps: [...new Set([...required_deps, ...answer.required_deps])],
    family: answer.family ?? family,
  }
}

// Idea lists

const MAX_IDEAS = 500
/** An entry of ce-optimize's hypothesis_backlog. A person still has to approve its packages. */
const backlogEntry = ideaBlock
  .omit({ hypothesis: true })
  .extend({ description: nonEmptyText, dep_status: z.string().optional() })
  .transform(({ description, category, priority, required_deps, family }) => {
    return { hypothesis: description, category, priority, required_deps, family }
  })
const ideaList = z.array(
  z.union([nonEmptyText.transform(hypothesis => ({ hypothesis })), ideaBlock, backlogEntry]),
)
const ceLog = z.object({ hypothesis_backlog: z.unknown() })

/** Reads an idea file of the user: a YAML or JSON list, or the items of Markdown lists. */
export function readIdeaList(content: string, file: string): IdeaText[] {
  const found = /\.(?:ya?ml|json)$/i.test(file) ? parseIdeaData(content, file) : parseIdeaMarkdown(content)
  if (found.length > 0 && found.length <= MAX_IDEAS) return found
  const what = found.length === 0 ? 'it contains no idea' : `it has more than ${MAX_IDEAS} ideas`
  throw new UserError(`${file}: ${what}`, {
    place: { file },
    fix: 'write one idea a line: - [category] text',
  })
}

function parseIdeaData(content: string, file: string): IdeaText[] {
  const value = parseIdeaYaml(content, file)
  const parsed = ideaList.safeParse(ceLog.safeParse(value).data?.hypothesis_backlog ?? value)
  if (parsed.success) return parsed.data.map(fields => toIdea(fields, ''))
  const [issue] = parsed.error.issues
  const at = issue?.path[0]
  const which = typeof at === 'number' ? `entry ${at + 1}` : 'the file'
  throw new UserError(`${file}: ${which} is not an idea`, {
    place: { file },
    fix: 'write a list of texts, or of { hypothesis, category, priority, required_deps, family }',
  })
}

/** JSON is valid YAML. */
function parseIdeaYaml(content: string, file: string): unknown {
  try {
    return parseYaml(content)
  } catch (cause) {
    if (!(cause instanceof YAMLParseError)) throw cause
    const line = cause.linePos?.[0].line
    const place = line === undefined ? { file } : { file, line }
    const fix = cause.message.split('\n', 1)[0] ?? ''
    throw new UserError(`${file} cannot be read`, { place, fix, cause })
  }
}

/** `- [category] text`. An empty checkbox is no category, and a ticked item is done. */
const ITEM = /^\s*[-*+]\s+(?:\[([^\]]*)\]\s+)?(\S.*)$/

function parseIdeaMarkdown(content: string): IdeaText[] {
  return content.split(/\r?\n/).flatMap(line => {
    const [, box = '', hypothesis = ''] = ITEM.exec(line) ?? []
    if (hypothesis === '' || /^x$/i.test(box)) return []
    return toIdea({ hypothesis, category: box }, '')
  })
}

/** Ideas with the same words are the same, independent of case and punctuation. */
export function normalizeHypothesis(hypothesis: string): string {
  return hypothesis
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
