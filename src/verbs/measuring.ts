import { join } from 'node:path'
import type { Workshop } from '../engine/open.ts'
import type { measure } from '../measure/measure.ts'
import type { Order } from '../model/order.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call } from './call.ts'

/** An order measured for the person at the command line: no ledger, and a work directory of its own. */
export function measuringFor(
  { around, interrupt }: Call,
  { repository, dataDir, checkout }: Workshop,
  what: { order: Order; spec: Spec; place: string },
): Parameters<typeof measure>[0] {
  return {
    order: what.order,
    spec: what.spec,
    runId: around.by.run_id,
    repository,
    workDir: join(dataDir, 'work', what.place),
    sharedRoot: checkout.topLevel,
    env: around.env,
    now: () => around.clock.now(),
    monotonic: () => around.clock.monotonic(),
    signal: interrupt,
    onStart: async () => {},
  }
}
