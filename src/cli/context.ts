import { join, relative, resolve } from 'node:path'
import type { CampaignContext } from '../engine/campaign/context.ts'
import {
  findDamageCause,
  getDataDir,
  getRepositoryDir,
  openRepositoryContext,
  type RepositoryContext,
} from '../engine/campaign/open.ts'
import { UserError } from '../errors.ts'
import { buildLocalIsolation, buildNetworkIsolation } from '../git/isolation.ts'
import type { Repository } from '../git/repository.ts'
import { createGitRunner, requireGit } from '../git/runner.ts'
import { inspectCheckout } from '../git/work-tree.ts'
import type { EventAuthor, LedgerEvent } from '../model/event.ts'
import { buildCampaignRefs, type CampaignRefs } from '../model/ids.ts'
import type { ProgressReporter } from '../ports.ts'
import { EventRenderer, NOTABLE_EVENTS } from '../report/event-log.ts'
import { findNearestWord } from '../spec/nearest-word.ts'
import { readDefaultTip } from './default-branch.ts'
import { announceEvents, createDryRun, type DryRun, printDryRun } from './dry-run.ts'
import {
  DEFAULT_PREFIX,
  findUnpushedSpec,
  isUsualSpec,
  type KnownCampaign,
  listKnownCampaigns,
  readCampaignStart,
  toSpecName,
} from './known-campaigns.ts'
import type { Call } from './verb.ts'

/** A verb at work on one campaign. */
export interface CommandContext {
  workshop: RepositoryContext
  campaign: KnownCampaign
  place: CampaignContext
  /** The default branch as it is now, which the ledger of an earlier start may not name. */
  currentDefault: string
  /** Set with --dry-run: what would have been pushed. */
  dryRun: DryRun | null
}

interface CampaignAccess {
  /** Readers get a repository that cannot push: whatever they call, nothing is written. */
  access: 'read' | 'write'
  /** Only campaigns with a ledger are meant. */
  startedOnly: boolean
  /** A spec's path or a campaign's name, as given. */
  spec?: string | undefined
  /** Tell of every event as it is written. */
  announce?: boolean
  /** Doing it twice is doing it once, also where it has written something before it failed. */
  repeatable?: boolean
}

/** Opens the campaign that is meant, lets the verb work on it, and closes what was opened. */
export async function withCampaign(
  call: Call,
  wanted: CampaignAccess,
  work: (scene: CommandContext) => Promise<number>,
): Promise<number> {
  if (call.comment) return work(call.comment.scene)
  const open = <T>(prefix: string, inside: (workshop: RepositoryContext) => Promise<T>) =>
    withRepository(call, prefix, inside, wanted.repeatable)
  return open(DEFAULT_PREFIX, async first => {
    const spec = wanted.spec === undefined ? undefined : toRepositoryPath(call, first, wanted.spec)
    const known = await listKnownCampaigns(first, spec)
    if (known.length === 0) await readDefaultTip(first, call.around)
    const name = call.given.text('campaign')
    const campaign = await selectCampaign(call, first, known, { name, spec, startedOnly: wanted.startedOnly })
    if (campaign.prefix === DEFAULT_PREFIX)
      return runInContext(call, wanted, { workshop: first, campaign }, work)
    return open(campaign.prefix, workshop => runInContext(call, wanted, { workshop, campaign }, work))
  })
}

/** A spec that is only committed here is the most likely reason why the campaign is not found. */
async function selectCampaign(
  { around }: Call,
  workshop: RepositoryContext,
  known: readonly KnownCampaign[],
  choice: CampaignChoice,
): Promise<KnownCampaign> {
  try {
    return chooseCampaign(known, choice)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const { spec, name } = choice
    const wanted = (path: string) =>
      spec === undefined
        ? isUsualSpec(path) && (name === undefined || toSpecName(path) === name)
        : path === spec || (isUsualSpec(path) && toSpecName(path) === spec)
    const pushed = known.flatMap(({ paths }) => paths)
    throw (await findUnpushedSpec(workshop, around.env, { wanted, pushed })) ?? error
  }
}

