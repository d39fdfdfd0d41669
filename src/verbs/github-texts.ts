import { MODEL_ENVIRONMENT, MODEL_SECRET } from '../setup/github/permissions.ts'
import { SETUP_BRANCH } from '../git/allowed-ref.ts'
import { isNewer } from '../setup/github/written-digest.ts'
import { versionIn } from './action-pin.ts'
import type { Call } from './call.ts'
import { type GithubPlace, githubOf, SERVER_REFUSES, SINGLE_JOB } from './github-of.ts'
import { type Ground, nameOfDefault } from './github-sources.ts'
import { needsModelKey, type OpenedPull, type Plan } from './github-plan.ts'

export function writtenText(
  call: Call,
  ground: Ground,
  plan: Plan,
  uncommitted: readonly string[],
): string[] {
  const { files, existed, action } = plan
  if (files.length === 0) {
    const update = 'To have the action of the winnow that runs here: winnow init --github --update'
    return [
      `Nothing to do: the files are there and up to date, with ${shortAction(action)}.`,
      ...(call.given.flag('update') ? [] : [update]),
    ]
  }
  const paths = [...files.map(({ path }) => path), ...uncommitted]
  const branch = existed ? 'winnow-update' : SETUP_BRANCH
  return [
    ...files.map(({ path }) => `${existed && path.includes('/workflows/') ? 'Updated' : 'Wrote'} ${path}`),
    `It runs ${shortAction(action)} for ${plan.specs.map(({ spec }) => spec.name).join(', ')}.`,
    ...olderThan(call, action),
    '',
    `Next, as one pull request. ${untilMerged(plan)}`,
    `  git switch -c ${branch}`,
    `  git add ${paths.join(' ')}`,
    `  git commit -m "${titleOf(plan)}" && git push -u origin ${branch}`,
    `  gh pr create --fill${compareLink(call, ground, branch)}`,
    ...howToFinish(call, ground, plan),
  ]
}

/** A workflow and an action of two versions may not fit together. */
function olderThan({ around }: Call, action: string): string[] {
  const [runs, here] = [versionIn(action), `v${around.version}`]
  if (!isNewer(runs, here)) return []
  return [`It runs winnow ${runs}, which is newer than the ${here} that wrote it: update winnow, and repeat.`]
}

/** The page that opens the same pull request, for a person without gh. */
function compareLink({ around }: Call, { workshop }: Ground, branch: string): string {
  const place = githubOf(workshop, around.env)
  if (place === null) return ''
  return `   # or open ${place.webUrl}/${place.repository}/compare/${branch}?expand=1`
}

/** What the pull request does before a person merges it: nothing. */
export function untilMerged({ existed }: Pick<Plan, 'existed'>): string {
  return existed
    ? 'The workflow stays as it is until that is merged.'
    : 'Nothing runs before it is merged; closing it undoes everything.'
}

export function titleOf({ existed }: Pick<Plan, 'existed'>): string {
  return existed ? 'ci: bring the winnow workflow up to date' : 'ci: run winnow campaigns'
}

/** `owner/name v1.2.3 (ab12ab12ab)`. */
export function shortAction(action: string): string {
  const [, name = action, commit = '', version] = /^(\S+?)@([0-9a-f]{40})(?: # (\S+))?$/.exec(action) ?? []
  if (commit === '') return name
  const short = commit.slice(0, 10)
  return version === undefined ? `${name} at ${short}` : `${name} ${version} (${short})`
}

/** What only an administrator of the repository can do. */
export function howToFinish({ around }: Call, ground: Ground, plan: Plan): string[] {
  const place = githubOf(ground.workshop, around.env)
  const settings = place === null ? 'Settings' : `${place.webUrl}/${place.repository}/settings`
  const server = place !== null && place.server !== null && !plan.singleJob ? [serverHint(place.server)] : []
  if (plan.existed) return server
  const prefixes = [...new Set(plan.specs.map(({ spec }) => `${spec.branches.prefix}/*`))].join(' and ')
  return [
    '',
    'Once, in the settings of the repository:',
    `  ${settings}/actions`,
    '    Workflow permissions: tick "Allow GitHub Actions to create and approve pull requests"',
    ...(needsModelKey(plan)
      ? [
          `  ${settings}/environments`,
          `    New environment "${MODEL_ENVIRONMENT}", for the branches ${nameOfDefault(ground)} and ${prefixes}, with the key of your model as its secret ${MODEL_SECRET}`,
        ]
      : []),
    'winnow doctor says whether anything is missing. After the merge, gh workflow run winnow.yml starts the first run.',
    ...server,
  ]
}

function serverHint(server: string): string {
  return `${server}: ${SERVER_REFUSES}. Use ${SINGLE_JOB} there.`
}

export function notSignedIn({ webUrl, server }: GithubPlace): string[] {
  const { host } = new URL(webUrl)
  const variable = server === null ? 'GH_TOKEN' : 'GH_ENTERPRISE_TOKEN'
  return [
    `No pull request was opened: there is no token for ${host} (gh auth login, or set ${variable}).`,
    'The files are in the work tree instead.',
    '',
  ]
}

export function pullText({ url, branch, files, opened }: OpenedPull, plan: Plan): string[] {
  return [
    ...files.map(path => `On ${branch}: ${path}`),
    opened ? `Opened ${url}` : `It is open already: ${url}`,
    untilMerged(plan),
  ]
}
