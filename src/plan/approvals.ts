import { listTooYoungPackages, listUnlistedPackages } from '../decide/packages.ts'
import {
  addReleaseDates,
  type Approvable,
  type ApprovalRequest,
  describeAwaitedPackages,
  formatPackages,
  listAwaitedFindings,
  listAwaitedPackages,
} from '../model/approval.ts'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import { type Experiment, listSubjects } from '../model/experiment.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { Spec } from '../spec/schema.ts'
import type { PlanStep } from './action.ts'
import { refuseExperiment } from './intake.ts'
import type { CandidateFacts, World } from './world.ts'

type CleanCandidate = Extract<CandidateFacts, { merged: 'clean' }>
type ApprovalSubject = Approvable & Pick<Experiment, 'required_deps' | 'hypothesis' | 'held' | 'head'>

/** Facts about packages that do not come from the change itself. */
export interface PackageRules extends Pick<World, 'releases' | 'now'> {
  spec: Pick<Spec, 'dependencies'>
}

/** Lists the unapproved needs of an experiment, with the digest that approvals are bound to. */
export function buildApprovalRequest(
  { spec: { dependencies }, releases, now }: PackageRules,
  { required_deps, hypothesis, approval, held, head }: ApprovalSubject,
  { additions }: Pick<CleanCandidate, 'additions'>,
): ApprovalRequest {
  const packages = releases === null ? additions.packages : addReleaseDates(additions.packages, releases)
  const added = additions.packages.map(each => each.name)
  const declared = [...new Set(required_deps)].filter(name => !added.includes(name))
  const unnamed = declared.filter(name => !dependencies.approved.includes(name))
  // A declared package that the change does not add yet belongs to the set by its name alone.
  const set = { additions: additions.digest, declared: declared.toSorted() }
  const setDigest = declared.length === 0 ? additions.digest : hashSha256(toCanonicalJson(set))
  const findings = held !== null && held.head === head ? held.findings : []
  // A person who reads a change approves exactly that head.
  const digest =
    findings.length === 0 ? setDigest : hashSha256(toCanonicalJson({ packages: setDigest, head }))
  const young =
    releases === null ? packages.map(({ name }) => name) : listTooYoungPackages(dependencies, packages, now)
  const previous = approval?.digest === digest ? approval : null
  const unseen = [
    ...listUnlistedPackages(dependencies, packages),
    ...listStillYoung(young, previous, releases),
    ...unnamed,
    ...findings.map(({ name }) => name),
  ]
  return {
    digest,
    packages: [...new Set(unseen)],
    additions: packages,
    findings,
    why: hypothesis,
    min_age_days: dependencies.min_release_age_days,
  }
}

/** Old enough at the request stays old enough. Audit and replay have no release dates, only the request. */
function listStillYoung(
  young: readonly string[],
  previous: ApprovalRequest | null,
  releases: World['releases'],
): readonly string[] {
  if (previous?.min_age_days === undefined) return releases === null ? [] : young
  return young.filter(name => previous.packages.includes(name))
}

/** What is not approved keeps a candidate from being measured and from landing. Empty if it may proceed. */
export function listUnapproved(
  rules: PackageRules,
  experiment: ApprovalSubject,
  facts: CandidateFacts | undefined,
): string[] {
  if (facts?.merged !== 'clean') return []
  const approval = buildApprovalRequest(rules, experiment, facts)
  return listAwaitedPackages({ approval, approved: experiment.approved })
}

const UNAPPROVED_TEXTS = {
  withdrawn: {
    change: (what: string) => `${what} is no longer approved`,
    packages: (what: string) => `it adds ${what}, which is no longer approved`,
  },
  missing: {
    change: (what: string) => `no person approved ${what}`,
    packages: (what: string) => `it adds ${what}, which no person approved`,
  },
  unrecorded: {
    change: (what: string) => `no approval is of ${what}`,
    packages: (what: string) => `it adds ${what}, and no approval is of that set`,
  },
} as const

