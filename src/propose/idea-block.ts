import { z } from 'zod'
import type { BacklogIdea } from '../model/campaign.ts'
import type { IdeaText } from '../plan/world.ts'
import { readDocument, type SourceDocument } from '../spec/document.ts'
import { toFindings } from '../spec/issue.ts'
import { formatProblem, SpecErrors } from '../spec/problem.ts'
import { toSafeLine, toSafeParagraphs } from './quoted-text.ts'

const nonEmptyText = z.string().regex(/\S/, 'text that is not empty')

/** The keys a person may write about an idea, in a patch's front matter or a pull request's winnow block. */
const ideaBlock = z.strictObject({
  hypothesis: nonEmptyText,
  category: nonEmptyText.optional(),
  priority: z.enum(['high', 'medium', 'low']).optional(),
  required_deps: z.array(nonEmptyText).optional(),
  family: nonEmptyText.nullable().optional(),
})
/** A pull request may say which idea of the backlog it carries out. */
const partialBlock = ideaBlock.partial().extend({ idea: nonEmptyText.optional() })
/** In the spec's own folder of patches only: whoever may write there is a maintainer. */
const patchBlock = ideaBlock.extend({ kind: z.enum(['simplify']).optional() })

export type PartialIdeaBlock = z.output<typeof partialBlock>
export type BlockResult<T> = { ok: true; told: T } | { ok: false; problem: string }

export interface YamlBlock {
  yaml: string
  /** For messages: the file, and the lines in it before the block. */
  file: string
  linesBefore: number
}

export const LONGEST_HYPOTHESIS = 300
const LONGEST_LEARNINGS = 4_000
const LONGEST_NAME = 60
/** npm allows 214 characters; no ecosystem we know allows more. */
const LONGEST_PACKAGE = 214
const MOST_PACKAGES = 50

export function readBlock(block: YamlBlock): BlockResult<z.output<typeof patchBlock>> {
  return readIdeaBlock(block, patchBlock, Object.keys(patchBlock.shape))
}

export function readPartialBlock(block: YamlBlock): BlockResult<PartialIdeaBlock> {
  return readIdeaBlock(block, partialBlock, Object.keys(partialBlock.shape))
}

function readIdeaBlock<T>(
  { yaml, file, linesBefore }: YamlBlock,
  schema: z.ZodType<T>,
  keys: readonly string[],
): BlockResult<T> {
  let source: SourceDocument
  try {
    source = readDocument('\n'.repeat(linesBefore) + yaml, file)
  } catch (error) {
    if (!(error instanceof SpecErrors)) throw error
    return { ok: false, problem: describeBlockProblems(error) }
  }
  const parsed = schema.safeParse(source.value ?? {})
  if (parsed.success) return { ok: true, told: parsed.data }
  const known = new Map([['', new Set(keys)]])
  const findings = parsed.error.issues.flatMap(issue => toFindings(issue, { raw: source.value, known }))
  return {
    ok: false,
    problem: describeBlockProblems(new SpecErrors(findings.map(finding => source.problem(finding)))),
  }
}

function describeBlockProblems({ problems }: SpecErrors): string {
  const [first, ...more] = problems.map(problem => toSafeLine(formatProblem(problem), 300))
  return more.length === 0 ? (first ?? '') : `${first} (and ${more.length} more)`
}

/** Told by somebody, so cleaned and capped; what was not told gets its default. */
export function toIdea(told: PartialIdeaBlock, otherwise: string): IdeaText {
  const packages = (told.required_deps ?? []).map(name => toSafeLine(name, LONGEST_PACKAGE))
  const hypothesis = toSafeLine(told.hypothesis ?? '', LONGEST_HYPOTHESIS)
  return {
    hypothesis: hypothesis === '' ? toSafeLine(otherwise, LONGEST_HYPOTHESIS) : hypothesis,
    category: toSafeLine(told.category ?? '', LONGEST_NAME) || 'general',
    priority: told.priority ?? 'medium',
    required_deps: [...new Set(packages)].filter(name => name !== '').slice(0, MOST_PACKAGES),
    family: toSafeLine(told.family ?? '', LONGEST_NAME) || null,
  }
}

export function toLearnings(told: string | null | undefined): string | null {
  return toSafeParagraphs(told ?? '', LONGEST_LEARNINGS) || null
}

/** What whoever wrote an idea down said of it holds, where the program that carried it out says nothing else. */
export function mergeBacklogIdea(idea: BacklogIdea | null, told: IdeaText): IdeaText {
  if (idea === null) return told
  const { category, priority, required_deps, family } = idea
  return {
    ...told,
    category: told.category === 'general' ? category : told.category,
    priority,
    required_deps: [...new Set([...required_deps, ...told.required_deps])],
    family: told.family ?? family,
  }
}
