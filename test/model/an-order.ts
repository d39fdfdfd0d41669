import type { Order } from '../../src/model/order.ts'

const POINT = { commit: '2'.repeat(40), tree: '3'.repeat(40) }

/** Of one experiment, but for what is said. */
export function anOrder(changes: Partial<Order> = {}): Order {
  return {
    id: 'a'.repeat(64),
    purpose: 'experiment',
    round: 1,
    attempt: 1,
    spec_sha256: 'b'.repeat(64),
    harness: 'c'.repeat(64),
    pin: POINT,
    base: POINT,
    candidates: [{ label: 'exp-001', head: '1'.repeat(40), tree: '4'.repeat(40) }],
    coins: '0123456789abcdef'.repeat(4),
    earlier_jobs: {},
    stop: { rule: 'alone' },
    deadline: '2999-01-01T00:00:00Z',
    ...changes,
  }
}
