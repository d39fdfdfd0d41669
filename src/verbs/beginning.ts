import { z } from 'zod'
import type { Repository } from '../git/repository.ts'
import { eventPath } from '../ledger/layout.ts'

const schema = z.looseObject({
  kind: z.literal('campaign-started'),
  spec: z.string(),
  spec_path: z.string(),
  default_branch: z.string(),
})

/** What a ledger's first event says, as far as a campaign is found by it. */
export interface Beginning extends Pick<z.infer<typeof schema>, 'spec' | 'spec_path' | 'default_branch'> {
  /** The spec that is in force now. */
  spec_yaml: string | null
}

/** Null where that ref is no ledger that can be read: whoever folds it names what is wrong. */
export async function recordedBeginning(repository: Repository, stateRef: string): Promise<Beginning | null> {
  const oid = (await repository.remoteRefs([stateRef])).refs.get(stateRef)
  if (oid === undefined) return null
  await repository.fetch([{ ref: stateRef, oid }])
  const { tree } = await repository.commit(oid)
  const entry = await repository.entryAt(tree, eventPath(0).path)
  if (entry?.type !== 'blob') return null
  const beginning = beginningIn((await repository.blob(entry.oid)).toString('utf8'))
  if (beginning === null) return null
  const spec = await repository.entryAt(tree, 'spec.yaml')
  const spec_yaml = spec?.type === 'blob' ? (await repository.blob(spec.oid)).toString('utf8') : null
  return { ...beginning, spec_yaml }
}

function beginningIn(text: string): z.infer<typeof schema> | null {
  try {
    const parsed = schema.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
