import { createHash } from 'node:crypto'
import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import type { Pacing } from '../../ledger/retry.ts'
import type { Artifact, RunStart, WorkflowRun, Workflows } from '../port.ts'
import { fetchArchive } from './archive.ts'
import { type GithubClient, parseAnswer, requestUnlessMissing } from './client.ts'
import { withRetries } from './patient.ts'
import { extractArtifactFile } from './unpacked.ts'

const startedRun = z.object({ workflow_run_id: z.number() })
const oneRun = z.object({
  id: z.number(),
  run_attempt: z.number().default(1),
  status: z.string().nullable(),
  conclusion: z.string().nullable(),
})
const artifacts = z.object({
  total_count: z.number(),
  artifacts: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      size_in_bytes: z.number(),
      expired: z.boolean(),
      digest: z.string().nullish(),
    }),
  ),
})

/** `file`: the name of our workflow file, which a maintainer may have changed. */
export function createGithubWorkflows(client: GithubClient, file: string, pacing: Pacing): Workflows {
  return {
    start: wanted => withRetries(pacing, () => startAtNewBranch(client, file, wanted, pacing)),
    run: id => withRetries(pacing, () => readRun(client, id)),
    cancel: run => withRetries(pacing, () => cancelRun(client, run)),
    artifacts: (run, names) => withRetries(pacing, () => findArtifacts(client, run, names)),
    async download(artifact, parcel) {
      const { digest, most } = parcel
      if (artifact.expired) return { ok: false, why: 'it has expired' }
      if (artifact.bytes > most) {
        return { ok: false, why: `it is larger than ${most} bytes (${artifact.bytes})` }
      }
      if (artifact.digest !== null && artifact.digest !== digest) return REPLACED
      const archive = await withRetries(pacing, () => fetchArchive(client, artifact.id, most))
      if (!archive.ok) return archive
      return computeSha256(archive.bytes) === digest ? extractArtifactFile(archive.bytes, parcel) : REPLACED
    },
  }
}

const REPLACED = {
  ok: false,
  why: 'it is not the archive that its job uploaded: the digests differ',
} as const

function computeSha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

const UNTIL_SEEN_MS = 5_000

/** A campaign's branch may have been pushed a moment ago, and the part of GitHub that starts runs not know it yet. */
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
    await sleep(UNTIL_SEEN_MS)
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
  const route = 'POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches'
  const values = { ...client.where, workflow_id: file, ref: branch, inputs: { ...inputs } }
  try {
    const more = details ? { return_run_details: true } : {}
    const { status, data } = await client.request(route, { ...values, ...more })
    return Number(status) === 204 ? null : parseAnswer(startedRun, data, 'a started run').workflow_run_id
  } catch (error) {
    // Enterprise Servers that do not name the run they start refuse the parameter.
    if (!details || !isRefusedBecause(error, /return_run_details/)) throw error
    return startRun(client, file, { branch, inputs }, false)
  }
}

function isRefusedBecause(error: unknown, why: RegExp): boolean {
  return error instanceof ForgeError && error.detail.status === 422 && why.test(error.detail.output ?? '')
}

async function readRun(client: GithubClient, id: number): Promise<WorkflowRun | null> {
  const route = 'GET /repos/{owner}/{repo}/actions/runs/{run_id}'
  const answer = await requestUnlessMissing(() => client.request(route, { ...client.where, run_id: id }))
  if (answer === null) return null
  const { run_attempt: attempt, status, conclusion } = parseAnswer(oneRun, answer.data, 'a workflow run')
  return { id, attempt, conclusion: status === 'completed' ? (conclusion ?? 'neutral') : null }
}

async function cancelRun(client: GithubClient, run: number): Promise<void> {
  const route = 'POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel'
  try {
    await client.request(route, { ...client.where, run_id: run })
  } catch (error) {
    const status = error instanceof ForgeError ? error.detail.status : undefined
    if (status !== 409 && status !== 404) throw error
  }
}

/**
 * One request, unless a job left so many that they do not fit: then one more for each name. None where the run was deleted:
 * whoever waits for its orders goes on without it.
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
  { request, where }: GithubClient,
  run: number,
  name?: string,
): Promise<{ artifacts: Artifact[]; complete: boolean }> {
  const { data } = await request('GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts', {
    ...where,
    run_id: run,
    per_page: 100,
    ...(name === undefined ? {} : { name }),
  })
  const { total_count: total, artifacts: listed } = parseAnswer(artifacts, data, 'artifacts')
  const found = listed.map(({ id, name, size_in_bytes: bytes, expired, digest }) => {
    return { id, name, bytes, expired, digest: digest?.replace(/^sha256:/, '') ?? null }
  })
  return { artifacts: found, complete: total <= found.length }
}
