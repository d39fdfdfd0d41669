import { join } from 'node:path'
import { UserError } from '../errors.ts'
import { inspectCheckout } from '../git/checkout.ts'
import { openRepository, type Repository } from '../git/repository.ts'
import { type LoadedCampaign, loadCampaign } from '../ledger/load.ts'
import type { Oid } from '../model/ids.ts'
import { buildCampaignRefs } from '../model/refs.ts'
import { getCampaignSpec } from '../spec/recorded-spec.ts'
import type { Spec } from '../spec/schema.ts'

/** What a job was given to read: a clone with every branch that somebody else made. */
export interface JobClone {
  directory: string
  /** Absolute and ours: a repository of our own lies there. */
  workDir: string
  env: Readonly<Record<string, string>>
}

/** Invariant 6: everything is read from the clone; there is no remote here, no token and no ref that is written. */
export async function openJobClone(
  { directory, workDir, env }: JobClone,
  prefix: string,
): Promise<{ repository: Repository; topLevel: string | null }> {
  const checkout = await inspectCheckout(directory, env)
  const dir = join(workDir, 'repository.git')
  const remote = checkout.commonDir
  return {
    repository: await openRepository({ dir, remote, prefix, local: true, env }),
    topLevel: checkout.topLevel,
  }
}

/** A job's clone has other people's branches as those of its remote; what a person cloned or made has them too. */
export async function findLedgerTip(
  repository: Repository,
  { prefix, campaign }: { prefix: string; campaign: string },
): Promise<Oid> {
  const { state } = buildCampaignRefs(prefix, campaign)
  const followed = state.replace('refs/heads/', 'refs/remotes/origin/')
  const { refs } = await repository.remoteRefs([followed, state])
  const ref = [followed, state].find(each => refs.has(each))
  const oid = ref === undefined ? undefined : refs.get(ref)
  if (ref === undefined || oid === undefined) throw toNoLedgerError(campaign)
  await repository.fetch([{ ref, oid }])
  return oid
}

function toNoLedgerError(campaign: string): UserError {
  return new UserError(`the clone has no ledger of campaign ${campaign || 'at all'}`, {
    fix: 'give actions/checkout `fetch-depth: 0`, which fetches every branch, and start the campaign first',
  })
}

const STATE_REF = /^refs\/(?:heads|remotes\/origin)\/([^/]+)-state\/([^/]+)$/

/** The campaign of that name, whatever prefix its spec chose; the only one there is where none is named. */
export async function findCloneCampaign(
  repository: Repository,
  name: string,
): Promise<{ loaded: LoadedCampaign; spec: Spec }> {
  const { refs } = await repository.remoteRefs(['refs/remotes/origin/*-state/*', 'refs/heads/*-state/*'])
  const found = new Map<string, { prefix: string; campaign: string }>()
  for (const ref of refs.keys()) {
    const [, prefix = '', campaign = ''] = STATE_REF.exec(ref) ?? []
    if (campaign !== '' && (name === '' || campaign === name))
      found.set(`${prefix} ${campaign}`, { prefix, campaign })
  }
  const ledgers: { loaded: LoadedCampaign; spec: Spec }[] = []
  for (const { prefix, campaign } of found.values()) {
    const loaded = await loadCampaign(repository, await findLedgerTip(repository, { prefix, campaign }))
    const spec = getCampaignSpec(loaded.campaign)
    // Somebody else's branch may look like a ledger of another prefix.
    if (loaded.campaign.name === campaign && spec.branches.prefix === prefix) ledgers.push({ loaded, spec })
  }
  const [only, ...others] = ledgers
  if (only === undefined) throw toNoLedgerError(name)
  if (others.length === 0) return only
  const names = ledgers.map(({ loaded }) => loaded.campaign.name)
  throw new UserError(`there are several campaigns: ${names.join(', ')}`, {
    fix: 'name one with the input campaign',
  })
}
