import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { World } from '../emulator/world.ts'
import { type ActionDefinition, readAction } from './definitions.ts'
import { findStock } from './stock-actions.ts'

/** An action of a repository that is none of GitHub's: where its code lies, and what refs of it there are. */
export interface PublishedAction {
  dir: string
  refs: readonly string[]
  /** How its program is started, if not by this Node. */
  start?: (inputs: Record<string, string>) => { argv: string[]; env: Record<string, string> }
}

export type Published = Readonly<Record<string, PublishedAction>>

export type Resolved =
  | { kind: 'stock'; name: string }
  | { kind: 'code'; dir: string; definition: ActionDefinition; start?: PublishedAction['start'] }

const REMOTE = /^([\w.-]+\/[\w.-]+)((?:\/[\w.-]+)*)@(.+)$/
const COMMIT = /^[0-9a-f]{40}$/
const SHORTENED = /^[0-9a-f]{7,39}$/

/** What the runner says before the first step where it cannot have an action. */
export async function resolveRemote(uses: string, published: Published): Promise<Resolved> {
  const [, repository = '', path = '', ref = ''] = REMOTE.exec(uses) ?? []
  if (repository === '') throw new Error(`Invalid action reference '${uses}'`)
  const name = `${repository}${path}`
  const own = published[repository]
  const isKnown = own ? own.refs.includes(ref) : COMMIT.test(ref) || /^v\d+(?:\.\d+)*$/.test(ref)
  if (!isKnown && SHORTENED.test(ref))
    throw new Error(
      `Unable to resolve action \`${uses}\`, the provided ref \`${ref}\` is the shortened version of a commit SHA, which is not supported.`,
    )
  if (!own && findStock(name) === null)
    throw new Error(`Unable to resolve action ${uses}, repository not found`)
  if (!isKnown) throw new Error(`Unable to resolve action \`${uses}\`, unable to find version \`${ref}\``)
  if (!own) return { kind: 'stock', name }
  return { ...(await readFrom(join(own.dir, path))), ...(own.start ? { start: own.start } : {}) }
}

/** An action of the workspace; it is there only after a checkout. */
export function resolveLocal(uses: string, workspace: string): Promise<Resolved & { kind: 'code' }> {
  return readFrom(
    join(workspace, uses),
    'Did you forget to run actions/checkout before running your local action?',
  )
}

async function readFrom(dir: string, hint = ''): Promise<Resolved & { kind: 'code' }> {
  const file = ['action.yml', 'action.yaml'].map(name => join(dir, name)).find(existsSync)
  if (file === undefined)
    throw new Error(`Can't find 'action.yml', 'action.yaml' or 'Dockerfile' under '${dir}'. ${hint}`.trim())
  return { kind: 'code', dir, definition: await readAction(file, readFileSync(file, 'utf8')) }
}

/** `$/path` is this repository at the commit of the workflow; the runner refuses it without a path. */
export async function resolveSelf(
  uses: string,
  { git }: World,
  commit: string,
  bring: (path: string) => Promise<string>,
): Promise<Resolved> {
  const path = uses.slice('$/'.length)
  if (path === '') throw new Error(`Invalid action reference '${uses}': the path after '$/' is empty`)
  const listed = await git.paths(commit, `${path}/`)
  if (!listed.some(each => each === `${path}/action.yml` || each === `${path}/action.yaml`))
    throw new Error(`Can't find 'action.yml' or 'action.yaml' under '${path}' of this repository`)
  return readFrom(await bring(path))
}
