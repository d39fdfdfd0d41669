import { hashSha256 } from '../../model/canonical-json.ts'
import type { Order } from '../../model/order.ts'
import { joinStreams, type Report } from '../../model/report.ts'
import { measureOrder } from '../measure.ts'
import type { MeasureInput } from '../session.ts'
import { UnfitMachine } from './side-users.ts'

const MOST_CHARACTERS = 300

/**
 * Checks whether the project works under side users: sets up the pinned commit, which holds no experiment
 * code, runs its gates and runs the harness once. Null if it works. The measurements are discarded.
 */
export async function runDryRun(input: MeasureInput): Promise<string | null> {
  const why = await findDryRunFailure(input)
  return why && why.slice(0, MOST_CHARACTERS)
}

async function findDryRunFailure(input: MeasureInput): Promise<string | null> {
  try {
    // The dry run must not trigger the order's callbacks.
    const { onPartial: _partial, onExecution: _execution, ...bare } = input
    const report = await measureOrder({
      ...bare,
      order: buildDryRunOrder(input.order),
      onStart: async () => {},
      // A judged metric is not measured without this. No judge is asked.
      onItems: () => {},
    })
    const why = describeFirstFailure(report)
    return why && `as a separate user, ${why}`
  } catch (error) {
    if (error instanceof UnfitMachine) return `${error.message} (${error.fix})`
    throw error
  }
}

function buildDryRunOrder(order: Order): Order {
  return {
    ...order,
    id: hashSha256(`dry run ${order.id}`),
    coins: hashSha256(`dry run ${order.coins}`),
    purpose: 'calibration',
    base: order.pin,
    candidates: [],
    earlier_jobs: {},
    stop: { rule: 'calibrate', runs: 1 },
  }
}

function describeFirstFailure({
  setups,
  gates,
  executions,
  tampered,
  runner_error: failed,
}: Report): string | null {
  if (failed !== null) return `nothing ran: ${failed}`
  if (tampered !== null) return `the pinned commit changes ${tampered.path}`
  const setup = setups.find(({ ok }) => !ok)
  if (setup) return `the set-up fails: ${describeLastLine(joinStreams(setup.output))}`
  const gate = gates.find(({ passed }) => !passed)
  if (gate) return `gate ${gate.name} fails: ${describeLastLine(joinStreams(gate.output))}`
  const run = executions.find(({ status }) => status !== 'ok')
  if (run) return `the harness fails: ${describeLastLine(joinStreams(run.output) || run.error)}`
  return executions.length === 0 ? 'nothing ran' : null
}

function describeLastLine(text = ''): string {
  return text.trim().split('\n').at(-1) || 'it printed nothing'
}
