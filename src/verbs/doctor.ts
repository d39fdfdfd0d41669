import type { Workshop } from '../engine/open.ts'
import { ForgeError, UserError } from '../errors.ts'
import { READS_TEAMS, teamsAmong } from '../forge/may-approve.ts'
import { examine } from '../forge/github/examine.ts'
import { requireGit } from '../git/git-version.ts'
import { localIsolation } from '../git/isolation.ts'
import { proxyFor } from '../git/proxy.ts'
import { gitRunner } from '../git/runner.ts'
import { campaignRefs, shortRef } from '../model/refs.ts'
import {
  bad,
  bystanderFinding,
  doctorText,
  examinationFindings,
  type Finding,
  good,
  unknown,
} from '../report/doctor-text.ts'
import { loadCampaign } from '../ledger/load.ts'
import { syncRefused } from '../model/sync-refused.ts'
import { OWN_ACTION, readWrittenWorkflow, type WrittenWorkflow } from '../setup/github/action-reference.ts'
import { AGENTS_ACTION, WORKFLOW } from '../setup/github/files.ts'
import { type GithubSetup, asksPrograms } from '../setup/github/github-setup.ts'
import { renderSingleJobWorkflow } from '../setup/github/single-job-workflow.ts'
import { renderWorkflow } from '../setup/github/winnow-workflow.ts'
import { MODEL_ENVIRONMENT, MODEL_SECRET } from '../setup/github/permissions.ts'
import { bystander } from '../setup/github/bystanders.ts'
import { atRepository } from './at-campaign.ts'
import type { Call } from './call.ts'
import { committedSpecs } from './committed-specs.ts'
import { committedEntry, committedWorkflows, type WorkflowFile } from './committed-workflows.ts'
import { ARTIFACTS_OF_A_SERVER, type GithubPlace, githubOf, tokenAdvice, tokenFor } from './github-of.ts'
import { DEFAULT_PREFIX, type KnownCampaign, knownCampaigns } from './known-campaigns.ts'
import { sideUserFindings } from './side-user-findings.ts'
import type { Verb } from './verb.ts'

export const doctor: Verb = {
  name: 'doctor',
  group: 'more',
  summary: 'say what of this machine, this repository and GitHub would stand in the way; changes nothing',
  access: 'read',
  arguments: [],
  options: [],
  examples: ['winnow doctor', 'winnow doctor --json'],
  exits: { 1: 'something stands in the way' },
  run: call =>
    atRepository(call, DEFAULT_PREFIX, async workshop => {
      const findings = await examined(call, workshop)
      if (call.given.flag('json')) call.terminal.json({ findings })
      else for (const line of doctorText(findings)) call.terminal.out(line)
      return findings.some(({ state }) => state === 'bad') ? 1 : 0
    }),
}

async function examined(call: Call, workshop: Workshop): Promise<Finding[]> {
  const campaigns = await knownCampaigns(workshop, undefined)
  const prefixes = prefixesOf(campaigns)
  const workflows = await committedWorkflows(workshop)
  const { directory, env } = call.around
  const git = await requireGit(gitRunner(localIsolation(directory, env)))
  return [
    good(`git ${git} is new enough`),
    ...(workshop.remote === null
      ? [unknown('there is no remote: all stays in this repository', 'add one to work with others')]
      : []),
    ...(await fromGithub(call, workshop, campaigns)),
    ...(await teamFindings(workshop)),
    ...ownFindings(workflows),
    ...artifactFindings(githubOf(workshop, env), workflows),
    ...(await outdatedFindings(workshop, workflows)),
    ...(await askingFindings(workshop, workflows)),
    ...(await sideUserFindings(workshop, workflows)),
    ...othersFindings(workflows, prefixes),
    ...(await refusedSyncs(workshop, campaigns)),
  ]
}

/** The default branch as a job's token may not bring it to the optimize branch: the ledger says so, and for which tip. */
async function refusedSyncs({ repository }: Workshop, known: readonly KnownCampaign[]): Promise<Finding[]> {
  const found: Finding[] = []
  for (const { name, prefix, started } of known) {
    const { state } = campaignRefs(prefix, name)
    const tip = started ? (await repository.remoteRefs([state])).refs.get(state) : undefined
    if (tip === undefined) continue
    await repository.fetch([{ ref: state, oid: tip }])
    const refused = syncRefused((await loadCampaign(repository, tip)).campaign)
    if (refused !== null)
      found.push(
        bad(`campaign ${name}: ${refused.sentences[0] ?? ''}`, refused.sentences.slice(2).join('. ')),
      )
  }
  return found
}

function prefixesOf(known: readonly KnownCampaign[]): string[] {
  return known.length === 0 ? [DEFAULT_PREFIX] : [...new Set(known.map(({ prefix }) => prefix))]
}

