import { UserError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import type { Order } from '../../model/order.ts'
import { PROBES_VERSION, TEXT_PROBES_VERSION } from '../../model/probe.ts'
import { aggregateSnapshot } from '../../model/report.ts'
import type { ComparingFacts } from '../../plan/orders.ts'
import { isProbingDue } from '../../plan/probes.ts'
import type { ProbeFacts } from '../../plan/world.ts'
import { hasTextProbes } from '../../probes/text-probes.ts'
import type { Spec } from '../../spec/schema.ts'
import { buildProbeCandidates } from './probe-candidates.ts'

/** Null unless an order of probes is due. */
export async function readProbeFacts(
  repository: Repository,
  facts: ComparingFacts,
): Promise<ProbeFacts | null> {
  const { campaign, spec } = facts
  if (!isProbingDue(facts)) return null
  const metrics = aggregateSnapshot(campaign.baseline?.snapshot ?? null)
  const candidates = await buildProbeCandidates(repository, { spec, base: campaign.incumbent, metrics })
  return candidates.length === 0
    ? { none: 'winnow has no probe for the files in scope.mutable' }
    : { candidates, probing: { version: getProbesVersion(spec), metrics } }
}

export function getProbesVersion(spec: Spec): number {
  return hasTextProbes(spec) ? TEXT_PROBES_VERSION : PROBES_VERSION
}

/** Every machine builds the trees from the base itself, because no branch holds them. */
export async function restoreProbeTrees(repository: Repository, spec: Spec, order: Order): Promise<void> {
  const label = await findWrongProbe(repository, spec, order)
  if (label === null) return
  throw new UserError(`${label}: winnow does not make the tree of this order from its base`, {
    fix: 'measure the order with the release of winnow that issued it',
  })
}

/** The first candidate that is not the change of the base that its label says. */
export async function findWrongProbe(
  repository: Repository,
  spec: Spec,
  { base, probing, candidates }: Pick<Order, 'base' | 'probing' | 'candidates'>,
): Promise<string | null> {
  const built = await buildProbeCandidates(repository, { spec, base, metrics: probing?.metrics ?? {} })
  const trees = new Map<string, string>(built.map(({ label, tree }) => [label, tree]))
  const wrong = candidates.find(({ label, tree }) => trees.get(label) !== tree)
  return wrong?.label ?? (candidates.length < built.length ? 'a probe is missing' : null)
}
