export interface DoctorFinding {
  /** `bad` stands in the way; `unknown` could not be checked, or is for a person to look at. */
  state: 'good' | 'bad' | 'unknown'
  what: string
  /** What to do about it; further lines are where to click, or what to write. */
  fix?: string
}

export function reportGood(what: string): DoctorFinding {
  return { state: 'good', what }
}

export function reportBad(what: string, fix: string): DoctorFinding {
  return { state: 'bad', what, fix }
}

export function reportUnknown(what: string, fix: string): DoctorFinding {
  return { state: 'unknown', what, fix }
}

const MARKS = { good: 'ok', bad: '!!', unknown: '??' } as const
const ORDER = ['bad', 'unknown', 'good'] as const

/** One line of verdict, then what needs doing; with `all`, also what is fine. */
export function renderFindings(findings: readonly DoctorFinding[], all = false): string[] {
  const shown = ORDER.filter(state => all || state !== 'good').flatMap(state =>
    findings.filter(finding => finding.state === state),
  )
  return [
    describeFindingsVerdict(findings),
    ...(shown.length === 0 ? [] : ['']),
    ...shown.flatMap(({ state, what, fix }) => [
      `${MARKS[state]}  ${what}`,
      ...(fix === undefined ? [] : fix.split('\n').map(line => `      ${line}`)),
    ]),
  ]
}

function describeFindingsVerdict(findings: readonly DoctorFinding[]): string {
  const count = (state: DoctorFinding['state']) => findings.filter(finding => finding.state === state).length
  const [wrong, open] = [count('bad'), count('unknown')]
  const things = (number: number) => `${number} thing${number === 1 ? '' : 's'}`
  if (wrong === 0 && open === 0) return `Ready: ${findings.length} checks, and nothing is missing.`
  const look = open === 0 ? '' : `${things(open)} to look at`
  if (wrong === 0) return `Nothing stands in the way; ${look}.`
  return `Not ready: ${things(wrong)} to do${open === 0 ? '' : `, ${look}`}.`
}
