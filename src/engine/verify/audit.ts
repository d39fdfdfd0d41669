import { LedgerError } from '../../errors.ts'
import { buildLocalIsolation } from '../../git/isolation.ts'
import { createGitRunner } from '../../git/runner.ts'
import { readTreeFile } from '../../git/tree.ts'
import { continueEvents, readEvents } from '../../ledger/read-events.ts'
import { type HistoryStep, type LedgerProblem, readLedgerHistory, verifyLedger } from '../../ledger/verify.ts'
import { type Campaign, createEmptyCampaign } from '../../model/campaign.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { applyEvent } from '../../model/fold/fold.ts'
import type { Oid } from '../../model/ids.ts'
import { readCampaignSpec } from '../../spec/load.ts'
import type { Spec } from '../../spec/schema.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { requireLedger } from '../campaign/recover.ts'
import {
  type AttestationOptions,
  type AttestationSummary,
  buildAnchorPattern,
  checkAttestation,
} from './attestation.ts'
import {
  type AuditMemoryOptions,
  type AuditProblem,
  checkCampaignBranch,
  checkContinuity,
  checkOptimizeBranch,
  checkSyncedCommits,
  type Finding,
  findLostCommits,
  rememberTip,
} from './branches.ts'
import { type AuditEvidence, collectEvidence, createEvidence } from './evidence.ts'
import { findStepGaps } from './incumbent-steps.ts'
import { findAmendmentGaps, findProbeTreeGaps, findStartGaps, findTouchedGaps } from './orders.ts'
import { VerdictCheck, type VerdictDifference } from './verdicts.ts'

export interface AuditResult {
  ok: boolean
  campaign: string
  /** The commit of the ledger that was audited. */
  tip: Oid
  checked: {
    events: number
    incumbents: number
    landings: number
    syncs: number
    reverts: number
    foreign: number
    orders: number
  }
  problems: AuditProblem[]
  /** The first unproven commit on the optimize branch, with what its proof lacks. */
  unproven: { commit: Oid; what: string } | null
  /** Known findings that contradict nothing: foreign commits under measurement, or a person's own action. */
  open: AuditProblem[]
  /** The relation to the ledger of an earlier audit here; null without a memory. */
  continuity: string | null
  attestation: AttestationSummary
  limits: string
}

export interface ReplayResult {
  ok: boolean
  decisions: number
  rounds: number
  differences: VerdictDifference[]
}

const LIMITS =
  'An audit detects inconsistencies. It cannot detect a forgery by a person who may write every ref, and it does not prove that the reported numbers were really measured.'

/** Invariant 1, checked from git alone: every commit on the optimize branch has its evidence. */
export async function auditLedger(
  context: CampaignContext,
  memoryOptions: AuditMemoryOptions | null = null,
  attestationOptions: AttestationOptions = { required: false, service: null },
): Promise<AuditResult> {
  const { state, optimize, closed, campaign: branch } = context.refs
  const wanted = [state, optimize, closed, branch, context.defaultBranch]
  const refs = await fetchRefs(context, [...wanted, buildAnchorPattern(context)])
  const ledger = await readAuditedLedger(context, refs)
  const now = { tip: ledger.tip, events: ledger.events.length }
  const continuity = memoryOptions && (await checkContinuity(context, memoryOptions, now))
  const found: Finding[] = []
  if (continuity?.problem) found.push({ what: continuity.problem, commit: ledger.tip })
  found.push(...ledger.problems.map(toFinding))
  const evidence = createEvidence()
  const checked = { events: 0, incumbents: 0, landings: 0, syncs: 0, reverts: 0, foreign: 0, orders: 0 }
  const campaign = await walkLedger(ledger.events, async step => {
    countChecked(checked, step.event)
    for (const check of EVENT_CHECKS) found.push(...(await check({ ...step, context, evidence })))
  })
  const end = { context, refs: await addDefaultBranch(context, refs, campaign), ledger, campaign }
  for (const check of END_CHECKS) found.push(...(await check({ ...end, evidence })))
  const attested = await checkAttestation(end, attestationOptions)
  found.push(...attested.findings)
  const problems = found.filter(({ is }) => is !== 'open').map(toProblem)
  if (memoryOptions !== null && problems.length === 0) {
    const at = new Date(context.clock.now()).toISOString()
    await rememberTip(context, memoryOptions.memory, { ...now, at })
  }
  return {
    ok: problems.length === 0,
    campaign: context.name,
    tip: ledger.tip,
    checked,
    problems,
    unproven: findFirstUnproven(found),
    open: found.filter(({ is }) => is === 'open').map(toProblem),
    continuity: continuity?.note || null,
    attestation: attested.summary,
    limits: LIMITS,
  }
}

