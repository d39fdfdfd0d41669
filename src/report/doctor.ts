import { formatCount } from '../decide/wording.ts'
import type { ActionsPolicy, BranchGuard, Examination } from '../model/github.ts'

// Findings

export interface DoctorFinding {
  /** `bad` blocks winnow. `unknown` could not be checked, or needs a person to look. */
  state: 'good' | 'bad' | 'unknown'
  what: string
  /** The next step. Further lines say where to click, or what to write. */
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

/** Prints a summary line and the problems. `all` also prints what is fine. */
export function renderFindings(findings: readonly DoctorFinding[], all = false): string[] {
  const states = ORDER.filter(state => all || state !== 'good')
  const shown = states.flatMap(state => findings.filter(finding => finding.state === state))
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
  const things = (number: number) => formatCount(number, 'thing')
  if (wrong === 0 && open === 0) return `Ready: ${findings.length} checks, and nothing is missing.`
  const review = open === 0 ? '' : `${things(open)} to look at`
  if (wrong === 0) return `No problem found; ${review}.`
  return `Not ready: ${things(wrong)} to do${open === 0 ? '' : `, ${review}`}.`
}

// Settings on GitHub

interface ExpectedSettings {
  /** Web address of the repository: https://github.com/owner/name. */
  page: string
  prefix: string
  /** Optimize branches whose spec lets GitHub merge. */
  mergedThere: readonly string[]
  /** The workflow, and every action that it uses (`owner/name`). */
  workflow: { path: string; isThere: boolean; actions: readonly string[] }
  /**
   * The environment with the key of a model, the branches that need it, and those that its branch rule refuses.
   */
  model: {
    environment: string
    secret: string
    needed: boolean
    branches: readonly string[]
    refused: readonly string[]
  } | null
  /** The workflow's action if it is in another repository. `server`: an Enterprise Server. */
  action: { repository: string; commit: string; webUrl: string; server: boolean } | null
  /** Other workflows that run on winnow's branches without a `permissions` key. */
  unguarded: readonly string[]
}

const MAX_SKEW_S = 30

export function checkSettings(examination: Examination, expected: ExpectedSettings): DoctorFinding[] {
  const findings = [
    checkRights(examination),
    checkTokenScopes(examination),
    checkPullPermission(examination, expected),
    checkActionsPolicy(examination, expected),
    checkActionAccess(examination, expected),
    checkDefaultToken(examination, expected),
    ...checkModelEnvironment(examination, expected),
    ...checkBranchGuards(examination, expected),
    checkWorkflowEnabled(examination, expected),
    checkPaused(examination, expected),
    checkClock(examination),
  ]
  return findings.filter(finding => finding !== null)
}

function checkRights({ permissions }: Examination): DoctorFinding {
  if (permissions === null) {
    const fix = 'a job has the rights under permissions: in its workflow'
    return reportUnknown('GitHub does not list the permissions of this token', fix)
  }
  const held = Object.entries(permissions).flatMap(([name, has]) => (has ? [name] : []))
  if (permissions['push'] === true)
    return reportGood(`the account of this token may push (${held.join(', ')})`)
  const fix = 'use a token with contents: write, pull-requests: write and checks: write'
  return reportBad('the account of this token may not push', fix)
}

/** Only a classic token has scopes. Job tokens, App tokens and fine-grained tokens have none. */
function checkTokenScopes({ scopes }: Examination): DoctorFinding | null {
  if (scopes === null) return null
  const held = scopes.join(', ') || 'none'
  if (scopes.includes('repo') || scopes.includes('public_repo'))
    return reportGood(`the scopes of this token are enough (${held})`)
  const fix = 'give it repo (public_repo for a public repository): gh auth refresh --scopes repo'
  return reportBad(`the scopes of this token are ${held}: it may not push`, fix)
}

function checkPullPermission({ actionsOpenPulls }: Examination, { page }: ExpectedSettings): DoctorFinding {
  const where = `${page}/settings/actions`
  const name = '"Allow GitHub Actions to create and approve pull requests"'
  if (actionsOpenPulls === true) return reportGood('GitHub Actions may open pull requests')
  if (actionsOpenPulls === null) {
    const what = 'only administrators can see whether GitHub Actions may open pull requests'
    return reportUnknown(what, `${where}\nWorkflow permissions: ${name} must be ticked`)
  }
  return reportBad(
    'GitHub Actions may not open pull requests',
    `${where}\nWorkflow permissions: tick ${name}, then Save (where it is grey, an owner of the organisation has to allow it first)`,
  )
}

function checkActionsPolicy(
  { policy }: Examination,
  { page, workflow }: ExpectedSettings,
): DoctorFinding | null {
  if (policy === null) return null
  const where = `${page}/settings/actions`
  if (!policy.enabled) {
    const fix = 'Actions permissions: choose "Allow all actions and reusable workflows", then Save'
    return reportBad('GitHub Actions are off in this repository', `${where}\n${fix}`)
  }
  const refused = workflow.actions.filter(action => !isActionAllowed(policy, action, page))
  if (refused.length === 0) return reportGood('every action that the workflow uses may run')
  const owner = getRepositoryOwner(page)
  const own = refused.filter(action => /^(?:actions|github)\//.test(action))
  const others = refused.filter(action => !own.includes(action))
  const steps = [
    `Actions permissions: choose "Allow ${owner}, and select non-${owner}, actions and reusable workflows"`,
    ...(own.length === 0 ? [] : ['tick "Allow actions created by GitHub"']),
    ...(others.length === 0
      ? []
      : [`under "Allow or block specified actions" add: ${others.map(each => `${each}@*`).join(', ')}`]),
  ]
  return reportBad(`${refused.join(', ')} may not run in this repository`, [where, ...steps].join('\n'))
}

function getRepositoryOwner(page: string): string {
  return new URL(page).pathname.split('/')[1] ?? ''
}

/** Follows GitHub's policy: the owner's actions are always allowed, and a pattern with ! removes. */
function isActionAllowed({ allowed, selected }: ActionsPolicy, action: string, page: string): boolean {
  if (allowed === 'all' || allowed === null) return true
  const owner = getRepositoryOwner(page)
  const patterns = selected?.patterns ?? []
  const named = (list: readonly string[]) => list.some(pattern => isPatternMatch(pattern, action))
  if (named(patterns.flatMap(pattern => (pattern.startsWith('!') ? [pattern.slice(1)] : [])))) return false
  if (action.split('/')[0]?.toLowerCase() === owner.toLowerCase()) return true
  if (allowed === 'local_only') return false
  if (selected === null) return true
  return (selected.githubOwned && /^(?:actions|github)\//.test(action)) || named(patterns)
}

/** In `owner/*` and `owner/name@*` a star matches any text. A pattern with a ref counts as a match. */
function isPatternMatch(pattern: string, action: string): boolean {
  const [name = ''] = pattern.trim().split('@')
  const words = name.split('*').map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${words.join('.*')}$`, 'i').test(action)
}

const USE_OTHER_ACTION = 'or take another action: winnow init --github --action owner/name@ref'

function checkActionAccess(
  { action: found, isPublic }: Examination,
  { page, action }: ExpectedSettings,
): DoctorFinding | null {
  if (found === null || action === null) return null
  const { repository, commit, webUrl, server } = action
  const settings = `${webUrl}/${repository}/settings`
  if (!found.exists) {
    const what = `this token sees no repository ${repository}, whose action the workflow runs`
    const fix = `push winnow to ${webUrl}/${repository}, or give the account of this token access to it\n${USE_OTHER_ACTION}`
    return server
      ? reportUnknown(what, `it may be one of github.com (GitHub Connect); else ${fix}`)
      : reportBad(what, fix)
  }
  if (found.hasCommit === false) {
    const what = `${repository} has no commit ${commit.slice(0, 10)}, which the workflow runs`
    return reportBad(what, 'winnow init --github --update')
  }
  if (!found.isPrivate) return reportGood(`${repository} has the commit that the workflow runs`)
  if (isPublic) {
    const what = `${repository} is private, and a public repository cannot use an action of a private one`
    return reportBad(what, `${settings}\nDanger Zone: change the visibility to public\n${USE_OTHER_ACTION}`)
  }
  const owner = repository.split('/')[0] ?? ''
  if (getRepositoryOwner(page).toLowerCase() !== owner.toLowerCase() && found.access !== 'enterprise') {
    const what = `${repository} is private, and only repositories of ${owner} can use an action of it`
    return reportBad(what, `move it to the owner of this repository\n${USE_OTHER_ACTION}`)
  }
  const where = `${settings}/actions\nAccess: choose "Accessible from repositories owned by ${owner}", then Save`
  if (found.access === null)
    return reportUnknown(`this token cannot see whether other repositories may use ${repository}`, where)
  if (found.access === 'none')
    return reportBad(`${repository} is private, and lets no other repository use its action`, where)
  return reportGood(`${repository} has the commit that the workflow runs, and lets this repository use it`)
}

/** If the default token can write, other workflows give that permission to the code of ideas. */
function checkDefaultToken(
  { defaultToken }: Examination,
  { page, unguarded }: ExpectedSettings,
): DoctorFinding | null {
  if (defaultToken !== 'write' || unguarded.length === 0) return null
  return reportBad(
    `${unguarded.join(', ')} would run ideas with a token that may write to this repository`,
    `${page}/settings/actions\nWorkflow permissions: choose "Read repository contents and packages permissions", then Save\nor write permissions: { contents: read } at the top of ${unguarded.length === 1 ? 'that file' : 'those files'}`,
  )
}

function checkModelEnvironment(
  { environment }: Examination,
  { page, model }: ExpectedSettings,
): DoctorFinding[] {
  if (model === null || environment === null) return []
  const { exists, hasSecret } = environment
  const rule = `Deployment branches and tags: allow ${model.branches.join(' and ')}`
  const where = `${page}/settings/environments`
  const add = `Add environment secret "${model.secret}": the key of your model`
  const refused = `the environment ${model.environment} does not let ${model.refused.join(' and ')} use its secret`
  const kept =
    model.refused.length === 0 ? [] : [reportBad(refused, `${where}\n${model.environment}, ${rule}`)]
  if (exists === true && hasSecret === true) {
    const good = reportGood(`the environment ${model.environment} has the secret ${model.secret}`)
    return kept.length > 0 ? kept : [good]
  }
  if (exists === null || hasSecret === null) {
    const what = `this token cannot see whether the environment ${model.environment} has the secret ${model.secret}`
    return [...kept, reportUnknown(what, `${where}\n${model.environment}: ${add}`)]
  }
  const what = exists
    ? `the environment ${model.environment} has no secret ${model.secret}`
    : `there is no environment ${model.environment} with the secret ${model.secret}`
  const steps = exists
    ? [where, `${model.environment}: ${add}`]
    : [where, `New environment "${model.environment}"`, rule, add]
  const fix = steps.join('\n')
  const unknown = reportUnknown(`${what}: programs that need a key find none`, fix)
  return [...kept, model.needed ? reportBad(what, fix) : unknown]
}

/** Rules that block a push of an ordinary commit. */
const BLOCKING_RULES = new Set([
  'creation',
  'update',
  'deletion',
  'pull_request',
  'required_status_checks',
  'required_signatures',
  'required_linear_history',
  'required_deployments',
  'workflows',
  'code_scanning',
  'merge_queue',
])
/** Rules under which GitHub still merges a pull request. */
const MERGEABLE_RULES = new Set(['pull_request', 'required_status_checks', 'deletion', 'creation'])

function checkBranchGuards({ guards }: Examination, expected: ExpectedSettings): DoctorFinding[] {
  const found = guards.flatMap(guard => checkBranchGuard(guard, expected) ?? [])
  return found.length > 0 ? found : [reportGood("no rule blocks winnow's branches")]
}

function checkBranchGuard(
  { branch, rules, hidden }: BranchGuard,
  { page, prefix, mergedThere }: ExpectedSettings,
): DoctorFinding | null {
  const where = `${page}/settings/rules and ${page}/settings/branches`
  if (rules === null) return reportUnknown(`the rules of ${branch} cannot be read with this token`, where)
  const wrong = rules.filter(rule => BLOCKING_RULES.has(rule))
  if (wrong.length === 0) {
    const how = `${page}/settings/branches\nor run winnow doctor with a token of an administrator`
    return hidden ? reportUnknown(`${branch} is protected; only administrators can see how`, how) : null
  }
  const named = wrong.join(', ')
  const byMerge = branch.startsWith(`${prefix}/`) && wrong.every(rule => MERGEABLE_RULES.has(rule))
  if (byMerge && mergedThere.includes(branch))
    return reportGood(`${branch} accepts no pushes (${named}); with merge.via: api GitHub merges there`)
  const exclude = `${where}\nexclude ${prefix}*/** from the rule, or let the account that winnow pushes with bypass it`
  return reportBad(
    `rules on ${branch} would refuse winnow's pushes: ${named}`,
    byMerge ? `${exclude}\nor set merge.via: api in the spec, so that GitHub merges kept changes` : exclude,
  )
}

function checkWorkflowEnabled(
  { workflows }: Examination,
  { page, workflow }: ExpectedSettings,
): DoctorFinding | null {
  if (!workflow.isThere) return null
  const { path } = workflow
  const where = `${page}/actions/workflows/${path.replace(/^.*\//, '')}`
  if (workflows === null)
    return reportUnknown('whether the workflow is on cannot be read with this token', where)
  const state = workflows.get(path)
  if (state === 'active') return reportGood(`${path} is on`)
  if (state === undefined) {
    const fix = `${page}/actions\nwhere Actions were never used, press the button that enables workflows`
    return reportUnknown(`GitHub does not list ${path} yet`, fix)
  }
  const why =
    state === 'disabled_inactivity' ? ' (GitHub turns schedules off after 60 days without a commit)' : ''
  const what = `${path} is disabled (${state}), so no event starts winnow`
  return reportBad(what, `${where}\npress "Enable workflow"${why}`)
}

function checkPaused({ paused }: Examination, { page }: ExpectedSettings): DoctorFinding | null {
  if (!paused) return null
  const where = `${page}/settings/variables/actions\nremove WINNOW_PAUSED, or set it to false`
  return reportBad('the repository variable WINNOW_PAUSED is set: no job of winnow starts', where)
}

function checkClock({ skewSeconds }: Examination): DoctorFinding {
  if (skewSeconds === null)
    return reportUnknown('GitHub did not report its time', 'check the clock of this machine yourself')
  const off = Math.abs(skewSeconds)
  if (off <= MAX_SKEW_S) return reportGood('the clock is right')
  const side = skewSeconds > 0 ? 'behind' : 'ahead of'
  return reportBad(`this clock is ${off} s ${side} GitHub's`, 'set it by NTP')
}
