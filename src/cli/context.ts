import { readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import {
  findDamageCause,
  getDataDir,
  getRepositoryDir,
  openRepositoryContext,
  type RepositoryContext,
} from '../engine/campaign/open.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import { buildLocalIsolation, buildNetworkIsolation } from '../git/isolation.ts'
import type { Repository } from '../git/repository.ts'
import { createGitRunner, requireGit } from '../git/runner.ts'
import { inspectCheckout } from '../git/work-tree.ts'
import { isMissing } from '../measure/file-system.ts'
import type { Campaign } from '../model/campaign.ts'
import type { EventAuthor, LedgerEvent } from '../model/event.ts'
import { buildCampaignRefs, type CampaignRefs } from '../model/ids.ts'
import type { ProgressReporter } from '../ports.ts'
import { EventRenderer, isNotableEvent } from '../report/event-log.ts'
import { suggestWord } from '../spec/nearest-word.ts'
import { readDefaultTip } from './default-branch.ts'
import { announceEvents, createDryRun, printDryRun } from './dry-run.ts'
import {
  DEFAULT_PREFIX,
  findUnpushedSpec,
  isUsualSpec,
  type KnownCampaign,
  listKnownCampaigns,
  toSpecName,
} from './known-campaigns.ts'
import type { Call, CommandContext } from './verb.ts'

interface CampaignAccess {
  /** `read` verbs get a repository that cannot push. */
  access: 'read' | 'write'
  startedOnly: boolean
  spec?: string | undefined
  /** Print each event when it is written. */
  announce?: boolean
  /** The verb is idempotent, so it can run again after a failure that happened part-way. */
  repeatable?: boolean
}

export async function withCampaign(
  call: Call,
  options: CampaignAccess,
  work: (context: CommandContext) => Promise<number>,
): Promise<number> {
  if (call.comment) return work(call.comment.context)
  const open = <T>(prefix: string, inside: (repositoryContext: RepositoryContext) => Promise<T>) =>
    withRepository(call, prefix, inside, options.repeatable)
  const name = call.given.text('campaign')
  const read = call.known?.find(each => each.started && !each.blocked && each.name === name)
  if (read !== undefined)
    return open(read.prefix, repositoryContext =>
      runInContext(call, options, { repositoryContext, campaign: read }, work),
    )
  return open(DEFAULT_PREFIX, async first => {
    const spec = options.spec === undefined ? undefined : toRepositoryPath(call, first, options.spec)
    const { progress } = call.environment
    const known = await listKnownCampaigns(first, { specPath: spec, progress })
    if (known.length === 0) await readDefaultTip(first, call.environment)
    const campaign = await selectCampaign(call, first, known, {
      name,
      spec,
      startedOnly: options.startedOnly,
    })
    if (campaign.blocked !== undefined) throw campaign.blocked
    if (campaign.prefix === DEFAULT_PREFIX)
      return runInContext(call, options, { repositoryContext: first, campaign }, work)
    return open(campaign.prefix, repositoryContext =>
      runInContext(call, options, { repositoryContext, campaign }, work),
    )
  })
}

/** Runs a command that changes a started campaign. */
export async function changeCampaign(
  call: Call,
  work: (context: CommandContext, campaign: Campaign) => Promise<void>,
): Promise<number> {
  return withCampaign(call, { access: 'write', startedOnly: true }, async context => {
    await work(context, (await requireCampaign(context.campaignContext)).loaded.campaign)
    return 0
  })
}

/** If no campaign matches, the likely cause is a spec that is committed here but not pushed. */
async function selectCampaign(
  { environment }: Call,
  repositoryContext: RepositoryContext,
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
    throw (await findUnpushedSpec(repositoryContext, environment.env, { wanted, pushed })) ?? error
  }
}

/**
 * Opens winnow's own repository for the verb. If the verb fails because that repository is damaged, moves it
 * aside, fetches it again and runs the verb a second time.
 */
export async function withRepository<T>(
  call: Call,
  prefix: string,
  work: (repositoryContext: RepositoryContext) => Promise<T>,
  repeatable = false,
): Promise<T> {
  const { directory, env } = call.environment
  if (call.environment.opened === undefined)
    await requireGit(createGitRunner(buildLocalIsolation(directory, env)))
  const by = await resolveActor(call.environment)
  const environment = { ...call.environment, by, prefix, interrupt: call.interrupt }
  const pushed = { any: false }
  try {
    return await withRepositoryContext(environment, pushed, work)
  } catch (error) {
    if (call.interrupt.aborted) throw error
    const dir = getRepositoryDir(getDataDir(await inspectCheckout(directory, env), environment))
    const damage = await findDamageCause(error, { dir, env })
    if (damage === null) throw error
    if (pushed.any && !repeatable) throw createUnfinishedError(dir, damage, error)
    return withRepositoryContext({ ...environment, damage }, pushed, work)
  }
}

