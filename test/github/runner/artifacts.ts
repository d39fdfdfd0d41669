import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { unzipSync, zipSync } from 'fflate'
import { type ArtifactRecord, freshId, now, type World } from '../emulator/world.ts'
import type { StockAction } from './stock-actions.ts'

/** actions/upload-artifact: a name is given once in an attempt, unless `overwrite` says otherwise. */
export const upload: StockAction = async ({ inputs, machine }) => {
  const { world, run, workspace } = machine
  const name = inputs['name'] || 'artifact'
  const files = filesBelow(workspace, inputs['path'] ?? '', inputs['include-hidden-files'] === 'true')
  if (Object.keys(files).length === 0) {
    const missing = `No files were found with the provided path: ${inputs['path']}`
    if (inputs['if-no-files-found'] === 'error') throw new Error(missing)
    return { outputs: {}, warning: inputs['if-no-files-found'] === 'ignore' ? null : missing }
  }
  const attempt = run.attempt ?? 1
  const twin = world.artifacts.findIndex(
    each => each.run === run.id && each.name === name && (each.attempt ?? 1) === attempt,
  )
  if (twin >= 0 && inputs['overwrite'] !== 'true')
    throw new Error(
      'Failed to CreateArtifact: Received non-retryable error: Failed request: (409) Conflict: an artifact with this name already exists on the workflow run',
    )
  if (twin >= 0) world.artifacts.splice(twin, 1)
  const { id, bytes } = addArtifact(world, run.id, attempt, name, files)
  const url = `${world.url}/${world.owner}/${world.repo}/actions/runs/${run.id}/artifacts/${id}`
  const digest = createHash('sha256').update(bytes).digest('hex')
  return { outputs: { 'artifact-id': String(id), 'artifact-url': url, 'artifact-digest': digest } }
}

export function addArtifact(
  world: World,
  run: number,
  attempt: number,
  name: string,
  files: Record<string, Uint8Array>,
): ArtifactRecord {
  const bytes = zipSync(files)
  const made = { id: freshId(world), run, attempt, name, bytes, createdAt: now(world), expired: false }
  world.artifacts.push(made)
  return made
}

/** actions/download-artifact: of its own run, the newest of a name. */
export const download: StockAction = async ({ inputs, machine }) => {
  const { world, run, workspace } = machine
  for (const option of ['pattern', 'run-id', 'artifact-ids', 'repository'])
    if (inputs[option]) throw new Error(`this runner's download-artifact does not know '${option}' yet`)
  const name = inputs['name'] ?? ''
  const found = world.artifacts.findLast(each => each.run === run.id && each.name === name)
  if (!found) throw new Error(`Unable to download artifact(s): Artifact not found for name: ${name}`)
  const into = resolve(workspace, inputs['path'] || '.')
  for (const [path, bytes] of Object.entries(unzipSync(found.bytes))) {
    mkdirSync(dirname(join(into, path)), { recursive: true })
    writeFileSync(join(into, path), bytes)
  }
  return { outputs: { 'download-path': into } }
}

function filesBelow(workspace: string, paths: string, withHidden: boolean): Record<string, Uint8Array> {
  const found: Record<string, Uint8Array> = {}
  const lines = paths.split('\n').filter(line => line.trim() !== '')
  for (const line of lines) {
    if (/[*?[\]!]/.test(line)) throw new Error(`this runner's upload-artifact takes no pattern yet: ${line}`)
    const path = resolve(workspace, line.trim())
    if (!existsSync(path)) continue
    if (statSync(path).isFile()) found[basename(path)] = readFileSync(path)
    else for (const file of walk(path, withHidden)) found[relative(path, file)] = readFileSync(file)
  }
  return found
}

function walk(folder: string, withHidden: boolean): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (!withHidden && entry.name.startsWith('.')) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? walk(path, withHidden) : [path]
  })
}
