import type { RepositoryContext } from '../engine/campaign/open.ts'
import { UserError } from '../errors.ts'
import { fetchRef } from '../git/fetch.ts'
import {
  AGENTS_ACTION,
  isAsWritten,
  isNewer,
  SETUP_ACTION,
  withDigest,
  withKeptActions,
  WORKFLOW,
} from '../init/workflows/files.ts'
import { analyzeWorkflow, type ForeignWorkflow } from '../init/workflows/foreign-workflows.ts'
import { hasProgramProposers } from '../init/workflows/setup.ts'
import { OWN_ACTION, readWrittenWorkflow } from '../init/workflows/steps.ts'
import { renderSingleJobWorkflow, renderWorkflow } from '../init/workflows/workflow.ts'
import { buildMergeCommand } from '../model/alerts.ts'
import { buildCampaignRefs, toShortRef } from '../model/ids.ts'
import { type DoctorFinding, reportBad, reportGood, reportUnknown } from '../report/doctor.ts'
import type { Spec } from '../spec/schema.ts'
import { findGithub, SERVER_REFUSES, SINGLE_JOB } from './action-pin.ts'
import { findCommittedEntry, readCommittedText, readDefaultTip, type WorkflowFile } from './default-branch.ts'
import { patchEditedFile } from './init-github-plan.ts'
import { findSetupPull } from './init-github.ts'
import type { KnownCampaign } from './known-campaigns.ts'
import type { Call } from './verb.ts'

export interface DoctorContext {
  call: Call
  repositoryContext: RepositoryContext
  campaigns: readonly KnownCampaign[]
  specs: readonly Spec[]
  files: readonly WorkflowFile[]
  /** Campaigns whose ledger has a finding of its own. */
  reported: ReadonlySet<string>
}

/** Checks that winnow's workflow exists, is up to date and is the same on the optimize branches. */
export async function checkWorkflow(context: DoctorContext): Promise<DoctorFinding[]> {
  const text = findOwnWorkflow(context.files)
  if (text === null) return [await findMissingWorkflow(context)]
  return [
    reportGood(`${WORKFLOW} is on the default branch`),
    ...(await checkOutdatedWorkflow(context, text)),
    ...checkActionVersion(context, text),
    ...(await checkAgentsAction(context)),
    ...(await checkBranchWorkflows(context)),
    ...checkServerSupport(context, text),
  ]
}

async function findMissingWorkflow({ call, repositoryContext }: DoctorContext): Promise<DoctorFinding> {
  const pull = await findSetupPull(call, repositoryContext)
  const what = `${WORKFLOW} is not on the default branch`
  if (pull === null)
    return reportUnknown(what, 'winnow init --github writes it; merge it to have campaigns run on GitHub')
  return reportUnknown(
    `${what} yet: the set-up pull request #${pull.number} is open`,
    `${pull.url}\nmerge it to have campaigns run on GitHub`,
  )
}

function findOwnWorkflow(files: readonly WorkflowFile[]): string | null {
  return files.find(({ path }) => path === WORKFLOW)?.text ?? null
}

/** Returns null if the workflow uses the action of its own repository. */
export function findWinnowAction(
  files: readonly WorkflowFile[],
): { repository: string; commit: string } | null {
  const action = readWrittenWorkflow(findOwnWorkflow(files) ?? '')?.action ?? ''
  const [, repository, commit] = /^([\w.-]+\/[\w.-]+)\S*@([0-9a-f]{40})/.exec(action) ?? []
  return repository === undefined || commit === undefined ? null : { repository, commit }
}

const USES = /^\s*(?:- )?uses:\s+([\w.-]+\/[\w.-]+)[^\s@]*@/gm

export async function listUsedActions(
  repositoryContext: RepositoryContext,
  files: readonly WorkflowFile[],
): Promise<string[]> {
  const texts = [findOwnWorkflow(files) ?? '']
  for (const path of [SETUP_ACTION, AGENTS_ACTION]) {
    texts.push((await readCommittedText(repositoryContext, path)) ?? '')
  }
  return [...new Set(texts.flatMap(text => [...text.matchAll(USES)].map(([, action = '']) => action)))]
}

/** Compares with the workflow that `init --github` would write now, keeping the action that it names. */
async function checkOutdatedWorkflow(
  { call, repositoryContext, specs }: DoctorContext,
  text: string,
): Promise<DoctorFinding[]> {
  const written = readWrittenWorkflow(text)
  if (written === null || specs.length === 0) return []
  const { action, singleJob, attests: attest } = written
  const renderMode = singleJob ? renderSingleJobWorkflow : renderWorkflow
  const render = (campaigns: readonly Spec[]) => renderMode({ action, specs: campaigns, attest })
  let wanted: string
  try {
    wanted = render(specs)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [reportBad(error.message, error.fix ?? 'change the spec')]
  }
  if (action === OWN_ACTION)
    return wanted === text ? [] : [reportBad(`${WORKFLOW} is out of date`, 'npm run docs writes it again')]
  const onServer = (findGithub(repositoryContext, call.environment.env)?.server ?? null) !== null
  const own = action.replace(/@.*/, '')
  const now = withDigest(withKeptActions(wanted, { file: text, own, onServer }))
  if (now === text) return [reportGood(`${WORKFLOW} is up to date`)]
  const outdated = `${WORKFLOW} is out of date for the specs of the default branch`
  if (isAsWritten(text)) return [reportBad(outdated, 'winnow init --github --open-pr')]
  const base = await readDefaultTip(repositoryContext, call.environment)
  const earlier = (each: readonly Spec[]) =>
    withKeptActions(render(each), { file: text, own: '', onServer: true })
  const file = { path: WORKFLOW, current: text, wanted: now, render: earlier }
  const { patch, keepsEdits } = await patchEditedFile(call, { repositoryContext, base }, file)
  if (patch === '') return [reportGood(`${WORKFLOW} is up to date, with changes by hand`)]
  const how = 'winnow init --github shows the lines to change'
  return [
    keepsEdits
      ? reportBad(`${outdated}, and was changed by hand`, how)
      : reportUnknown(`${WORKFLOW} was changed by hand, and winnow would write it otherwise`, how),
  ]
}

