import type { Oid } from './object-format.ts'
import type { GitTask } from './runner.ts'

export interface RemoteRefs {
  /** what HEAD of the remote points to; null when it is detached or the remote is empty */
  head: string | null
  refs: Map<string, Oid>
}

export function listRemoteRefs(remote: string, patterns: readonly string[] = []): GitTask<RemoteRefs> {
  const named = patterns.length === 0 ? [] : ['HEAD', ...patterns]
  return {
    args: ['ls-remote', '--symref', '--', remote, ...named],
    parse: ({ stdout }) => parseRemoteRefs(stdout),
  }
}

function parseRemoteRefs(stdout: string): RemoteRefs {
  const found: RemoteRefs = { head: null, refs: new Map() }
  for (const line of stdout.split('\n')) {
    const [value = '', name = ''] = line.split('\t')
    if (value.startsWith('ref: ') && name === 'HEAD') found.head = value.slice('ref: '.length)
    if (value.startsWith('ref: ') || !name.startsWith('refs/') || name.endsWith('^{}')) continue
    found.refs.set(name, value)
  }
  return found
}

/** The commit that every branch and tag names: an annotated tag counts as the commit it points to. */
export function listRemoteCommits(remote: string): GitTask<RemoteRefs> {
  return { args: ['ls-remote', '--symref', '--', remote], parse: ({ stdout }) => parsePeeledRefs(stdout) }
}

/** The line of a tag's commit (`^{}`) comes after the line of the tag itself. */
function parsePeeledRefs(stdout: string): RemoteRefs {
  const { head } = parseRemoteRefs(stdout)
  const refs = new Map<string, Oid>()
  for (const line of stdout.split('\n')) {
    const [value = '', name = ''] = line.split('\t')
    if (!value.startsWith('ref: ') && name.startsWith('refs/')) refs.set(name.replace(/\^\{\}$/, ''), value)
  }
  return { head, refs }
}
