import { createHash, randomBytes } from 'node:crypto'
import type { ControllerContext } from '../../src/engine/observe/observe.ts'
import {
  type Environment,
  openRepositoryContext,
  type RepositoryContext,
} from '../../src/engine/campaign/open.ts'
import type { CampaignContext } from '../../src/engine/campaign/context.ts'
import { recordEvents } from '../../src/engine/controller/record.ts'
import { openController, requireCampaign, runCampaign } from '../../src/engine/controller/run.ts'
import { readCommittedSpec, startCampaign } from '../../src/engine/campaign/start.ts'
import { tickCampaign } from '../../src/engine/controller/tick.ts'
import type { Runner } from '../../src/engine/jobs/runner.ts'
import { readEvents } from '../../src/ledger/read-events.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import type { OrderId } from '../../src/model/ids.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import type { PlanWaiting } from '../../src/plan/action.ts'

export const ENV = { ...cleanEnvironment(), GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }

/** One winnow, opened on a repository: a person's, or a second hand beside it. */
export interface CampaignClient {
  place: CampaignContext
  said: string[]
  hands(): Promise<ControllerContext>
  start(options?: { fresh?: boolean }): Promise<'started' | 'exists'>
  tick(): Promise<PlanWaiting>
  run(): Promise<PlanWaiting>
  /** Looks and measures until the campaign is as wanted, and not a step further. */
  until(done: (campaign: Campaign) => boolean): Promise<Campaign>
  /** The campaign as the ledger tells it now. */
  campaign(): Promise<Campaign>
  experiment(hypothesis: string): Promise<Experiment>
  /** Outcomes by hypothesis. */
  outcomes(): Promise<Record<string, string | null>>
  reasonOf(hypothesis: string): Promise<string | null>
  events(): Promise<LedgerEvent[]>
  kinds(): Promise<string[]>
  alerts(): Promise<string[]>
  /** What a person does by command. */
  person(...drafts: Parameters<typeof recordEvents>[1]): Promise<void>
  close(): Promise<void>
}

export interface CampaignClientOpening {
  name: string
  directory: string
  cacheDir: string
  remote: string | null
  /** More of the environment: credentials of the remote. */
  env?: Record<string, string> | undefined
  fault?: ((point: string) => void) | undefined
  /** Milliseconds that its clock is ahead. */
  ahead?: (() => number) | undefined
  /** Where pull requests are kept, if not beside the branches. */
  forge?: Environment['forge']
  /** Asked how old releases are; nobody is unless given. */
  registries?: Environment['registries']
  /** Where chance comes from; with it the time stands still. */
  seed?: string | undefined
  /** The run that its events name. */
  runId?: string | undefined
  /** Every duration is 0. */
  timeless?: boolean | undefined
}

/** When a campaign whose chance is seeded takes place. */
export const BEGINNING = '2026-01-01T00:00:00Z'

/** A tick sees no answer to an order that it dispatched itself, however fast the machine is. */
function withLaterAnswers(controller: ControllerContext): ControllerContext {
  const { runner } = controller
  const dispatched = new Set<OrderId>()
  const patient: Pick<Runner, 'dispatch' | 'facts'> = {
    async dispatch(order, spec, campaign) {
      dispatched.add(order.id)
      await runner.dispatch(order, spec, campaign)
    },
    async facts(campaign) {
      const facts = await runner.facts(campaign)
      const runs = new Map(facts.runs)
      for (const [id, { state }] of facts.runs)
        if (dispatched.has(id) && state !== 'waiting') runs.set(id, { state: 'running' })
      return { ...facts, runs }
    },
  }
  return { ...controller, runner: Object.assign(Object.create(runner), patient) }
}

