import type { Examination } from '../forge/github/examine.ts'

export interface Finding {
  /** `unknown`: nobody could be asked. */
  state: 'good' | 'bad' | 'unknown'
  what: string
  /** What to do about it. */
  fix?: string
}

export function good(what: string): Finding {
  return { state: 'good', what }
}

export function bad(what: string, fix: string): Finding {
  return { state: 'bad', what, fix }
}

export function unknown(what: string, fix: string): Finding {
  return { state: 'unknown', what, fix }
}

const MOST_SKEW_S = 30

/** What GitHub says of itself, as far as the token may see. */
export function examinationFindings(seen: Examination, tickWorkflow: string): Finding[] {
  return [
    rightsFinding(seen),
    pullsFinding(seen),
    rulesFinding(seen),
    scheduleFinding(seen, tickWorkflow),
    clockFinding(seen),
  ]
}

function rightsFinding({ permissions }: Examination): Finding {
  if (permissions === null) {
    return unknown(
      'what the token may do is not told by GitHub',
      'a job says it under permissions: in its workflow',
    )
  }
  const held = Object.entries(permissions).flatMap(([name, has]) => (has ? [name] : []))
  if (permissions['push'] === true) return good(`the token's account may push (${held.join(', ')})`)
  return bad(
    'the token’s account may not push',
    'use a token with contents: write, pull-requests: write and checks: write',
  )
}

function pullsFinding({ actionsOpenPulls }: Examination): Finding {
  const setting = 'Settings > Actions > General > Workflow permissions'
  const name = '"Allow GitHub Actions to create and approve pull requests"'
  if (actionsOpenPulls === true) return good(`${name} is on`)
  if (actionsOpenPulls === null)
    return unknown(`whether ${name} is on needs an administrator's token`, `look under ${setting}`)
  return bad(
    `${name} is off: winnow can open no pull request with a job's token`,
    `turn it on under ${setting}`,
  )
}

/** Those that keep a push of an ordinary commit away. */
const IN_THE_WAY = new Set([
  'creation',
  'update',
  'deletion',
  'pull_request',
  'required_status_checks',
  'required_signatures',
  'required_linear_history',
  'merge_queue',
])

function rulesFinding({ rules }: Examination): Finding {
  if (rules === null)
    return unknown('the rules of branches cannot be read with this token', 'look under Settings > Rules')
  const wrong = rules.filter(rule => IN_THE_WAY.has(rule))
  if (wrong.length === 0) return good("no rule stands in the way of winnow's branches")
  return bad(
    `rules on winnow's branches would refuse its pushes: ${wrong.join(', ')}`,
    'exclude optimize*/** from that ruleset, or let GitHub Actions bypass it',
  )
}

function scheduleFinding({ workflows }: Examination, path: string): Finding {
  if (workflows === null)
    return unknown('which workflows are on cannot be read with this token', 'look under Actions')
  const state = workflows.get(path)
  if (state === 'active') return good(`${path} is on`)
  if (state === undefined)
    return unknown(`${path} is not known to GitHub yet`, 'merge the set-up pull request first')
  return bad(
    `${path} is off (${state}): nothing wakes winnow up`,
    state === 'disabled_inactivity'
      ? 'GitHub turns schedules off after 60 days without a commit: turn it on under Actions'
      : 'turn it on under Actions',
  )
}

function clockFinding({ skewSeconds }: Examination): Finding {
  if (skewSeconds === null) return unknown('GitHub did not say what time it is', 'compare the clock yourself')
  const off = Math.abs(skewSeconds)
  if (off <= MOST_SKEW_S) return good('the clock is right')
  return bad(`this clock is ${off} s ${skewSeconds > 0 ? 'behind' : 'ahead of'} GitHub's`, 'set it by NTP')
}

/** A workflow of the repository's own, and what would start it on winnow's branches. */
export function bystanderFinding(
  { path, triggers }: { path: string; triggers: readonly string[] },
  prefix: string,
): Finding {
  if (triggers.length === 0) return good(`${path} leaves winnow's branches alone`)
  const lines = triggers.map(
    name => `on.${name}.branches-ignore: ['${name === 'push' ? `${prefix}*/**` : `${prefix}/**`}']`,
  )
  return bad(
    `${path} runs on winnow's branches too (${triggers.join(', ')})`,
    `add ${lines.join(' and ')}, or keep it if you want that`,
  )
}

const MARKS = { good: 'ok', bad: '!!', unknown: '??' } as const

export function doctorText(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ state, what, fix }) => [
    `${MARKS[state]}  ${what}`,
    ...(fix === undefined ? [] : [`      ${fix}`]),
  ])
}
