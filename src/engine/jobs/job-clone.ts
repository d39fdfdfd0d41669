import { join } from 'node:path'
import { ConflictError, UserError } from '../../errors.ts'
import { openRepository, type Repository } from '../../git/repository.ts'
import { readTreeFile } from '../../git/tree.ts'
import { inspectCheckout } from '../../git/work-tree.ts'
import { loadCampaign, type LoadedCampaign } from '../../ledger/load.ts'
import { isLedger, readEvents } from '../../ledger/read-events.ts'
import type { Campaign } from '../../model/campaign.ts'
import { hashSha256 } from '../../model/canonical-json.ts'
import { buildCampaignRefs, type Oid, type OrderId } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import type { Clock, ProgressReporter, RandomSource } from '../../ports.ts'
import { getCampaignSpec, getParseOptions, parseSpec } from '../../spec/load.ts'
import type { Spec } from '../../spec/schema.ts'
import { restoreProbeTrees } from '../observe/probe-facts.ts'
import { FIRST_ATTEMPT } from './github-runs.ts'

/** A job on another machine. It reads a clone with all remote branches, and writes no ref. */
export interface JobEnvironment {
  directory: string
  workDir: string
  env: Readonly<Record<string, string>>
  /** An empty name matches the only campaign. */
  campaign: string
  /** Absent for any prefix. */
  prefix?: string
  /** As in `actions:7`. All jobs and all attempts of a run share it. */
  runId: string
  attempt: number
  clock: Clock
  random: RandomSource
  progress: ProgressReporter
  signal: AbortSignal
}

export type JobCloneOptions = Pick<JobEnvironment, 'directory' | 'workDir' | 'env' | 'campaign' | 'prefix'>

export interface ClonedCampaign {
  repository: Repository
  loaded: LoadedCampaign
  spec: Spec
  topLevel: string | null
}

/** The prefix decides which refs winnow may push, and a job pushes none. */
const UNUSED_PREFIX = 'optimize'

/** Invariant 6: reads from the clone only, without a remote, without a token and without writing a ref. */
export async function withJobClone<T>(
  { directory, workDir, env, ...wanted }: JobCloneOptions,
  use: (cloned: ClonedCampaign) => Promise<T>,
): Promise<T> {
  const { commonDir, topLevel } = await inspectCheckout(directory, env)
  const dir = join(workDir, 'repository.git')
  const place = { dir, remote: commonDir, prefix: UNUSED_PREFIX, local: true, env }
  const repository = await openRepository(place)
  try {
    return await use({ repository, topLevel, ...(await findCloneCampaign(repository, wanted)) })
  } finally {
    await repository.close()
  }
}

const STATE_REF = /^refs\/(?:heads|remotes\/origin)\/([^/]+)-state\/([^/]+)$/

/** In a job's clone, branches are remote-tracking refs; in a person's clone they may be local. */
async function findCloneCampaign(
  repository: Repository,
  wanted: Pick<JobEnvironment, 'campaign' | 'prefix'>,
): Promise<Pick<ClonedCampaign, 'loaded' | 'spec'>> {
  const { refs } = await repository.remoteRefs(['refs/remotes/origin/*-state/*', 'refs/heads/*-state/*'])
  const found = new Map<string, Pick<ClonedCampaign, 'loaded' | 'spec'>>()
  for (const ref of refs.keys()) {
    const [, prefix = '', name = ''] = STATE_REF.exec(ref) ?? []
    const { state } = buildCampaignRefs(prefix, name)
    const isWanted = [name, ''].includes(wanted.campaign) && [prefix, undefined].includes(wanted.prefix)
    if (name === '' || !isWanted || found.has(state)) continue
    const tracked = state.replace('refs/heads/', 'refs/remotes/origin/')
    const oid = refs.get(tracked) ?? refs.get(state) ?? ''
    await repository.fetch([{ ref: refs.has(tracked) ? tracked : state, oid }])
    if (!(await isLedger(repository, oid))) continue
    const loaded = await loadCampaign(repository, oid)
    const spec = getCampaignSpec(loaded.campaign)
    // An unrelated branch may look like a ledger of another prefix.
    if (loaded.campaign.name === name && spec.branches.prefix === prefix) found.set(state, { loaded, spec })
  }
  const [only, ...others] = found.values()
  if (only === undefined)
    throw new UserError(
      `the clone has no ledger${wanted.campaign ? ` of campaign ${wanted.campaign}` : ''}`,
      {
        fix: 'set `fetch-depth: 0` for actions/checkout, which fetches every branch; if the campaign was never started, start it first',
      },
    )
  if (others.length === 0) return only
  const names = [only, ...others].map(({ loaded }) => loaded.campaign.name)
  throw new UserError(`there are several campaigns: ${names.join(', ')}`, {
    fix: 'name one with the input campaign',
  })
}

// Requests of the ledger

interface CollectedAnswers<T> {
  answers: T[]
  /** An error of the job itself. The other answers are handed over with it. */
  error: unknown
}

/** `run`: as the file of the answers names it. */
export type JobAnswers<T> = (CollectedAnswers<T> & { run: string }) | { idle: string }

interface RequestJob<R, T> {
  listRequests: (campaign: Campaign) => R[]
  answer: (cloned: ClonedCampaign, requests: readonly R[]) => Promise<CollectedAnswers<T>>
}

/** Another attempt would spend again or draw a second measurement (invariant 7). */
export function explainLaterAttempt({ attempt }: Pick<JobEnvironment, 'attempt'>): string | null {
  return attempt === FIRST_ATTEMPT
    ? null
    : 'this is a rerun, and winnow works only in the first attempt of a run'
}