/** Null if the experiment may proceed. */
export function explainUnapproved(
  rules: PackageRules,
  experiment: ApprovalSubject,
  facts: CandidateFacts | undefined,
  why: keyof typeof UNAPPROVED_TEXTS,
): string | null {
  if (facts?.merged !== 'clean') return null
  const approval = buildApprovalRequest(rules, experiment, facts)
  const subject = { approval, approved: experiment.approved }
  if (listAwaitedPackages(subject).length === 0) return null
  const what = describeAwaitedPackages(subject)
  const { change, packages } = UNAPPROVED_TEXTS[why]
  return listAwaitedFindings(subject).length > 0 ? change(what) : packages(what)
}

/** Experiments with unapproved packages wait. A changed set of packages is requested again. */
export function requestApprovals(
  world: World,
  subjects: readonly Experiment[],
  refused: ReadonlySet<ExperimentId>,
): { steps: PlanStep[]; waiting: Set<ExperimentId> } {
  const steps: PlanStep[] = []
  const waiting = new Set<ExperimentId>()
  for (const experiment of subjects) {
    const facts = world.candidates.get(experiment.id)
    if (refused.has(experiment.id) || facts?.merged !== 'clean' || facts.aheadOfSync) continue
    if (experiment.status === 'queued' && listUnapproved(world, experiment, facts).length > 0) {
      waiting.add(experiment.id)
      steps.push(...requestApproval(world, experiment, facts))
    } else if (experiment.status === 'queued') steps.push(...recordPackageAges(world, experiment, facts))
    if (experiment.status === 'deferred') steps.push(...reviewApproval(world, experiment, facts))
  }
  return { steps, waiting }
}

/** Records the ages of packages that the spec allows for their age, so that audit can check them. */
function recordPackageAges(world: World, experiment: Experiment, facts: CleanCandidate): PlanStep[] {
  if (facts.additions.packages.length === 0 || world.spec.dependencies.min_release_age_days === 0) return []
  if (buildApprovalRequest(world, experiment, facts).digest === experiment.approval?.digest) return []
  return requestApproval(world, experiment, facts)
}

function requestApproval(world: World, experiment: Experiment, facts: CleanCandidate): PlanStep[] {
  const { spec } = world
  const { id, opened, asked_at } = experiment
  const request = buildApprovalRequest(world, experiment, facts)
  // A second request for the same set, after its approval was withdrawn, needs another cause.
  const requestId =
    request.digest === experiment.approval?.digest ? `${request.digest} ${asked_at}` : request.digest
  const findings = new Set(request.findings.map(({ name }) => name))
  const packages = request.packages.filter(name => !findings.has(name))
  if (packages.length > 0 && spec.dependencies.approval === 'deny') {
    const message = `needs ${formatPackages(packages, request.additions)}, and dependencies.approval is deny`
    return refuseExperiment(experiment, { code: 'dependencies', message })
  }
  const cause = experiment.approval === null ? opened : `${facts.base} ${facts.head} ${requestId}`
  return [{ step: 'event', draft: { kind: 'approval-requested', cause, experiment: id, ...request } }]
}

function reviewApproval(world: World, experiment: Experiment, facts: CleanCandidate): PlanStep[] {
  const request = buildApprovalRequest(world, experiment, facts)
  if (request.digest !== experiment.approval?.digest) return requestApproval(world, experiment, facts)
  const packages = listAwaitedPackages(experiment).filter(name => !request.packages.includes(name))
  if (packages.length === 0) return []
  const { id, opened } = experiment
  const cause = `${opened} ${world.campaign.spec_sha256}`
  const { digest } = request
  return [{ step: 'event', draft: { kind: 'approved', cause, experiment: id, digest, packages } }]
}

export function describeNeededApprovals({ campaign }: Pick<World, 'campaign'>): string | null {
  const deferred = listSubjects(campaign).filter(({ status }) => status === 'deferred')
  if (deferred.length === 0) return null
  const waiting = deferred.map(experiment => `${describeAwaitedPackages(experiment)} for ${experiment.id}`)
  return `approval of ${waiting.join('; ')}. winnow approve lists what to review; winnow approve <exp> approves it`
}
