import type { Examination, Guard } from '../forge/github/examine.ts'

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

/** What is there to compare with what GitHub says. */
export interface Expected {
  /** Paths of the workflows that winnow needs. */
  workflows: readonly string[]
  prefix: string
  /** Optimize branches whose spec has GitHub merge. */
  mergedThere: readonly string[]
}

/** What GitHub says of itself, as far as the token may see. */
export function examinationFindings(seen: Examination, expected: Expected): Finding[] {
  return [
    rightsFinding(seen),
    ...scopesFindings(seen),
    pullsFinding(seen),
    ...guardFindings(seen, expected),
    ...workflowFindings(seen, expected.workflows),
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

/** A classic token names its scopes: a job's own, an App's and a fine-grained one do not. */
function scopesFindings({ scopes }: Examination): Finding[] {
  if (scopes === null) return []
  const held = scopes.join(', ') || 'none'
  if (!scopes.includes('repo') && !scopes.includes('public_repo'))
    return [
      bad(
        `the token's scopes are ${held}: it may not push`,
        'give it repo (public_repo for a public repository)',
      ),
    ]
  const workflow = scopes.includes('workflow')
  return [
    workflow
      ? good(`the token's scopes are enough (${held})`)
      : unknown(
          `the token's scopes are ${held}: a sync that brings workflow files would be refused`,
          'give it workflow too, if the default branch changes its workflows',
        ),
  ]
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
/** Under these GitHub still merges a pull request. */
const MERGEABLE = new Set(['pull_request', 'required_status_checks', 'deletion', 'creation'])

function guardFindings({ guards }: Examination, expected: Expected): Finding[] {
  const found = guards.flatMap(guard => guardFinding(guard, expected) ?? [])
  return found.length > 0 ? found : [good("no rule stands in the way of winnow's branches")]
}

function guardFinding({ branch, rules, hidden }: Guard, { prefix, mergedThere }: Expected): Finding | null {
  if (rules === null)
    return unknown(`the rules of ${branch} cannot be read with this token`, 'look under Settings > Rules')
  const wrong = rules.filter(rule => IN_THE_WAY.has(rule))
  if (wrong.length === 0) {
    const how = 'look under Settings > Branches, or use a token of an administrator'
    return hidden ? unknown(`${branch} is protected; how is told to administrators alone`, how) : null
  }
  const named = wrong.join(', ')
  const byMerge = branch.startsWith(`${prefix}/`) && wrong.every(rule => MERGEABLE.has(rule))
  if (byMerge && mergedThere.includes(branch))
    return good(`${branch} takes no pushes (${named}), and merge.via: api has GitHub merge there`)
  const exclude = `exclude ${prefix}*/** from what sets them, or let the account that winnow pushes with bypass it`
  return bad(
    `rules on ${branch} would refuse winnow's pushes: ${named}`,
    byMerge ? `${exclude}; or set merge.via: api, so that GitHub merges what is kept` : exclude,
  )
}

function workflowFindings({ workflows }: Examination, paths: readonly string[]): Finding[] {
  if (workflows === null)
    return [unknown('which workflows are on cannot be read with this token', 'look under Actions')]
  return paths.map(path => workflowFinding(path, workflows.get(path)))
}

function workflowFinding(path: string, state: string | undefined): Finding {
  if (state === 'active') return good(`${path} is on`)
  if (state === undefined)
    return unknown(`${path} is not known to GitHub yet`, 'merge the set-up pull request first')
  return bad(
    `${path} is off (${state}): ${path.endsWith('/winnow.yml') ? 'nothing wakes winnow up' : 'nothing starts it'}`,
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
export function bystanderFinding({
  path,
  triggers,
}: {
  path: string
  triggers: readonly { name: string; line: string }[]
}): Finding {
  if (triggers.length === 0) return good(`${path} leaves winnow's branches alone`)
  const names = triggers.map(({ name }) => name).join(', ')
  const lines = [...new Set(triggers.map(({ line }) => line))]
  return bad(
    `${path} runs on winnow's branches too (${names})`,
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
