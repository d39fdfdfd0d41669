import { isReportingPurpose, buildOrderSubject } from '../../src/model/order.ts'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import { applyEvent } from '../../src/model/fold/fold.ts'
import type { Point } from '../../src/model/ids.ts'

type Issued = LedgerEvent<'order-issued'>
type Moved = LedgerEvent<'incumbent-moved'>

/** What must hold of any ledger, whatever happened to the campaign; one line for each thing that does not. */
export function violations(events: readonly LedgerEvent[]): string[] {
  return [...chainBreaks(events), ...doubleDecisions(events), ...crowdedOrders(events)]
}

/** Invariant 1: every tip is a tree that was measured against the one before it, or is named with its proof. */
function chainBreaks(events: readonly LedgerEvent[]): string[] {
  const found: string[] = []
  const orders = new Map<string, Issued>()
  const measured = new Set<string>()
  const unread = new Set<string>()
  let incumbent: Point | null = null
  for (const event of events) {
    if (event.kind === 'campaign-started') incumbent = event.start
    if (event.kind === 'order-issued') orders.set(event.id, event)
    if (event.kind === 'measured') measured.add(event.order)
    // Nothing that measures reads what it brings: that is the audit's to show.
    if (event.kind === 'synced' && event.order === null) unread.add(event.to.commit)
    if (event.kind !== 'incumbent-moved') continue
    if (event.from.commit !== incumbent?.commit) found.push(`${event.seq}: moved from another tip`)
    const proofs = [...orders.values()].filter(order => measured.has(order.id) && proves(order, event))
    const isUnread = event.why === 'synced' && unread.has(event.to.commit)
    if (proofs.length === 0 && !isUnread)
      found.push(`${event.seq}: ${event.why} without a measurement of its tree`)
    incumbent = event.to
  }
  return found
}

function proves({ base, candidates }: Issued, { from, to, why }: Moved): boolean {
  const trees = candidates.map(({ tree }) => tree)
  if (why === 'reverted') return trees.includes(to.tree) || base.tree === to.tree
  return base.tree === from.tree && trees.includes(to.tree)
}

function doubleDecisions(events: readonly LedgerEvent[]): string[] {
  const seen = new Set<string>()
  return events.flatMap(event => {
    const kinds = ['decided', 'closed', 'merged', 'experiment-opened', 'order-issued', 'measured'] as const
    const kind = kinds.find(each => each === event.kind)
    // What is not proven may be taken up again, and has another verdict then.
    if (kind === undefined || (event.kind === 'decided' && event.stays_open)) return []
    const about = 'experiment' in event ? event.experiment : 'order' in event ? event.order : event.id
    const key = `${kind === 'merged' ? 'closed' : kind} ${String(about)}`
    const repeated = seen.has(key)
    seen.add(key)
    return repeated ? [`${event.seq}: ${key} again`] : []
  })
}

function crowdedOrders(events: readonly LedgerEvent[]): string[] {
  const campaign = createEmptyCampaign()
  return events.flatMap(event => {
    applyEvent(campaign, event)
    const live = Object.values(campaign.orders).filter(({ report }) => report === null)
    const labels = live.map(({ order }) => {
      const [candidate] = order.candidates
      return isReportingPurpose(order.purpose)
        ? buildOrderSubject(order)
        : (candidate?.label ?? order.purpose)
    })
    return new Set(labels).size < labels.length ? [`${event.seq}: two live orders for one thing`] : []
  })
}
