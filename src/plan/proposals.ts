import { ASKING_FAILED, MEASURING_FAILED } from '../model/alerts.ts'
import type { Campaign, FruitlessRuns } from '../model/campaign.ts'
import { listExperiments } from '../model/experiment.ts'
import {
  buildCommandKey,
  collectHandedOutIdeas,
  countFailuresLeft,
  listPendingProposals,
  TEXT_GRADIENT,
} from '../model/fold/proposers.ts'
import { getOwnValue } from '../model/own-value.ts'
import type { Spec } from '../spec/schema.ts'
import { type PlanAction, type PlanStep, raiseAlert } from './action.ts'
import { selectNextIdea } from './backlog.ts'
import { isProposalTurn } from './epochs.ts'
import { countRoomToOpen } from './intake.ts'
import { computeMoneyLeft, NO_COST, takeShare } from './money.ts'
import { needsPermission } from './permissions.ts'
import {
  computeProposeSeconds,
  computeRetryDelay,
  draftRequest,
  limitJobMinutes,
  toEventStep,
} from './requests.ts'
import { getRoundSize } from './round-orders.ts'
import type { World } from './world.ts'

interface ProposalPlan {
  steps: PlanStep[]
  actions: PlanAction[]
}

/** Each run starts the next one. After this many failures in a row, each next run starts later. */
const MAX_FRUITLESS_PROPOSE_RUNS = 3

/** More losses than one idea that ends its machine can cause by itself. */
const MAX_FRUITLESS_MEASURE_RUNS = 10

type RunDelayFacts = Pick<World, 'campaign' | 'now'>

// Requests to proposers

/** A request by this process is an action. A request that a separate job makes is in the ledger first. */
export function requestProposals(world: World): ProposalPlan {
  const isPaused = world.asks === 'elsewhere' && isProposingPaused(world)
  const names = world.asks === 'later' || isPaused ? [] : selectNextProposers(world)
  if (names.length === 0) return { steps: [], actions: [] }
  const affordable = setMoneyAside(world, names)
  if (affordable.length === 0) return { steps: [], actions: [] }
  return world.asks === 'here'
    ? { steps: [], actions: [{ do: 'propose', requests: affordable }] }
    : { steps: requestProposalJob(world, affordable), actions: [] }
}

interface ProposalAllowance {
  who: string
  mayCostUsd: number | null
}

/** Leaves out what the money that is left and not set aside does not allow. */
function setMoneyAside(world: World, names: readonly string[]): ProposalAllowance[] {
  let left = computeMoneyLeft(world, 'propose')
  return names.flatMap((who): ProposalAllowance[] => {
    if (left === null || !isAskingModels(who)) return [{ who, mayCostUsd: null }]
    const mayCostUsd = takeShare(left)
    if (!(mayCostUsd > 0)) return []
    left -= mayCostUsd
    return [{ who, mayCostUsd }]
  })
}

/** Programs pay for their models themselves: winnow does not know what they cost. */
function isAskingModels(who: string): boolean {
  return who === TEXT_GRADIENT
}

function isProposingPaused({ campaign, now }: RunDelayFacts): boolean {
  return computeDelayEnd(campaign.fruitless_asking, MAX_FRUITLESS_PROPOSE_RUNS, now) !== null
}

const RUN_DELAY_MINUTES = { first: 60, longest: 12 * 60 }

function computeDelayEnd(runs: FruitlessRuns | null, most: number, now: string): string | null {
  if (runs === null || runs.times < most) return null
  const end = Date.parse(runs.at) + computeRetryDelay(runs.times - most, RUN_DELAY_MINUTES) * 60_000
  return end > Date.parse(now) ? new Date(end).toISOString() : null
}

function selectNextProposers(world: World): string[] {
  const { asking, spec, targetBranch: only } = world
  if (only !== null || !isProposalTurn(world)) return []
  const open = countRoomToOpen(world)
  const room = Math.min(getRoundSize(spec) - countQueued(world), open) - asking.length
  const names: string[] = []
  while (names.length < room) {
    const next = selectNextProposer(world, [...asking, ...names])
    if (next === undefined) break
    names.push(next)
  }
  return names
}

/** Experiments that wait for a permission take no place. */
function countQueued(world: Pick<World, 'campaign' | 'outsiders'>): number {
  const all = listExperiments(world.campaign)
  return all.filter(({ id, status }) => status === 'queued' && !needsPermission(world, id)).length
}

function selectNextProposer({ campaign, askable }: World, pending: readonly string[]): string | undefined {
  const times = (who: string) => pending.filter(each => each === who).length
  const last = (who: string) => getOwnValue(campaign.proposers, who)?.asked ?? -1
  const fresh = { failures: 0, since_kept: null }
  const proposer = (who: string) => getOwnValue(campaign.proposers, who) ?? fresh
  // A proposer that has failed gets no more requests at once than failures left before it is disabled.
  const candidates = askable.filter(
    who => proposer(who).failures === 0 || times(who) < countFailuresLeft(proposer(who)),
  )
  return candidates.toSorted((a, b) => times(a) - times(b) || last(a) - last(b))[0]
}

