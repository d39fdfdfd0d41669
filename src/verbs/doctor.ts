import type { Workshop } from '../engine/open.ts'
import { ForgeError } from '../errors.ts'
import { type Examination, examine } from '../forge/github/examine.ts'
import { READS_TEAMS, teamsAmong } from '../forge/may-approve.ts'
import { requireGit } from '../git/git-version.ts'
import { localIsolation } from '../git/isolation.ts'
import { proxyFor } from '../git/proxy.ts'
import { gitRunner } from '../git/runner.ts'
import { loadCampaign } from '../ledger/load.ts'
import { campaignRefs, shortRef } from '../model/refs.ts'
import { syncRefused } from '../model/sync-refused.ts'
import { bad, doctorText, type Finding, good, unknown } from '../report/doctor-text.ts'
import { settingsFindings } from '../report/settings-findings.ts'
import { WORKFLOW } from '../setup/github/files.ts'
import { fits } from '../setup/github/filter-pattern.ts'
import { asksJudges, asksPrograms } from '../setup/github/github-setup.ts'
import { MODEL_ENVIRONMENT, MODEL_SECRET } from '../setup/github/permissions.ts'
import type { Spec } from '../spec/schema.ts'
import { atRepository } from './at-campaign.ts'
import { foreignFindings, unguardedWorkflows } from './bystander-findings.ts'
import type { Call } from './call.ts'
import { committedSpecs } from './committed-specs.ts'
import { committedWorkflows } from './committed-workflows.ts'
import { type GithubPlace, githubOf, tokenAdvice } from './github-of.ts'
import { findToken } from './github-token.ts'
import { DEFAULT_PREFIX, type KnownCampaign, knownCampaigns } from './known-campaigns.ts'
import { sideUserFindings } from './side-user-findings.ts'
import type { Verb } from './verb.ts'
import { type Ground, usedActions, winnowAction, workflowFindings } from './workflow-findings.ts'

export const doctor: Verb = {
  name: 'doctor',
  group: 'more',
  summary:
    'say what is missing on this machine, in this repository and in its settings on GitHub; changes nothing',
  access: 'read',
  arguments: [],
  options: [{ name: 'all', summary: 'also what is as it should be' }],
  examples: ['winnow doctor', 'winnow doctor --all', 'winnow doctor --json'],
  exits: { 1: 'something stands in the way' },
  run: call =>
    atRepository(call, DEFAULT_PREFIX, async workshop => {
      const findings = await examined(call, workshop)
      if (call.given.flag('json')) call.terminal.json({ findings })
      else for (const line of doctorText(findings, call.given.flag('all'))) call.terminal.out(line)
      return findings.some(({ state }) => state === 'bad') ? 1 : 0
    }),
}

async function examined(call: Call, workshop: Workshop): Promise<Finding[]> {
  const { directory, env } = call.around
  const git = await requireGit(gitRunner(localIsolation(directory, env)))
  const campaigns = await knownCampaigns(workshop, undefined)
  const specs = (await committedSpecs(workshop, [])).flatMap(({ spec }) => spec ?? [])
  const files = await committedWorkflows(workshop)
  const refused = await refusedSyncs(workshop, campaigns)
  const ground: Ground = { call, workshop, campaigns, specs, files, refused: new Set(refused.keys()) }
  const prefixes = prefixesOf(campaigns)
  return [
    good(`git ${git} is new enough`),
    ...(workshop.remote === null
      ? [unknown('there is no remote: all stays in this repository', 'add one to work with others')]
      : []),
    ...(await fromGithub(ground)),
    ...(await workflowFindings(ground)),
    ...teamFindings(ground),
    ...(await sideUserFindings(workshop, files)),
    ...foreignFindings(files, prefixes),
    ...refused.values(),
  ]
}

/** By campaign: the default branch as it is was refused to the token of a job. The ledger says so, and for which tip. */
async function refusedSyncs(
  { repository }: Workshop,
  known: readonly KnownCampaign[],
): Promise<Map<string, Finding>> {
  const found = new Map<string, Finding>()
  for (const { name, prefix, started } of known) {
    const { state } = campaignRefs(prefix, name)
    const tip = started ? (await repository.remoteRefs([state])).refs.get(state) : undefined
    if (tip === undefined) continue
    await repository.fetch([{ ref: state, oid: tip }])
    const refused = syncRefused((await loadCampaign(repository, tip)).campaign)
    if (refused === null) continue
    const [first = '', , ...rest] = refused.sentences
    found.set(name, bad(`campaign ${name}: ${first}`, rest.join('. ')))
  }
  return found
}

