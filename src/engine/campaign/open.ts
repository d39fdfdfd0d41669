import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { formatCount } from '../../decide/wording.ts'
import { UserError } from '../../errors.ts'
import {
  findDamage,
  findDeepDamage,
  isPossibleDamage,
  moveDamagedAside,
  recoverCommits,
} from '../../git/damage.ts'
import { openRepository, type Repository } from '../../git/repository.ts'
import { type Checkout, inspectCheckout } from '../../git/work-tree.ts'
import type { Forge } from '../../github/port.ts'
import { listStoredCommits } from '../../ideas/stored-answers.ts'
import { isSecretName } from '../../measure/environment.ts'
import { listNames } from '../../measure/file-system.ts'
import { hashSha256 } from '../../model/canonical-json.ts'
import { buildCampaignRefs, type CampaignRefs } from '../../model/ids.ts'
import type { Report } from '../../model/report.ts'
import type { Fetch, SaveUnwrittenEvents } from '../../ports.ts'
import type { CampaignContext } from './context.ts'

type SharedSettings = Pick<
  CampaignContext,
  | 'prefix'
  | 'env'
  | 'isolation'
  | 'by'
  | 'version'
  | 'clock'
  | 'random'
  | 'faults'
  | 'progress'
  | 'registries'
>

/** Inputs from the command line or the action. The engine reads no environment itself. */
export interface Environment extends SharedSettings {
  directory: string
  /** The environment for pushes with workflow files; without it there are none. */
  workflowsEnv?: Readonly<Record<string, string>>
  /** Directory for winnow's repository and work, outside the user's checkout. */
  cacheDir: string
  /** Directory shared by all winnow processes of this user on this machine; cacheDir by default. */
  machineDir?: string
  /** `none`: this repository itself; a name: that remote; null: origin, or the only one, or none. */
  remote: string | null
  /** GitHub; absent on a person's machine. */
  forge?: (refs: CampaignRefs) => Forge
  /** Without a remote, prefer main or master over the checked-out branch as the default branch. */
  preferMain?: boolean
  /** Writes below the campaign's own directory by default. */
  keepUnwritten?: SaveUnwrittenEvents
  interrupt?: AbortSignal
  /** The damaged part of winnow's own repository, which is moved aside before opening. */
  damage?: string
  web?: Fetch
  /** The listing that this process read when it opened the repository before. */
  opened?: OpenedRepository
}

export type OpenedRepository = Pick<RepositoryContext, 'checkout' | 'defaultBranch'>

/** A user's repository with winnow's own one, before a campaign is chosen. */
export interface RepositoryContext {
  repository: Repository
  checkout: Checkout
  local: boolean
  /** The user's name for the remote; null without one. */
  remote: string | null
  defaultBranch: string | null
  dataDir: string
  machineDir: string
  openCampaign(name: string): CampaignContext
}

export async function openRepositoryContext(environment: Environment): Promise<RepositoryContext> {
  const { opened } = environment
  const checkout = opened?.checkout ?? (await inspectCheckout(environment.directory, environment.env))
  const remote = chooseRemote(checkout, environment)
  const local = remote === null
  const dataDir = getDataDir(checkout, environment)
  const say = (line: string) => environment.progress.say(line)
  const restoreAnswers = replaceDamaged(environment, dataDir)
  const repository = await openRepository({
    dir: getRepositoryDir(dataDir),
    remote: remote?.url ?? checkout.commonDir,
    prefix: environment.prefix,
    local,
    env: environment.env,
    configDir: checkout.topLevel ?? checkout.commonDir,
    say,
    ...(environment.interrupt === undefined ? {} : { interrupt: environment.interrupt }),
    ...(environment.workflowsEnv === undefined ? {} : { workflowsEnv: environment.workflowsEnv }),
  })
  await restoreAnswers?.()
  const defaultBranch = opened
    ? opened.defaultBranch
    : local
      ? await findLocalDefault(repository, checkout, environment)
      : (await repository.remoteRefs([])).head
  const repositoryContext: RepositoryContext = {
    repository,
    checkout,
    local,
    remote: remote?.name ?? null,
    defaultBranch,
    dataDir,
    machineDir: environment.machineDir ?? environment.cacheDir,
    openCampaign: name => createCampaignContext(environment, repositoryContext, name),
  }
  return repositoryContext
}

const MAIN = ['refs/heads/main', 'refs/heads/master']

async function findLocalDefault(repository: Repository, { head }: Checkout, { preferMain }: Environment) {
  if (preferMain !== true || (head !== null && MAIN.includes(head))) return head
  const { refs } = await repository.remoteRefs(MAIN)
  return MAIN.find(ref => refs.has(ref)) ?? head
}

export function getDataDir(checkout: Checkout, environment: RemoteChoice): string {
  return join(
    environment.cacheDir,
    hashSha256(chooseRemote(checkout, environment)?.url ?? checkout.commonDir).slice(0, 20),
  )
}

type RemoteChoice = Pick<Environment, 'cacheDir' | 'remote' | 'directory'>

