import { ConflictError, UserError } from '../errors.ts'
import { parseSpec } from '../spec/parse.ts'
import { loadCampaign } from '../ledger/load.ts'
import type { Campaign } from '../model/campaign.ts'
import { compileScope } from '../spec/scope.ts'
import type { Spec } from '../spec/schema.ts'
import { getParseOptions } from '../spec/recorded-spec.ts'
import { computeTreeHarness } from './facts/harness.ts'
import { getCampaignWhereabouts } from './home.ts'
import { listRefs } from './listed-refs.ts'
import { fetchCommit } from './ordered-trees.ts'
import type { CampaignContext } from './place.ts'
import { requireLedger } from './recover.ts'
import { requireSameBranches } from './same-branches.ts'
import { requireSupportedSpec } from './start.ts'
import { Transaction } from './transaction.ts'

/** A person's own change of the spec, not committed anywhere: the ledger records it whole, with the reason. */
export async function applyAmendment(
  place: CampaignContext,
  change: { yaml: string; reason: string },
): Promise<{ measuredAnew: boolean }> {
  const { repository } = place
  const { refs } = await listRefs(place)
  const state = await requireLedger(place, refs)
  await repository.fetch([{ ref: place.refs.state, oid: state }])
  const loaded = await loadCampaign(repository, state)
  const { campaign } = loaded
  const parsed = parseSpec(change.yaml, getParseOptions(campaign))
  requireSupportedSpec({ ...parsed, path: campaign.spec_path }, getCampaignWhereabouts(place, campaign))
  requireSameBranches(place, parsed.spec, campaign.spec_path)
  if (parsed.sha256 === campaign.spec_sha256) throw new UserError('the spec is the one in force already')
  // Who amends from a clone of their own may have seen neither yet.
  for (const { commit } of [campaign.pin, campaign.incumbent]) await fetchCommit(repository, commit)
  await requireInScope(place, campaign, parsed.spec)
  const harness = await computeTreeHarness(repository, parsed.spec, campaign.pin.tree)
  const measuredAnew = harness !== campaign.harness
  const transaction = new Transaction(place, { loaded, refs })
  transaction.addEvent({
    kind: 'campaign-amended',
    cause: `amend at ${campaign.seq}`,
    spec_sha256: parsed.sha256,
    spec_yaml: change.yaml,
    harness,
    source: 'person',
    reason: change.reason,
  })
  const result = await transaction.push()
  if (result.ok) return { measuredAnew }
  if (result.reason === 'lease')
    throw new ConflictError('the campaign moved while it was amended: try again', result.refs)
  throw new UserError(
    `the amendment could not be written: ${'message' in result ? result.message : result.ref}`,
  )
}

/** Invariant 4: outside mutable the incumbent is the pin, so what was landed has to stay mutable. */
async function requireInScope(
  { repository }: CampaignContext,
  campaign: Campaign,
  spec: Spec,
): Promise<void> {
  const { isMutable } = compileScope(spec)
  const changes = await repository.diff(campaign.pin.tree, campaign.incumbent.tree)
  const outside = changes.find(({ path }) => !isMutable(path))
  if (!outside) return
  throw new UserError(
    `${outside.path} was changed by what was kept, and this spec no longer lets it change`,
    {
      place: { file: campaign.spec_path, path: 'scope.mutable' },
      fix: 'keep it in scope.mutable, or start fresh: winnow run --fresh',
    },
  )
}
