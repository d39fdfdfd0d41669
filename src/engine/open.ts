import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { UserError } from '../errors.ts'
import { localForge } from '../forge/local.ts'
import type { Forge } from '../forge/port.ts'
import { type Checkout, inspectCheckout } from '../git/checkout.ts'
import { openRepository, type Repository } from '../git/repository.ts'
import { sha256 } from '../model/canonical.ts'
import type { By } from '../model/event.ts'
import { type CampaignRefs, campaignRefs } from '../model/refs.ts'
import type { Clock, Faults, Fetch, KeepUnwritten, Progress, Random, Registries } from '../ports.ts'
import { replaceDamaged, repositoryIn } from './damaged-cache.ts'
import type { JobIsolation } from './job-lodging.ts'
import { pacingOf, type Place } from './place.ts'

/** What the edge knows and nothing inside looks up for itself. */
export interface Surroundings {
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
  by: By
  version: string
  clock: Clock
  random: Random
  faults: Faults
  progress: Progress
  /** Asked how old a release is; nobody is unless given. */
  registries?: Registries
  /** Beside the campaign's own things unless given. */
  keepUnwritten?: KeepUnwritten
  /** This process is to end. */
  interrupt?: AbortSignal
  /** The damaged part of winnow's own repository: it is put aside before the repository is opened. */
  damage?: string
  /** How the web is asked where a verb asks it; directly unless given. */
  web?: Fetch
}

/** One user's repository and winnow's own beside it, before any campaign is chosen. */
export interface Workshop {
  repository: Repository
  checkout: Checkout
  local: boolean
  /** What the person's repository calls the remote; null where there is none. */
  remote: string | null
  /** Full name of the default branch; null where nothing names one. */
  defaultBranch: string | null
  dataDir: string
  machineDir: string
  place(name: string): Place
}

export async function openWorkshop(around: Surroundings): Promise<Workshop> {
  const checkout = await inspectCheckout(around.directory, around.env)
  const remote = chooseRemote(checkout, around)
  const local = remote === null
  const dataDir = dataDirFor(checkout, around)
  const say = (line: string) => around.progress.say(line)
  const salvage = replaceDamaged({ dataDir, env: around.env, say }, around.damage ?? null)
  const repository = await openRepository({
    dir: repositoryIn(dataDir),
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
    ? await localDefault(repository, checkout, around)
    : (await repository.remoteRefs([])).head
  const workshop: Workshop = {
    repository,
    checkout,
    local,
    remote: remote?.name ?? null,
    defaultBranch,
    dataDir,
    machineDir: around.machineDir ?? around.cacheDir,
    place: name => placeFor(around, workshop, name),
  }
  return workshop
}

const MAIN = ['refs/heads/main', 'refs/heads/master']

async function localDefault(repository: Repository, { head }: Checkout, { preferMain }: Surroundings) {
  if (preferMain !== true || (head !== null && MAIN.includes(head))) return head
  const { refs } = await repository.remoteRefs(MAIN)
  return MAIN.find(ref => refs.has(ref)) ?? head
}

/** Where winnow keeps what it has of one repository; nothing is made there by asking. */
export function dataDirFor(checkout: Checkout, around: Near): string {
  return join(around.cacheDir, sha256(chooseRemote(checkout, around)?.url ?? checkout.commonDir).slice(0, 20))
}

type Near = Pick<Surroundings, 'cacheDir' | 'remote' | 'directory'>

function chooseRemote(
  { remotes, topLevel }: Checkout,
  { remote, directory }: Omit<Near, 'cacheDir'>,
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

function placeFor(around: Surroundings, workshop: Workshop, name: string): Place {
  const { clock, random, faults, progress, by, env, prefix, version, registries, isolation } = around
  const { repository, local, checkout, defaultBranch, dataDir, machineDir } = workshop
  if (defaultBranch === null) {
    throw new UserError('no branch is checked out, so the default branch is not known', {
      fix: 'check out the branch to be optimised once, or give the repository a remote',
    })
  }
  const refs = campaignRefs(prefix, name)
  const forge =
    around.forge?.(refs) ?? localForge({ repo: repository, refs, author: by.actor, ...pacingOf(around) })
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

function keepBelow(directory: string): KeepUnwritten {
  return async (name, text) => {
    const file = join(directory, name)
    await mkdir(directory, { recursive: true })
    await writeFile(file, text)
    return file
  }
}
