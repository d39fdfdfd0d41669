import type { RepositoryContext } from '../engine/campaign/open.ts'
import { ForgeError, LedgerError } from '../errors.ts'
import { fetchRef } from '../git/fetch.ts'
import { buildLocalIsolation, findProxy } from '../git/isolation.ts'
import type { Repository } from '../git/repository.ts'
import { createGitRunner, requireGit } from '../git/runner.ts'
import { WORKFLOW } from '../init/workflows/files.ts'
import { isBranchMatch } from '../init/workflows/foreign-workflows.ts'
import { hasJudges, hasProgramProposers, MODEL_ENVIRONMENT, MODEL_SECRET } from '../init/workflows/setup.ts'
import { loadCampaign } from '../ledger/load.ts'
import { findSideUsers } from '../measure/isolation/side-users.ts'
import { isUserIsolated } from '../measure/session.ts'
import { findRefusedSyncAlert } from '../model/alerts.ts'
import { listTeams, READS_TEAMS } from '../model/approval.ts'
import type { Examination } from '../model/github.ts'
import { buildCampaignRefs, type Oid, toShortRef } from '../model/ids.ts'
import {
  checkSettings,
  type DoctorFinding,
  renderFindings,
  reportBad,
  reportGood,
  reportUnknown,
} from '../report/doctor.ts'
import type { Spec } from '../spec/schema.ts'
import { describeTokenAdvice, findGithub, findToken, type GithubLocation } from './action-pin.ts'
import { withRepository } from './context.ts'
import { readCommittedWorkflows } from './default-branch.ts'
import {
  checkForeignWorkflows,
  checkWorkflow,
  type DoctorContext,
  findWinnowAction,
  listUnguardedWorkflows,
  listUsedActions,
} from './doctor-workflow.ts'
import { DEFAULT_PREFIX, type KnownCampaign, listKnownCampaigns } from './known-campaigns.ts'
import type { Call, Verb } from './verb.ts'

/** Limits the number of API requests. */
const MAX_CAMPAIGNS = 5

const CREATES_USERS = /useradd .*winnow-\$n/

export const doctorVerb: Verb = {
  name: 'doctor',
  group: 'more',
  summary: 'find problems on this machine, in this repository and in its GitHub settings; changes nothing',
  access: 'read',
  options: [{ name: 'all', summary: 'show passed checks too' }],
  examples: ['winnow doctor', 'winnow doctor --all', 'winnow doctor --json'],
  exits: { 1: 'a check failed' },
  run: call =>
    withRepository(call, DEFAULT_PREFIX, async repositoryContext => {
      const findings = await examineSetup(call, repositoryContext)
      if (call.given.flag('json')) call.terminal.json({ findings })
      else for (const line of renderFindings(findings, call.given.flag('all'))) call.terminal.out(line)
      return findings.some(({ state }) => state === 'bad') ? 1 : 0
    }),
}

async function examineSetup(call: Call, repositoryContext: RepositoryContext): Promise<DoctorFinding[]> {
  const { directory, env } = call.environment
  const git = await requireGit(createGitRunner(buildLocalIsolation(directory, env)))
  const mistaken: string[] = []
  const progress = { say: (line: string) => void mistaken.push(line.replace(/\.$/, '')) }
  const campaigns = await listKnownCampaigns(repositoryContext, { progress })
  const specs = campaigns.flatMap(({ spec }) => spec ?? [])
  const files = await readCommittedWorkflows(repositoryContext)
  const ledgers = await findLedgerProblems(repositoryContext, campaigns)
  const context: DoctorContext = {
    call,
    repositoryContext,
    campaigns,
    specs,
    files,
    reported: new Set(ledgers.keys()),
  }
  const prefixes = listCampaignPrefixes(campaigns)
  return [
    reportGood(`git ${git} is new enough`),
    ...(repositoryContext.remote === null
      ? [
          reportUnknown(
            'this repository has no remote, so campaigns stay on this machine',
            'to share them, add one: git remote add origin <url>',
          ),
        ]
      : []),
    ...(await examineGithub(context)),
    ...(await checkWorkflow(context)),
    ...checkApproverTeams(context),
    ...checkSideUsers(context),
    ...checkForeignWorkflows(files, prefixes),
    ...ledgers.values(),
    ...mistaken.map(what => reportUnknown(what, 'rename it if it is not of use under this name')),
  ]
}

