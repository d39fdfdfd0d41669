import type { RestEndpointMethodTypes } from '@octokit/rest'
import type { Check } from '../model/github.ts'
import type { GithubClient } from './client.ts'
import { truncateBody } from './comments.ts'

type FoundCheckRun = RestEndpointMethodTypes['checks']['listForRef']['response']['data']['check_runs'][number]

/** GitHub accepts 50 annotations per request. Further requests add more, up to our own limit. */
const ANNOTATIONS_PER_REQUEST = 50
const MAX_ANNOTATIONS = 200

/**
 * Identifies check runs by name, head and our external id, so that a check run in progress is found again and
 * completed. Looks for an existing check run only when an earlier attempt may have created it.
 */
export function createCheckWriter(client: GithubClient): (check: Check, attempt: number) => Promise<void> {
  const known = new Map<string, number[]>()
  /** The content that this process wrote last, by check. */
  const written = new Map<string, string>()

  /**
   * Finds our latest check run, which is the one GitHub shows, and older ones that are not completed. Lists all
   * check runs: the latest of a name may belong to another experiment with the same head.
   */
  async function findCheckRuns({ name, head, id }: Check): Promise<FoundCheckRun[]> {
    const values = { ...client.where, ref: head, check_name: name, filter: 'all', per_page: 100 } as const
    const found = await client.paginate(client.rest.checks.listForRef, values)
    const own = found.filter(each => each.external_id === id)
    const latest = Math.max(...own.map(each => each.id))
    return own.filter(each => each.id === latest || each.status !== 'completed')
  }

  async function create(check: Check, output: CheckOutput): Promise<number> {
    const { name, head, id } = check
    const values = { ...client.where, name, head_sha: head, external_id: id, ...toCheckStatus(check), output }
    return (await client.rest.checks.create(values)).data.id
  }

  async function update(id: number, check: Check, output: CheckOutput): Promise<void> {
    const values = { ...client.where, check_run_id: id, ...toCheckStatus(check), output }
    await client.rest.checks.update(values)
  }

  return async (check, attempt) => {
    const outputs = splitCheckOutputs(check)
    const key = JSON.stringify([check.name, check.head, check.id])
    const content = JSON.stringify([check.state, outputs])
    if (written.get(key) === content) return
    const isNew = check.state === 'in-progress' && attempt === 0 && check.again !== true
    const before = known.has(key) || isNew ? [] : await findCheckRuns(check)
    const ids = known.get(key) ?? before.map(each => each.id)
    const same = before.filter(each => isWritten(check, each)).map(each => each.id)
    const made = ids.length === 0 ? [await create(check, outputs[0])] : []
    known.set(key, [...ids, ...made])
    for (const id of ids.filter(each => !same.includes(each)))
      for (const output of outputs) await update(id, check, output)
    for (const id of made) for (const output of outputs.slice(1)) await update(id, check, output)
    written.set(key, content)
  }
}

function toCheckStatus({ state }: Check) {
  return state === 'in-progress'
    ? ({ status: 'in_progress' } as const)
    : ({ status: 'completed', conclusion: state } as const)
}

/** Avoids a write when an earlier process has already written the same check. */
function isWritten(check: Check, { status, conclusion, output }: FoundCheckRun): boolean {
  const wanted = toCheckStatus(check)
  const ends = 'conclusion' in wanted ? wanted.conclusion : null
  const summary = truncateBody(check.summary).trim()
  const isSameText = output.title === check.title && output.summary?.trim() === summary
  return status === wanted.status && conclusion === ends && isSameText
}

type CheckOutput = ReturnType<typeof buildCheckOutput>

function splitCheckOutputs(check: Check): [CheckOutput, ...CheckOutput[]] {
  const all = (check.annotations ?? []).slice(0, MAX_ANNOTATIONS)
  const rest: CheckOutput[] = []
  for (let from = ANNOTATIONS_PER_REQUEST; from < all.length; from += ANNOTATIONS_PER_REQUEST)
    rest.push(buildCheckOutput(check, all.slice(from, from + ANNOTATIONS_PER_REQUEST)))
  return [buildCheckOutput(check, all.slice(0, ANNOTATIONS_PER_REQUEST)), ...rest]
}

function buildCheckOutput({ title, summary }: Check, annotations: NonNullable<Check['annotations']>) {
  return {
    title,
    summary: truncateBody(summary),
    annotations: annotations.map(({ path, line, message }) => ({
      path,
      start_line: line,
      end_line: line,
      annotation_level: 'failure' as const,
      message,
    })),
  }
}
