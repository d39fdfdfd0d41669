import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import { isMissing } from '../measure/missing.ts'
import type { Campaign } from '../model/campaign.ts'
import { sha256 } from '../model/canonical.ts'
import { idea } from '../model/event.ts'
import { oid, point } from '../model/ids.ts'
import type { Proposal } from '../plan/world.ts'
import type { Asked } from './command.ts'

const stored = z.strictObject({
  key: z.string(),
  at: z.iso.datetime(),
  ...idea,
  learnings: z.string().nullable(),
  commit: oid,
  base: point,
})
type Stored = z.output<typeof stored>

/** `nonce`: drawn once for each asking, so that one idea is opened once and the next is another. */
export function commandKey(name: string, nonce: string): string {
  return `${name.startsWith('command:') ? '' : 'command:'}${name}:${nonce}`
}

/** What a program proposed outlives the process that asked it (invariant 7). */
export async function storeProposal(
  storeDir: string,
  proposal: { key: string; at: string; asked: Extract<Asked, { ok: true }> },
): Promise<void> {
  const { key, at, asked } = proposal
  const { idea: told, learnings, commit, base } = asked
  const value: Stored = { key, at, ...told, learnings, commit, base }
  await mkdir(storeDir, { recursive: true })
  const path = fileOf(storeDir, key)
  const temporary = `${path}.${randomUUID()}.tmp`
  const file = await open(temporary, 'wx')
  try {
    await file.writeFile(`${JSON.stringify(value, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
}

/** Those that no event has opened yet, the oldest first. */
export async function readCommandProposals(
  storeDir: string,
  campaign: Pick<Campaign, 'sources'>,
  repo: Pick<Repository, 'has'>,
): Promise<Proposal[]> {
  const waiting: Stored[] = []
  for (const name of await filesIn(storeDir)) {
    const value = await read(join(storeDir, name))
    if (value !== null && !Object.hasOwn(campaign.sources, value.key)) waiting.push(value)
  }
  waiting.sort((a, b) => (a.at === b.at ? (a.key < b.key ? -1 : 1) : a.at < b.at ? -1 : 1))
  return Promise.all(waiting.map(value => proposalOf(value, repo)))
}

export async function forgetProposal(storeDir: string, key: string): Promise<void> {
  await rm(fileOf(storeDir, key), { force: true })
}

async function proposalOf(value: Stored, repo: Pick<Repository, 'has'>): Promise<Proposal> {
  const { key, at: _, commit, base, ...told } = value
  const kept = await repo.has(commit)
  const head = kept
    ? { commit, base }
    : { rejected: `commit ${commit} of ${key} is gone from winnow's repository` }
  return { ...told, source: { use: 'command', key }, head, branch: null, pull: null }
}

/** A key holds names that people chose; a digest of it is a file name anywhere. */
function fileOf(storeDir: string, key: string): string {
  return join(storeDir, `${sha256(key)}.json`)
}

async function filesIn(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).filter(name => name.endsWith('.json')).toSorted()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** null: forgotten since it was listed. */
async function read(path: string): Promise<Stored | null> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
  try {
    return stored.parse(JSON.parse(text))
  } catch (cause) {
    throw new UserError('a stored proposal cannot be read', {
      place: { file: path },
      fix: 'remove the file; the proposer will be asked again',
      cause,
    })
  }
}