function chooseRemote(
  { remotes, topLevel }: Checkout,
  { remote, directory }: Omit<RemoteChoice, 'cacheDir'>,
): { name: string; url: string } | null {
  if (remote === 'none') return null
  const named =
    remotes.find(({ name }) => name === (remote ?? 'origin')) ??
    (remote === null && remotes.length === 1 ? remotes[0] : undefined)
  // git resolves a relative URL from the top of the work tree, not from the current directory.
  if (named !== undefined) {
    const { name, url } = named
    return { name, url: /^\.{1,2}\//.test(url) ? resolve(topLevel ?? directory, url) : url }
  }
  if (remote === null && remotes.length === 0) return null
  const names = remotes.map(({ name }) => name).join(', ') || 'none'
  throw new UserError(
    remote === null
      ? `there are several remotes, and none is called origin: ${names}`
      : `there is no remote ${remote}; the remotes are ${names}`,
    { fix: 'name one with --remote, or --remote none to keep everything in this repository' },
  )
}

function createCampaignContext(
  environment: Environment,
  repositoryContext: RepositoryContext,
  name: string,
): CampaignContext {
  const { repository, local, checkout, defaultBranch, dataDir, machineDir } = repositoryContext
  if (defaultBranch === null) {
    throw new UserError('no branch is checked out, so the default branch is not known', {
      fix: 'check out the branch to optimise, or add a remote',
    })
  }
  const refs = buildCampaignRefs(environment.prefix, name)
  const ownDir = join(dataDir, 'campaigns', name)
  return {
    ...environment,
    name,
    refs,
    repository,
    forge: environment.forge?.(refs) ?? null,
    dataDir: ownDir,
    keepUnwritten: environment.keepUnwritten ?? keepBelow(join(ownDir, 'failed')),
    machineDir,
    checkout: checkout.topLevel,
    defaultBranch,
    local,
  }
}

function keepBelow(directory: string): SaveUnwrittenEvents {
  return async (name, text) => {
    const file = join(directory, name)
    await mkdir(directory, { recursive: true })
    await writeFile(file, text)
    return file
  }
}

export function getRepositoryDir(dataDir: string): string {
  return join(dataDir, 'repository.git')
}

/** Stores proposer answers until they are recorded. */
export const ANSWERS = 'proposals'

/** Finds the damaged part of the repository after a failure; null when the failure has another cause. */
export async function findDamageCause(
  error: unknown,
  { dir, env }: { dir: string; env: Readonly<Record<string, string>> },
): Promise<string | null> {
  return findDamage(dir) ?? (isPossibleDamage(error) ? findDeepDamage(dir, env) : null)
}

/** A damaged repository looks like any runner failure. winnow then fetches it again, and measures again. */
export async function refuseDamagedCache(
  repository: { dir: string },
  env: Readonly<Record<string, string>>,
  report: Report,
): Promise<Report> {
  if (report.runner_error === null) return report
  const error = new Error(report.runner_error)
  const damage = await findDamageCause(error, { dir: repository.dir, env })
  if (damage !== null) throw error
  return report
}

/** Only commits of proposer answers exist nowhere else: the returned function copies them. */
function replaceDamaged(
  { env, damage, progress }: Environment,
  dataDir: string,
): (() => Promise<void>) | null {
  const dir = getRepositoryDir(dataDir)
  const found = damage ?? findDamage(dir)
  if (found === null) return null
  const movedTo = moveDamagedAside(dir)
  return async () => {
    progress.say(
      `winnow's copy of the repository was damaged (${found}). winnow moved it to ${movedTo} and fetches it again. Running orders, reports and unwritten events are in other files and are not affected.`,
    )
    const campaigns = join(dataDir, 'campaigns')
    const answers = listNames(campaigns).map(name => listStoredCommits(join(campaigns, name, ANSWERS)))
    const commits = (await Promise.all(answers)).flat()
    if (commits.length === 0) return
    const saved = await recoverCommits({ from: movedTo, to: dir, env, commits })
    const lost = commits.length - saved
    const left =
      lost === 0 ? '' : `; ${formatCount(lost, 'commit')} could not be read, and those ideas are lost`
    progress.say(`Saved ${formatCount(saved, 'commit')} of ideas that are not recorded yet${left}.`)
  }
}

type GitEnvironment = Readonly<Record<string, string>>

/**
 * Passes the token to git in its environment, for this one server. A command line is readable by every
 * process, and a file would remain. Removes other secrets of the job, and an existing extraheader, because a
 * server refuses two credentials.
 */
export function withGitAccess(
  env: GitEnvironment,
  { serverUrl, token }: { serverUrl: string; token: string },
): GitEnvironment {
  const allowed = Object.entries(env).filter(([name]) => !isSecretName(name) && !name.startsWith('INPUT_'))
  const count = Number(env['GIT_CONFIG_COUNT'] ?? 0) || 0
  const key = `http.${serverUrl}/.extraheader`
  const credentials = Buffer.from(`x-access-token:${token}`).toString('base64')
  return {
    ...Object.fromEntries(allowed),
    GIT_CONFIG_COUNT: String(count + 2),
    [`GIT_CONFIG_KEY_${count}`]: key,
    // An empty value clears earlier headers.
    [`GIT_CONFIG_VALUE_${count}`]: '',
    [`GIT_CONFIG_KEY_${count + 1}`]: key,
    [`GIT_CONFIG_VALUE_${count + 1}`]: `Authorization: Basic ${credentials}`,
  }
}
