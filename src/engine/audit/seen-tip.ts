import { readFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { UserError } from '../../errors.ts'
import { moveDamagedAside } from '../../git/put-aside.ts'
import { isMissing } from '../../measure/missing.ts'
import { oidSchema } from '../../model/ids.ts'
import { toShortRef } from '../../model/refs.ts'
import type { CampaignContext } from '../place.ts'
import { isArchived } from '../recover.ts'

/** The ledger as an audit saw it last. */
const seenTip = z.strictObject({
  tip: oidSchema,
  events: z.number().int().nonnegative(),
  at: z.iso.datetime(),
})
export type SeenTip = z.infer<typeof seenTip>

/** By ledger branch: one file may serve several campaigns. */
const file = z.record(z.string(), seenTip)

/** Where audits remember what they saw: in winnow's cache, or in a file that a person keeps elsewhere. */
export interface AuditMemory {
  path: string
  /** A person named it: then a damaged one is theirs to look at. */
  given: boolean
}

export function locateAuditMemory(
  place: Pick<CampaignContext, 'dataDir'>,
  given: string | null,
): AuditMemory {
  return { path: given ?? join(place.dataDir, 'audited.json'), given: given !== null }
}

/** Compares the ledger with the remembered tip. */
export interface Continuity {
  /** The ledger was replaced. */
  problem: string | null
  note: string
}

/**
 * Anyone who can force-push every branch can replace a ledger by another that fits together. Only an audit that remembers
 * an earlier tip can tell: the new one has to descend from it, or the earlier ledger has to be archived.
 */
export async function checkContinuity(
  place: CampaignContext,
  last: SeenTip | null,
  now: Pick<SeenTip, 'tip' | 'events'>,
  acceptReplacement: boolean,
): Promise<Continuity> {
  const { repository } = place
  if (last === null) {
    return { problem: null, note: `First audit here: ${describeTip(now)} is remembered for the next one.` }
  }
  const seen = `${describeTip(last)}, audited here on ${last.at}`
  const hasIt = await repository.has(last.tip)
  if (last.tip === now.tip || (hasIt && (await repository.isAncestor(last.tip, now.tip))))
    return { problem: null, note: `The ledger continues ${seen}.` }
  if (await isArchived(place, last.tip))
    return { problem: null, note: `This is another ledger: ${seen}, is archived.` }
  const replaced = `${toShortRef(place.refs.state)} was replaced: ${describeTip(now)}, does not descend from ${seen}`
  if (acceptReplacement) return { problem: null, note: `Accepted: ${replaced}.` }
  return {
    problem: `${replaced}; if you know why, accept it with winnow audit --accept-replacement`,
    note: '',
  }
}

function describeTip({ tip, events }: Pick<SeenTip, 'tip' | 'events'>): string {
  return `the ledger at ${tip.slice(0, 12)} (up to event ${events - 1})`
}

export function readSeenTip(
  { progress, refs }: Pick<CampaignContext, 'progress' | 'refs'>,
  memory: AuditMemory,
): SeenTip | null {
  return readSeenTips(memory, line => progress.say(line))[refs.state] ?? null
}

export async function rememberTip(place: CampaignContext, memory: AuditMemory, seen: SeenTip): Promise<void> {
  const { path } = memory
  const all = { ...readSeenTips(memory, line => place.progress.say(line)), [place.refs.state]: seen }
  const part = `${path}.${place.random.hex(4)}.part`
  await mkdir(dirname(path), { recursive: true })
  await writeFile(part, `${JSON.stringify(all, null, 2)}\n`)
  await rename(part, path)
}

function readSeenTips({ path, given }: AuditMemory, say: (line: string) => void): z.infer<typeof file> {
  const text = readTextIfPresent(path)
  if (text === null) return {}
  const found = file.safeParse(readJson(text)).data
  if (found !== undefined) return found
  if (given) {
    throw new UserError('what earlier audits saw cannot be read', {
      place: { file: path },
      fix: 'restore the file; or remove it, and this audit compares with no earlier one',
    })
  }
  say(
    `What earlier audits saw was damaged and is now ${moveDamagedAside(path)}: this audit compares with no earlier one.`,
  )
  return {}
}

function readTextIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
