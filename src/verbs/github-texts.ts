import { MODEL_ENVIRONMENT, MODEL_SECRET } from '../setup/github/permissions.ts'
import { SETUP_BRANCH } from '../git/allowed-ref.ts'
import { isNewer } from '../setup/github/written-digest.ts'
import { readPinnedVersion } from './action-pin.ts'
import type { Call } from './call.ts'
import { type GithubLocation, findGithub, SERVER_REFUSES, SINGLE_JOB } from './github-of.ts'
import { type SetupContext, getDefaultBranchName } from './github-sources.ts'
import { isModelKeyNeeded, type OpenedPull, type GithubSetupPlan } from './github-plan.ts'

export function renderWrittenFiles(
  call: Call,
  ground: SetupContext,
  plan: GithubSetupPlan,
  uncommitted: readonly string[],
): string[] {
  const { files, existed, action } = plan
  if (files.length === 0) {
    const update = 'To have the action of the winnow that runs here: winnow init --github --update'
    return [
      `Nothing to do: the files are there and up to date, with ${formatAction(action)}.`,
      ...(call.given.flag('update') ? [] : [update]),
    ]
  }
  const paths = [...files.map(({ path }) => path), ...uncommitted]
  const branch = existed ? 'winnow-update' : SETUP_BRANCH
  return [
    ...files.map(({ path }) => `${existed && path.includes('/workflows/') ? 'Updated' : 'Wrote'} ${path}`),
    `It runs ${formatAction(action)} for ${plan.specs.map(({ spec }) => spec.name).join(', ')}.`,
    ...describeNewerAction(call, action),
    '',
    `Next, as one pull request. ${describeUntilMerged(plan)}`,
    `  git switch -c ${branch}`,
    `  git add ${paths.join(' ')}`,
    `  git commit -m "${getSetupPullTitle(plan)}" && git push -u origin ${branch}`,
    `  gh pr create --fill${buildCompareLink(call, ground, branch)}`,
    ...renderAdminSteps(call, ground, plan),
  ]
}

/** A workflow and an action of two versions may not fit together. */
function describeNewerAction({ around }: Call, action: string): string[] {
  const [runs, here] = [readPinnedVersion(action), `v${around.version}`]
  if (!isNewer(runs, here)) return []
  return [`It runs winnow ${runs}, which is newer than the ${here} that wrote it: update winnow, and repeat.`]
}

/** The page that opens the same pull request, for a person without gh. */
function buildCompareLink({ around }: Call, { workshop }: SetupContext, branch: string): string {
  const place = findGithub(workshop, around.env)
  if (place === null) return ''
  return `   # or open ${place.webUrl}/${place.repository}/compare/${branch}?expand=1`
}

/** What the pull request does before a person merges it: nothing. */
export function describeUntilMerged({ existed }: Pick<GithubSetupPlan, 'existed'>): string {
  return existed
    ? 'The workflow stays as it is until that is merged.'
    : 'Nothing runs before it is merged; closing it undoes everything.'
}

export function getSetupPullTitle({ existed }: Pick<GithubSetupPlan, 'existed'>): string {
  return existed ? 'ci: bring the winnow workflow up to date' : 'ci: run winnow campaigns'
}

/** `owner/name v1.2.3 (ab12ab12ab)`. */
export function formatAction(action: string): string {
  const [, name = action, commit = '', version] = /^(\S+?)@([0-9a-f]{40})(?: # (\S+))?$/.exec(action) ?? []
  if (commit === '') return name
  const short = commit.slice(0, 10)
  return version === undefined ? `${name} at ${short}` : `${name} ${version} (${short})`
}

/** What only an administrator of the repository can do. */
export function renderAdminSteps({ around }: Call, ground: SetupContext, plan: GithubSetupPlan): string[] {
  const place = findGithub(ground.workshop, around.env)
  const settings = place === null ? 'Settings' : `${place.webUrl}/${place.repository}/settings`
  const server =
    place !== null && place.server !== null && !plan.singleJob ? [describeServerLimit(place.server)] : []
  if (plan.existed) return server
  const prefixes = [...new Set(plan.specs.map(({ spec }) => `${spec.branches.prefix}/*`))].join(' and ')
  return [
    '',
    'Once, in the settings of the repository:',
    `  ${settings}/actions`,
    '    Workflow permissions: tick "Allow GitHub Actions to create and approve pull requests"',
    ...(isModelKeyNeeded(plan)
      ? [
          `  ${settings}/environments`,
          `    New environment "${MODEL_ENVIRONMENT}", for the branches ${getDefaultBranchName(ground)} and ${prefixes}, with the key of your model as its secret ${MODEL_SECRET}`,
        ]
      : []),
    'winnow doctor says whether anything is missing. After the merge, gh workflow run winnow.yml starts the first run.',
    ...server,
  ]
}

function describeServerLimit(server: string): string {
  return `${server}: ${SERVER_REFUSES}. Use ${SINGLE_JOB} there.`
}

export function renderMissingToken({ webUrl, server }: GithubLocation): string[] {
  const { host } = new URL(webUrl)
  const variable = server === null ? 'GH_TOKEN' : 'GH_ENTERPRISE_TOKEN'
  return [
    `No pull request was opened: there is no token for ${host} (gh auth login, or set ${variable}).`,
    'The files are in the work tree instead.',
    '',
  ]
}

export function renderSetupPull({ url, branch, files, opened }: OpenedPull, plan: GithubSetupPlan): string[] {
  return [
    ...files.map(path => `On ${branch}: ${path}`),
    opened ? `Opened ${url}` : `It is open already: ${url}`,
    describeUntilMerged(plan),
  ]
}
