import type { Repository } from '../../git/repository.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Oid } from '../../model/ids.ts'
import type { ArtifactHistory, ArtifactVersion } from '../../report/artifacts.ts'
import type { Spec } from '../../spec/schema.ts'
import { listArtifacts } from '../../spec/spec-facts.ts'

type ArtifactReader = Pick<Repository, 'findEntry' | 'blob'>

/**
 * Versions come from the moves of the optimize branch: each commit that gave the file a content it did not have
 * before is one. A rollback returns to a version and makes none. The commits have to be fetched.
 */
export async function readArtifactHistories(
  repository: ArtifactReader,
  { campaign, spec }: { campaign: Pick<Campaign, 'experiments' | 'start'>; spec: Pick<Spec, 'artifacts'> },
  events: AsyncIterable<LedgerEvent> | readonly LedgerEvent[],
): Promise<ArtifactHistory[]> {
  const histories: ArtifactHistory[] = listArtifacts(spec).map(artifact => {
    return { ...artifact, current: 0, versions: [], moves: [] }
  })
  const landed = new Map<Oid, string>()
  const undone = new Map<Oid, string>()
  for await (const event of events) {
    if (event.kind === 'merged') landed.set(event.commit, event.experiment)
    if (event.kind === 'reverted') undone.set(event.to.commit, event.experiment)
    if (event.kind !== 'campaign-started' && event.kind !== 'incumbent-moved') continue
    const { commit, tree } = event.kind === 'campaign-started' ? event.start : event.to
    const experiment = campaign.experiments[landed.get(commit) ?? '']
    const why: ArtifactVersion['why'] = event.kind === 'campaign-started' ? 'start' : event.why
    const reverts = undone.get(commit)
    const change = {
      commit,
      at: event.at,
      why,
      experiment: experiment?.id ?? null,
      round: experiment?.round ?? null,
      rationale: experiment?.hypothesis ?? (reverts === undefined ? RATIONALES[why] : `reverts ${reverts}`),
      author: experiment === undefined ? event.by.actor : describeAuthor(experiment.source),
    }
    for (const history of histories)
      addContent(history, event.seq, { ...change, blob: await findBlob(repository, tree, history.path) })
  }
  return histories
}

const RATIONALES: Readonly<Record<ArtifactVersion['why'], string>> = {
  start: 'the file as it was',
  merged: 'a kept change',
  synced: 'a change of the default branch',
  foreign: 'a commit of another author',
  reverted: 'a revert',
}

function addContent(
  history: ArtifactHistory,
  seq: number,
  change: Omit<ArtifactVersion, 'version' | 'parent'>,
): void {
  const { versions, moves, current: from } = history
  if (versions[from]?.blob === change.blob) return
  const known = versions.find(({ blob }) => blob === change.blob)
  const to = known?.version ?? versions.length
  if (known === undefined) versions.push({ version: to, parent: to === 0 ? null : from, ...change })
  const { at, why, experiment, rationale } = change
  if (why !== 'start') moves.push({ seq, from, to, at, why, experiment, rationale })
  history.current = to
}

/** A program by its name; the idea of a person by where it came from. */
function describeAuthor({ use, key }: { use: string; key: string }): string {
  return use === 'command' ? key.slice(0, key.lastIndexOf(':')).replace(/^command:/, '') : use
}

async function findBlob(repository: ArtifactReader, tree: Oid, path: string): Promise<Oid | null> {
  const entry = await repository.findEntry(tree, path)
  return entry !== null && entry.mode.startsWith('100') ? entry.oid : null
}

/** Returns the tree with another content of the file. It keeps its mode, which no candidate may change. */
export async function replaceArtifact(
  repository: Pick<Repository, 'findEntry' | 'replaceEntries'>,
  tree: Oid,
  { path, blob }: { path: string; blob: Oid | null },
): Promise<Oid> {
  const before = await repository.findEntry(tree, path)
  const mode = before?.mode === '100755' ? '100755' : '100644'
  return repository.replaceEntries(tree, [{ path, entry: blob === null ? null : { mode, oid: blob } }])
}

/** An artifact without a file is empty. */
export async function readArtifactText(repository: ArtifactReader, blob: Oid | null): Promise<string> {
  return blob === null ? '' : (await repository.blob(blob)).toString('utf8')
}

export async function readArtifactTexts(
  repository: ArtifactReader,
  spec: Pick<Spec, 'artifacts'>,
  tree: Oid,
): Promise<{ name: string; path: string; content: string }[]> {
  const found = listArtifacts(spec).map(async ({ name, path }) => {
    const content = await readArtifactText(repository, await findBlob(repository, tree, path))
    return { name, path, content }
  })
  return Promise.all(found)
}