function checkActionVersion({ call }: DoctorContext, text: string): DoctorFinding[] {
  const { action } = readWrittenWorkflow(text) ?? {}
  const version = / # (v\d\S*)$/.exec(action ?? '')?.[1]
  if (version === undefined || !isNewer(`v${call.environment.version}`, version)) return []
  const what = `the workflow runs winnow ${version}, and this is v${call.environment.version}`
  return [reportUnknown(what, 'winnow init --github --update --open-pr')]
}

/** A spec may add programs after the set-up was written. */
async function checkAgentsAction({ repositoryContext, specs }: DoctorContext): Promise<DoctorFinding[]> {
  const asking = specs.filter(spec => hasProgramProposers({ specs: [spec] }))
  if (asking.length === 0 || (await findCommittedEntry(repositoryContext, AGENTS_ACTION))?.type === 'blob')
    return []
  const names = asking.map(({ name }) => name).join(', ')
  const what = `${AGENTS_ACTION}, which sets up the programs of ${names}, is not on the default branch`
  return [reportBad(what, 'winnow init --github --open-pr')]
}

/** Measuring runs use the workflow of the optimize branch. */
async function checkBranchWorkflows({
  repositoryContext,
  campaigns,
  reported,
}: DoctorContext): Promise<DoctorFinding[]> {
  const { repository, defaultBranch } = repositoryContext
  const there = await findCommittedEntry(repositoryContext, WORKFLOW)
  const found: DoctorFinding[] = []
  for (const { name, prefix, started } of campaigns) {
    const { optimize } = buildCampaignRefs(prefix, name)
    if (!started || reported.has(name) || there === null || defaultBranch === null) continue
    const oid = await fetchRef(repository, optimize)
    if (oid === null) continue
    const entry = await repository.findEntry((await repository.commit(oid)).tree, WORKFLOW)
    if (entry?.oid === there.oid) continue
    const [main, into] = [toShortRef(defaultBranch), toShortRef(optimize)]
    const what =
      entry === null
        ? `${into} does not have ${WORKFLOW} yet, so no run can measure for it`
        : `${into} has another ${WORKFLOW} than ${main}, and its measuring runs use that one`
    const command = buildMergeCommand({ default_branch: defaultBranch }, into)
    found.push(
      (entry === null ? reportBad : reportUnknown)(
        what,
        `winnow merges ${main} into it by itself where its token may; else:\n${command}`,
      ),
    )
  }
  return found
}

/** A workflow with several jobs passes reports as artifacts, which an Enterprise Server refuses. */
function checkServerSupport({ call, repositoryContext }: DoctorContext, text: string): DoctorFinding[] {
  const server = findGithub(repositoryContext, call.environment.env)?.server ?? null
  if (server === null || readWrittenWorkflow(text)?.singleJob !== false) return []
  return [reportUnknown(`${server}: ${SERVER_REFUSES}`, SINGLE_JOB)]
}

/** Finds other workflows that would run on winnow's branches, and the lines that prevent this. */
export function checkForeignWorkflows(
  files: readonly WorkflowFile[],
  prefixes: readonly string[],
): DoctorFinding[] {
  const others = files.filter(({ path }) => path !== WORKFLOW)
  return others.flatMap(({ path, text }) =>
    prefixes.map(prefix => {
      const found = analyzeWorkflow(path, text, prefix)
      return found === null
        ? reportUnknown(`${path} cannot be read as a workflow`, 'see its page under Actions on GitHub')
        : checkForeignWorkflow(found)
    }),
  )
}

/** With a job's token, a new pull request starts runs that wait for approval, and a push starts none. */
function checkForeignWorkflow({ path, triggers, on, condition }: ForeignWorkflow): DoctorFinding {
  if (triggers.length === 0) return reportGood(`${path} leaves winnow's branches alone`)
  const lines = [
    ...(on === '' ? [] : ['change these lines of it:', ...indentLines(on)]),
    ...(condition === null ? [] : ['add to each of its jobs:', `  if: \${{ ${condition} }}`]),
  ].join('\n')
  if (triggers.includes('pull_request'))
    return reportBad(
      `${path} leaves a run that waits for approval on every draft of winnow (pull_request)`,
      lines,
    )
  return reportUnknown(
    `${path} also runs on winnow's branches (${triggers.join(', ')})`,
    `if you do not want that, ${lines}`,
  )
}

function indentLines(text: string): string[] {
  return text.split('\n').map(line => `  ${line}`)
}

/** Workflows without `permissions:` get the repository's default token permissions. */
export function listUnguardedWorkflows(
  files: readonly WorkflowFile[],
  prefixes: readonly string[],
): string[] {
  return files.flatMap(({ path, text }) => {
    if (path === WORKFLOW || /^permissions:/m.test(text)) return []
    const runs = prefixes.some(prefix => (analyzeWorkflow(path, text, prefix)?.triggers.length ?? 0) > 0)
    return runs ? [path] : []
  })
}
