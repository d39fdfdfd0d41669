import type { Artifact, Unpacked, WorkflowRun, Workflows } from '../../forge/port.ts'
import type { OrderId } from '../../model/ids.ts'
import { type PrintedOrder, printedOrder } from '../../judge/judged-report.ts'
import {
  actionsRunId,
  MOST_PRINTED_BYTES,
  MOST_REPORT_BYTES,
  parcelFile,
  parcelName,
} from '../../model/parcel.ts'
import { report } from '../../model/report.ts'
import type { RunFacts } from '../../plan/world.ts'

type Read =
  | Extract<RunFacts, { state: 'reported' | 'unreadable' }>
  /** With what is still to be scored. */
  | { state: 'printed'; runId: string; printed: PrintedOrder }

interface Wanted {
  id: OrderId
  /** It is scored by models: its items come with it. */
  judged: boolean
}

export interface ReportReader {
  /** What the run left for its order; null where it left nothing. */
  of(order: Wanted, run: WorkflowRun): Promise<Read | null>
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

  async function read({ id, judged }: Wanted, run: WorkflowRun): Promise<Read | null> {
    const runId = actionsRunId(run.id, 1)
    const unreadable = (reason: string): Read => ({ state: 'unreadable', runId, reason })
    const [only, ...others] = await leftBy(run, parcelName(id))
    if (only === undefined) return null
    if (others.length > 0)
      return unreadable(`its run left ${others.length + 1} artifacts called ${only.name}`)
    const parcel = { file: parcelFile(id), most: judged ? MOST_PRINTED_BYTES : MOST_REPORT_BYTES }
    return understood(await workflows.download(only, parcel), { runId, judged })
  }

  return {
    of(order, run) {
      const answer = answers.get(order.id) ?? read(order, run)
      answers.set(order.id, answer)
      return answer
    },
  }
}

function understood(unpacked: Unpacked, { runId, judged }: { runId: string; judged: boolean }): Read {
  const unreadable = (reason: string): Read => ({ state: 'unreadable', runId, reason })
  if (!unpacked.ok) return unreadable(`its artifact cannot be used: ${unpacked.why}`)
  const value = jsonIn(unpacked.bytes)
  if (value === undefined) return unreadable('its artifact holds no JSON')
  const parsed = judged ? printedOrder.safeParse(value) : report.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return unreadable(`${issue?.path.join('.').slice(0, 200)}: ${issue?.message.slice(0, 300)}`)
  }
  const long = longText(parsed.data)
  if (long !== null) return unreadable(`${long.slice(0, 200)} has more than ${MOST_TEXT} characters`)
  const told = 'items' in parsed.data ? parsed.data.report : parsed.data
  if (told.run_id !== runId)
    return unreadable(`it says that it is of run ${told.run_id.slice(0, 80)}, not ${runId}`)
  return 'items' in parsed.data
    ? { state: 'printed', runId, printed: parsed.data }
    : { state: 'reported', runId, report: told }
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
