import type { EventDraft } from '../model/event.ts'
import type { ExperimentId, Oid } from '../model/ids.ts'
import { toOneLine } from '../model/text.ts'
import { formatTable } from './terminal.ts'

/** A content that the file of an artifact had on the optimize branch. */
export interface ArtifactVersion {
  version: number
  /** The version in force before it; null for version 0. */
  parent: number | null
  /** Null where the file did not exist. */
  blob: Oid | null
  commit: Oid
  at: string
  why: 'start' | EventDraft<'incumbent-moved'>['why']
  experiment: ExperimentId | null
  round: number | null
  rationale: string
  author: string
}

export interface ArtifactMove extends Pick<ArtifactVersion, 'at' | 'why' | 'experiment' | 'rationale'> {
  seq: number
  from: number
  to: number
}

export interface ArtifactHistory {
  name: string
  path: string
  /** The version in force. */
  current: number
  versions: ArtifactVersion[]
  /** Every change of the version in force, also those that return to an earlier one. */
  moves: ArtifactMove[]
}

export function renderArtifactTable(histories: readonly ArtifactHistory[]): string[] {
  const rows = histories.map(({ name, path, current, versions }) => [
    name,
    path,
    `v${current}`,
    versions.length === 1 ? 'v0' : `v0-v${versions.length - 1}`,
  ])
  return formatTable([['artifact', 'file', 'in force', 'versions'], ...rows])
}

/** `diffs`: of each version against its parent. */
export function renderArtifactHistory(
  { name, path, current, versions, moves }: ArtifactHistory,
  diffs: ReadonlyMap<number, string>,
): string[] {
  const lines = [`${name} (${path}): v${current} is in force`]
  for (const each of versions) {
    const { version, parent, at, author, experiment, round } = each
    const by = [author, experiment, round === null ? null : `round ${round}`].filter(part => part !== null)
    const title = parent === null ? `v${version}` : `v${version}, from v${parent}`
    lines.push('', `${title}  ${at}  ${by.join(', ')}`, `  ${toOneLine(each.rationale, 300)}`)
    lines.push(
      ...(diffs.get(version) ?? '')
        .split('\n')
        .filter(line => line !== '')
        .map(line => `  ${line}`),
    )
  }
  const returns = moves.filter(({ from, to }) => to < from || versions[to]?.parent !== from)
  if (returns.length > 0) lines.push('')
  for (const { at, from, to, rationale } of returns)
    lines.push(`v${from} -> v${to}  ${at}  ${toOneLine(rationale, 300)}`)
  return lines
}
