import { ConflictError, ForgeError, UserError } from '../../errors.ts'
import { formatCount } from '../../decide/wording.ts'
import { buildAnchorPrefix } from '../../git/push.ts'
import { type CommitSignature, NO_ALLOWED_SIGNERS, NO_SIGNATURE } from '../../git/sign.ts'
import { readSignatureFormat } from '../../ledger/ledger-commit.ts'
import { readTip } from '../../ledger/read-events.ts'
import type { HistoryStep } from '../../ledger/verify.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { isActionsRun, type Oid, toShortRef } from '../../model/ids.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { isArchived } from '../campaign/recover.ts'
import type { Finding } from './branches.ts'
import type { AttestationService } from '../../github/attestations.ts'
import { findAttestedEvents } from './github-attestations.ts'

/**
 * An event is attested if a trusted key signed its commit or an anchor above it, or if GitHub attested that a run of
 * the workflow wrote it.
 */
export interface AttestationSummary {
  /** False without --require-attested: signatures and GitHub's attestations were not verified then. */
  verified: boolean
  events: number
  signed: number
  anchored: number
  by_github: number
  /** Events that nothing vouches for; null if that was not verified. */
  unattested: number | null
  signers: string[]
  anchors: { tag: string; events: number; signer: string | null }[]
  says: string
}

export interface AttestationOptions {
  required: boolean
  /** GitHub's attestations; null where the campaign does not run on GitHub. */
  service: AttestationService | null
}

interface AuditedState {
  context: CampaignContext
  refs: ReadonlyMap<string, Oid>
  ledger: { tip: Oid; history: readonly HistoryStep[]; events: readonly LedgerEvent[] }
  campaign: Campaign
}

interface Attestation {
  findings: Finding[]
  summary: AttestationSummary
}

export function buildAnchorPattern({ prefix, name }: Pick<CampaignContext, 'prefix' | 'name'>): string {
  return `refs/tags/${buildAnchorPrefix(prefix, name)}*`
}

export async function checkAttestation(
  state: AuditedState,
  options: AttestationOptions,
): Promise<Attestation> {
  const { context, ledger } = state
  const commits = await listEventCommits(context, ledger.history)
  const anchors = await readAnchors(state)
  const findings = [...findUnsignedCommits(ledger.events, commits), ...anchors.flatMap(describeAnchor)]
  const signed = commits.filter(({ signature }) => signature !== null)
  const named = anchors.map(({ tag, events, signer }) => ({ tag, events, signer }))
  if (!options.required) {
    const onGithub = ledger.events.some(({ by }) => isActionsRun(by))
    const seen = { events: ledger.events.length, signed: countEvents(signed), anchors: named, onGithub }
    return { findings, summary: summarizeUnverified(seen) }
  }
  const signatures = signed.length === 0 ? [] : await context.repository.signer.verifyCommits(ledger.tip)
  const github = options.service === null ? null : await findAttestedEvents(state, options.service)
  const verified = weighEvents({ events: ledger.events.length, commits, signatures, anchors, github })
  return {
    findings: [...findings, ...verified.findings, ...(github?.findings ?? [])],
    summary: { ...verified.summary, anchors: named },
  }
}

interface WrittenAnchor {
  tag: string
  /** Events that the anchor vouches for. */
  events: number
  isNew: boolean
}

/**
 * Signs a tag of this ledger commit and pushes it. The tag outlives the branch: a replaced ledger no longer contains
 * the commit that it names. `target` is the tip that the caller has audited.
 */
export async function writeAnchor(context: CampaignContext, target: Oid): Promise<WrittenAnchor> {
  const { repository, refs, prefix, name } = context
  const { seq: events, head } = await readTip(repository, target)
  const tag = `${buildAnchorPrefix(prefix, name)}${events - 1}-${target.slice(0, 12)}`
  const ref = `refs/tags/${tag}`
  if ((await repository.remoteRefs([ref])).refs.has(ref)) return { tag, events, isNew: false }
  const message = [
    `Ledger of campaign ${name}, events 0 to ${events - 1}`,
    '',
    `branch ${toShortRef(refs.state)}`,
    `sha256 of the last event ${head}`,
    `audited with winnow ${context.version}`,
  ].join('\n')
  const to = await repository.signer.signTag({ name: tag, target, message })
  const result = await repository.push([{ ref, from: null, to }])
  if (result.ok) return { tag, events, isNew: true }
  if (result.reason === 'lease') throw new ConflictError(`the tag ${tag} was created meanwhile`, [ref])
  if (result.reason === 'checked-out') throw new UserError(`${ref} is checked out in ${result.worktree}`)
  const { message: words, rule } = result
  throw new ForgeError(`the remote rejected the tag ${tag}: ${words}`, rule === undefined ? {} : { rule })
}

