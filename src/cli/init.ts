import { accessSync, constants, existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { UserError } from '../errors.ts'
import { createUnknownGoalError, renderDetected, renderGoal } from '../init/describe.ts'
import { choosePackage, type DetectedProject, detectProject } from '../init/detect.ts'
import { buildSpecName, choosePrefix, draftSpec, type SpecDraft } from '../init/draft.ts'
import { readGoal } from '../init/goal.ts'
import type { NewFile } from '../init/harness.ts'
import { LANGUAGES, narrowToDirectory, type ProjectFiles, type ProjectLocation } from '../init/project.ts'
import { type Point, toShortRef } from '../model/ids.ts'
import { quoteShell } from '../model/text.ts'
import { KEBAB, KEBAB_TEXT } from '../spec/schema.ts'
import { compilePathspec } from '../spec/scope.ts'
import { isOnGithub } from './action-pin.ts'
import { AGENT_FILE, type AgentFile, buildAgentFile, writeAgentFile } from './agent-files.ts'
import { checkSpec } from './check.ts'
import { toTypedPath, withRepository } from './context.ts'
import { readCommittedProject, readDefaultTip } from './default-branch.ts'
import { initGithub } from './init-github.ts'
import { DEFAULT_PREFIX, listExistingSpecs, toSpecName, writeFilesToTree } from './known-campaigns.ts'
import { listOwnBranches } from './uninstall-branches.ts'
import { type Call, refuseOptions, type Verb } from './verb.ts'

export const initVerb: Verb = {
  name: 'init',
  group: 'start',
  summary: 'detect how this project builds, tests and measures, and write a spec',
  access: 'apart',
  options: [
    { name: 'goal', value: 'words', summary: 'what to improve, in words; init drafts a metric for it' },
    { name: 'package', value: 'name|dir', summary: 'the package to improve, in a repository with several' },
    { name: 'language', values: LANGUAGES, summary: 'the language to use, if the project has several' },
    { name: 'name', value: 'name', summary: 'name of the spec; by default that of what it improves' },
    { name: 'agent', summary: `add six lines about winnow to ${AGENT_FILE}, for coding agents` },
    { name: 'github', summary: 'write or update the workflow that runs all campaigns on GitHub' },
    {
      name: 'single-job',
      summary: 'with --github: decide and measure in one job, for small or self-hosted setups',
    },
    {
      name: 'attest',
      summary: 'with --github: add a job that has GitHub attest what each run wrote to the ledger',
    },
    {
      name: 'open-pr',
      summary: 'with --github: push a branch and open the pull request; needs gh or GH_TOKEN',
    },
    {
      name: 'update',
      summary: 'with --github: pin the workflow to the action of the running winnow version',
    },
    {
      name: 'action',
      value: 'owner/name@ref',
      summary: 'with --github: use this action; a tag or branch is pinned to its commit',
    },
    { name: 'no-check', summary: 'write the files without running setup, tests or benchmark' },
    { name: 'dry-run', summary: 'print the files instead of writing them' },
  ],
  examples: [
    'winnow init',
    'winnow init --dry-run',
    'winnow init --package packages/parser',
    'winnow init --goal "make the parser faster"',
    'winnow init --agent',
    'winnow init --github',
    'winnow init --github --open-pr',
  ],
  exits: {
    2: 'nothing was written because a choice or a change is needed first; or the written spec cannot run yet',
    13: 'the files are written, but the harness or a gate failed',
  },
  run: call => withRepository(call, DEFAULT_PREFIX, repositoryContext => runInit(call, repositoryContext)),
}

const WITH_GITHUB = ['single-job', 'attest', 'open-pr', 'update', 'action'] as const

const WITHOUT_GITHUB = ['goal', 'package', 'name', 'agent', 'no-check'] as const

/** Any of these options asks for an additional spec. */
const NEW_SPEC_OPTIONS = ['name', 'package', 'language', 'goal'] as const

const BUILT_IN = new Set(['cd', 'sh', 'echo', 'printf', 'test', 'true', 'set', 'exit'])

interface ExistingSpec {
  name: string
  path: string
}

interface InitPlan {
  name: string
  draft: SpecDraft
  /** Output that describes the detected project and the understood goal. */
  lines: string[]
}

interface InitResult {
  repositoryContext: RepositoryContext
  base: Point
  plan: InitPlan
  agents: AgentFile | null
}

async function runInit(call: Call, repositoryContext: RepositoryContext): Promise<number> {
  const topLevel = requireWorkTree(repositoryContext)
  const base = await readDefaultTip(repositoryContext, call.environment)
  if (call.given.flag('github')) {
    refuseOptions(call, WITHOUT_GITHUB, 'has no effect with --github, which writes no spec')
    return initGithub(call, { repositoryContext, topLevel, base })
  }
  refuseOptions(call, WITH_GITHUB, 'needs --github', 'give --github as well')
  const existing = await listExistingSpecs(repositoryContext, base)
  const [first] = existing
  if (first !== undefined && !NEW_SPEC_OPTIONS.some(option => call.given.text(option) !== undefined)) {
    return call.given.flag('agent') ? writeOnlyAgentFile(call, topLevel, existing) : refuseExisting(first)
  }
  const repository = await readCommittedProject(repositoryContext, base)
  const plan = await buildInitPlan(call, repositoryContext, repository)
  const taken = existing.find(({ name }) => name === plan.name)
  if (taken !== undefined)
    return call.given.flag('agent') ? writeOnlyAgentFile(call, topLevel, [taken]) : refuseExisting(taken)
  for (const line of plan.lines) call.terminal.out(line)
  const agents = call.given.flag('agent') ? await buildAgentFile(topLevel, plan.name) : null
  if (call.given.flag('dry-run')) return printInitDryRun(call, topLevel, plan.draft, agents)
  await writeNewFiles(topLevel, plan.draft.files)
  if (agents !== null) await writeAgentFile(topLevel, agents)
  for (const line of renderInitResult(plan.draft, agents)) call.terminal.out(line)
  return checkWrittenSpec(call, { repositoryContext, base, plan, agents })
}

function requireWorkTree({ checkout: { topLevel } }: RepositoryContext): string {
  if (topLevel !== null) return topLevel
  throw new UserError('this is a bare repository, and init needs a work tree to write files to', {
    fix: 'run it in a clone',
  })
}

function refuseExisting({ path }: ExistingSpec): never {
  throw new UserError('this spec exists already, and init does not overwrite it', {
    place: { file: path },
    fix: `winnow check ${path}; or write another spec: winnow init --name <other>`,
  })
}

async function writeOnlyAgentFile(
  call: Call,
  topLevel: string,
  specs: readonly ExistingSpec[],
): Promise<number> {
  const [only, another] = specs
  if (only === undefined || another !== undefined) {
    throw new UserError(`there are several specs: ${specs.map(({ name }) => name).join(', ')}`, {
      fix: `name the spec for agents: winnow init --agent --name ${only?.name ?? '<name>'}`,
    })
  }
  const agents = await buildAgentFile(topLevel, only.name)
  const dry = call.given.flag('dry-run')
  if (dry) call.terminal.out(agents.text.trimEnd())
  else await writeAgentFile(topLevel, agents)
  call.terminal.out(describeAgentFile(agents, dry))
  return 0
}

// Planning

async function buildInitPlan(
  call: Call,
  repositoryContext: RepositoryContext,
  repository: ProjectFiles,
): Promise<InitPlan> {
  const { given } = call
  const words = given.text('goal')
  const goal = words === undefined ? null : readGoal(words)
  if (goal !== null && goal.aim === null) throw createUnknownGoalError(goal)
  const selected = choosePackage(repository, {
    wanted: getWantedPackage(call, repositoryContext),
    from: getCurrentPath(call, repositoryContext),
  })
  const files = narrowToDirectory(repository, selected.directory)
  const location: ProjectLocation = { files, repository, directory: selected.directory }
  const detected = detectProject(location, given.text('language'))
  const packageName = selected.directory === '' ? null : selected.directory.replace(/^.*\//, '')
  const name = given.text('name') ?? buildSpecName(goal, packageName, detected.findings.language === 'text')
  if (!KEBAB.test(name)) throw new UserError(`${name} cannot be a spec's name`, { fix: `use ${KEBAB_TEXT}` })
  const branches = await listOwnBranches(repositoryContext)
  const { prefix, because } = choosePrefix(branches.all, name, branches.isOurs)
  const draft = draftSpec({ project: location, detected, name, prefix, goal })
  const clash =
    because === null
      ? []
      : [`branches   ${prefix}/…, because ${because} is a branch that winnow did not make`]
  const tools = findMissingTools(draft.commands, call.environment.env)
  const lines = [
    ...renderDetected(detected, location),
    ...clash,
    ...(goal === null ? [] : renderGoal(goal, listMutableFiles(location, detected), draft.primary)),
    ...[...draft.notes, ...tools].map(note => `note: ${note}`),
  ]
  return { name, draft, lines }
}

function listMutableFiles({ files }: ProjectLocation, { findings }: DetectedProject): string[] {
  const matches = findings.mutable.map(compilePathspec)
  return files.paths.filter(path => matches.some(match => match(path)))
}

/** Paths are relative to the person's directory. */
function getWantedPackage({ given, environment }: Call, { checkout }: RepositoryContext): string | undefined {
  const typed = given.text('package')
  if (typed === undefined || checkout.topLevel === null) return typed
  const here = relative(checkout.topLevel, resolve(environment.directory, typed))
  return /^\.{1,2}(?:\/|$)/.test(typed) ? here || '.' : typed
}

function getCurrentPath({ environment }: Call, { checkout }: RepositoryContext): string {
  return checkout.topLevel === null ? '' : relative(checkout.topLevel, environment.directory)
}

function findMissingTools(commands: readonly string[], env: Readonly<Record<string, string>>): string[] {
  const names = new Set(commands.flatMap(listStartedPrograms))
  const folders = (env['PATH'] ?? '').split(delimiter)
  return [...names]
    .filter(name => !folders.some(folder => isExecutable(join(folder, name))))
    .map(name => `${name} is not on the PATH of this machine: install it before trying anything`)
}

/** Takes the first word of each part of a command. Skips assignments, and paths, which belong to the project. */
function listStartedPrograms(command: string): string[] {
  return command.split(/&&|\|\||[;|]/).flatMap(part => {
    const word =
      part
        .replace(/^[\s(]+/, '')
        .split(/\s+/)
        .find(each => !/^\w+=/.test(each)) ?? ''
    return /^[\w.+-]+$/.test(word) && !BUILT_IN.has(word) ? [word] : []
  })
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    // The file is missing or not executable.
    return false
  }
}

/** Runs `winnow check` on the default branch as it will be after the files are committed. */
async function checkWrittenSpec(call: Call, result: InitResult): Promise<number> {
  const { repositoryContext, base, plan } = result
  const { draft } = plan
  const next = (passed: boolean) => {
    for (const line of renderNextCommands(call, result, passed)) call.terminal.out(line)
  }
  if (call.given.flag('no-check')) {
    next(!draft.isPlaceholder)
    return 0
  }
  call.terminal.out('')
  const yaml = draft.files.find(({ path }) => path === draft.specPath)?.text ?? ''
  const point = await commitNewFiles(repositoryContext, base, draft.files, call.environment.clock.now())
  const text = { path: draft.specPath, yaml, source: 'work tree' } as const
  try {
    const check = { repositoryContext, text, base: point, warnings: [], guessed: draft.guessed }
    const code = await checkSpec(call, check)
    next(code === 0)
    return code
  } catch (error) {
    next(false)
    throw error
  }
}

// Writing files

interface WriteRules {
  /** For messages: the verb that writes. */
  verb: string
  /** How a person keeps what is there. */
  fix: string
  overwrite?: boolean
}

const INIT_RULES: WriteRules = {
  verb: 'init',
  fix: 'give the new spec another name: winnow init --name <other>',
}

/** Removes the files already written if one cannot be created. */
export async function writeNewFiles(
  topLevel: string,
  files: readonly NewFile[],
  rules = INIT_RULES,
): Promise<void> {
  requireAbsent(topLevel, files, rules)
  const written: string[] = []
  try {
    for (const { path, text } of files) {
      const file = join(topLevel, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text, { flag: rules.overwrite === true ? 'w' : 'wx' })
      written.push(file)
    }
  } catch (error) {
    if (rules.overwrite !== true) for (const file of written) await rm(file, { force: true })
    throw toUserError(error)
  }
}

export function requireAbsent(topLevel: string, files: readonly NewFile[], rules = INIT_RULES): void {
  const there = files.find(({ path }) => existsSync(join(topLevel, path)))
  if (there === undefined || rules.overwrite === true) return
  throw new UserError(`${there.path} exists already, and ${rules.verb} does not overwrite it`, {
    place: { file: there.path },
    fix: rules.fix,
  })
}

function toUserError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const { code } = error
  if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'EEXIST'].includes(String(code)))
    return error
  return new UserError(`the files could not be written: ${error.message}`, {
    fix: 'give write permission or free space there, and repeat',
    cause: error,
  })
}

