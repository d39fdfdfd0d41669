import { createHash } from 'node:crypto'
import { unzipSync } from 'fflate'
import { z } from 'zod'
import { ForgeError, isRefusal } from '../errors.ts'
import type { Pacing } from '../ledger/retry.ts'
import type { GithubClient } from './client.ts'
import type { Artifact, ExpectedArtifact, RunStart, UnzipResult, WorkflowRun, Workflows } from './port.ts'
import { parseAnswer, requestUnlessMissing, toNullIfStatus, withRetries } from './requests.ts'

/** Octokit's types know only the empty answer. */
const startedRun = z.object({ workflow_run_id: z.number() })

/** `file`: the name of our workflow file, which a maintainer may have changed. */
export function createGithubWorkflows(client: GithubClient, file: string, pacing: Pacing): Workflows {
  return {
    start: wanted => withRetries(pacing, () => startAtNewBranch(client, file, wanted, pacing)),
    run: id => withRetries(pacing, () => readRun(client, id)),
    cancel: run => withRetries(pacing, () => cancelRun(client, run)),
    artifacts: (run, names) => withRetries(pacing, () => findArtifacts(client, run, names)),
    async download(artifact, expected) {
      const { digest, most } = expected
      if (artifact.expired) return toUnzipRefusal('it has expired')
      if (artifact.bytes > most) return toUnzipRefusal(`it is larger than ${most} bytes (${artifact.bytes})`)
      if (artifact.digest !== null && artifact.digest !== digest) return REPLACED_ARTIFACT
      const archive = await withRetries(pacing, () => fetchArchive(client, artifact.id, most))
      if (!archive.ok) return archive
      const found = createHash('sha256').update(archive.bytes).digest('hex')
      return found === digest ? extractArtifactFile(archive.bytes, expected) : REPLACED_ARTIFACT
    },
  }
}

/**
 * Reads the one file of an untrusted archive, in memory. Rejects further files, and unpacks no more than the
 * allowed size, even if the archive claims a smaller one.
 */