// Commits of the ledger

interface EventCommit {
  commit: Oid
  seqs: number[]
  signature: 'ssh' | 'gpg' | 'other' | null
}

/** Oldest first, without commits that add no event: derived pages prove nothing. */
async function listEventCommits(
  { repository }: CampaignContext,
  history: readonly HistoryStep[],
): Promise<EventCommit[]> {
  const commits: EventCommit[] = []
  for (const { commit, changes } of history.toReversed()) {
    const seqs = changes.flatMap(({ status, path }) => {
      const number = /^events\/\d+\/(\d+)\.json$/.exec(path)?.[1]
      return status === 'A' && number !== undefined ? [Number(number)] : []
    })
    if (seqs.length === 0) continue
    const { signature } = await repository.commit(commit)
    commits.push({ commit, seqs: seqs.toSorted((a, b) => a - b), signature })
  }
  return commits
}

function countEvents(commits: readonly EventCommit[]): number {
  return commits.reduce((sum, { seqs }) => sum + seqs.length, 0)
}

/** `ledger.sign` of the spec in force is a rule of the ledger itself, so every audit checks it. */
function findUnsignedCommits(events: readonly LedgerEvent[], commits: readonly EventCommit[]): Finding[] {
  const rules = listSignatureRules(events)
  const found: Finding[] = []
  for (const { commit, seqs, signature } of commits) {
    if (signature !== null) continue
    const format = seqs.map(seq => rules[seq] ?? null).find(rule => rule !== null)
    if (format === undefined) continue
    const what = `commit ${commit} of the ledger (${nameEvents(seqs)}) is not signed, and the spec in force says ledger.sign: ${format}`
    found.push({ what, commit })
  }
  return found
}

/** The rule for the commit that adds each event: of the spec before it, or of the one that it brings. */
function listSignatureRules(events: readonly LedgerEvent[]): ('ssh' | 'gpg' | null)[] {
  let inForce: 'ssh' | 'gpg' | null = null
  return events.map(event => {
    const before = inForce
    if (event.kind === 'campaign-started' || event.kind === 'campaign-amended')
      inForce = readSignatureFormat(event.spec_yaml)
    return before ?? inForce
  })
}

// Anchors

interface Anchor {
  tag: string
  target: Oid
  signer: string | null
  why: string | null
  /** Events up to the tip that it names. */
  events: number
  relation: 'contained' | 'archived' | 'replaced'
}

async function readAnchors({ context, refs, ledger }: AuditedState): Promise<Anchor[]> {
  const start = buildAnchorPattern(context).slice(0, -1)
  const anchors: Anchor[] = []
  for (const [ref, oid] of refs) {
    if (!ref.startsWith(start)) continue
    anchors.push(await readAnchor(context, { tag: ref.slice('refs/tags/'.length), oid, tip: ledger.tip }))
  }
  return anchors.toSorted((a, b) => a.events - b.events)
}

async function readAnchor(
  context: CampaignContext,
  { tag, oid, tip }: { tag: string; oid: Oid; tip: Oid },
): Promise<Anchor> {
  const { repository } = context
  // A tag without an object of its own is a plain ref, which push access is enough to set.
  if (await repository.isCommit(oid)) {
    const relation = await findRelation(context, oid, tip)
    return { tag, target: oid, signer: null, why: NO_SIGNATURE, events: 0, relation }
  }
  const { target, name, signer, why } = await repository.signer.verifyTag(oid)
  const isLedger = await repository.isCommit(target)
  const relation = isLedger ? await findRelation(context, target, tip) : 'replaced'
  const events = relation === 'contained' ? (await readTip(repository, target)).seq : 0
  if (name === tag) return { tag, target, signer, why, events, relation }
  return { tag, target, signer: null, why: `it was signed as ${name}`, events, relation }
}

async function findRelation(context: CampaignContext, target: Oid, tip: Oid): Promise<Anchor['relation']> {
  if (await context.repository.isAncestor(target, tip)) return 'contained'
  return (await isArchived(context, target)) ? 'archived' : 'replaced'
}