/** Commits the files to winnow's own repository, so that they can be checked before the person commits them. */
async function commitNewFiles(
  { repository }: RepositoryContext,
  base: Point,
  files: readonly NewFile[],
  now: number,
): Promise<Point> {
  const tree = await writeFilesToTree(repository, base.tree, files)
  const date = Math.floor(now / 1000)
  const commit = await repository.writeCommit({ tree, parents: [base.commit], message: 'winnow init', date })
  return { commit, tree }
}

// Output

function renderInitResult(
  { files, specPath, edit, calls, isPlaceholder }: SpecDraft,
  agents: AgentFile | null,
): string[] {
  const harness = files.filter(({ path }) => path !== specPath).map(({ path }) => path)
  return [
    '',
    `Wrote ${files.map(({ path }) => path).join(', ')}; nothing is committed.`,
    ...(agents === null ? [] : [describeAgentFile(agents, false)]),
    ...(files.find(({ path }) => path === specPath)?.text ?? '')
      .trimEnd()
      .split('\n')
      .map(line => `  ${line}`),
    ...(edit === null
      ? []
      : [
          `${harness.join(' and ')} ${harness.length === 1 ? 'is' : 'are'} a harness to begin with: it measures ${calls}.`,
          ...(isPlaceholder ? [`To do: add your measurement to ${edit}, at the marked place.`] : []),
        ]),
  ]
}

