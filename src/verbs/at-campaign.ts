import { relative, resolve } from 'node:path'
import { z } from 'zod'
import { openWorkshop, type Workshop } from '../engine/open.ts'
import type { Place } from '../engine/place.ts'
import { requireGit } from '../git/git-version.ts'
import { localIsolation } from '../git/isolation.ts'
import type { Repository } from '../git/repository.ts'
import { gitRunner } from '../git/runner.ts'
import { eventPath } from '../ledger/layout.ts'
import { type CampaignRefs, campaignRefs } from '../model/refs.ts'
import type { Call } from './call.ts'
import { chooseCampaign } from './choose-campaign.ts'
import { DEFAULT_PREFIX, type KnownCampaign, knownCampaigns } from './known-campaigns.ts'
import { announcing } from './pushed-events.ts'
import { noDefaultBranch } from './default-branch.ts'
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
}

/** Opens the campaign that is meant, lets the verb work on it, and closes what was opened. */
export async function atCampaign(
  call: Call,
  wanted: Wanted,
  work: (scene: Scene) => Promise<number>,
): Promise<number> {
  return atRepository(call, DEFAULT_PREFIX, async first => {
    const known = await knownCampaigns(first)
    if (known.length === 0 && first.defaultBranch === null) throw noDefaultBranch(first)
    const campaign = chooseCampaign(known, {
      name: call.given.text('campaign'),
      spec: wanted.spec === undefined ? undefined : pathInRepository(call, first, wanted.spec),
      startedOnly: wanted.startedOnly,
    })
    if (campaign.prefix === DEFAULT_PREFIX) return inScene(call, wanted, { workshop: first, campaign }, work)
    return atRepository(call, campaign.prefix, workshop =>
      inScene(call, wanted, { workshop, campaign }, work),
    )
  })
}

export async function atRepository(
  call: Call,
  prefix: string,
  work: (workshop: Workshop) => Promise<number>,
): Promise<number> {
  const { directory, env } = call.around
  await requireGit(gitRunner(localIsolation(directory, env)))
  const workshop = await openWorkshop({ ...call.around, prefix })
  try {
    return await work(workshop)
  } finally {
    await workshop.repository.close()
  }
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
  const repository = rehearsal?.repository ?? told(call, wanted, workshop.repository, refs)
  const recorded = campaign.started ? await recordedDefault(repository, refs) : null
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
  if (scene.rehearsal) await describeRehearsal(call.terminal, scene.rehearsal, refs)
  return code
}

function told(call: Call, wanted: Wanted, repository: Repository, refs: CampaignRefs): Repository {
  if (wanted.announce !== true) return repository
  return announcing(
    repository,
    ref => ref === refs.state,
    event => sayProgress(call.around.progress, event),
  )
}

const beginning = z.looseObject({ default_branch: z.string() })

/** The branch HEAD named when the campaign started, wherever it points now. */
async function recordedDefault(repository: Repository, refs: CampaignRefs): Promise<string | null> {
  const oid = (await repository.remoteRefs([refs.state])).refs.get(refs.state)
  if (oid === undefined) return null
  await repository.fetch([{ ref: refs.state, oid }])
  const { tree } = await repository.commit(oid)
  const entry = await repository.entryAt(tree, eventPath(0).path)
  if (entry?.type !== 'blob') return null
  const text = (await repository.blob(entry.oid)).toString('utf8')
  return defaultBranchIn(text)
}

/** An event that cannot be read is no reason to fail here: whoever folds the ledger names it. */
function defaultBranchIn(text: string): string | null {
  try {
    const parsed = beginning.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data.default_branch : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** A name stays a name; a path is meant from where the person is. */
function pathInRepository({ around }: Call, { checkout }: Workshop, spec: string): string {
  if (checkout.topLevel === null || !/\.ya?ml$/.test(spec)) return spec
  return relative(checkout.topLevel, resolve(around.directory, spec))
}
