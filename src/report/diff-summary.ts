import { z } from 'zod'
import { formatCount } from '../decide/wording.ts'
import { joinFirst, toOneLine } from '../model/text.ts'

/** git counts no lines of a binary file. */
export type ChangedPath = { status: string; path: string; added: number | null; deleted: number | null }

export const MOST_PATHS = 100

/** Read from git wherever it is shown; the ledger stores only trees. */
export const diffSummarySchema = z.strictObject({
  files: z.number().int(),
  added: z.number().int(),
  deleted: z.number().int(),
  /** A git status letter, a path, and its added and removed lines: "M src/a.ts +3 -1". */
  paths: z.array(z.string()),
})
type DiffSummary = z.infer<typeof diffSummarySchema>

export function buildDiffSummary(diff: readonly ChangedPath[]): DiffSummary {
  const sum = (which: 'added' | 'deleted') => diff.reduce((all, entry) => all + (entry[which] ?? 0), 0)
  return {
    files: diff.length,
    added: sum('added'),
    deleted: sum('deleted'),
    paths: diff.slice(0, MOST_PATHS).map(each => `${each.status} ${each.path} ${formatLineCounts(each)}`),
  }
}

/** For one line: "2 files, +10 -3: src/a.ts +9 -3, src/b.ts +1 -0". */
export function formatDiffSummary(diff: readonly ChangedPath[], most: number): string {
  const { files, added, deleted } = buildDiffSummary(diff)
  const each = diff.map(one => `${toOneLine(one.path, 80)} ${formatLineCounts(one)}`)
  return `${formatCount(files, 'file')}, +${added} -${deleted}: ${joinFirst(each, most)}`
}

export function formatLineCounts({ added, deleted }: Pick<ChangedPath, 'added' | 'deleted'>): string {
  return added === null || deleted === null ? 'binary' : `+${added} -${deleted}`
}