/**
 * Finds campaigns whose ledger cannot be read, and those whose current default branch GitHub refused to a job's token,
 * as the ledger has it.
 */
async function findLedgerProblems(
  { repository }: RepositoryContext,
  known: readonly KnownCampaign[],
): Promise<Map<string, DoctorFinding>> {
  const found = new Map<string, DoctorFinding>()
  for (const { name, prefix, started } of known) {
    const { state } = buildCampaignRefs(prefix, name)
    const tip = started ? await fetchRef(repository, state) : null
    if (tip === null) continue
    const finding = await readLedgerProblem(repository, tip)
    if (finding !== null) found.set(name, reportBad(`campaign ${name}: ${finding.what}`, finding.fix))
  }
  return found
}

/** One damaged ledger must not hide what else is wrong. */
async function readLedgerProblem(
  repository: Repository,
  tip: Oid,
): Promise<{ what: string; fix: string } | null> {
  try {
    const refused = findRefusedSyncAlert((await loadCampaign(repository, tip)).campaign)
    if (refused === null) return null
    const [what = '', , ...rest] = refused.sentences
    return { what, fix: rest.join('. ') }
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    return {
      what: `the ledger does not fit together: ${error.message}`,
      fix: 'winnow audit names everything that does not fit',
    }
  }
}

function listCampaignPrefixes(known: readonly KnownCampaign[]): string[] {
  return known.length === 0 ? [DEFAULT_PREFIX] : [...new Set(known.map(({ prefix }) => prefix))]
}

/** Reports a wrong token or a failed connection as a finding. */
async function examineGithub(context: DoctorContext): Promise<DoctorFinding[]> {
  const { call, repositoryContext } = context
  const { environment } = call
  const github = findGithub(repositoryContext, environment.env)
  if (github === null && repositoryContext.remote === null) return []
  if (github === null)
    return [reportUnknown('the remote is not on GitHub, so GitHub was not checked', 'nothing to do')]
  const token = await findToken(github, environment.env)
  if (token === '') {
    const where = github.server === null ? '' : ` for ${github.server}`
    return [reportUnknown(`GitHub was not checked: there is no token${where}`, describeTokenAdvice(github))]
  }
  try {
    return await examineSettings(context, github, token)
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    return [reportBad(error.message, 'check the token, and that it may read this repository')]
  }
}

async function examineSettings(
  { call, repositoryContext, campaigns, specs, files }: DoctorContext,
  github: GithubLocation,
  token: string,
): Promise<DoctorFinding[]> {
  const { clock, version, web, progress, env } = call.environment
  const { apiUrl, webUrl, repository, server } = github
  findProxy(apiUrl, env)
  const say = (line: string) => progress.say(line)
  const access = { apiUrl, repository, token, version, say, ...(web === undefined ? {} : { web }) }
  const asks = hasJudges({ specs }) || hasProgramProposers({ specs })
  const used = findWinnowAction(files)
  const action = used?.repository.toLowerCase() === repository.toLowerCase() ? null : used
  // Loads Octokit only where it is needed: other commands start faster without it.
  const { examineRepository } = await import('../github/repository-settings.ts')
  const seen = await examineRepository(access, {
    branches: listWrittenBranches(campaigns),
    environment: asks ? { name: MODEL_ENVIRONMENT, secret: MODEL_SECRET } : null,
    action,
    now: () => clock.now(),
  })
  const [prefix = DEFAULT_PREFIX] = listCampaignPrefixes(campaigns)
  return checkSettings(seen, {
    page: `${webUrl}/${repository}`,
    prefix,
    mergedThere: campaigns.flatMap(({ name, prefix: under, spec }) =>
      spec?.merge.via === 'api' ? [`${under}/${name}`] : [],
    ),
    workflow: {
      path: WORKFLOW,
      isThere: files.some(({ path }) => path === WORKFLOW),
      actions: await listUsedActions(repositoryContext, files),
    },
    model: asks ? describeModelAccess(repositoryContext, specs, seen) : null,
    action: action && { ...action, webUrl, server: server !== null },
    unguarded: listUnguardedWorkflows(files, listCampaignPrefixes(campaigns)),
  })
}

