import { type Campaign, createEmptyCampaign } from '../../model/campaign.ts'
import { hashSha256, toCanonicalJson } from '../../model/canonical-json.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { applyEvent } from '../../model/fold/fold.ts'
import type { Oid } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import { isLanded } from '../../model/verdict.ts'
import { explainForeignPartial, explainForeignReport } from '../../plan/reports.ts'
import { readCampaignSpec } from '../../spec/load.ts'
import type { Spec } from '../../spec/schema.ts'
import type { CampaignContext } from '../campaign/context.ts'
import {
  type AuditedLedger,
  type AuditMemory,
  checkCampaignBranch,
  checkContinuity,
  checkOptimizeBranch,
  checkSyncedCommits,
  type Continuity,
  describeLostCommit,
  findLostCommits,
  type KeptCommit,
  listKeptCommits,
  readAuditedLedger,
  readSeenTip,
  rememberTip,
} from './branches.ts'
import { type AuditEvidence, createEvidence, findEffectGaps, findVerdictGaps } from './evidence.ts'
import { findStepGaps } from './incumbent-steps.ts'
import { findAmendmentGaps, findOrderGaps, findStartGaps, findTouchedGaps } from './orders.ts'

interface AuditProblem {
  what: string
  seq?: number
  commit?: Oid
}

export interface AuditResult {
  ok: boolean
  campaign: string
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
  limits: string
}

interface AuditMemoryOptions {
  memory: AuditMemory
  acceptReplacement: boolean
}

const LIMITS =
  'An audit detects inconsistency: it does not stop a forger who may write every ref, nor show that the reported numbers were really measured.'

/**
 * Invariant 1, checked from git alone: every commit that winnow put on the optimize branch has its evidence.
 */
export async function auditLedger(
  context: CampaignContext,
  memoryOptions: AuditMemoryOptions | null = null,
): Promise<AuditResult> {
  const refs = await fetchRefs(context)
  const ledger = await readAuditedLedger(context, refs)
  const trail = new AuditTrail(context)
  const continuity = memoryOptions === null ? null : await compareContinuity(context, ledger, memoryOptions)
  if (continuity?.problem) trail.problems.push({ what: continuity.problem, commit: ledger.tip })
  for (const { message, seq, commit } of ledger.problems)
    trail.problems.push({
      what: message,
      ...(seq === null ? {} : { seq }),
      ...(commit === null ? {} : { commit }),
    })
  for (const event of ledger.events) await trail.follow(event)
  if (ledger.problems.length === 0) trail.compareSpec(ledger.spec)
  await trail.compareBranches(refs)
  await trail.compareClosedBranch(refs)
  const { problems, unproven, open, checked } = trail
  if (memoryOptions !== null && problems.length === 0) {
    const at = new Date(context.clock.now()).toISOString()
    await rememberTip(context, memoryOptions.memory, { tip: ledger.tip, events: ledger.events.length, at })
  }
  return {
    ok: problems.length === 0,
    campaign: context.name,
    checked,
    problems,
    unproven,
    open,
    continuity: continuity?.note || null,
    limits: LIMITS,
  }
}

async function compareContinuity(
  context: CampaignContext,
  { tip, events }: AuditedLedger,
  { memory, acceptReplacement }: AuditMemoryOptions,
): Promise<Continuity> {
  return checkContinuity(
    context,
    readSeenTip(context, memory),
    { tip, events: events.length },
    acceptReplacement,
  )
}

async function fetchRefs(context: CampaignContext): Promise<ReadonlyMap<string, Oid>> {
  const { state, optimize, closed, campaign } = context.refs
  const wanted = [state, optimize, closed, campaign, context.defaultBranch]
  const { refs } = await context.repository.remoteRefs(wanted)
  await context.repository.fetch([...refs].map(([ref, oid]) => ({ ref, oid })))
  return refs
}

/** Follows the chain of recorded incumbents, event by event. */
class AuditTrail {
  readonly checked = { events: 0, incumbents: 0, landings: 0, syncs: 0, reverts: 0, foreign: 0, orders: 0 }
  readonly problems: AuditProblem[] = []
  readonly open: AuditProblem[] = []
  unproven: AuditResult['unproven'] = null
  readonly #context: CampaignContext
  readonly #campaign: Campaign = createEmptyCampaign()
  readonly #evidence: AuditEvidence = createEvidence()
  readonly #incumbents = new Set<Oid>()
  readonly #kept: KeptCommit[] = []
  readonly #synced: Oid[] = []
  #unsynced: number | null = null
  /** The harness before the spec that a sync brings. */
  #ruledBy: string | null = null

