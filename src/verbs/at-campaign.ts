import { relative, resolve } from 'node:path'
import { damageBehind, repositoryIn } from '../engine/damaged-cache.ts'
import { dataDirFor, openWorkshop, type Workshop } from '../engine/open.ts'
import type { Place } from '../engine/place.ts'
import { UserError } from '../errors.ts'
import { inspectCheckout } from '../git/checkout.ts'
import { requireGit } from '../git/git-version.ts'
import { localIsolation } from '../git/isolation.ts'
import type { Repository } from '../git/repository.ts'
import { gitRunner } from '../git/runner.ts'
import { type CampaignRefs, campaignRefs } from '../model/refs.ts'
import { EventLines } from '../report/event-line.ts'
import { actingAs } from './actor.ts'
import { recordedBeginning } from './beginning.ts'
import type { Call } from './call.ts'
import { type Choice, chooseCampaign } from './choose-campaign.ts'
import { nameOfFile } from './committed-specs.ts'
import { DEFAULT_PREFIX, type KnownCampaign, knownCampaigns } from './known-campaigns.ts'
import { isUsualSpec, notPushed } from './not-pushed.ts'
import { announcing } from './pushed-events.ts'
import { defaultTip } from './default-branch.ts'
import { describeRehearsal } from './dry-run.ts'
import { type Rehearsal, rehearse } from './rehearsal.ts'
import { sayProgress } from './progress.ts'

/** A verb at work on one campaign. */
export interface Scene {
  workshop: Workshop
  campaign: KnownCampaign
  place: Place
  /** The default branch as it is now, which the ledger of an earlier start may not name. */
  currentDefault: string
  /** Set with --dry-run: what would have been pushed. */
  rehearsal: Rehearsal | null
}

export interface Wanted {
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
export async function atCampaign(
  call: Call,
  wanted: Wanted,
  work: (scene: Scene) => Promise<number>,
): Promise<number> {
  if (call.comment) return work(call.comment.scene)
  const open = <T>(prefix: string, inside: (workshop: Workshop) => Promise<T>) =>
    atRepository(call, prefix, inside, wanted.repeatable)
  return open(DEFAULT_PREFIX, async first => {
    const spec = wanted.spec === undefined ? undefined : pathInRepository(call, first, wanted.spec)
    const known = await knownCampaigns(first, spec)
    if (known.length === 0) await defaultTip(first, call.around)
    const name = call.given.text('campaign')
    const campaign = await chosen(call, first, known, { name, spec, startedOnly: wanted.startedOnly })
    if (campaign.prefix === DEFAULT_PREFIX) return inScene(call, wanted, { workshop: first, campaign }, work)
    return open(campaign.prefix, workshop => inScene(call, wanted, { workshop, campaign }, work))
  })
}

/** A spec that is only committed here is the most likely reason why the campaign is not found. */
async function chosen(
  { around }: Call,
  workshop: Workshop,
  known: readonly KnownCampaign[],
  choice: Choice,
): Promise<KnownCampaign> {
  try {
    return chooseCampaign(known, choice)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const { spec, name } = choice
    const wanted = (path: string) =>
      spec === undefined
        ? isUsualSpec(path) && (name === undefined || nameOfFile(path) === name)
        : path === spec || (isUsualSpec(path) && nameOfFile(path) === spec)
    const pushed = known.flatMap(({ paths }) => paths)
    throw (await notPushed(workshop, around.env, { wanted, pushed })) ?? error
  }
}

/**
 * Opens winnow's own repository for the verb. Where the verb fails because that repository is damaged, it is put aside,
 * fetched again, and the verb does its work once more.
 */
export async function atRepository<T>(
  call: Call,
  prefix: string,
  work: (workshop: Workshop) => Promise<T>,
  repeatable = false,
): Promise<T> {
  const { directory, env } = call.around
  await requireGit(gitRunner(localIsolation(directory, env)))
  const by = await actingAs(call.around)
  const around = { ...call.around, by, prefix, interrupt: call.interrupt }
  const pushed = { any: false }
  try {
    return await withWorkshop(around, pushed, work)
  } catch (error) {
    if (call.interrupt.aborted) throw error
    const dir = repositoryIn(dataDirFor(await inspectCheckout(directory, env), around))
    const damage = await damageBehind(error, { dir, env })
    if (damage === null) throw error
    if (pushed.any && !repeatable) throw unfinished(dir, damage, error)
    return withWorkshop({ ...around, damage }, pushed, work)
  }
}

async function withWorkshop<T>(
  around: Parameters<typeof openWorkshop>[0],
  pushed: { any: boolean },
  work: (workshop: Workshop) => Promise<T>,
): Promise<T> {
  const workshop = await openWorkshop(around)
  const { repository } = workshop
  try {
    return await work(Object.assign(workshop, { repository: noting(repository, pushed) }))
  } finally {
    await repository.close()
  }
}

function noting(repository: Repository, pushed: { any: boolean }): Repository {
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
function unfinished(dir: string, damage: string, cause: unknown): UserError {
  return new UserError(
    `winnow's copy of the repository was damaged (${damage}) after a part of the work was recorded`,
    {
      place: { file: dir },
      fix: 'winnow status says what was recorded; the next command puts the damaged copy aside and fetches it again',
      cause,
    },
  )
}

async function inScene(
  call: Call,
  wanted: Wanted,
  { workshop, campaign }: Pick<Scene, 'workshop' | 'campaign'>,
  work: (scene: Scene) => Promise<number>,
): Promise<number> {
  const refs = campaignRefs(campaign.prefix, campaign.name)
  const dry = wanted.access === 'write' && call.given.flag('dry-run')
  const rehearsal = dry || wanted.access === 'read' ? rehearse(workshop.repository) : null
  const beginning = campaign.started ? await recordedBeginning(workshop.repository, refs.state) : null
  const lines = new EventLines(beginning?.spec_yaml)
  const repository = rehearsal?.repository ?? told(call, wanted, { ...workshop, lines }, refs)
  const recorded = beginning?.default_branch ?? null
  const currentDefault = workshop.defaultBranch ?? recorded
  const here: Workshop = Object.assign(workshop, { repository, defaultBranch: currentDefault })
  const place = here.place(campaign.name)
  const scene = {
    workshop: here,
    campaign,
    place: { ...place, defaultBranch: recorded ?? place.defaultBranch },
    currentDefault: place.defaultBranch,
    rehearsal: dry ? rehearsal : null,
  }
  const code = await work(scene)
  if (scene.rehearsal) await describeRehearsal(call, scene.rehearsal, refs)
  return code
}

function told(
  call: Call,
  wanted: Wanted,
  { repository, lines }: Pick<Workshop, 'repository'> & { lines: EventLines },
  refs: CampaignRefs,
): Repository {
  if (wanted.announce !== true) return repository
  return announcing(
    repository,
    ref => ref === refs.state,
    event => sayProgress(call.around.progress, lines, event),
  )
}

/** A name stays a name; a path is meant from where the person is. */
function pathInRepository({ around }: Call, { checkout }: Workshop, spec: string): string {
  if (checkout.topLevel === null || !/\.ya?ml$/.test(spec)) return spec
  return relative(checkout.topLevel, resolve(around.directory, spec))
}