/** Proposers and judges run on the default branch and on each campaign's own branch. */
function describeModelAccess(
  { defaultBranch }: RepositoryContext,
  specs: readonly Spec[],
  { environment }: Examination,
) {
  const asking = specs.filter(spec => hasJudges({ specs: [spec] }) || hasProgramProposers({ specs: [spec] }))
  const prefixes = [...new Set(asking.map(({ branches }) => branches.prefix))]
  const main = toShortRef(defaultBranch ?? '')
  const allowed = environment?.branches ?? null
  const isRefused = (branch: string) =>
    allowed === 'protected'
      ? branch !== main
      : allowed !== null && !allowed.some(pattern => isBranchMatch(pattern, branch))
  const needed = [main, ...asking.map(({ name, branches }) => `${branches.prefix}/${name}`)]
  return {
    environment: MODEL_ENVIRONMENT,
    secret: MODEL_SECRET,
    needed: hasJudges({ specs }),
    branches: [main, ...prefixes.map(prefix => `${prefix}/*`)],
    refused: needed.filter(isRefused),
  }
}

/** A job's GITHUB_TOKEN cannot read team members. */
function checkApproverTeams({ specs }: DoctorContext): DoctorFinding[] {
  const teams = new Set(specs.flatMap(({ dependencies }) => listTeams(dependencies.approvers)))
  if (teams.size === 0) return []
  const what = `dependencies.approvers names ${[...teams].join(', ')}: who is in a team cannot be read with GITHUB_TOKEN`
  return [reportUnknown(what, `give the tick and settle jobs ${READS_TEAMS}`)]
}

/** Returns one example of each kind of branch that winnow writes, per campaign. */
function listWrittenBranches(campaigns: readonly KnownCampaign[]): string[] {
  const some = campaigns.slice(0, MAX_CAMPAIGNS).map(({ prefix, name }) => buildCampaignRefs(prefix, name))
  const all = some.length === 0 ? [buildCampaignRefs(DEFAULT_PREFIX, 'any')] : some
  return all.flatMap(refs =>
    [refs.optimize, refs.state, refs.closed, refs.campaign, `${refs.experiments}exp-001`].map(toShortRef),
  )
}

/** A spec may start to require side users after the workflow was written, or on a machine without them. */
function checkSideUsers({ specs, files }: DoctorContext): DoctorFinding[] {
  const asking = specs.filter(isUserIsolated).map(({ name }) => name)
  if (asking.length === 0) return []
  const names = asking.join(', ')
  const workflow = files.find(({ path }) => path === WORKFLOW)
  if (workflow === undefined) return [checkMachineUsers(names)]
  if (CREATES_USERS.test(workflow.text))
    return [reportGood(`${WORKFLOW} makes a user for each side, for ${names} on machines of GitHub's`)]
  const fix = 'winnow init --github brings it up to date'
  return [reportBad(`${names}: each side needs its own user, and ${WORKFLOW} creates none`, fix)]
}

function checkMachineUsers(names: string): DoctorFinding {
  const found = findSideUsers()
  if ('owners' in found) return reportGood(`there is a user for each side of ${names}`)
  return reportUnknown(`${names}: each side needs its own user, and on this machine ${found.what}`, found.fix)
}
