import { notInSpec } from '../decide/additions.ts'
import {
  type Approvable,
  type ApprovalRequest,
  awaitedPackages,
  awaitedText,
  packagesText,
} from '../model/approval.ts'
import type { Experiment } from '../model/experiment.ts'
import { subjectsOf } from '../model/picked.ts'
import { canonicalJson, sha256 } from '../model/canonical.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { Spec } from '../spec/schema.ts'
import type { Step } from './action.ts'
import { refuse } from './intake.ts'
import type { CandidateFacts, World } from './world.ts'

type Clean = Extract<CandidateFacts, { merged: 'clean' }>
type Asking = Approvable & Pick<Experiment, 'required_deps' | 'hypothesis'>

/** All that an experiment needs and the spec does not approve, with the digest that approvals are bound to. */
export function needs(
  spec: Pick<Spec, 'dependencies'>,
  { required_deps, hypothesis }: Asking,
  { additions }: Pick<Clean, 'additions'>,
): ApprovalRequest {
  const added = additions.packages.map(each => each.name)
  const declared = [...new Set(required_deps)].filter(name => !added.includes(name))
  const unnamed = declared.filter(name => !spec.dependencies.approved.includes(name))
  return {
    digest: setDigest(additions.digest, declared),
    packages: [...notInSpec(spec.dependencies, additions.packages), ...unnamed],
    additions: additions.packages,
    why: hypothesis,
  }
}

/** What is declared and not there yet belongs to the set by its name alone. */
function setDigest(additions: string, declared: readonly string[]): string {
  return declared.length === 0
    ? additions
    : sha256(canonicalJson({ additions, declared: declared.toSorted() }))
}

/** What keeps a candidate from being measured, or from landing: nothing, or packages nobody approved. */
export function unapproved(
  spec: Pick<Spec, 'dependencies'>,
  experiment: Asking,
  facts: CandidateFacts | undefined,
): string[] {
  if (facts?.merged !== 'clean') return []
  const approval = needs(spec, experiment, facts)
  return awaitedPackages({ approval, approved: experiment.approved })
}

export function unapprovedText(
  spec: Pick<Spec, 'dependencies'>,
  experiment: Asking,
  facts: CandidateFacts | undefined,
): string | null {
  const names = unapproved(spec, experiment, facts)
  if (names.length === 0 || facts?.merged !== 'clean') return null
  return packagesText(names, facts.additions.packages)
}

/**
 * Dependencies nobody approved: the experiment waits, and nothing of it runs. A set that changed is asked for
 * anew; what the spec approves by now is approved.
 */
export function askApprovals(
  world: World,
  subjects: readonly Experiment[],
  refused: ReadonlySet<ExperimentId>,
): { steps: Step[]; waiting: Set<ExperimentId> } {
  const steps: Step[] = []
  const waiting = new Set<ExperimentId>()
  for (const experiment of subjects) {
    const facts = world.candidates.get(experiment.id)
    if (refused.has(experiment.id) || facts?.merged !== 'clean' || facts.aheadOfSync) continue
    if (experiment.status === 'queued' && unapproved(world.spec, experiment, facts).length > 0) {
      waiting.add(experiment.id)
      steps.push(...ask(world, experiment, facts))
    }
    if (experiment.status === 'deferred') steps.push(...askAgain(world, experiment, facts))
  }
  return { steps, waiting }
}

function ask({ spec }: World, experiment: Experiment, facts: Clean): Step[] {
  const { id, head, opened } = experiment
  const request = needs(spec, experiment, facts)
  if (spec.dependencies.approval === 'deny') {
    const message = `needs ${packagesText(request.packages, request.additions)}, and dependencies.approval is deny`
    return refuse({ id, head, opened }, { code: 'dependencies', message })
  }
  const cause = experiment.approval === null ? opened : `${facts.base} ${facts.head} ${request.digest}`
  return [{ step: 'event', draft: { kind: 'approval-requested', cause, experiment: id, ...request } }]
}

function askAgain(world: World, experiment: Experiment, facts: Clean): Step[] {
  const request = needs(world.spec, experiment, facts)
  if (request.digest !== experiment.approval?.digest) return ask(world, experiment, facts)
  const packages = awaitedPackages(experiment).filter(name => !request.packages.includes(name))
  if (packages.length === 0) return []
  const { id, opened } = experiment
  const cause = `${opened} ${world.campaign.spec_sha256}`
  return [
    {
      step: 'event',
      draft: { kind: 'approved', cause, experiment: id, digest: request.digest, packages },
    },
  ]
}

/** Who waits for what, and how it is given. */
export function approvalsNeeded({ campaign }: Pick<World, 'campaign'>): string | null {
  const deferred = subjectsOf(campaign).filter(({ status }) => status === 'deferred')
  if (deferred.length === 0) return null
  const waiting = deferred.map(experiment => `${experiment.id} needs ${awaitedText(experiment)}`)
  return `approval: ${waiting.join('; ')}. winnow approve shows what they add, and approves it`
}
