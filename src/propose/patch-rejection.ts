import { oneLine } from './quoted-text.ts'

interface Complaint {
  pattern: RegExp
  says: (groups: readonly string[], linesBefore: number) => string
}

/** What git apply says, in the words of who wrote the patch; the first that fits is the cause. */
const COMPLAINTS: readonly Complaint[] = [
  {
    pattern: /corrupt patch at line (\d+)/,
    says: ([line], before) => `the diff is damaged at line ${Number(line) + before} of the file`,
  },
  {
    pattern: /patch fragment without header at line (\d+)/,
    says: ([line], before) =>
      `the change at line ${Number(line) + before} of the file does not say to which file`,
  },
  {
    pattern: /(?:cannot apply binary patch to|missing binary patch data for) '(.*?)'/,
    says: ([path]) => `${path} is binary and its content is not in the patch; make it with git diff --binary`,
  },
  { pattern: /patch failed: (.*):(\d+)$/m, says: ([path, line]) => `${path} does not match at line ${line}` },
  { pattern: /error: (.*): does not exist in index/, says: ([path]) => `${path} does not exist` },
  { pattern: /error: (.*): already exists in index/, says: ([path]) => `${path} exists already` },
  { pattern: /invalid path '(.*?)'/, says: ([path]) => `${path} is not a path a patch may change` },
  {
    pattern: /No valid patches in input/,
    says: () => 'git finds no change in it; make it with git diff or git format-patch',
  },
]

export function rejectionReason(gitSays: string, linesBefore: number): string {
  for (const { pattern, says } of COMPLAINTS) {
    const match = pattern.exec(gitSays)
    if (match) return oneLine(says(match.slice(1), linesBefore), 300)
  }
  return oneLine(gitSays.replace(/^(?:error|fatal): /, ''), 300)
}