export function extractArtifactFile(
  archive: Uint8Array,
  { file, most }: Pick<ExpectedArtifact, 'file' | 'most'>,
): UnzipResult {
  const names: string[] = []
  let claimed = 0
  try {
    const files = unzipSync(archive, {
      filter(entry) {
        names.push(entry.name)
        claimed = entry.originalSize
        return names.length === 1 && entry.name === file && entry.originalSize <= most
      },
    })
    const [only, ...others] = names
    if (only !== file || others.length > 0)
      return toUnzipRefusal(`it holds ${formatFileNames(names)} instead of ${file} alone`)
    const bytes = files[file]
    if (bytes === undefined) return toUnzipRefusal(`${file} is larger than ${most} bytes (${claimed})`)
    return { ok: true, bytes }
  } catch (error) {
    return toUnzipRefusal(`it is no archive: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function toUnzipRefusal(why: string): UnzipResult {
  return { ok: false, why }
}

function formatFileNames(names: readonly string[]): string {
  if (names.length === 0) return 'nothing'
  const shown = names.slice(0, 3).map(name => JSON.stringify(name.slice(0, 80)))
  return shown.join(', ') + (names.length > shown.length ? `, and ${names.length - shown.length} more` : '')
}

const REPLACED_ARTIFACT = toUnzipRefusal('it is not the archive that its job uploaded: the digests differ')

// Runs

const BRANCH_VISIBLE_MS = 5_000

/** GitHub may not see a campaign branch that was pushed a moment ago. */
async function startAtNewBranch(
  client: GithubClient,
  file: string,
  wanted: RunStart,
  { sleep }: Pacing,
): Promise<number | null> {
  try {
    return await startRun(client, file, wanted)
  } catch (error) {
    if (!isRefusedBecause(error, /No ref found/)) throw explainMissingFile(error, file, wanted)
    await sleep(BRANCH_VISIBLE_MS)
    return startRun(client, file, wanted)
  }
}

function explainMissingFile(error: unknown, file: string, { branch }: RunStart): unknown {
  if (!(error instanceof ForgeError)) return error
  const { message, detail } = error
  if (detail.status !== 404 && !isRefusedBecause(error, /'workflow_dispatch' trigger/)) return error
  const fix = `merge the default branch, with the ${file} that winnow init --github wrote, into ${branch}`
  return new ForgeError(`${message}. No run can be started at ${branch}: ${fix}`, detail)
}

async function startRun(
  client: GithubClient,
  file: string,
  { branch, inputs }: RunStart,
  details = true,
): Promise<number | null> {
  const values = { ...client.where, workflow_id: file, ref: branch, inputs: { ...inputs } }
  try {
    const more = details ? { return_run_details: true } : {}
    const { status, data } = await client.rest.actions.createWorkflowDispatch({ ...values, ...more })
    return Number(status) === 204 ? null : parseAnswer(startedRun, data, 'a started run').workflow_run_id
  } catch (error) {
    // Enterprise Servers that do not return the run's id reject the parameter.
    if (!details || !isRefusedBecause(error, /return_run_details/)) throw error
    return startRun(client, file, { branch, inputs }, false)
  }
}

function isRefusedBecause(error: unknown, why: RegExp): boolean {
  return error instanceof ForgeError && error.detail.status === 422 && why.test(error.detail.output ?? '')
}

async function readRun(client: GithubClient, id: number): Promise<WorkflowRun | null> {
  const answer = await requestUnlessMissing(() =>
    client.rest.actions.getWorkflowRun({ ...client.where, run_id: id }),
  )
  if (answer === null) return null
  const { run_attempt: attempt = 1, status, conclusion } = answer.data
  return { id, attempt, conclusion: status === 'completed' ? (conclusion ?? 'neutral') : null }
}

async function cancelRun(client: GithubClient, run: number): Promise<void> {
  const ask = () => client.rest.actions.cancelWorkflowRun({ ...client.where, run_id: run })
  await toNullIfStatus([404, 409], ask)
}

// Artifacts

/**
 * Uses one request, or one per name when the run has more artifacts than fit on a page. Returns none for a
 * deleted run, so that the engine continues without its orders.
 */
async function findArtifacts(
  client: GithubClient,
  run: number,
  names: readonly string[],
): Promise<Artifact[]> {
  const all = await requestUnlessMissing(() => listArtifacts(client, run))
  if (all === null) return []
  const wanted = new Set(names)
  if (all.complete) return all.artifacts.filter(({ name }) => wanted.has(name))
  const found: Artifact[] = []
  for (const name of wanted) found.push(...(await listArtifacts(client, run, name)).artifacts)
  return found
}

async function listArtifacts(
  { rest, where }: GithubClient,
  run: number,
  name?: string,
): Promise<{ artifacts: Artifact[]; complete: boolean }> {
  const { data } = await rest.actions.listWorkflowRunArtifacts({
    ...where,
    run_id: run,
    per_page: 100,
    ...(name === undefined ? {} : { name }),
  })
  const found = data.artifacts.map(({ id, name, size_in_bytes: bytes, expired, digest }) => {
    return { id, name, bytes, expired, digest: digest?.replace(/^sha256:/, '') ?? null }
  })
  return { artifacts: found, complete: data.total_count <= found.length }
}

/** Factor on the API timeout: archives are much larger than answers. */
const TIMEOUT_FACTOR = 2

/** Downloads an artifact's archive. Accepts the second refusal as final. */
async function fetchArchive(client: GithubClient, id: number, most: number): Promise<UnzipResult> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetchOnce(client, id, most)
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (attempt === 2) return toUnzipRefusal(error.message)
    }
  }
}

/** Downloads from the storage address without the token, and reads no more than the allowed size. */
async function fetchOnce(client: GithubClient, id: number, most: number): Promise<UnzipResult> {
  const location = await resolveDownloadUrl(client, id)
  if (location === null) return toUnzipRefusal('it has expired')
  const signal = AbortSignal.timeout(TIMEOUT_FACTOR * client.timeoutMs)
  try {
    const response = await client.web(location, { signal, redirect: 'error' })
    if (!response.ok || response.body === null)
      throw toDownloadError(`status ${response.status}`, response.status)
    return await readLimited(response.body, most)
  } catch (error) {
    throw error instanceof ForgeError ? error : toDownloadError(describeFetchError(error))
  }
}

/** fetch puts the reason of a failure into its cause. */
function describeFetchError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

async function resolveDownloadUrl(client: GithubClient, id: number): Promise<string | null> {
  const values = { ...client.where, artifact_id: id, archive_format: 'zip' }
  const ask = () => client.rest.actions.downloadArtifact({ ...values, request: { redirect: 'manual' } })
  const answer = await toNullIfStatus([410], ask)
  if (answer === null) return null
  const { location } = answer.headers
  if (location === undefined) throw toDownloadError('GitHub sent no download address')
  return location
}

function toDownloadError(why: string, status?: number): ForgeError {
  const detail = { output: why, ...(status === undefined ? {} : { status }) }
  return new ForgeError(`an artifact could not be downloaded: ${why}`, detail)
}

async function readLimited(body: ReadableStream<Uint8Array>, most: number): Promise<UnzipResult> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > most) return toUnzipRefusal(`it is larger than ${most} bytes`)
    chunks.push(chunk)
  }
  return { ok: true, bytes: Buffer.concat(chunks) }
}