function describeAnchor({ tag, target, signer, why, relation }: Anchor): Finding[] {
  if (relation === 'replaced') {
    const who = signer === null ? '' : ` of ${signer}`
    return [
      {
        what: `the anchor ${tag}${who} names ${target}, which today's ledger does not contain`,
        commit: target,
      },
    ]
  }
  if (signer !== null) return []
  return [{ what: `the anchor ${tag} does not count: ${why}`, commit: target, is: 'open' }]
}

// Result

interface VerifiedLedger {
  events: number
  commits: readonly EventCommit[]
  signatures: readonly CommitSignature[]
  anchors: readonly Anchor[]
  github: { attested: ReadonlySet<number> } | null
}

function weighEvents({ events, commits, signatures, anchors, github }: VerifiedLedger) {
  const byCommit = new Map(signatures.map(each => [each.commit, each]))
  const trusted = anchors.filter(({ signer, relation }) => signer !== null && relation === 'contained')
  const anchored = Math.max(0, ...trusted.map(anchor => anchor.events))
  const signers = new Set(trusted.flatMap(({ signer }) => signer ?? []))
  const open: { seqs: number[]; why: string }[] = []
  const vouched = new Set<number>()
  let signed = 0
  for (const { commit, seqs, signature } of commits) {
    const { signer = null, why = NO_SIGNATURE } = byCommit.get(commit) ?? {}
    if (signer !== null) {
      signed += seqs.length
      signers.add(signer)
      for (const seq of seqs) vouched.add(seq)
      continue
    }
    const left = seqs.filter(seq => seq >= anchored && github?.attested.has(seq) !== true)
    for (const seq of seqs) if (!left.includes(seq)) vouched.add(seq)
    if (left.length > 0) {
      const reason = signature === 'ssh' && why === NO_SIGNATURE ? NO_ALLOWED_SIGNERS : why
      open.push({ seqs: left, why: `commit ${commit.slice(0, 12)}: ${reason}` })
    }
  }
  const unattested = events - vouched.size
  const attested = github?.attested.size ?? 0
  const parts = [
    ...(signed > 0 ? [`${signed} signed`] : []),
    ...(anchored > 0 ? [`${anchored} below an anchor`] : []),
    ...(attested > 0 ? [`${attested} written by runs that GitHub attests`] : []),
  ]
  const how = parts.length === 0 ? '' : ` (${parts.join(', ')})`
  const names = signers.size === 0 ? '' : ` Signers: ${[...signers].join(', ')}.`
  const says =
    unattested === 0 && events > 0
      ? `Attested: all ${formatCount(events, 'event')}${how}.${names}`
      : `Not attested: ${unattested} of ${formatCount(events, 'event')}${how}.${names}`
  return {
    findings: open.map(describeUnattested),
    summary: {
      verified: true,
      events,
      signed,
      anchored,
      by_github: attested,
      unattested,
      signers: [...signers],
      says,
    },
  }
}

function describeUnattested({ seqs, why }: { seqs: number[]; why: string }): Finding {
  const [seq] = seqs
  return { what: `${nameEvents(seqs)} not attested: ${why}`, ...(seq === undefined ? {} : { seq }) }
}

const ASK_GITHUB = '; winnow audit --require-attested asks GitHub for attestations'

function summarizeUnverified({
  events,
  signed,
  anchors,
  onGithub,
}: Pick<AttestationSummary, 'events' | 'signed' | 'anchors'> & { onGithub: boolean }) {
  const trusted = anchors.filter(({ signer }) => signer !== null)
  const anchored = Math.max(0, ...trusted.map(anchor => anchor.events))
  const parts = [
    ...(signed > 0
      ? [`${signed} of ${formatCount(events, 'event')} carry a signature, which was not verified`]
      : []),
    ...(trusted.length > 0 ? [`${formatCount(trusted.length, 'anchor')} up to event ${anchored - 1}`] : []),
  ]
  const says =
    parts.length === 0
      ? `Not attested: no signature or anchor vouches for this ledger${onGithub ? ASK_GITHUB : ''} (docs/attestation.md).`
      : `Not attested in full: ${parts.join('; ')}. winnow audit --require-attested verifies it.`
  return {
    verified: false,
    events,
    signed,
    anchored,
    by_github: 0,
    unattested: null,
    signers: [...new Set(trusted.flatMap(({ signer }) => signer ?? []))],
    anchors,
    says,
  }
}

function nameEvents(seqs: readonly number[]): string {
  const [first = 0] = seqs
  const last = seqs.at(-1) ?? first
  return first === last ? `event ${first}` : `events ${first} to ${last}`
}