export async function openCampaignClient(opening: CampaignClientOpening): Promise<CampaignClient> {
  const said: string[] = []
  const workshop: RepositoryContext = await openRepositoryContext({
    directory: opening.directory,
    env: { ...ENV, ...opening.env },
    cacheDir: opening.cacheDir,
    remote: opening.remote,
    prefix: 'optimize',
    by: { run_id: opening.runId ?? 'test', attempt: 1, actor: 'tester' },
    version: '0.0.0',
    clock: {
      now: () => (opening.seed === undefined ? Date.now() : Date.parse(BEGINNING)) + (opening.ahead?.() ?? 0),
      monotonic: () => (opening.timeless === true ? 0 : performance.now() + (opening.ahead?.() ?? 0)),
      sleep: ms => new Promise(resolve => setTimeout(resolve, Math.min(ms, 20))),
    },
    random: { hex: bytes => chance(opening.seed, bytes), fraction: () => Math.random() },
    faults: { reach: point => opening.fault?.(point) },
    progress: { say: line => void said.push(line) },
    ...(opening.forge ? { forge: opening.forge } : {}),
    ...(opening.registries ? { registries: opening.registries } : {}),
  })
  const place = workshop.openCampaign(opening.name)
  let opened: Promise<ControllerContext> | null = null
  const leaving = new AbortController()
  /** A person did something in between, and it was longer ago than a look may be old. */
  async function later(): Promise<ControllerContext> {
    const hands = await client.hands()
    hands.memory.refs = null
    return hands
  }
  const client: CampaignClient = {
    place,
    said,
    hands: () => (opened ??= openController(place, leaving.signal)),
    async start(choice = {}) {
      const committed = await readCommittedSpec(place, `.winnow/${opening.name}.yaml`)
      return startCampaign(place, committed, { fresh: choice.fresh ?? false })
    },
    tick: async () => (await tickCampaign(await later())).waiting,
    run: async () => runCampaign(await later(), { signal: leaving.signal, watch: false }),
    async until(done) {
      const hands = await later()
      for (let looks = 0; looks < 50; looks++) {
        const { waiting } = await tickCampaign(withLaterAnswers(hands))
        const campaign = await client.campaign()
        if (done(campaign)) return campaign
        if (waiting.for === 'proposers') await hands.runner.settled()
        else if (waiting.for === 'orders') await hands.runner.settled()
        else throw new Error(`it waits for ${JSON.stringify(waiting)}`)
      }
      throw new Error('it never came')
    },
    campaign: async () => (await requireCampaign(place)).loaded.campaign,
    experiment: async hypothesis => found(await client.campaign(), hypothesis),
    async outcomes() {
      const { experiments } = await client.campaign()
      return Object.fromEntries(
        Object.values(experiments).map(({ hypothesis, outcome }) => [hypothesis, outcome]),
      )
    },
    reasonOf: async hypothesis => found(await client.campaign(), hypothesis).reason,
    async events() {
      const { tip } = (await requireCampaign(place)).loaded
      const events: LedgerEvent[] = []
      for await (const event of readEvents(place.repository, tip.commit ?? '', 0)) events.push(event)
      return events
    },
    kinds: async () => (await client.events()).map(({ kind }) => kind),
    alerts: async () => (await client.campaign()).alerts.map(({ message }) => message),
    person: async (...drafts) => void (await recordEvents(place, drafts)),
    async close() {
      leaving.abort()
      if (opened) await closeAll(await opened)
      await workshop.repository.close()
    },
  }
  return client
}

/** How often the engine looks depends on the machine, so what is seeded does not depend on how often it asks. */
function chance(seed: string | undefined, bytes: number): string {
  if (seed === undefined) return randomBytes(bytes).toString('hex')
  return createHash('sha512')
    .update(seed)
    .digest('hex')
    .slice(0, bytes * 2)
}

/** Ends what a hand that was cut off left running, as the end of its process would. */
async function closeAll({ runner }: ControllerContext): Promise<void> {
  await runner.close()
}

function found(campaign: Campaign, hypothesis: string): Experiment {
  const experiment = Object.values(campaign.experiments).find(each => each.hypothesis === hypothesis)
  if (!experiment) throw new Error(`no experiment has the hypothesis ${JSON.stringify(hypothesis)}`)
  return experiment
}

function cleanEnvironment(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'LANG', 'TMPDIR']
  return Object.fromEntries(
    kept.flatMap(key => (process.env[key] === undefined ? [] : [[key, process.env[key]]])),
  )
}