/** A wrong token, or no way to GitHub, is a finding like any other. */
async function fromGithub(
  { around }: Call,
  workshop: Workshop,
  campaigns: readonly KnownCampaign[],
): Promise<Finding[]> {
  const found = githubOf(workshop, around.env)
  if (found === null && workshop.remote === null) return []
  if (found === null)
    return [unknown('the remote is not on GitHub, as far as its address tells', 'nothing to do')]
  const token = tokenFor(found, around.env)
  if (token === '') {
    const where = found.server === null ? '' : ` for ${found.server}`
    return [unknown(`GitHub was not asked: there is no token${where}`, tokenAdvice(found))]
  }
  const { clock, version, web } = around
  proxyFor(found.apiUrl, around.env)
  const say = (line: string) => around.progress.say(line)
  const { apiUrl, repository } = found
  const access = { apiUrl, repository, token, version, say, ...(web === undefined ? {} : { web }) }
  try {
    const seen = await examine(access, { branches: writtenBranches(campaigns), now: () => clock.now() })
    const mergedThere = campaigns.flatMap(({ name, prefix, spec }) =>
      spec?.merge.via === 'api' ? [`${prefix}/${name}`] : [],
    )
    const [prefix = DEFAULT_PREFIX] = prefixesOf(campaigns)
    return examinationFindings(seen, { workflows: [WORKFLOW], prefix, mergedThere })
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    return [bad(error.message, 'check the token, and that it may read this repository')]
  }
}

/** A job's own token is what the workflows hand over. */
async function teamFindings(workshop: Workshop): Promise<Finding[]> {
  const specs = (await committedSpecs(workshop, [])).flatMap(({ spec }) => spec ?? [])
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

function ownFindings(files: readonly WorkflowFile[]): Finding[] {
  if (files.some(({ path }) => path === WORKFLOW)) return [good(`${WORKFLOW} is on the default branch`)]
  return [unknown(`${WORKFLOW} is not on the default branch`, 'winnow init --github writes it')]
}

const NEW_ARTIFACTS = /uses: actions\/(?:up|down)load-artifact@\S+ # v(?:[4-9]|\d\d)/

/** github.com keeps artifacts of version 4 and newer alone; its Enterprise Server took none but older ones so far. */
function artifactFindings(found: GithubPlace | null, files: readonly WorkflowFile[]): Finding[] {
  const ours = files.filter(({ path, text }) => path.includes('/winnow') && NEW_ARTIFACTS.test(text))
  if (found === null || found.server === null || ours.length === 0) return []
  const what = `${ours.map(({ path }) => path).join(', ')}: artifacts of version 4 and newer are refused by Enterprise Servers, unless ${found.server} is new enough`
  return [unknown(what, ARTIFACTS_OF_A_SERVER)]
}

/** Compares the workflow with what `init --github` would write now, with the action that it names. */
async function outdatedFindings(workshop: Workshop, files: readonly WorkflowFile[]): Promise<Finding[]> {
  const specs = (await committedSpecs(workshop, [])).flatMap(({ spec }) => spec ?? [])
  const text = files.find(({ path }) => path === WORKFLOW)?.text ?? ''
  const by = readWrittenWorkflow(text)
  if (by === null || specs.length === 0) return []
  const written = renderNow(by, { action: by.action, specs })
  if (written instanceof UserError)
    return [bad(written.message, written.fix ?? 'change the spec, or the workflow')]
  if (written === text) return []
  const options = `${by.singleJob ? ' --single-job' : ''} --action ${by.action.replace(/ #.*/, '')}`
  const how = by.action === OWN_ACTION ? 'npm run docs' : `winnow init --github${options}`
  const what = `${WORKFLOW} is not what this winnow writes for these specs: outdated, unless it was changed on purpose`
  return [unknown(what, `${how} writes it anew`)]
}

function renderNow({ singleJob }: WrittenWorkflow, setup: GithubSetup): string | UserError {
  try {
    return singleJob ? renderSingleJobWorkflow(setup) : renderWorkflow(setup)
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

/** A spec may name programs long after the workflows were written, which then ask nobody. */
async function askingFindings(workshop: Workshop, files: readonly WorkflowFile[]): Promise<Finding[]> {
  const own = files.find(({ path }) => path === WORKFLOW)
  const specs = (await committedSpecs(workshop, [])).flatMap(({ spec }) => spec ?? [])
  const asking = specs.filter(spec => asksPrograms({ specs: [spec] }))
  if (own === undefined || asking.length === 0) return []
  const names = asking.map(({ name }) => name).join(', ')
  if (!/^\s*command: (?:propose|run)$/m.test(own.text)) {
    const fix = `git rm ${WORKFLOW}, then winnow init --github, which writes it anew`
    return [bad(`${names}: programs are to be asked for ideas, and no job of ${WORKFLOW} asks them`, fix)]
  }
  if ((await committedEntry(workshop, AGENTS_ACTION))?.type !== 'blob') {
    const what = `${AGENTS_ACTION}, by which programs of ${names} are set up, is not on the default branch`
    return [bad(what, 'winnow init --github writes it')]
  }
  const fix = `Settings > Environments > ${MODEL_ENVIRONMENT}, where a rule can keep it to the default branch`
  return [unknown(`programs of ${names} find a key in ${MODEL_SECRET} if that secret is there`, fix)]
}

function othersFindings(files: readonly WorkflowFile[], prefixes: readonly string[]): Finding[] {
  const others = files.filter(({ path }) => path !== WORKFLOW)
  return others.flatMap(({ path, text }) =>
    prefixes.map(prefix => {
      const found = bystander(path, text, prefix)
      return found === null
        ? unknown(`${path} cannot be read as a workflow`, 'see what GitHub says of it under Actions')
        : bystanderFinding(found)
    }),
  )
}