function describeAgentFile({ existed, changed }: AgentFile, dry: boolean): string {
  if (!changed) return `${AGENT_FILE} is up to date.`
  const how = existed ? 'its lines for winnow were updated' : 'is new'
  return dry
    ? `Nothing was written; ${AGENT_FILE} would be as above.`
    : `${AGENT_FILE}: ${how}; not committed.`
}

function printInitDryRun(
  call: Call,
  topLevel: string,
  { files }: SpecDraft,
  agents: AgentFile | null,
): number {
  requireAbsent(topLevel, files)
  const all = agents?.changed === true ? [...files, { path: AGENT_FILE, text: agents.text }] : files
  call.terminal.out('Nothing was written. It would write:')
  for (const { path, text } of all) call.terminal.out(`\n--- ${path}\n${text.trimEnd()}`)
  return 0
}

function renderNextCommands(
  call: Call,
  { repositoryContext, plan, agents }: InitResult,
  passed: boolean,
): string[] {
  const { files, specPath } = plan.draft
  const paths = [...files.map(({ path }) => path), ...(agents?.changed === true ? [AGENT_FILE] : [])]
  const here = (path: string) => quoteShell(toTypedPath(call, repositoryContext, path))
  const branch = toShortRef(repositoryContext.defaultBranch ?? '')
  const elsewhere = repositoryContext.checkout.head !== repositoryContext.defaultBranch
  const branchHint = elsewhere ? `, on ${branch}` : ''
  const push = repositoryContext.local ? '' : ' && git push'
  const commit = `git add ${paths.map(here).join(' ')} && git commit -m "winnow: ${toSpecName(specPath)}"${push}`
  if (!passed) {
    return [
      '',
      'Next, after you have done what is marked above:',
      `  ${commit}`,
      `  winnow check ${here(specPath)}`,
    ]
  }
  const runs = isOnGithub(repositoryContext, call.environment.env)
    ? [
        '  then one of:',
        '    winnow run                       on this machine',
        '    winnow init --github --open-pr   in GitHub Actions',
      ]
    : ['  winnow run']
  return ['', `Next${branchHint}:`, `  ${commit}`, ...runs, '', 'To undo it all: winnow uninstall']
}