async function withRepositoryContext<T>(
  environment: Parameters<typeof openRepositoryContext>[0],
  pushed: { any: boolean },
  work: (repositoryContext: RepositoryContext) => Promise<T>,
): Promise<T> {
  const repositoryContext = await openRepositoryContext(environment)
  const { repository } = repositoryContext
  try {
    return await work(Object.assign(repositoryContext, { repository: trackPushes(repository, pushed) }))
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

/** After a push, a verb that is not repeatable must not run again. */
function createUnfinishedError(dir: string, damage: string, cause: unknown): UserError {
  return new UserError(
    `winnow's copy of the repository was damaged (${damage}) after a part of the work was recorded`,
    {
      place: { file: dir },
      fix: 'winnow status says what was recorded; the next command moves the damaged copy away and fetches it again',
      cause,
    },
  )
}

async function runInContext(
  call: Call,
  options: CampaignAccess,
  { repositoryContext, campaign }: Pick<CommandContext, 'repositoryContext' | 'campaign'>,
  work: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const refs = buildCampaignRefs(campaign.prefix, campaign.name)
  const dry = options.access === 'write' && call.given.flag('dry-run')
  const dryRun = dry || options.access === 'read' ? createDryRun(repositoryContext.repository) : null
  const { start } = campaign
  const renderer = new EventRenderer(start?.spec_yaml)
  const repository =
    dryRun?.repository ?? announcePushes(call, options, { ...repositoryContext, lines: renderer }, refs)
  const recorded = start?.default_branch ?? null
  const currentDefault = repositoryContext.defaultBranch ?? recorded
  const here: RepositoryContext = Object.assign(repositoryContext, {
    repository,
    defaultBranch: currentDefault,
  })
  const campaignContext = here.openCampaign(campaign.name)
  const context = {
    repositoryContext: here,
    campaign,
    campaignContext: { ...campaignContext, defaultBranch: recorded ?? campaignContext.defaultBranch },
    currentDefault: campaignContext.defaultBranch,
    dryRun: dry ? dryRun : null,
  }
  const code = await work(context)
  if (context.dryRun) await printDryRun(call, context.dryRun, refs)
  return code
}

function announcePushes(
  call: Call,
  options: CampaignAccess,
  { repository, lines: renderer }: Pick<RepositoryContext, 'repository'> & { lines: EventRenderer },
  refs: CampaignRefs,
): Repository {
  if (options.announce !== true) return repository
  return announceEvents(
    repository,
    ref => ref === refs.state,
    event => reportProgress(call.environment.progress, renderer, event),
  )
}

/** Paths are relative to the person's directory. Names stay as they are. */
function toRepositoryPath({ environment }: Call, { checkout }: RepositoryContext, spec: string): string {
  if (checkout.topLevel === null || !/\.ya?ml$/.test(spec)) return spec
  return relative(checkout.topLevel, resolve(environment.directory, spec))
}

export interface CampaignChoice {
  name: string | undefined
  spec: string | undefined
  /** The verb needs a ledger, so campaigns that never started do not make the choice ambiguous. */
  startedOnly: boolean
}

export function chooseCampaign(known: readonly KnownCampaign[], choice: CampaignChoice): KnownCampaign {
  const { name, spec, startedOnly } = choice
  if (spec !== undefined) return findNamedCampaign(known, spec, name)
  if (name !== undefined) return known.find(each => each.name === name) ?? throwUnknownCampaign(known, name)
  const started = known.filter(each => each.started)
  const candidates = startedOnly && started.length > 0 ? started : known
  const [only] = candidates
  if (only === undefined) {
    throw new UserError(
      'this repository has no campaign: the default branch has no spec, and there is no ledger',
      {
        place: { file: '.winnow/<name>.yaml' },
        fix: 'winnow init writes a spec; commit it to the default branch (and push), then repeat the command',
      },
    )
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
    known.find(each => each.start?.spec_path === spec) ??
    known.find(each => each.name === spec)
  if (found !== undefined && found.paths.length > 1 && found.problem !== null) throw found.problem
  if (found !== undefined && name !== undefined && found.name !== name) {
    throw new UserError(`${spec} is campaign ${found.name}, but --campaign says ${name}`, {
      fix: 'give one of the two',
    })
  }
  if (found !== undefined) return found
  if (!/\.ya?ml$/.test(spec)) return throwUnknownCampaign(known, spec)
  const paths = known.flatMap(each => each.paths)
  const commit = 'commit it (and push): winnow reads specs from commits, not from the work tree'
  throw new UserError(`${spec} is not on the default branch`, {
    place: { file: spec },
    fix: suggestWord(spec, paths, commit),
  })
}

function throwUnknownCampaign(known: readonly KnownCampaign[], name: string): never {
  const names = known.map(each => each.name)
  const list =
    known.length === 0 ? 'this repository has no campaign' : `the campaigns are ${names.join(', ')}`
  const otherwise = 'give the name of an existing campaign, or commit a spec with that name'
  throw new UserError(`there is no campaign ${name}; ${list}`, { fix: suggestWord(name, names, otherwise) })
}

/** Falls back to git's user.name if the environment has no user name. */
async function resolveActor({ by, directory, env }: Call['environment']): Promise<EventAuthor> {
  if (by.actor !== UNKNOWN_ACTOR) return by
  const name = await createGitRunner(buildNetworkIsolation(directory, env)).run({
    args: ['config', '--get', 'user.name'],
    answers: [1, 128],
    parse: ({ stdout }) => stdout.trim(),
  })
  return name === '' ? by : { ...by, actor: name }
}

export const UNKNOWN_ACTOR = 'unknown'

function reportProgress(progress: ProgressReporter, renderer: EventRenderer, event: LedgerEvent): void {
  const line = renderer.next(event)
  if (isNotableEvent(event)) progress.say(line)
}

/** Reads a file that the person named, relative to the person's directory. */
export async function readGivenFile({ environment }: Call, file: string, fix?: string): Promise<string> {
  try {
    return await readFile(resolve(environment.directory, file), 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const what = isMissing(cause) ? `there is no file ${file}` : `${file} cannot be read: ${why}`
    throw new UserError(what, { place: { file }, fix, cause })
  }
}

/** git resolves paths from the person's directory, so winnow prints them that way. */
export function toTypedPath(
  { environment }: Pick<Call, 'environment'>,
  { checkout }: RepositoryContext,
  path: string,
): string {
  const { topLevel } = checkout
  return topLevel === null ? path : relative(environment.directory, join(topLevel, path))
}
