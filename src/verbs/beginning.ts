import { z } from 'zod'
import type { Repository } from '../git/repository.ts'
import { buildEventPath } from '../ledger/layout.ts'

const startSchema = z.looseObject({
  kind: z.literal('campaign-started'),
  spec: z.string(),
  spec_path: z.string(),
  default_branch: z.string(),
})

/** What a ledger's first event says, as far as a campaign is found by it. */
export interface CampaignStart
  extends Pick<z.infer<typeof startSchema>, 'spec' | 'spec_path' | 'default_branch'> {
  /** The spec that is in force now. */
  spec_yaml: string | null
}

/** Null where that ref is no ledger that can be read: whoever folds it names what is wrong. */
export async function readCampaignStart(
  repository: Repository,
  stateRef: string,
): Promise<CampaignStart | null> {
  const oid = (await repository.remoteRefs([stateRef])).refs.get(stateRef)
  if (oid === undefined) return null
  await repository.fetch([{ ref: stateRef, oid }])
  const { tree } = await repository.commit(oid)
  const entry = await repository.findEntry(tree, buildEventPath(0).path)
  if (entry?.type !== 'blob') return null
  const beginning = parseCampaignStart((await repository.blob(entry.oid)).toString('utf8'))
  if (beginning === null) return null
  const spec = await repository.findEntry(tree, 'spec.yaml')
  const spec_yaml = spec?.type === 'blob' ? (await repository.blob(spec.oid)).toString('utf8') : null
  return { ...beginning, spec_yaml }
}

function parseCampaignStart(text: string): z.infer<typeof startSchema> | null {
  try {
    const parsed = startSchema.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
