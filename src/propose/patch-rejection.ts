import { splitDiffLines } from './diff-lines.ts'
import { toSafeLine } from './quoted-text.ts'

/** Why git did not apply a diff, and the line of the diff that shows it. */
export interface Rejection {
  why: string
  line: number | null
}

interface Complaint {
  pattern: RegExp
  says: (groups: readonly string[]) => string
  /** The line of the diff, from 1. */
  at?: (groups: readonly string[], diff: string) => number | null
}

/** Translates messages of git apply for the author of the patch; the first match is the cause. */
const COMPLAINTS: readonly Complaint[] = [
  {
    pattern: /corrupt patch at (?:line |.*:)(\d+)/,
    says: () => 'the diff is damaged here',
    at: ([line]) => Number(line),
  },
  {
    pattern: /patch fragment without header at (?:line |.*:)(\d+)/,
    says: () => 'this change does not say to which file it belongs',
    at: ([line]) => Number(line),
  },
  {
    pattern: /corrupt binary patch at (?:line |.*:)(\d+)/,
    says: () => 'the binary content is damaged here; make it with git diff --binary',
    at: ([line]) => Number(line),
  },
  {
    pattern: /(?:cannot apply binary patch to|missing binary patch data for) '(.*?)'/,
    says: ([path]) => `${path} is binary and its content is not in the patch; make it with git diff --binary`,
    at: ([path = ''], diff) => findHeaderLine(diff, path),
  },
  {
    pattern: /patch failed: (.*):(\d+)$/m,
    says: ([path, line]) => `${path} does not match at line ${line}`,
    at: ([path = '', line], diff) => findHunkLine(diff, path, Number(line)),
  },
  {
    pattern: /error: (.*): does not exist in index/,
    says: ([path]) => `${path} does not exist`,
    at: ([path = ''], diff) => findHeaderLine(diff, path),
  },
  {
    pattern: /error: (.*): already exists in index/,
    says: ([path]) => `${path} exists already`,
    at: ([path = ''], diff) => findHeaderLine(diff, path),
  },
  {
    pattern: /invalid path '(.*?)'/,
    says: ([path]) => `${path} is not a path a patch may change`,
    at: ([path = ''], diff) => findHeaderLine(diff, path),
  },
  {
    pattern: /No valid patches in input/,
    says: () => 'git finds no change in it; make it with git diff or git format-patch',
  },
]

export function readRejection(gitSays: string, diff: string): Rejection {
  for (const { pattern, says, at } of COMPLAINTS) {
    const match = pattern.exec(gitSays)
    if (match === null) continue
    const groups = match.slice(1)
    return { why: toSafeLine(says(groups), 300), line: at?.(groups, diff) ?? null }
  }
  return { why: toSafeLine(gitSays.replace(/^(?:error|fatal): /, ''), 300), line: null }
}

/** The first header of the diff that names a path. */
function findHeaderLine(diff: string, path: string): number | null {
  const found = splitDiffLines(diff).findIndex(
    ({ kind, text }) =>
      kind === 'header' && text.replace(/\r$/, '').split('\t', 1)[0]?.endsWith(path) === true,
  )
  return found === -1 ? null : found + 1
}

/** The `@@` line of the change to that line of that file. */
function findHunkLine(diff: string, path: string, oldLine: number): number | null {
  const from = findHeaderLine(diff, path)
  if (from === null) return null
  const lines = splitDiffLines(diff)
  const at = lines.findIndex(
    ({ kind, text }, index) =>
      index + 1 > from && kind === 'header' && Number(/^@@ -(\d+)/.exec(text)?.[1]) === oldLine,
  )
  return at === -1 ? from : at + 1
}
