import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import { oid } from '../../model/ids.ts'
import type { Artifact, Dispatch, WorkflowRun, Workflows } from '../port.ts'
import { fetchArchive } from './archive.ts'
import { type GithubClient, understood, unlessMissing } from './client.ts'
import { patiently } from './patient.ts'
import type { Pacing } from '../../ledger/retry.ts'
import { unpacked } from './unpacked.ts'

const dispatched = z.object({ workflow_run_id: z.number() })
const oneRun = z.object({
  id: z.number(),
  path: z.string(),
  display_title: z.string(),
  event: z.string(),
  head_branch: z.string().nullable(),
  head_sha: oid,
  head_repository: z.object({ full_name: z.string() }).nullable(),
  run_attempt: z.number().default(1),
  status: z.string().nullable(),
  conclusion: z.string().nullable(),
})
type Run = z.infer<typeof oneRun>
const runs = z.object({ workflow_runs: z.array(oneRun) })
const artifacts = z.object({
  artifacts: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      size_in_bytes: z.number(),
      expired: z.boolean(),
      workflow_run: z.object({ id: z.number() }).nullish(),
    }),
  ),
})

/** A run just asked for may not be listed yet. */
const LOOKS = 5
const BETWEEN_LOOKS_MS = 2_000

export function githubWorkflows(client: GithubClient, pacing: Pacing): Workflows {
  async function listRuns(wanted: Origin): Promise<WorkflowRun[]> {
    const { workflow, branch } = wanted
    const route = 'GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs'
    const values = { workflow_id: workflow, branch, event: 'workflow_dispatch', per_page: 100 }
    const { data } = await client.request(route, { ...client.where, ...values })
    const found = understood(runs, data, 'workflow runs').workflow_runs
    return found.filter(isAsked(client, wanted)).map(runOf)
  }

  async function oneOf(id: number, wanted: Origin): Promise<WorkflowRun | null> {
    const route = 'GET /repos/{owner}/{repo}/actions/runs/{run_id}'
    const answer = await unlessMissing(() => client.request(route, { ...client.where, run_id: id }))
    if (answer === null) return null
    const run = understood(oneRun, answer.data, 'a workflow run')
    return isAsked(client, wanted)(run) ? runOf(run) : null
  }

  async function runNamed(wanted: Dispatch): Promise<number | null> {
    const found = (await listRuns(wanted)).filter(({ name }) => name === wanted.name)
    // The first one asked for: a later one of the same name is somebody's second try to be counted.
    return found.at(-1)?.id ?? null
  }

  async function ask({ workflow, branch, inputs }: Dispatch, details = true): Promise<number | null> {
    const route = 'POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches'
    const values = { ...client.where, workflow_id: workflow, ref: branch, inputs: { ...inputs } }
    try {
      const more = details ? { return_run_details: true } : {}
      const { status, data } = await client.request(route, { ...values, ...more })
      return Number(status) === 204 ? null : understood(dispatched, data, 'a dispatch').workflow_run_id
    } catch (error) {
      if (!details || !isUnknownKey(error)) throw error
      return ask({ workflow, branch, inputs, name: '' }, false)
    }
  }

  async function appeared(wanted: Dispatch): Promise<number> {
    for (let looks = 0; looks < LOOKS; looks++) {
      const id = await runNamed(wanted)
      if (id !== null) return id
      await pacing.sleep(BETWEEN_LOOKS_MS)
    }
    throw new ForgeError(
      `GitHub took the request to run ${wanted.workflow}, but no run is named ${wanted.name}`,
    )
  }

  return {
    runs: wanted => patiently(pacing, () => listRuns(wanted)),
    run: (id, wanted) => patiently(pacing, () => oneOf(id, wanted)),
    dispatch: wanted =>
      patiently(pacing, async attempt => {
        const before = attempt === 0 ? null : await runNamed(wanted)
        return before ?? (await ask(wanted)) ?? (await appeared(wanted))
      }),
    cancel: run => patiently(pacing, () => cancelRun(client, run)),
    artifacts: only => patiently(pacing, () => listArtifacts(client, only)),
    async download(artifact, parcel) {
      if (artifact.expired) return { ok: false, why: 'it has expired' }
      if (artifact.bytes > parcel.most) {
        return { ok: false, why: `it is larger than ${parcel.most} bytes (${artifact.bytes})` }
      }
      const archive = await patiently(pacing, () => fetchArchive(client, artifact.id, parcel.most))
      return archive.ok ? unpacked(archive.bytes, parcel) : archive
    },
  }
}

type Origin = Pick<Dispatch, 'workflow' | 'branch'>

function runOf(run: Run): WorkflowRun {
  const { id, display_title: name, head_sha: head, run_attempt: attempt, status, conclusion } = run
  const ended = status === 'completed' ? (conclusion ?? 'neutral') : null
  return { id, name, branch: run.head_branch ?? '', head, attempt, conclusion: ended }
}

/** Other branches and repositories can hold a workflow of the same name, and other events can start this one. */
function isAsked({ where: { owner, repo } }: GithubClient, { workflow, branch }: Origin) {
  const here = `${owner}/${repo}`.toLowerCase()
  return (run: Run) => {
    const [path] = run.path.split('@')
    return (
      path === `.github/workflows/${workflow}` &&
      run.event === 'workflow_dispatch' &&
      run.head_branch === branch &&
      run.head_repository?.full_name.toLowerCase() === here
    )
  }
}

/** Enterprise Servers that do not name the run they start say so by not knowing the question. */
function isUnknownKey(error: unknown): boolean {
  return (
    error instanceof ForgeError &&
    error.detail.status === 422 &&
    /return_run_details/.test(error.detail.output ?? '')
  )
}

async function cancelRun(client: GithubClient, run: number): Promise<void> {
  try {
    await client.request('POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel', {
      ...client.where,
      run_id: run,
    })
  } catch (error) {
    const status = error instanceof ForgeError ? error.detail.status : undefined
    if (status !== 409 && status !== 404) throw error
  }
}

async function listArtifacts(
  { request, where }: GithubClient,
  only: Pick<Artifact, 'run' | 'name'> | undefined,
): Promise<Artifact[]> {
  const page = { ...where, per_page: 100 }
  const { data } =
    only === undefined
      ? await request('GET /repos/{owner}/{repo}/actions/artifacts', page)
      : await request('GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts', {
          ...page,
          run_id: only.run,
          name: only.name,
        })
  return understood(artifacts, data, 'artifacts').artifacts.flatMap(each => {
    const { id, name, size_in_bytes: bytes, expired, workflow_run: run } = each
    return run ? [{ id, name, run: run.id, bytes, expired }] : []
  })
}