/** Invariant 3: computes every verdict again. It is the same walk with the verdict check alone. */
export async function replayLedger(context: CampaignContext): Promise<ReplayResult> {
  const { state, optimize, closed, experiments } = context.refs
  const refs = await fetchRefs(context, [state, optimize, closed, `${experiments}*`])
  const tip = await requireLedger(context, refs)
  const verdicts = new VerdictCheck(context)
  await walkLedger(readEvents(context.repository, tip, 0), ({ event, campaign, spec }) =>
    verdicts.check(event, campaign, spec),
  )
  const { decisions, rounds, differences } = verdicts
  return { ok: differences.length === 0, decisions, rounds, differences }
}

async function fetchRefs(
  { repository }: CampaignContext,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, Oid>> {
  const { refs } = await repository.remoteRefs(wanted)
  await repository.fetch([...refs].map(([ref, oid]) => ({ ref, oid })))
  return refs
}

/** Events may rename the default branch that the campaign started with. */
async function addDefaultBranch(
  context: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  { default_branch }: Campaign,
): Promise<ReadonlyMap<string, Oid>> {
  if (default_branch === '' || refs.has(default_branch)) return refs
  return new Map([...refs, ...(await fetchRefs(context, [default_branch]))])
}

interface LedgerStep {
  event: LedgerEvent
  campaign: Campaign
  spec: Spec | null
}

async function walkLedger(
  events: Iterable<LedgerEvent> | AsyncIterable<LedgerEvent>,
  visit: (step: LedgerStep) => Promise<void>,
): Promise<Campaign> {
  const campaign = createEmptyCampaign()
  for await (const event of events) {
    const spec = event.kind === 'campaign-started' ? null : readCampaignSpec(campaign)
    await visit({ event, campaign, spec })
    applyEvent(campaign, event)
  }
  return campaign
}

// Findings

function toProblem({ is: _is, ...problem }: Finding): AuditProblem {
  return problem
}

function toFinding({ message, seq, commit }: LedgerProblem): Finding {
  return { what: message, ...(seq === null ? {} : { seq }), ...(commit === null ? {} : { commit }) }
}

function findFirstUnproven(found: readonly Finding[]): AuditResult['unproven'] {
  const first = found.find(({ is }) => is === 'unproven')
  return first?.commit === undefined ? null : { commit: first.commit, what: first.what }
}

// Checks of each event, in this order

interface AuditedStep extends LedgerStep {
  context: CampaignContext
  evidence: AuditEvidence
}

const EVENT_CHECKS: readonly ((step: AuditedStep) => Finding[] | Promise<Finding[]>)[] = [
  checkBroughtSpec,
  checkEvidence,
  checkRulers,
  checkIncumbentStep,
]

/** A spec from the default branch takes effect with its sync, which is the very next event. */
function checkBroughtSpec({ event, campaign, evidence }: AuditedStep): Finding[] {
  const { kind, seq } = event
  if (kind !== 'synced') return findMissingSync(evidence)
  if (event.order !== null || event.harness === (evidence.broughtSpec?.harness ?? campaign.harness)) return []
  return [
    { what: `event ${seq} (synced): it changes the harness, and nothing was measured with the new one`, seq },
  ]
}

function findMissingSync({ broughtSpec }: AuditEvidence): Finding[] {
  if (broughtSpec === null) return []
  const { seq } = broughtSpec
  const what = `event ${seq} (campaign-amended): it takes a spec from the default branch without a sync`
  return [{ what, seq }]
}

/** Adds the event to the evidence, which the checks after this one use. */
function checkEvidence({ evidence, campaign, spec, event }: AuditedStep): Finding[] {
  return describeGaps(event, collectEvidence(evidence, campaign, spec, event))
}

/** Invariant 4: the campaign, its specs and its orders name the ruler that git has. */
async function checkRulers({ context, campaign, spec, event }: AuditedStep): Promise<Finding[]> {
  if (event.seq === 0 && event.kind !== 'campaign-started')
    return describeGaps(event, ['a ledger begins with a campaign'])
  if (event.kind === 'order-issued')
    return describeGaps(event, [
      ...(await findTouchedGaps(context, event)),
      ...(await findProbeTreeGaps(context, spec, event)),
    ])
  if (event.kind === 'campaign-amended')
    return describeGaps(event, await findAmendmentGaps(context, campaign, event))
  if (event.kind !== 'campaign-started') return []
  return describeGaps(
    event,
    event.seq === 0 ? await findStartGaps(context, event) : ['a ledger holds one campaign'],
  )
}

async function checkIncumbentStep(step: AuditedStep): Promise<Finding[]> {
  const { context, campaign, spec, evidence, event } = step
  if (event.kind !== 'incumbent-moved') return []
  const gaps = await findStepGaps({ context, campaign, spec, evidence }, event)
  if (gaps.length === 0) return []
  const { commit } = event.to
  const what = `commit ${commit} has no evidence: ${gaps.join('; ')}`
  return [{ what, commit, seq: event.seq, is: 'unproven' }]
}

function describeGaps({ seq, kind }: LedgerEvent, gaps: readonly string[]): Finding[] {
  return gaps.map(gap => ({ what: `event ${seq} (${kind}): ${gap}`, seq }))
}

const COUNTED = { merged: 'landings', synced: 'syncs', reverted: 'reverts', foreign: 'foreign' } as const

function countChecked(checked: AuditResult['checked'], event: LedgerEvent): void {
  checked.events += 1
  if (event.kind === 'measured') checked.orders += 1
  if (event.kind !== 'incumbent-moved') return
  checked.incumbents += 1
  checked[COUNTED[event.why]] += 1
}

// Checks after the last event, in this order

interface AuditedEnd {
  context: CampaignContext
  refs: ReadonlyMap<string, Oid>
  ledger: AuditedLedger
  campaign: Campaign
  evidence: AuditEvidence
}

const END_CHECKS: readonly ((end: AuditedEnd) => Finding[] | Promise<Finding[]>)[] = [
  checkSpecFile,
  checkBranches,
  ({ context, refs, evidence }) => findLostCommits(context, refs, evidence.kept),
]

/** People read spec.yaml beside the events, so it has to be the spec in force. */
function checkSpecFile({ ledger, campaign, evidence }: AuditedEnd): Finding[] {
  if (ledger.problems.length > 0) return []
  const found = findMissingSync(evidence)
  if (ledger.spec === campaign.spec_yaml) return found
  return [...found, { what: 'spec.yaml in the ledger is not the spec that its events put in force' }]
}

async function checkBranches({ context, refs, campaign, evidence }: AuditedEnd): Promise<Finding[]> {
  if (campaign.status === 'none') return []
  const { incumbents, syncedTips } = evidence
  return [
    ...(await checkOptimizeBranch(context, refs, { campaign, incumbents })),
    ...checkCampaignBranch(context, refs, incumbents),
    ...(await checkSyncedCommits(context, refs, campaign, syncedTips)),
  ]
}

/** The ledger's events, without its checkpoint and views. */
interface AuditedLedger {
  tip: Oid
  problems: LedgerProblem[]
  history: readonly HistoryStep[]
  /** Events up to the first invalid one; later ones cannot be trusted. */
  events: LedgerEvent[]
  spec: string | null
}

async function readAuditedLedger(
  context: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
): Promise<AuditedLedger> {
  const { repository, env } = context
  const tip = await requireLedger(context, refs)
  const { tree } = await repository.commit(tip)
  const git = createGitRunner(buildLocalIsolation(repository.dir, env), { GIT_DIR: repository.dir })
  const history = await readLedgerHistory(git, tip)
  return {
    tip,
    problems: await verifyLedger(repository, history, tip),
    history,
    events: await readValidEvents(context, tree),
    spec: await readTreeFile(repository, tree, 'spec.yaml'),
  }
}

async function readValidEvents({ repository }: CampaignContext, tree: Oid): Promise<LedgerEvent[]> {
  const events: LedgerEvent[] = []
  try {
    for await (const event of continueEvents(repository, tree, { seq: 0, head: null })) events.push(event)
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
  }
  return events
}
