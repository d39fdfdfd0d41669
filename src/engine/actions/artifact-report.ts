import type { Artifact, Unpacked, WorkflowRun, Workflows } from '../../forge/port.ts'
import type { OrderId } from '../../model/ids.ts'
import { actionsRunId, MOST_REPORT_BYTES, parcelFile, parcelName } from '../../model/parcel.ts'
import { report } from '../../model/report.ts'
import type { RunFacts } from '../../plan/world.ts'

type Read = Extract<RunFacts, { state: 'reported' | 'unreadable' }>

export interface ReportReader {
  /** What the run left for its order; null where it left nothing. */
  of(order: OrderId, run: WorkflowRun): Promise<Read | null>
}

/** Reports that came as artifacts: only what the run itself left counts, and whoever wrote it is not trusted. */
export function reportReader(workflows: Workflows): ReportReader {
  const answers = new Map<OrderId, Promise<Read | null>>()
  let newest: Promise<Artifact[]> | null = null

  /** One list serves all orders; whoever left very many others since, of the same name even, hides none. */
  async function leftBy(run: WorkflowRun, name: string): Promise<Artifact[]> {
    const isIts = (each: Artifact) => each.run === run.id && each.name === name
    const found = (await (newest ??= workflows.artifacts())).filter(isIts)
    return found.length > 0 ? found : (await workflows.artifacts({ run: run.id, name })).filter(isIts)
  }

  async function read(order: OrderId, run: WorkflowRun): Promise<Read | null> {
    const runId = actionsRunId(run.id, 1)
    const unreadable = (reason: string): Read => ({ state: 'unreadable', runId, reason })
    const [only, ...others] = await leftBy(run, parcelName(order))
    if (only === undefined) return null
    if (others.length > 0)
      return unreadable(`its run left ${others.length + 1} artifacts called ${only.name}`)
    const parcel = { file: parcelFile(order), most: MOST_REPORT_BYTES }
    return understood(await workflows.download(only, parcel), runId)
  }

  return {
    of(order, run) {
      const answer = answers.get(order) ?? read(order, run)
      answers.set(order, answer)
      return answer
    },
  }
}

function understood(unpacked: Unpacked, runId: string): Read {
  const unreadable = (reason: string): Read => ({ state: 'unreadable', runId, reason })
  if (!unpacked.ok) return unreadable(`its artifact cannot be used: ${unpacked.why}`)
  const value = jsonIn(unpacked.bytes)
  if (value === undefined) return unreadable('its artifact holds no JSON')
  const parsed = report.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return unreadable(`${issue?.path.join('.').slice(0, 200)}: ${issue?.message.slice(0, 300)}`)
  }
  const long = longText(parsed.data)
  if (long !== null) return unreadable(`${long.slice(0, 200)} has more than ${MOST_TEXT} characters`)
  const { run_id } = parsed.data
  if (run_id !== runId) return unreadable(`it says that it is of run ${run_id.slice(0, 80)}, not ${runId}`)
  return { state: 'reported', runId, report: parsed.data }
}

/** Longer than anything that a measurement writes: the ledger keeps reports for good. */
const MOST_TEXT = 65_536

/** Where a report has a text, or a name, that is too long; null where it has none. */
function longText(value: unknown, place = 'it'): string | null {
  if (typeof value === 'string') return value.length > MOST_TEXT ? place : null
  if (typeof value !== 'object' || value === null) return null
  for (const [name, inner] of Object.entries(value)) {
    const found = name.length > MOST_TEXT ? `a name in ${place}` : longText(inner, `${place}.${name}`)
    if (found !== null) return found
  }
  return null
}

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}