/**
 * Opens winnow's own repository for the verb. Where the verb fails because that repository is damaged, it is put aside,
 * fetched again, and the verb does its work once more.
 */
export async function withRepository<T>(
  call: Call,
  prefix: string,
  work: (workshop: RepositoryContext) => Promise<T>,
  repeatable = false,
): Promise<T> {
  const { directory, env } = call.around
  await requireGit(createGitRunner(buildLocalIsolation(directory, env)))
  const by = await resolveActor(call.around)
  const around = { ...call.around, by, prefix, interrupt: call.interrupt }
  const pushed = { any: false }
  try {
    return await withRepositoryContext(around, pushed, work)
  } catch (error) {
    if (call.interrupt.aborted) throw error
    const dir = getRepositoryDir(getDataDir(await inspectCheckout(directory, env), around))
    const damage = await findDamageCause(error, { dir, env })
    if (damage === null) throw error
    if (pushed.any && !repeatable) throw createUnfinishedError(dir, damage, error)
    return withRepositoryContext({ ...around, damage }, pushed, work)
  }
}

async function withRepositoryContext<T>(
  around: Parameters<typeof openRepositoryContext>[0],
  pushed: { any: boolean },
  work: (workshop: RepositoryContext) => Promise<T>,
): Promise<T> {
  const workshop = await openRepositoryContext(around)
  const { repository } = workshop
  try {
    return await work(Object.assign(workshop, { repository: trackPushes(repository, pushed) }))
  } finally {
    await repository.close()
  }
}

function trackPushes(repository: Repository, pushed: { any: boolean }): Repository {
  return {
    ...repository,
    async push(...given) {
      const result = await repository.push(...given)
      pushed.any ||= result.ok
      return result
    },
  }
}

/** What was written is not written a second time. */
function createUnfinishedError(dir: string, damage: string, cause: unknown): UserError {
  return new UserError(
    `winnow's copy of the repository was damaged (${damage}) after a part of the work was recorded`,
    {
      place: { file: dir },
      fix: 'winnow status says what was recorded; the next command puts the damaged copy aside and fetches it again',
      cause,
    },
  )
}

async function runInContext(
  call: Call,
  wanted: CampaignAccess,
  { workshop, campaign }: Pick<CommandContext, 'workshop' | 'campaign'>,
  work: (scene: CommandContext) => Promise<number>,
): Promise<number> {
  const refs = buildCampaignRefs(campaign.prefix, campaign.name)
  const dry = wanted.access === 'write' && call.given.flag('dry-run')
  const rehearsal = dry || wanted.access === 'read' ? createDryRun(workshop.repository) : null
  const beginning = campaign.started ? await readCampaignStart(workshop.repository, refs.state) : null
  const lines = new EventRenderer(beginning?.spec_yaml)
  const repository = rehearsal?.repository ?? announcePushes(call, wanted, { ...workshop, lines }, refs)
  const recorded = beginning?.default_branch ?? null
  const currentDefault = workshop.defaultBranch ?? recorded
  const here: RepositoryContext = Object.assign(workshop, { repository, defaultBranch: currentDefault })
  const place = here.openCampaign(campaign.name)
  const scene = {
    workshop: here,
    campaign,
    place: { ...place, defaultBranch: recorded ?? place.defaultBranch },
    currentDefault: place.defaultBranch,
    dryRun: dry ? rehearsal : null,
  }
  const code = await work(scene)
  if (scene.dryRun) await printDryRun(call, scene.dryRun, refs)
  return code
}

function announcePushes(
  call: Call,
  wanted: CampaignAccess,
  { repository, lines }: Pick<RepositoryContext, 'repository'> & { lines: EventRenderer },
  refs: CampaignRefs,
): Repository {
  if (wanted.announce !== true) return repository
  return announceEvents(
    repository,
    ref => ref === refs.state,
    event => reportProgress(call.around.progress, lines, event),
  )
}

/** A name stays a name; a path is meant from where the person is. */
function toRepositoryPath({ around }: Call, { checkout }: RepositoryContext, spec: string): string {
  if (checkout.topLevel === null || !/\.ya?ml$/.test(spec)) return spec
  return relative(checkout.topLevel, resolve(around.directory, spec))
}

