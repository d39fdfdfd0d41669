import { truncateBody } from '../../github/comments.ts'
import type { ForgeChange, NewPull } from '../../github/port.ts'
import { computeMarkerKey } from '../../github/pull-node.ts'
import type { Check } from '../../model/github.ts'
import type { PullFacts } from '../../plan/world.ts'

export interface DesiredComment {
  /** Names the comment's kind and subject: winnow finds its comment again by this. */
  marker: string
  body: string
}

/** What one pull request should look like. winnow changes nothing that is absent here. */
export interface DesiredPull {
  pull: PullFacts | null
  open?: NewPull
  title?: string
  body?: string
  /** A line of the body whose change alone is not worth an edit. */
  looseLine?: number
  /** GitHub cannot merge a draft. winnow never turns a pull request into one: some repositories have none. */
  draft?: false
  /** Posted once and edited in place; winnow deletes none. */
  comments?: readonly DesiredComment[]
  closed?: true
  check?: Check | null
}

/** The check comes first, because the texts mention it. */
export interface PullDifference {
  check: Check | null
  changes: ForgeChange[]
}

export type WrittenChecks = ReadonlyMap<string, string>

export function comparePulls(desired: readonly DesiredPull[], written: WrittenChecks): PullDifference[] {
  return desired.flatMap(each => {
    const changes = listPullChanges(each)
    const check = selectCheck(each, changes.length > 0, written)
    return changes.length === 0 && check === null ? [] : [{ check, changes }]
  })
}

function listPullChanges({ pull, open, ...desired }: DesiredPull): ForgeChange[] {
  if (pull === null) return open === undefined ? [] : [{ kind: 'open', ...open }]
  const { number } = pull
  const { title, body, looseLine, draft, comments = [], closed } = desired
  const edit = {
    ...(title === undefined || title === pull.title ? {} : { title }),
    ...(body === undefined || isSameText(pull.body, body, looseLine) ? {} : { body }),
    ...(draft === false && pull.draft === true ? { draft } : {}),
  }
  const stale = comments.filter(each => !isSameText(getComment(pull, each.marker) ?? '', each.body))
  return [
    ...(Object.keys(edit).length === 0 ? [] : [{ kind: 'update', number, ...edit } as const]),
    ...stale.map(each => ({ kind: 'comment', number, ...each }) as const),
    ...(closed && pull.state === 'open' ? [{ kind: 'close', number } as const] : []),
  ]
}

/** Reading checks costs a request a head. A check is written before its text, so a current text proves it. */
function selectCheck(
  { check = null, body, comments = [] }: DesiredPull,
  isTextStale: boolean,
  written: WrittenChecks,
): Check | null {
  if (check === null) return null
  const before = written.get(check.id)
  if (before !== undefined) return before === formatCheckContent(check) ? null : check
  const hasText = body !== undefined || comments.length > 0
  if (isTextStale) return check
  return hasText ? null : { ...check, again: true }
}

export function formatCheckContent(check: Check): string {
  const { name, head, state, title, summary, annotations = [] } = check
  return JSON.stringify([name, head, state, title, summary, annotations])
}

export function getComment({ ownComments = [] }: PullFacts, marker: string): string | null {
  const key = computeMarkerKey(marker)
  return ownComments.find(each => each.key === key)?.body ?? null
}

/** GitHub normalises line ends and trims texts. winnow cuts long ones before it writes them. */
export function isSameText(actual: string, desired: string, looseLine?: number): boolean {
  const lines = (text: string) =>
    text
      .replaceAll('\r\n', '\n')
      .trim()
      .split('\n')
      .filter((_, index) => index !== looseLine)
      .join('\n')
  return lines(actual) === lines(truncateBody(desired))
}
