import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UserError } from '../errors.ts'
import { detectProject } from '../setup/detect.ts'
import type { ProjectLocation } from '../setup/findings.ts'
import { OWN_ACTION, readWrittenWorkflow } from '../setup/github/action-reference.ts'
import { OWNER_FILES, renderGithubFiles, WORKFLOW } from '../setup/github/files.ts'
import { buildToolchain } from '../setup/github/toolchain.ts'
import { isAsWritten, isNewer, withDigest, withKeptActions } from '../setup/github/written-digest.ts'
import type { NewFile } from '../setup/harness/skeleton.ts'
import { narrowToDirectory } from '../setup/project-files.ts'
import type { Spec } from '../spec/schema.ts'
import { findOwnAction, resolveAction, formatUses, readPinnedVersion } from './action-pin.ts'
import type { Call } from './call.ts'
import { readCommittedProject } from './committed-project.ts'
import { findGithub } from './github-of.ts'
import {
  createDefaultBranchSource,
  readGithubSpecs,
  type SetupContext,
  getDefaultBranchName,
  createOnlyWorkTreeSource,
  requireSupportedSpecs,
  type FileSource,
  listUnseenSpecs,
  createWorkTreeSource,
} from './github-sources.ts'
import type { GithubSetupPlan } from './github-plan.ts'
import { findToken } from './github-token.ts'
import { patchEditedFile } from './hand-edits.ts'
import { openSetupPull } from './setup-pull.ts'
import { renderAdminSteps, renderMissingToken, renderSetupPull, renderWrittenFiles } from './github-texts.ts'

/** Writes the workflow and what it uses into the work tree; with --open-pr into a pull request. */
export async function initGithub(call: Call, ground: SetupContext): Promise<number> {
  const { given, terminal } = call
  if (given.flag('open-pr') && !given.flag('dry-run')) return openFilesPull(call, ground)
  const plan = await planFiles(call, ground, {
    specs: createWorkTreeSource(ground, createDefaultBranchSource(ground)),
    files: createOnlyWorkTreeSource(ground),
  })
  if (given.flag('dry-run')) {
    terminal.out(plan.files.length === 0 ? UP_TO_DATE : 'Nothing was written. It would be:')
    for (const { path, text } of plan.files) terminal.out(`\n--- ${path}\n${text.trimEnd()}`)
    return 0
  }
  await writeFiles(ground, plan.files)
  const uncommitted = (await listUnseenSpecs(call, ground)).filter(({ committed }) => !committed)
  const paths = uncommitted.map(({ path }) => path)
  for (const line of renderWrittenFiles(call, ground, plan, paths)) terminal.out(line)
  return 0
}

const UP_TO_DATE = 'Nothing to do: the files are there and up to date.'

/** Without a token the files are written as ever, and a person finishes it. */
async function openFilesPull(call: Call, ground: SetupContext): Promise<number> {
  const { terminal, around } = call
  const place = findGithub(ground.workshop, around.env)
  if (place === null) {
    throw new UserError('the remote of this repository is not on GitHub, so no pull request can be opened', {
      fix: 'leave --open-pr out: the files are written into the work tree then',
    })
  }
  const [unseen] = await listUnseenSpecs(call, ground)
  if (unseen !== undefined) {
    const push = unseen.committed ? 'git push' : 'commit and push it'
    throw new UserError(`this spec is not on ${getDefaultBranchName(ground)} of the remote as it is here`, {
      place: { file: unseen.path },
      fix: `${push}, and repeat; or leave --open-pr out, and put everything into one pull request yourself`,
    })
  }
  const token = await findToken(place, around.env)
  if (token === '') {
    const plan = await planFiles(call, ground, {
      specs: createDefaultBranchSource(ground),
      files: createOnlyWorkTreeSource(ground),
    })
    await writeFiles(ground, plan.files)
    for (const line of [...renderMissingToken(place), ...renderWrittenFiles(call, ground, plan, [])])
      terminal.out(line)
    return 2
  }
  const committed = createDefaultBranchSource(ground)
  const plan = await planFiles(call, ground, { specs: committed, files: committed })
  if (plan.files.length === 0) {
    terminal.out(UP_TO_DATE)
    return 0
  }
  const opened = await openSetupPull(call, ground, { place, token, plan })
  for (const line of [...renderSetupPull(opened, plan), ...renderAdminSteps(call, ground, plan)])
    terminal.out(line)
  return 0
}

/** Where the specs are read, and where the files are. */
interface SetupSources {
  specs: FileSource
  files: FileSource
}