function prefixesOf(known: readonly KnownCampaign[]): string[] {
  return known.length === 0 ? [DEFAULT_PREFIX] : [...new Set(known.map(({ prefix }) => prefix))]
}

/** A wrong token, or no way to GitHub, is a finding like any other. */
async function fromGithub(ground: Ground): Promise<Finding[]> {
  const { call, workshop } = ground
  const { around } = call
  const place = githubOf(workshop, around.env)
  if (place === null && workshop.remote === null) return []
  if (place === null)
    return [unknown('the remote is not on GitHub, as far as its address tells', 'nothing to do')]
  const token = await findToken(place, around.env)
  if (token === '') {
    const where = place.server === null ? '' : ` for ${place.server}`
    return [unknown(`GitHub was not asked: there is no token${where}`, tokenAdvice(place))]
  }
  try {
    return await settingsThere(ground, place, token)
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    return [bad(error.message, 'check the token, and that it may read this repository')]
  }
}

async function settingsThere(
  { call, workshop, campaigns, specs, files }: Ground,
  place: GithubPlace,
  token: string,
): Promise<Finding[]> {
  const { clock, version, web, progress, env } = call.around
  const { apiUrl, webUrl, repository, server } = place
  proxyFor(apiUrl, env)
  const say = (line: string) => progress.say(line)
  const access = { apiUrl, repository, token, version, say, ...(web === undefined ? {} : { web }) }
  const asks = asksJudges({ specs }) || asksPrograms({ specs })
  const used = winnowAction(files)
  const action = used?.repository.toLowerCase() === repository.toLowerCase() ? null : used
  const seen = await examine(access, {
    branches: writtenBranches(campaigns),
    environment: asks ? { name: MODEL_ENVIRONMENT, secret: MODEL_SECRET } : null,
    action,
    now: () => clock.now(),
  })
  const [prefix = DEFAULT_PREFIX] = prefixesOf(campaigns)
  return settingsFindings(seen, {
    page: `${webUrl}/${repository}`,
    prefix,
    mergedThere: campaigns.flatMap(({ name, prefix: under, spec }) =>
      spec?.merge.via === 'api' ? [`${under}/${name}`] : [],
    ),
    workflow: {
      path: WORKFLOW,
      isThere: files.some(({ path }) => path === WORKFLOW),
      actions: await usedActions(workshop, files),
    },
    model: asks ? modelOf(workshop, specs, seen) : null,
    action: action && { ...action, webUrl, server: server !== null },
    unguarded: unguardedWorkflows(files, prefixesOf(campaigns)),
  })
}

/** Programs and models are asked in runs of the default branch, and in those of a campaign at its own branch. */
function modelOf({ defaultBranch }: Workshop, specs: readonly Spec[], { environment }: Examination) {
  const asking = specs.filter(spec => asksJudges({ specs: [spec] }) || asksPrograms({ specs: [spec] }))
  const prefixes = [...new Set(asking.map(({ branches }) => branches.prefix))]
  const main = shortRef(defaultBranch ?? '')
  const allowed = environment?.branches ?? null
  const isRefused = (branch: string) =>
    allowed === 'protected'
      ? branch !== main
      : allowed !== null && !allowed.some(pattern => fits(pattern, branch))
  const needed = [main, ...asking.map(({ name, branches }) => `${branches.prefix}/${name}`)]
  return {
    environment: MODEL_ENVIRONMENT,
    secret: MODEL_SECRET,
    needed: asksJudges({ specs }),
    branches: [main, ...prefixes.map(prefix => `${prefix}/*`)],
    refused: needed.filter(isRefused),
  }
}

/** A job's own token is what the workflow hands over. */
function teamFindings({ specs }: Ground): Finding[] {
  const teams = new Set(specs.flatMap(({ dependencies }) => teamsAmong(dependencies.approvers)))
  if (teams.size === 0) return []
  const what = `dependencies.approvers names ${[...teams].join(', ')}: who is in a team cannot be read with GITHUB_TOKEN`
  return [unknown(what, `hand the jobs that tick ${READS_TEAMS}`)]
}

/** More would be asked about than a person reads. */
const MOST_CAMPAIGNS = 5

/** One of each kind that is written, of each campaign there is or could be. */
function writtenBranches(campaigns: readonly KnownCampaign[]): string[] {
  const some = campaigns.slice(0, MOST_CAMPAIGNS).map(({ prefix, name }) => campaignRefs(prefix, name))
  const all = some.length === 0 ? [campaignRefs(DEFAULT_PREFIX, 'any')] : some
  return all.flatMap(refs =>
    [refs.optimize, refs.state, refs.closed, refs.campaign, `${refs.experiments}exp-001`].map(shortRef),
  )
}
