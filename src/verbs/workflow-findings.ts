import type { Workshop } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { campaignRefs, shortRef } from '../model/refs.ts'
import { mergeCommand } from '../model/sync-awaited.ts'
import { bad, type Finding, good, unknown } from '../report/doctor-text.ts'
import { OWN_ACTION, readWrittenWorkflow } from '../setup/github/action-reference.ts'
import { AGENTS_ACTION, SETUP_ACTION, WORKFLOW } from '../setup/github/files.ts'
import { asksPrograms } from '../setup/github/github-setup.ts'
import { renderSingleJobWorkflow } from '../setup/github/single-job-workflow.ts'
import { renderWorkflow } from '../setup/github/winnow-workflow.ts'
import { isAsWritten, isNewer, withDigest, withKeptActions } from '../setup/github/written-digest.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call } from './call.ts'
import { committedEntry, type WorkflowFile } from './committed-workflows.ts'
import { defaultTip } from './default-branch.ts'
import { findSetupPull } from './find-setup-pull.ts'
import { githubOf, SERVER_REFUSES, SINGLE_JOB } from './github-of.ts'
import { patchBesideEdits } from './hand-edits.ts'
import type { KnownCampaign } from './known-campaigns.ts'

/** What the doctor has read before it judges. */
export interface Ground {
  call: Call
  workshop: Workshop
  campaigns: readonly KnownCampaign[]
  /** Of the default branch. */
  specs: readonly Spec[]
  files: readonly WorkflowFile[]
  /** Campaigns whose sync GitHub refused. */
  refused: ReadonlySet<string>
}

/** Whether winnow's own workflow is there, up to date, and the same where it is dispatched. */
export async function workflowFindings(ground: Ground): Promise<Finding[]> {
  const text = textOf(ground.files)
  if (text === null) return [await missingFinding(ground)]
  return [
    good(`${WORKFLOW} is on the default branch`),
    ...(await outdatedFindings(ground, text)),
    ...versionFindings(ground, text),
    ...(await agentsFindings(ground)),
    ...(await branchFindings(ground)),
    ...serverFindings(ground, text),
  ]
}

async function missingFinding({ call, workshop }: Ground): Promise<Finding> {
  const pull = await findSetupPull(call, workshop)
  const what = `${WORKFLOW} is not on the default branch`
  if (pull === null)
    return unknown(what, 'winnow init --github writes it; merge it to have campaigns run on GitHub')
  return unknown(
    `${what} yet: the set-up pull request #${pull.number} is open`,
    `${pull.url}\nmerge it to have campaigns run on GitHub`,
  )
}

function textOf(files: readonly WorkflowFile[]): string | null {
  return files.find(({ path }) => path === WORKFLOW)?.text ?? null
}

/** The action of winnow that the workflow runs, where it is another repository's. */
export function winnowAction(files: readonly WorkflowFile[]): { repository: string; commit: string } | null {
  const action = readWrittenWorkflow(textOf(files) ?? '')?.action ?? ''
  const [, repository, commit] = /^([\w.-]+\/[\w.-]+)\S*@([0-9a-f]{40})/.exec(action) ?? []
  return repository === undefined || commit === undefined ? null : { repository, commit }
}

const USES = /^\s*(?:- )?uses:\s+([\w.-]+\/[\w.-]+)[^\s@]*@/gm

/** Every action by its repository that the workflow and the actions beside it use. */
export async function usedActions(workshop: Workshop, files: readonly WorkflowFile[]): Promise<string[]> {
  const texts = [textOf(files) ?? '']
  for (const path of [SETUP_ACTION, AGENTS_ACTION]) {
    const entry = await committedEntry(workshop, path)
    if (entry?.type === 'blob') texts.push((await workshop.repository.blob(entry.oid)).toString('utf8'))
  }
  return [...new Set(texts.flatMap(text => [...text.matchAll(USES)].map(([, action = '']) => action)))]
}

