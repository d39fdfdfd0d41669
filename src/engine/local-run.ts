import { getBootId } from '../measure/boot-id.ts'
import { findProcess } from '../measure/process/process-table.ts'
import type { RunFacts } from '../plan/world.ts'
import type { OrderClaim, OrderFile } from './order-files.ts'

/** Local run id = boot id + pid + start time: unique, and anybody on this machine can tell whether it lives. */
export async function readLocalRunId(): Promise<string> {
  const own = await findProcess(process.pid)
  return ['local', getBootId(), process.pid, own?.started ?? ''].join(':')
}

/** A run claimed on this host before its last start is over, whatever its process id is now. */
export async function isRunAlive({
  runId,
  here,
}: Pick<OrderClaim, 'runId' | 'here'>): Promise<boolean | null> {
  return (await isRunIdAlive(runId)) ?? (here ? false : null)
}

/** null: a run of another machine, about which nothing can be known here. */
async function isRunIdAlive(runId: string): Promise<boolean | null> {
  const [kind, boot, pid, ...rest] = runId.split(':')
  const started = rest.join(':')
  if (kind !== 'local' || boot !== getBootId()) return null
  const found = await findProcess(Number(pid))
  return found !== null && found.started === started
}

/** A run as people can find it. */
export function describeHolder(runId: string): string {
  const [kind, boot, pid] = runId.split(':')
  if (kind !== 'local') return `run ${runId}`
  return boot === getBootId()
    ? `process ${pid}`
    : `process ${pid} of another machine, or of before this one's last start,`
}

/**
 * What is known here of an order's run: `recorded` is the run id in the ledger, `runId` this process's, `mine`
 * what this process does about it now.
 */
export async function readRunFact(
  file: OrderFile | null,
  recorded: string | null,
  mine: 'running' | 'waiting' | null,
  runId: string,
): Promise<RunFacts | null> {
  if (file?.report) {
    if ('unreadable' in file.report)
      return { state: 'unreadable', runId: file.runId, reason: file.report.unreadable }
    return { state: 'reported', runId: file.runId, report: file.report }
  }
  const left = {
    ...(file?.partial ? { partial: file.partial } : {}),
    ...(file?.waitedSeconds === undefined ? {} : { waitedSeconds: file.waitedSeconds }),
  }
  if (mine !== null) return mine === 'running' ? { state: mine, ...left } : { state: mine }
  const holder = file?.runId ?? recorded
  if (holder === null) return null
  const gone = { state: 'gone', started: file?.started ?? false, runId: holder, ...left } as const
  if (holder === runId) return gone
  const alive = await isRunAlive({ runId: holder, here: file?.here ?? false })
  if (alive === null) return null
  return alive ? { ...toRunningFact(file !== null), ...left } : gone
}

/** It is claimed when its turn comes: until then other campaigns keep the machine, for as long as they take. */
function toRunningFact(claimed: boolean): Extract<RunFacts, { state: 'running' }> {
  return claimed ? { state: 'running' } : { state: 'running', queued: true }
}
