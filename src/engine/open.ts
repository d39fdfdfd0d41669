import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { UserError } from '../errors.ts'
import { createLocalForge } from '../forge/local.ts'
import type { Forge } from '../forge/port.ts'
import { type Checkout, inspectCheckout } from '../git/checkout.ts'
import { openRepository, type Repository } from '../git/repository.ts'
import { hashSha256 } from '../model/canonical.ts'
import type { EventAuthor } from '../model/event.ts'
import { type CampaignRefs, buildCampaignRefs } from '../model/refs.ts'
import type {
  Clock,
  Faults,
  Fetch,
  SaveUnwrittenEvents,
  ProgressReporter,
  RandomSource,
  Registries,
} from '../ports.ts'
import { replaceDamaged, getRepositoryDir } from './damaged-cache.ts'
import type { JobIsolation } from './job-lodging.ts'
import { createPacing, type CampaignContext } from './place.ts'

/** What the edge knows and nothing inside looks up for itself. */
export interface Environment {
  directory: string
  env: Readonly<Record<string, string>>
  /** The same for the pushes that may bring workflow files; there are none unless given. */
  workflowsEnv?: Readonly<Record<string, string>>
  /** Where winnow may keep its repository and work: outside the user's checkout. */
  cacheDir: string
  /** Where all winnow processes of this user on this machine find each other; cacheDir unless given. */
  machineDir?: string
  /** `none`: this repository itself; a name: that remote; null: origin, or the only one, or none. */
  remote: string | null
  prefix: string
  /** Where pull requests are kept; beside the branches themselves unless given. */
  forge?: (refs: CampaignRefs) => Forge
  /** Without a remote, main or master is the default branch, where there is one, whatever is checked out. */
  preferMain?: boolean
  /** As whom code of others runs, where this is a job that holds a token. */
  isolation?: JobIsolation
  by: EventAuthor
  version: string
  clock: Clock
  random: RandomSource
  faults: Faults
  progress: ProgressReporter
  /** Asked how old a release is; nobody is unless given. */
  registries?: Registries
  /** Beside the campaign's own things unless given. */
  keepUnwritten?: SaveUnwrittenEvents
  /** This process is to end. */
  interrupt?: AbortSignal
  /** The damaged part of winnow's own repository: it is put aside before the repository is opened. */
  damage?: string
  /** How the web is asked where a verb asks it; directly unless given. */
  web?: Fetch
}

/** One user's repository and winnow's own beside it, before any campaign is chosen. */
export interface RepositoryContext {
  repository: Repository
  checkout: Checkout
  local: boolean
  /** What the person's repository calls the remote; null where there is none. */
  remote: string | null
  /** Full name of the default branch; null where nothing names one. */
  defaultBranch: string | null
  dataDir: string
  machineDir: string
  openCampaign(name: string): CampaignContext
}

export async function openRepositoryContext(around: Environment): Promise<RepositoryContext> {
  const checkout = await inspectCheckout(around.directory, around.env)
  const remote = chooseRemote(checkout, around)
  const local = remote === null
  const dataDir = getDataDir(checkout, around)
  const say = (line: string) => around.progress.say(line)
  const salvage = replaceDamaged({ dataDir, env: around.env, say }, around.damage ?? null)
  const repository = await openRepository({
    dir: getRepositoryDir(dataDir),
    remote: remote?.url ?? checkout.commonDir,
    prefix: around.prefix,
    local,
    env: around.env,
    say,
    ...(around.interrupt === undefined ? {} : { interrupt: around.interrupt }),
    ...(around.workflowsEnv === undefined ? {} : { workflowsEnv: around.workflowsEnv }),
  })
  await salvage?.()
  const defaultBranch = local
    ? await findLocalDefault(repository, checkout, around)
    : (await repository.remoteRefs([])).head
  const workshop: RepositoryContext = {
    repository,
    checkout,
    local,
    remote: remote?.name ?? null,
    defaultBranch,
    dataDir,
    machineDir: around.machineDir ?? around.cacheDir,
    openCampaign: name => createCampaignContext(around, workshop, name),
  }
  return workshop
}

const MAIN = ['refs/heads/main', 'refs/heads/master']

async function findLocalDefault(repository: Repository, { head }: Checkout, { preferMain }: Environment) {
  if (preferMain !== true || (head !== null && MAIN.includes(head))) return head
  const { refs } = await repository.remoteRefs(MAIN)
  return MAIN.find(ref => refs.has(ref)) ?? head
}

/** Where winnow keeps what it has of one repository; nothing is made there by asking. */
export function getDataDir(checkout: Checkout, around: RemoteChoice): string {
  return join(
    around.cacheDir,
    hashSha256(chooseRemote(checkout, around)?.url ?? checkout.commonDir).slice(0, 20),
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
  // git reads a relative path from the top of the work tree, wherever in it a command is started.
  if (named !== undefined) {
    const { name, url } = named
    return { name, url: isRelative(url) ? resolve(topLevel ?? directory, url) : url }
  }
  if (remote === null && remotes.length === 0) return null
  const names = remotes.map(({ name }) => name).join(', ') || 'none'
  throw new UserError(
    remote === null
      ? `several remotes and none is origin: ${names}`
      : `no remote is called ${remote}; there is ${names}`,
    {
      fix: 'name one with --remote, or --remote none to keep everything in this repository',
    },
  )
}

function isRelative(url: string): boolean {
  return /^\.{1,2}\//.test(url)
}

function createCampaignContext(
  around: Environment,
  workshop: RepositoryContext,
  name: string,
): CampaignContext {
  const { clock, random, faults, progress, by, env, prefix, version, registries, isolation } = around
  const { repository, local, checkout, defaultBranch, dataDir, machineDir } = workshop
  if (defaultBranch === null) {
    throw new UserError('no branch is checked out, so the default branch is not known', {
      fix: 'check out the branch to be optimised once, or give the repository a remote',
    })
  }
  const refs = buildCampaignRefs(prefix, name)
  const forge =
    around.forge?.(refs) ??
    createLocalForge({ repo: repository, refs, author: by.actor, ...createPacing(around) })
  const ownDir = join(dataDir, 'campaigns', name)
  return {
    name,
    prefix,
    refs,
    repository,
    forge,
    dataDir: ownDir,
    keepUnwritten: around.keepUnwritten ?? keepBelow(join(ownDir, 'failed')),
    machineDir,
    checkout: checkout.topLevel,
    defaultBranch,
    local,
    by,
    env,
    clock,
    random,
    faults,
    progress,
    version,
    ...(registries === undefined ? {} : { registries }),
    ...(isolation === undefined ? {} : { isolation }),
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
