import { type ControllerContext, executeEffect } from '../engine/apply.ts'
import { requireHome } from '../engine/home.ts'
import { type Observation, observe } from '../engine/observe.ts'
import { openController, requireCampaign } from '../engine/session.ts'
import { UserError } from '../errors.ts'
import type { OrderId } from '../model/ids.ts'
import { toShortId } from '../report/event-line.ts'
import { withCampaign, type CommandContext } from './at-campaign.ts'
import type { Call } from './call.ts'
import { allowMeasuring } from './comments/allow-measuring.ts'
import { measureFile } from './order-file.ts'
import type { Verb } from './verb.ts'

export const measureVerb: Verb = {
  name: 'measure',
  group: 'more',
  summary: 'measure orders of the campaign on this machine; the next tick takes their reports in',
  access: 'write',
  arguments: [
    { name: 'order', summary: 'the id of one order or its beginning; all by default', required: false },
  ],
  options: [
    { name: 'order', value: 'file', summary: 'an order as a file, measured without a ledger' },
    { name: 'spec', value: 'file', summary: 'with --order: the spec it was issued under' },
    { name: 'report', value: 'file', summary: 'with --order: where the report goes' },
  ],
  examples: [
    'winnow measure',
    'winnow measure --order order.json --spec .winnow/parser.yaml --report report.json',
  ],
  exits: { 13: 'the harness failed', 14: 'an order is being measured elsewhere', 130: 'interrupted' },
  comment: { options: [], run: allowMeasuring },
  async run(call) {
    if (call.given.text('order') !== undefined) return measureFile(call)
    refuseFileOptions(call)
    return withCampaign(call, { access: 'write', startedOnly: true }, scene => measureLive(call, scene))
  },
}

function refuseFileOptions({ given }: Call): void {
  for (const name of ['spec', 'report']) {
    if (given.text(name) === undefined) continue
    throw new UserError(`--${name} means nothing without --order`, { fix: 'give --order FILE as well' })
  }
}

async function measureLive(call: Call, scene: CommandContext): Promise<number> {
  const { terminal, given, interrupt } = call
  requireHome(scene.place, (await requireCampaign(scene.place)).loaded.campaign)
  const hands = await openController(scene.place, interrupt)
  const seen = await observe(hands)
  const open = seen === null ? [] : listOpenOrders(seen, given.positionals[0])
  if (seen === null || open.length === 0) {
    terminal.out('No order is waiting to be measured.')
    return 0
  }
  const { ready, elsewhere } = selectReadyOrders(seen, open)
  for (const line of elsewhere) terminal.out(line)
  if (scene.dryRun) {
    for (const id of ready) {
      terminal.out(`would measure order ${toShortId(id)} and write its report for the next tick`)
      scene.dryRun.files.push(`the report on order ${toShortId(id)}, below ${scene.place.dataDir}`)
    }
    return 0
  }
  await measureOrders(hands, seen, ready, interrupt)
  if (interrupt.aborted) return 130
  for (const id of ready) terminal.out(`order ${toShortId(id)} is measured; winnow tick takes its report in`)
  return elsewhere.length > 0 ? 14 : 0
}

function listOpenOrders({ world }: Observation, beginning: string | undefined): OrderId[] {
  const open = Object.values(world.campaign.orders).filter(({ report }) => report === null)
  const ids = open.map(({ order }) => order.id)
  if (beginning === undefined) return ids
  const [found, another] = ids.filter(id => id.startsWith(beginning))
  if (found === undefined) {
    const fix = ids.length === 0 ? 'none is waiting' : `waiting are ${ids.map(toShortId).join(', ')}`
    throw new UserError(`no order that is waiting begins with ${beginning}`, { fix })
  }
  if (another !== undefined)
    throw new UserError(`several orders begin with ${beginning}`, { fix: 'give more of it' })
  return [found]
}

/** An order that some run has taken is its business: measuring it here as well could only be thrown away. */
function selectReadyOrders({ world }: Observation, open: readonly OrderId[]) {
  const ready: OrderId[] = []
  const elsewhere: string[] = []
  for (const id of open) {
    const run = world.runs.get(id)
    const dispatched = world.campaign.orders[id]?.run_id ?? null
    if (run?.state === 'reported')
      elsewhere.push(`order ${toShortId(id)} is measured already; winnow tick takes it in`)
    else if (run?.state === 'running')
      elsewhere.push(`order ${toShortId(id)} is being measured by another process`)
    else if (run === undefined && dispatched === null) ready.push(id)
    else if (run?.state === 'gone' && !run.started && dispatched === null) ready.push(id)
    else elsewhere.push(`order ${toShortId(id)} belongs to a run that ended; winnow run goes on with it`)
  }
  return { ready, elsewhere }
}

async function measureOrders(
  hands: ControllerContext,
  seen: Observation,
  orders: readonly OrderId[],
  interrupt: AbortSignal,
): Promise<void> {
  const stop = () => {
    for (const order of orders) void hands.runner.cancel(order)
  }
  interrupt.addEventListener('abort', stop, { once: true })
  try {
    for (const order of orders) await executeEffect(hands, seen, { do: 'dispatch', order })
    while (orders.some(order => hands.runner.holds(order))) await hands.runner.settled()
  } finally {
    interrupt.removeEventListener('abort', stop)
  }
}
