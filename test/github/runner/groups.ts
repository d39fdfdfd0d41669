import { isJson } from '../contract/describe.ts'
import { toText } from './expressions.ts'

/** A run or a job that enters a group of concurrency. */
export interface Member {
  /** GitHub cancels it because another one took its place. */
  cancel(): void
}

interface Group {
  running: Member
  waiting: Member[]
}

export interface Concurrency {
  group: string
  cancelInProgress: boolean
  queue: 'single' | 'max'
}

const LONGEST_QUEUE = 100

/** Reads `concurrency` after its expressions were evaluated. */
export function toConcurrency(value: unknown): Concurrency | null {
  if (value === null || value === undefined || value === '') return null
  if (!isJson(value)) return { group: toText(value), cancelInProgress: false, queue: 'single' }
  const cancelInProgress = toText(value['cancel-in-progress']) === 'true'
  const queue = value['queue'] === 'max' ? 'max' : 'single'
  if (queue === 'max' && cancelInProgress)
    throw new Error("concurrency: 'queue: max' and 'cancel-in-progress: true' exclude each other")
  return { group: toText(value['group']), cancelInProgress, queue }
}

/** At most one member of a group runs. One waits, the newest; with `queue: max` a hundred, the oldest first. */
export class Groups {
  readonly #groups = new Map<string, Group>()

  /** Whether a member may run; it waits in its group if not. */
  enter({ group: name, cancelInProgress, queue }: Concurrency, member: Member): boolean {
    const group = this.#groups.get(name.toLowerCase())
    if (!group) {
      this.#groups.set(name.toLowerCase(), { running: member, waiting: [] })
      return true
    }
    if (group.running === member) return true
    if (group.waiting.includes(member)) return false
    if (queue === 'single') for (const each of group.waiting.splice(0)) each.cancel()
    if (group.waiting.length >= LONGEST_QUEUE) {
      member.cancel()
      return false
    }
    group.waiting.push(member)
    if (cancelInProgress) group.running.cancel()
    return false
  }

  /** A member ended, or waits no longer. */
  leave({ group: name }: Concurrency, member: Member): void {
    const group = this.#groups.get(name.toLowerCase())
    if (!group) return
    group.waiting = group.waiting.filter(each => each !== member)
    if (group.running !== member) return
    const next = group.waiting.shift()
    if (next) group.running = next
    else this.#groups.delete(name.toLowerCase())
  }
}
