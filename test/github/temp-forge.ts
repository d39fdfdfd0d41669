import { ForgeError } from '../../src/errors.ts'
import type { Forge, ForgeChange, NewPull } from '../../src/github/port.ts'
import type { Pull, Review } from '../../src/github/pull.ts'
import type { Oid } from '../../src/model/ids.ts'

export const BASE = 'optimize/demo'

type Single<K extends ForgeChange['kind']> = Omit<Extract<ForgeChange, { kind: K }>, 'kind' | 'number'>

/** The forge, and single changes that throw where it refuses. */
export interface SingleForge extends Forge {
  open(pull: NewPull): Promise<number>
  update(number: number, edit: Single<'update'>): Promise<void>
  comment(number: number, body: string, options?: Partial<Single<'comment'>>): Promise<void>
  /** What a person does in the browser. */
  review(number: number, review: NewReview): Promise<void>
  close(number: number): Promise<void>
}

/** A review with a verdict: an approval, or a request for changes. */
export type NewReview = Pick<Review, 'commit' | 'state'>

/** What a test of the forge needs: one of ada's, others', and hands on the branches. */
export interface AnyForge {
  forge: SingleForge
  git(...args: string[]): string
  /** A forge of somebody else. */
  other(author: string): Promise<SingleForge>
  /** A new commit on a branch, on top of it or of the base branch. */
  commit(branch: string): Oid
  /** A merge commit on the base branch with the head of this one, as a landing makes it. */
  merge(branch: string): Oid
  deleteBranch(branch: string): void
  /** How often anything was written. */
  writes(): number
  only(number: number): Promise<Pull>
  remove(): Promise<void>
}

export function pullOf(branch: string, rest: Partial<NewPull> = {}): NewPull {
  return { branch, base: BASE, title: `try ${branch}`, body: 'because', ...rest }
}

export function withSingleChanges(forge: Forge, review: SingleForge['review']): SingleForge {
  async function change(one: ForgeChange): Promise<number> {
    const [answer] = await forge.batch([one])
    if (answer?.ok === true) return answer.number
    if (answer?.code === 'refused') throw answer.error
    throw new ForgeError(answer?.message ?? `the forge did not answer to ${one.kind}`)
  }

  return {
    ...forge,
    open: pull => change({ kind: 'open', ...pull }),
    async update(number, edit) {
      await change({ kind: 'update', number, ...edit })
    },
    async comment(number, body, options = {}) {
      await change({ kind: 'comment', number, body, marker: body, ...options })
    },
    review,
    async close(number) {
      await change({ kind: 'close', number })
    },
  }
}

export async function only(forge: Forge, number: number): Promise<Pull> {
  const found = (await forge.list({ numbers: [number] })).find(pull => pull.number === number)
  if (found === undefined) throw new Error(`there is no #${number}`)
  return found
}