/** How a person may say which campaign is meant. */
export interface CampaignChoice {
  /** --campaign */
  name: string | undefined
  /** A spec's path in the repository, or a campaign's name. */
  spec: string | undefined
  /** The verb needs a ledger: what was never started does not make the choice ambiguous. */
  startedOnly: boolean
}

/** The campaign that is meant; the only one there is where nothing was said. */
export function chooseCampaign(known: readonly KnownCampaign[], choice: CampaignChoice): KnownCampaign {
  const { name, spec, startedOnly } = choice
  if (spec !== undefined) return findNamedCampaign(known, spec, name)
  if (name !== undefined) return known.find(each => each.name === name) ?? throwUnknownCampaign(known, name)
  const started = known.filter(each => each.started)
  const candidates = startedOnly && started.length > 0 ? started : known
  const [only] = candidates
  if (only === undefined) {
    throw new UserError('there is no campaign here: no spec on the default branch, and no ledger', {
      place: { file: '.winnow/<name>.yaml' },
      fix: 'write a spec, commit it (and push it), then winnow check',
    })
  }
  if (candidates.length === 1) return only
  throw new UserError(`there are several campaigns: ${candidates.map(each => each.name).join(', ')}`, {
    fix: 'name one with --campaign',
  })
}

function findNamedCampaign(
  known: readonly KnownCampaign[],
  spec: string,
  name: string | undefined,
): KnownCampaign {
  const found =
    known.find(each => each.paths.includes(spec)) ??
    known.find(each => each.ledgerPath === spec) ??
    known.find(each => each.name === spec)
  if (found !== undefined && found.paths.length > 1 && found.problem !== null) throw found.problem
  if (found !== undefined && name !== undefined && found.name !== name) {
    throw new UserError(`${spec} is campaign ${found.name}, but --campaign says ${name}`, {
      fix: 'give one of the two',
    })
  }
  if (found !== undefined) return found
  if (!/\.ya?ml$/.test(spec)) return throwUnknownCampaign(known, spec)
  const near = findNearestWord(
    spec,
    known.flatMap(each => each.paths),
  )
  throw new UserError(`${spec} is not on the default branch`, {
    place: { file: spec },
    fix: near === undefined ? 'commit it (and push it): a work tree is never used' : `did you mean ${near}?`,
  })
}

function throwUnknownCampaign(known: readonly KnownCampaign[], name: string): never {
  const near = findNearestWord(
    name,
    known.map(each => each.name),
  )
  const list = known.length === 0 ? 'there is none' : `there is ${known.map(each => each.name).join(', ')}`
  throw new UserError(`there is no campaign ${name}: ${list}`, {
    fix: near === undefined ? 'name one that exists, or commit a spec of that name' : `did you mean ${near}?`,
  })
}

/** Where the machine has no name for the person, git often has one. */
async function resolveActor({ by, directory, env }: Call['around']): Promise<EventAuthor> {
  if (by.actor !== UNKNOWN_ACTOR) return by
  const name = await createGitRunner(buildNetworkIsolation(directory, env)).run({
    args: ['config', '--get', 'user.name'],
    answers: [1, 128],
    parse: ({ stdout }) => stdout.trim(),
  })
  return name === '' ? by : { ...by, actor: name }
}

export const UNKNOWN_ACTOR = 'unknown'

function reportProgress(progress: ProgressReporter, lines: EventRenderer, event: LedgerEvent): void {
  const line = lines.next(event)
  if (NOTABLE_EVENTS.has(event.kind)) progress.say(line)
}

/** A path of the repository as it is typed where the person is: below its top, git takes paths from there. */
export function toTypedPath(
  { around }: Pick<Call, 'around'>,
  { checkout }: RepositoryContext,
  path: string,
): string {
  const { topLevel } = checkout
  return topLevel === null ? path : relative(around.directory, join(topLevel, path))
}

/** One word for a shell. */
export function quoteShellPath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