  constructor(context: CampaignContext) {
    this.#context = context
  }

  async follow(event: LedgerEvent): Promise<void> {
    const { seq, kind } = event
    const spec = kind === 'campaign-started' ? null : readCampaignSpec(this.#campaign)
    this.checked.events += 1
    if (kind === 'measured') this.checked.orders += 1
    this.#checkPendingSync(event)
    const gaps = [
      ...collectEvidence(this.#evidence, this.#campaign, spec, event),
      ...(await this.#findEventGaps(event)),
    ]
    for (const gap of gaps) this.problems.push({ what: `event ${seq} (${kind}): ${gap}`, seq })
    if (event.kind === 'incumbent-moved') await this.#checkStep(event)
    this.#kept.push(...listKeptCommits(event, this.#evidence))
    if (event.kind === 'synced') this.#synced.push(event.default_tip)
    applyEvent(this.#campaign, event)
    if (event.kind === 'campaign-started') this.#incumbents.add(event.start.commit)
  }

  /** A spec from the default branch takes effect with its sync, which is the very next event. */
  #checkPendingSync(next: LedgerEvent | null): void {
    const seq = this.#unsynced
    if (seq !== null && next?.kind !== 'synced') {
      const what = `event ${seq} (campaign-amended): it takes a spec from the default branch without a sync`
      this.problems.push({ what, seq })
    }
    const { harness } = this.#campaign
    if (next?.kind === 'synced' && next.order === null && next.harness !== (this.#ruledBy ?? harness)) {
      const what = `event ${next.seq} (synced): it brings another harness, and nothing was measured with it`
      this.problems.push({ what, seq: next.seq })
    }
    const amends = next?.kind === 'campaign-amended' && next.source === 'default-branch'
    this.#ruledBy = amends ? harness : null
    this.#unsynced = amends ? next.seq : null
  }

  async #findEventGaps(event: LedgerEvent): Promise<string[]> {
    if (event.seq === 0 && event.kind !== 'campaign-started') return ['a ledger begins with a campaign']
    if (event.kind === 'order-issued') return findTouchedGaps(this.#context, event)
    if (event.kind === 'campaign-started')
      return event.seq === 0 ? findStartGaps(this.#context, event) : ['a ledger holds one campaign']
    return event.kind === 'campaign-amended' ? findAmendmentGaps(this.#context, this.#campaign, event) : []
  }

  async #checkStep(event: LedgerEvent<'incumbent-moved'>): Promise<void> {
    const { commit } = event.to
    this.checked.incumbents += 1
    this.checked[COUNTED[event.why]] += 1
    this.#incumbents.add(commit)
    const campaign = this.#campaign
    const request = {
      place: this.#context,
      campaign,
      spec: readCampaignSpec(campaign),
      evidence: this.#evidence,
    }
    const gaps = await findStepGaps(request, event)
    if (gaps.length > 0)
      this.#unproven(commit, `commit ${commit} has no evidence: ${gaps.join('; ')}`, event.seq)
  }

  #unproven(commit: Oid, what: string, seq?: number): void {
    this.problems.push({ what, commit, ...(seq === undefined ? {} : { seq }) })
    this.unproven ??= { commit, what }
  }

  /** People read spec.yaml beside the events, so it has to be the spec in force. */
  compareSpec(yaml: string | null): void {
    this.#checkPendingSync(null)
    if (yaml === this.#campaign.spec_yaml) return
    this.problems.push({ what: 'spec.yaml in the ledger is not the spec that its events put in force' })
  }

  async compareBranches(refs: ReadonlyMap<string, Oid>): Promise<void> {
    if (this.#campaign.status === 'none') return
    const incumbents = this.#incumbents
    const found = await checkOptimizeBranch(this.#context, refs, { campaign: this.#campaign, incumbents })
    if (found?.open) this.open.push({ what: found.what, commit: found.commit })
    else if (found) this.#unproven(found.commit, found.what)
    const advance = checkCampaignBranch(this.#context, refs, incumbents)
    const synced = await checkSyncedCommits(this.#context, refs, this.#campaign, this.#synced)
    for (const { what, commit } of advance ? [advance, ...synced] : synced) this.open.push({ what, commit })
  }

  async compareClosedBranch(refs: ReadonlyMap<string, Oid>): Promise<void> {
    for (const lost of await findLostCommits(this.#context, refs, this.#kept)) {
      const { commit, seq } = lost
      this.problems.push({ what: describeLostCommit(this.#context, refs, lost), commit, seq })
    }
  }
}

const COUNTED = { merged: 'landings', synced: 'syncs', reverted: 'reverts', foreign: 'foreign' } as const

/** Adds an event to the evidence; `campaign` is the state before it. Returns its gaps. */
export function collectEvidence(
  evidence: AuditEvidence,
  campaign: Campaign,
  spec: Spec | null,
  event: LedgerEvent,
): string[] {
  if (event.kind === 'order-issued') return recordIssuedOrder(evidence, campaign, spec, event)
  if (event.kind === 'measured') return recordReport(evidence, campaign, event)
  if (event.kind === 'order-lost') return recordInterruption(evidence, campaign, event)
  if (event.kind === 'effect-measured') return findEffectGaps(evidence, campaign, spec, event)
  if (event.kind === 'decided') recordDecision(evidence, campaign, spec, event)
  else recordIncumbentEvent(evidence, campaign, event)
  return []
}

/** A revert by an experiment is a landing and is proven as one. */
function recordIncumbentEvent(evidence: AuditEvidence, campaign: Campaign, event: LedgerEvent): void {
  const { incumbentEvents } = evidence
  recordHarnessChange(evidence, campaign, event)
  if (event.kind === 'merged') incumbentEvents.set(event.commit, event)
  else if (event.kind === 'synced') incumbentEvents.set(event.to.commit, event)
  else if (event.kind === 'reverted' && event.by_experiment === null)
    incumbentEvents.set(event.to.commit, event)
  else if (event.kind === 'foreign-tip' && event.state === 'adopted')
    incumbentEvents.set(event.to.commit, event)
}

/** The event before a sync puts its spec in force. */
function recordHarnessChange(evidence: AuditEvidence, campaign: Campaign, event: LedgerEvent): void {
  if (event.kind === 'campaign-amended' && event.source === 'default-branch')
    evidence.harnessAmended ||= event.harness !== campaign.harness
  if (event.kind !== 'synced') return
  if (evidence.harnessAmended || event.harness !== campaign.harness)
    evidence.harnessChanges.add(event.to.commit)
  evidence.harnessAmended = false
}

function recordIssuedOrder(
  evidence: AuditEvidence,
  campaign: Campaign,
  spec: Spec | null,
  event: LedgerEvent<'order-issued'>,
): string[] {
  const { seq, id, kind: _kind, at: _at, by: _by, cause: _cause, prev: _prev, ...terms } = event
  const order: Order = { id, ...terms }
  const gaps = findOrderGaps(campaign, spec, order)
  evidence.orders.set(id, { order, seq, gaps, report: null })
  return gaps
}

/** Only the first report of a live order counts; any other changes no state and is not checked. */
function recordReport(evidence: AuditEvidence, campaign: Campaign, event: LedgerEvent<'measured'>): string[] {
  const live = campaign.orders[event.order]
  const record = evidence.orders.get(event.order)
  if (!live || live.report || !record) return []
  record.report = event.report
  for (const { label, head } of record.order.candidates) evidence.measuredHeads.add(`${label} ${head}`)
  const mismatch = explainForeignReport(record.order, event.report)
  if (mismatch === null) return []
  const gap = `its report (event ${event.seq}) is not an answer to it: ${mismatch}`
  record.gaps = [...record.gaps, gap]
  return [gap]
}

/** Pairs of a lost run count like those of a report. */
function recordInterruption(
  evidence: AuditEvidence,
  campaign: Campaign,
  event: LedgerEvent<'order-lost'>,
): string[] {
  const record = evidence.orders.get(event.order)
  if (event.partial === undefined || !campaign.orders[event.order] || !record) return []
  const mismatch = explainForeignPartial(record.order, event.partial)
  return mismatch === null
    ? []
    : [`what its lost run left (event ${event.seq}) is not an answer to it: ${mismatch}`]
}

function recordDecision(
  evidence: AuditEvidence,
  campaign: Campaign,
  spec: Spec | null,
  event: LedgerEvent<'decided'>,
): void {
  if (!isLanded(event.outcome)) return
  const order = event.order === null ? null : (evidence.orders.get(event.order) ?? null)
  const holdoutId = campaign.experiments[event.experiment]?.holdout ?? null
  const holdout = holdoutId === null ? null : (evidence.orders.get(holdoutId) ?? null)
  const gaps = findVerdictGaps({ campaign, spec, order, holdout, event })
  const { spec_sha256 } = campaign
  evidence.verdicts.set(event.seq, { event, sha256: computeEventDigest(event), spec_sha256, order, gaps })
}

/** The canonical JSON is the event's file: reading the ledger has verified that. */
function computeEventDigest(event: LedgerEvent): string {
  return hashSha256(`${toCanonicalJson(event)}\n`)
}
