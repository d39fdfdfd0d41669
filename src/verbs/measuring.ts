import { join } from 'node:path'
import { refuseDamagedCache } from '../engine/damaged-cache.ts'
import { measureWithLock, type MachineLockState } from '../engine/measuring-turn.ts'
import type { RepositoryContext } from '../engine/open.ts'
import type { MeasureInput } from '../measure/input.ts'
import { measureOrder } from '../measure/measure.ts'
import { type Workspace, chooseWorkspace } from '../measure/users/lodging.ts'
import type { Order } from '../model/order.ts'
import type { Report } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call } from './call.ts'
import type { MeasuringTime } from './measuring-time.ts'

interface MeasureRequest {
  order: Order
  spec: Spec
  place: string
  /** For whoever has to wait for it. */
  what: string
  /** What a person may watch, or leave unprotected, and the engine never does. */
  more?: Pick<MeasureInput, 'onExecution' | 'onItems' | 'unpinned'>
  /** Counts while this measures, and not while it waits for its turn. */
  time?: MeasuringTime
}

/** An order measured for the person at the command line: no ledger, and a work directory of its own. */
export async function measureHere(
  call: Call,
  workshop: RepositoryContext,
  asked: MeasureRequest,
): Promise<Report> {
  const { around, interrupt } = call
  const machine = { ...around, machineDir: workshop.machineDir }
  const done = await measureWithLock(machine, asked, interrupt, async turn => {
    interrupt.throwIfAborted()
    asked.time?.begins()
    try {
      const report = await measureOrder(buildMeasureInput(call, workshop, asked, turn))
      return { report: await refuseDamagedCache(workshop.repository, around.env, report) }
    } finally {
      asked.time?.ends()
    }
  })
  interrupt.throwIfAborted()
  if (done === null) throw new Error('a measurement was given up without an interruption')
  return done.report
}

/** Where it is measured: whoever watches looks there as well. */
export function locateWorkspace(
  { dataDir }: Pick<RepositoryContext, 'dataDir'>,
  spec: Spec,
  place: string,
): Workspace {
  return chooseWorkspace(spec, join(dataDir, 'work', place))
}

function buildMeasureInput(
  { around, interrupt }: Call,
  { repository, dataDir, checkout }: RepositoryContext,
  { order, spec, place, more = {} }: MeasureRequest,
  { beside }: MachineLockState,
): MeasureInput {
  return {
    ...more,
    beside,
    order,
    spec,
    runId: around.by.run_id,
    repository,
    ...locateWorkspace({ dataDir }, spec, place),
    sharedRoot: checkout.topLevel,
    env: around.env,
    now: () => around.clock.now(),
    monotonic: () => around.clock.monotonic(),
    signal: interrupt,
    onStart: async () => {},
  }
}