/** Answers the open requests that the tick of this run recorded: its starter can only name the campaign. */
export async function handleRequests<R extends { run_id: string; until: string }, T>(
  job: JobEnvironment,
  { listRequests, answer }: RequestJob<R, T>,
): Promise<JobAnswers<T>> {
  const later = explainLaterAttempt(job)
  if (later !== null) return { idle: later }
  return withJobClone(job, async cloned => {
    const { campaign } = cloned.loaded
    const now = job.clock.now()
    const own = listRequests(campaign).filter(
      ({ run_id, until }) => run_id === job.runId && Date.parse(until) > now,
    )
    if (own.length > 0) return { run: `${job.runId}/${FIRST_ATTEMPT}`, ...(await answer(cloned, own)) }
    return { idle: `campaign ${campaign.name} is ${campaign.status} and has no open request of this run` }
  })
}

export function limitRequest(
  job: Pick<JobEnvironment, 'clock' | 'signal'>,
  until: string,
  marginMs = 0,
): { deadline: AbortSignal; signal: AbortSignal } {
  const deadline = AbortSignal.timeout(Math.max(0, Date.parse(until) - marginMs - job.clock.now()))
  return { deadline, signal: AbortSignal.any([job.signal, deadline]) }
}

type LoadedOrder =
  | {
      wanted: true
      order: Order
      spec: Spec
      isolatedBefore: boolean | null
    }
  | { wanted: false; why: string }

/** Reads the order from the ledger only: the starter of a job can only name it. */
export async function loadOrder(
  repository: Repository,
  { campaign, tip }: LoadedCampaign,
  { id, now }: { id: OrderId; now: number },
): Promise<LoadedOrder> {
  const live = campaign.orders[id]
  if (live === undefined)
    return { wanted: false, why: await explainUnwantedOrder(repository, tip.commit ?? '', id) }
  if (live.report !== null) return { wanted: false, why: 'it is measured already' }
  const { order } = live
  if (Date.parse(order.deadline) < now) return { wanted: false, why: `its deadline was ${order.deadline}` }
  const spec = await readIssuedSpec(repository, campaign, order)
  if (spec === null) return { wanted: false, why: 'the spec was amended since it was issued' }
  return { wanted: true, order, spec, isolatedBefore: campaign.isolated[order.harness] ?? null }
}

type OrderSpecSource = Pick<Order, 'spec_sha256' | 'pin' | 'harness'>

/** Returns the pinned spec; a sync is measured with the spec that it brings. Null: it was amended since. */
async function readIssuedSpec(
  repository: Repository,
  campaign: Campaign,
  { spec_sha256, pin }: OrderSpecSource,
): Promise<Spec | null> {
  if (spec_sha256 === campaign.spec_sha256) return getCampaignSpec(campaign)
  await fetchCommit(repository, pin.commit)
  const yaml = (await readTreeFile(repository, pin.tree, campaign.spec_path)) ?? ''
  return hashSha256(yaml) === spec_sha256 ? parseSpec(yaml, getParseOptions(campaign)).spec : null
}

/** The campaign drops finished orders; the ledger keeps their events. */
async function explainUnwantedOrder(repository: Repository, tip: Oid, id: OrderId): Promise<string> {
  let found: string | null = null
  for await (const event of readEvents(repository, tip, 0)) {
    if (event.kind === 'order-issued' && event.id === id) found = 'another order replaced it'
    if (event.kind === 'measured' && event.order === id) return 'it is measured already'
    if (event.kind === 'order-lost' && event.order === id) return 'it was recorded as lost'
    if (event.kind === 'report-rejected' && event.order === id) return 'a report on it was rejected'
  }
  if (found !== null) return found
  throw new UserError(`the ledger has no order ${id}`, {
    fix: 'orders are issued by tick: start this job with the id of one of them',
  })
}

/** If the spec was amended since with the same harness, the current spec applies (invariant 4). */
export async function readSpecForOrder(
  repository: Repository,
  campaign: Campaign,
  order: OrderSpecSource,
): Promise<Spec> {
  const issued = await readIssuedSpec(repository, campaign, order)
  if (issued !== null) return issued
  if (order.harness === campaign.harness) return getCampaignSpec(campaign)
  throw new UserError(
    `the spec ${order.spec_sha256.slice(0, 12)} of an order is neither pinned nor in its commit`,
  )
}

export async function fetchOrderedTrees(repository: Repository, order: Order, spec: Spec): Promise<void> {
  await fetchCommit(repository, order.pin.commit)
  await fetchCommit(repository, order.base.commit)
  await fetchHoldout(repository, order)
  if (order.purpose === 'probe') return restoreProbeTrees(repository, spec, order)
  for (const { label, head, tree } of order.candidates) {
    if (await repository.has(tree)) continue
    await fetchCommit(repository, head)
    const merged = await repository.mergeTree(order.base.commit, head)
    if (merged.clean && merged.tree === tree) continue
    throw new UserError(`${label}: merging ${head} with the base does not give tree ${tree}`, {
      fix: 'measure the order where it was issued',
    })
  }
}

async function fetchHoldout(repository: Repository, { stop }: Order): Promise<void> {
  if (stop.rule === 'holdout' && stop.source !== null && 'ref' in stop.source)
    await fetchCommit(repository, stop.source.commit)
}

export async function tryFetchCommit(repository: Repository, commit: Oid): Promise<boolean> {
  try {
    await fetchCommit(repository, commit)
    return true
  } catch (error) {
    if (error instanceof ConflictError) return false
    throw error
  }
}

export async function fetchCommit(repository: Repository, commit: Oid): Promise<void> {
  if (!(await repository.has(commit)))
    await repository.fetch([{ ref: `refs/ordered/${commit}`, oid: commit }])
}