/** The proposer, the idea and the commit of a request are an event before any job asks (invariant 7). */
function requestProposalJob(world: World, requests: readonly ProposalAllowance[]): PlanStep[] {
  const { campaign, spec } = world
  const handed = collectHandedOutIdeas(campaign)
  const angles = new Set(listPendingProposals(campaign).flatMap(({ angle }) => angle ?? []))
  return requests.map(({ who, mayCostUsd }, at): PlanStep => {
    const { cause, nonce, until } = draftRequest(world, `asking ${at}`, computeProposeMinutes(spec))
    const idea = selectNextIdea(campaign, { who, handed })
    if (idea !== null) handed.add(idea.id)
    const nextAngle = idea === null ? selectNextAngle(campaign, spec, angles) : null
    if (nextAngle !== null) angles.add(nextAngle)
    const carries = idea === null ? {} : { carries: idea.id }
    const angle = nextAngle === null ? {} : { angle: nextAngle }
    const key = buildCommandKey(who, nonce)
    const money = mayCostUsd === null ? {} : { may_cost_usd: mayCostUsd }
    const request = { key, who, base: campaign.incumbent, until, ...carries, ...angle, ...money }
    return toEventStep({ kind: 'proposal-requested', cause, ...request })
  })
}

/** A round waits for ideas that are being opened. A round with room also waits for pending proposers. */
export function isRoundGrowing(world: World, opened: readonly PlanStep[]): boolean {
  return opened.length > 0 || (world.asking.length > 0 && countQueued(world) < getRoundSize(world.spec))
}

// Answers and pending requests

/** Records the cost of an answer once, used or not, and the idea itself where only its job has it. */
export function buildAnswerSteps({ answers }: World): PlanStep[] {
  return answers.flatMap(({ key, who, ok, minutes, cost = NO_COST, result }): PlanStep[] => {
    const spent = { kind: 'spent', cause: key, what: 'propose', who, ok, minutes, ...cost } as const
    const idea =
      result === undefined ? [] : [{ kind: 'proposal-answered', cause: key, key, ...result } as const]
    return [...idea, spent].map(toEventStep)
  })
}

export function reportDisabledProposers(world: World): PlanStep[] {
  return Object.entries(world.campaign.proposers).flatMap(([who, { disabled, failures }]) => {
    if (!disabled) return []
    const message = `${who} failed to produce a usable idea ${failures} times in a row and was disabled; winnow resume asks it again`
    return raiseAlert(world, { code: 'proposer-disabled', about: who, message })
  })
}

/** Upper limit for a job that asks all proposers at once: the slowest of them, and the start. */
export function computeProposeMinutes(spec: Pick<Spec, 'propose'>): number {
  return limitJobMinutes(computeProposeSeconds(spec))
}

/** Requests in separate jobs are not ended: their answers and costs are still recorded. */
export function listLocalRequests({ asking, campaign }: World): string[] {
  return asking.slice(0, asking.length - listPendingProposals(campaign).length)
}

// Runs without a usable result

/** Null where an order may be issued now. */
export function findMeasuringRest({ campaign, now }: RunDelayFacts): string | null {
  const runs = campaign.fruitless_measuring
  const until = computeDelayEnd(runs, MAX_FRUITLESS_MEASURE_RUNS, now)
  if (until === null) return null
  return `${runs?.times} measuring runs in a row left no usable report: look at the logs of the latest; the next one starts after ${until}`
}

export function buildRunAlerts(world: World): PlanStep[] {
  const { fruitless_asking: asking, fruitless_measuring: measuring } = world.campaign
  const steps: PlanStep[] = []
  if (asking !== null && asking.times >= MAX_FRUITLESS_PROPOSE_RUNS) {
    const message = `the jobs of ${asking.times} runs in a row that ask programs for ideas left no answer: look at the log of the latest (${asking.run_id}), and whether it gets its secret; each next one starts later`
    steps.push(...raiseAlert(world, { code: ASKING_FAILED, about: null, message }))
  }
  if (measuring !== null && measuring.times >= MAX_FRUITLESS_MEASURE_RUNS) {
    const message = `${measuring.times} measuring runs in a row left no usable report: look at the log of the latest (${measuring.run_id}); each next one starts later`
    steps.push(...raiseAlert(world, { code: MEASURING_FAILED, about: null, message }))
  }
  return steps
}

// Search angles

const SEARCH_ANGLES = [
  'what runs most often: do less of it each time',
  'how data is laid out or represented: another form of it',
  'what is computed more than once: compute it once',
  'the algorithm: one that needs fewer steps',
  'the commonest input: a short path for it',
  'what is done and not needed: leave it out',
  'work in small pieces: batch it, or order it differently',
  'what is copied or converted on the way: avoid that',
  'fixed numbers, sizes and thresholds: better ones',
  'the boundaries between modules: what is passed or called too often',
  'rare cases that the common path pays for: move them out of it',
  'what the language, its library or the runtime does better itself',
] as const

/** Proposers asked at the same time get different angles. Null where only one is asked at a time. */
export function selectNextAngle(
  { next_number }: Pick<Campaign, 'next_number'>,
  spec: Spec,
  inUse: ReadonlySet<string>,
): string | null {
  if (getRoundSize(spec) <= 1) return null
  const start = next_number % SEARCH_ANGLES.length
  const all = [...SEARCH_ANGLES.slice(start), ...SEARCH_ANGLES.slice(0, start)]
  const pairs = all.flatMap(one => all.filter(other => other !== one).map(other => `${one}; and ${other}`))
  return [...all, ...pairs].find(angle => !inUse.has(angle)) ?? null
}