async function planFiles(call: Call, ground: SetupContext, sources: SetupSources): Promise<GithubSetupPlan> {
  const found = await readGithubSpecs(ground, sources.specs)
  const specs = found.map(({ spec }) => spec)
  const now = await sources.files.read(WORKFLOW)
  const written = now === null ? null : readWrittenWorkflow(now)
  if (now !== null && written === null) throw createForeignFileError()
  if (written?.action === OWN_ACTION) throw createGeneratedFileError()
  const singleJob = call.given.flag('single-job') || written?.singleJob === true
  requireSupportedSpecs(found, singleJob ? 'single-job' : 'github')
  const action = await selectAction(call, ground, written?.action ?? null)
  const yard = await locateProject(ground, specs)
  const toolchain = buildToolchain(detectProject(yard, call.given.text('language')), yard)
  const render = (campaigns: readonly Spec[]) =>
    renderGithubFiles({ action, specs: campaigns }, toolchain, { singleJob })
  const files: NewFile[] = []
  for (const file of render(specs)) {
    const there = await sources.files.read(file.path)
    if (there === null) files.push(file.path === WORKFLOW ? signWorkflow(file.text) : file)
    else if (file.path === WORKFLOW) {
      files.push(
        ...(await rewriteWorkflow(call, ground, {
          now: there,
          specs,
          render: each => findWorkflowText(render(each)),
        })),
      )
    } else if (!OWNER_FILES.has(file.path))
      throw new Error(`${file.path} is neither the workflow nor the owner's`)
  }
  return { specs: found, files, action, singleJob, existed: now !== null }
}

function findWorkflowText(files: readonly NewFile[]): string {
  return files.find(({ path }) => path === WORKFLOW)?.text ?? ''
}

function createForeignFileError(): UserError {
  return new UserError('this file was not written by winnow init --github, and is not overwritten', {
    place: { file: WORKFLOW },
    fix: `rename or remove it (git mv ${WORKFLOW} .github/workflows/<other>.yml), and repeat`,
  })
}

function createGeneratedFileError(): UserError {
  return new UserError('this file runs the action of its own repository', {
    place: { file: WORKFLOW },
    fix: 'npm run docs writes it anew',
  })
}

function signWorkflow(text: string): NewFile {
  return { path: WORKFLOW, text: withDigest(text) }
}

interface WorkflowRewrite {
  now: string
  specs: readonly Spec[]
  render: (specs: readonly Spec[]) => string
}

/** Written anew only while no person changed it; else the person gets the lines. */
async function rewriteWorkflow(
  call: Call,
  ground: SetupContext,
  { now, specs, render }: WorkflowRewrite,
): Promise<NewFile[]> {
  const text = render(specs)
  const own = readWrittenWorkflow(text)?.action.replace(/@.*/, '') ?? ''
  const onServer = (findGithub(ground.workshop, call.around.env)?.server ?? null) !== null
  const wanted = signWorkflow(withKeptActions(text, { file: now, own, onServer }))
  if (wanted.text === now) return []
  if (isAsWritten(now)) return [wanted]
  const earlier = (each: readonly Spec[]) =>
    withKeptActions(render(each), { file: now, own: '', onServer: true })
  const { patch, keepsEdits } = await patchEditedFile(call, ground, {
    path: WORKFLOW,
    now,
    wanted: wanted.text,
    render: earlier,
  })
  if (patch === '') return []
  call.terminal.out(patch.trimEnd())
  const options = call.given.flag('update') ? ' --update' : ''
  throw new UserError(
    'this file was changed by hand, so init does not overwrite it; the lines to change are above',
    {
      place: { file: WORKFLOW },
      fix: keepsEdits
        ? `winnow init --github${options} | git apply`
        : 'take over by hand what is new: the patch as a whole would take your own changes back',
    },
  )
}

/** Given, else as the workflow has it; else, and with --update, of the winnow that runs. */
async function selectAction(call: Call, ground: SetupContext, written: string | null): Promise<string> {
  const near = findGithub(ground.workshop, call.around.env) ?? { webUrl: 'https://github.com' }
  const given = call.given.text('action')
  if (given !== undefined) return formatUses(await resolveAction(call, given, near))
  if (written !== null && !call.given.flag('update')) return written
  const own = formatUses(await findOwnAction(call, near))
  const [runs, here] = [readPinnedVersion(written ?? ''), readPinnedVersion(own)]
  if (!isNewer(runs, here)) return own
  throw new UserError(`the workflow runs winnow ${runs}, and this is ${here}`, {
    place: { file: WORKFLOW },
    fix: 'update the command line first (npm install --global git-winnow@latest), then winnow init --github --update',
  })
}

/** The project that the first spec measures. */
async function locateProject(
  { workshop, base }: SetupContext,
  [spec]: readonly Spec[],
): Promise<ProjectLocation> {
  const repository = await readCommittedProject(workshop, base)
  const directory = (spec?.measurement.working_directory ?? '.').replace(/^\.(?:\/|$)|\/+$/g, '')
  return { files: narrowToDirectory(repository, directory), repository, directory }
}

async function writeFiles({ topLevel }: SetupContext, files: readonly NewFile[]): Promise<void> {
  for (const { path, text } of files) {
    const file = join(topLevel, path)
    try {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text, { flag: existsSync(file) ? 'w' : 'wx' })
    } catch (error) {
      if (!(error instanceof Error)) throw error
      throw new UserError(`${path} could not be written: ${error.message}`, {
        place: { file: path },
        fix: 'give write permission or free space there, and repeat',
        cause: error,
      })
    }
  }
}
