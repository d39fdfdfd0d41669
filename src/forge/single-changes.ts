import { ForgeError } from '../errors.ts'
import type { Forge, ForgeChange } from './port.ts'

/** The single changes are batches of one: a refusal, which a batch answers, is an error here. */
export function withSingleChanges(core: Pick<Forge, 'kind' | 'list' | 'batch' | 'stage'>): Forge {
  async function change(one: ForgeChange): Promise<number> {
    const [answer] = await core.batch([one])
    if (answer?.ok === true) return answer.number
    if (answer?.code === 'refused') throw answer.error
    throw new ForgeError(answer?.message ?? `the forge did not answer to ${one.kind}`)
  }

  return {
    ...core,
    open: pull => change({ kind: 'open', ...pull }),
    async update(number, edit) {
      await change({ kind: 'update', number, ...edit })
    },
    async comment(number, body, options = {}) {
      await change({ kind: 'comment', number, body, ...options })
    },
    async review(number, review) {
      await change({ kind: 'review', number, ...review })
    },
    async label(number, edit) {
      await change({ kind: 'label', number, ...edit })
    },
    async close(number, reason) {
      await change({ kind: 'close', number, reason })
    },
  }
}