/** Compares the workflow with what `init --github` would write now, with the action that it names. */
async function outdatedFindings({ call, workshop, specs }: Ground, text: string): Promise<Finding[]> {
  const by = readWrittenWorkflow(text)
  if (by === null || specs.length === 0) return []
  const setup = { action: by.action, specs }
  const render = (campaigns: readonly Spec[]) =>
    by.singleJob
      ? renderSingleJobWorkflow({ ...setup, specs: campaigns })
      : renderWorkflow({ ...setup, specs: campaigns })
  let wanted: string
  try {
    wanted = render(specs)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [bad(error.message, error.fix ?? 'change the spec')]
  }
  if (by.action === OWN_ACTION)
    return wanted === text ? [] : [bad(`${WORKFLOW} is out of date`, 'npm run docs writes it anew')]
  const onServer = (githubOf(workshop, call.around.env)?.server ?? null) !== null
  const own = by.action.replace(/@.*/, '')
  const now = withDigest(withKeptActions(wanted, { file: text, own, onServer }))
  if (now === text) return [good(`${WORKFLOW} is up to date`)]
  const outdated = `${WORKFLOW} is out of date for the specs of the default branch`
  if (isAsWritten(text)) return [bad(outdated, 'winnow init --github --open-pr')]
  const base = await defaultTip(workshop, call.around)
  const earlier = (each: readonly Spec[]) =>
    withKeptActions(render(each), { file: text, own: '', onServer: true })
  const file = { path: WORKFLOW, now: text, wanted: now, render: earlier }
  const { patch, keepsEdits } = await patchBesideEdits(call, { workshop, base }, file)
  if (patch === '') return [good(`${WORKFLOW} is up to date, with changes by hand`)]
  const how = 'winnow init --github shows the lines to change'
  return [
    keepsEdits
      ? bad(`${outdated}, and was changed by hand`, how)
      : unknown(`${WORKFLOW} was changed by hand, and winnow would write it otherwise`, how),
  ]
}

/** The command line is newer than what the workflow runs. */
function versionFindings({ call }: Ground, text: string): Finding[] {
  const { action } = readWrittenWorkflow(text) ?? {}
  const version = / # (v\d\S*)$/.exec(action ?? '')?.[1]
  if (version === undefined || !isNewer(`v${call.around.version}`, version)) return []
  const what = `the workflow runs winnow ${version}, and this is v${call.around.version}`
  return [unknown(what, 'winnow init --github --update --open-pr')]
}

/** A spec may name programs long after the set-up was written. */
async function agentsFindings({ workshop, specs }: Ground): Promise<Finding[]> {
  const asking = specs.filter(spec => asksPrograms({ specs: [spec] }))
  if (asking.length === 0 || (await committedEntry(workshop, AGENTS_ACTION))?.type === 'blob') return []
  const names = asking.map(({ name }) => name).join(', ')
  const what = `${AGENTS_ACTION}, which sets up the programs of ${names}, is not on the default branch`
  return [bad(what, 'winnow init --github --open-pr')]
}

/** A run that measures takes the workflow of the optimize branch. */
async function branchFindings({ workshop, campaigns, refused }: Ground): Promise<Finding[]> {
  const { repository, defaultBranch } = workshop
  const there = await committedEntry(workshop, WORKFLOW)
  const found: Finding[] = []
  for (const { name, prefix, started } of campaigns) {
    const { optimize } = campaignRefs(prefix, name)
    if (!started || refused.has(name) || there === null || defaultBranch === null) continue
    const oid = (await repository.remoteRefs([optimize])).refs.get(optimize)
    if (oid === undefined) continue
    await repository.fetch([{ ref: optimize, oid }])
    const entry = await repository.entryAt((await repository.commit(oid)).tree, WORKFLOW)
    if (entry?.oid === there.oid) continue
    const [main, into] = [shortRef(defaultBranch), shortRef(optimize)]
    const what =
      entry === null
        ? `${into} does not have ${WORKFLOW} yet, so no run can measure for it`
        : `${into} has another ${WORKFLOW} than ${main}, and its measuring runs use that one`
    const command = mergeCommand({ default_branch: defaultBranch }, into)
    found.push(
      (entry === null ? bad : unknown)(
        what,
        `winnow merges ${main} into it by itself where its token may; else:\n${command}`,
      ),
    )
  }
  return found
}

/** A workflow of several jobs hands reports over as artifacts with a digest. */
function serverFindings({ call, workshop }: Ground, text: string): Finding[] {
  const server = githubOf(workshop, call.around.env)?.server ?? null
  if (server === null || readWrittenWorkflow(text)?.singleJob !== false) return []
  return [unknown(`${server}: ${SERVER_REFUSES}`, SINGLE_JOB)]
}
