import { ForgeError } from '../../errors.ts'
import type { UnzipResult } from '../port.ts'
import { isRefusal } from '../refused.ts'
import type { GithubClient } from './client.ts'

/** So many times as long as an answer of the API: it is much larger. */
const PATIENCE = 2

/** An artifact's archive. What is refused is believed the second time, and is then no reason to wait for it. */
export async function fetchArchive(client: GithubClient, id: number, most: number): Promise<UnzipResult> {
  for (let asked = 1; ; asked++) {
    try {
      return await fetchOnce(client, id, most)
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (asked === 2) return { ok: false, why: error.message }
    }
  }
}

/**
 * GitHub says where it is; that place is asked without the token, which it is not meant for, and is not listened to for
 * longer than the archive may be.
 */
async function fetchOnce(client: GithubClient, id: number, most: number): Promise<UnzipResult> {
  const location = await resolveDownloadUrl(client, id)
  if (location === null) return { ok: false, why: 'it has expired' }
  const signal = AbortSignal.timeout(PATIENCE * client.timeoutMs)
  try {
    const response = await client.web(location, { signal, redirect: 'error' })
    if (!response.ok || response.body === null)
      throw toDownloadError(`status ${response.status}`, response.status)
    return await readLimited(response.body, most)
  } catch (error) {
    throw error instanceof ForgeError ? error : toDownloadError(describeFetchError(error))
  }
}

/** What failed to be fetched says why in its cause. */
function describeFetchError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

async function resolveDownloadUrl(client: GithubClient, id: number): Promise<string | null> {
  const route = 'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}'
  const values = { ...client.where, artifact_id: id, archive_format: 'zip' }
  try {
    const { headers } = await client.request(route, { ...values, request: { redirect: 'manual' } })
    if (headers.location === undefined) throw toDownloadError('GitHub does not say where it is')
    return headers.location
  } catch (error) {
    if (error instanceof ForgeError && error.detail.status === 410) return null
    throw error
  }
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
    if (length > most) return { ok: false, why: `it is larger than ${most} bytes` }
    chunks.push(chunk)
  }
  return { ok: true, bytes: Buffer.concat(chunks) }
}
