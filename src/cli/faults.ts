import { UserError } from '../errors.ts'
import type { Faults } from '../ports.ts'

/**
 * For tests only: `WINNOW_FAULT=<point>:<n>` ends this process as `kill -9` would, the n-th time it gets there.
 * Points have colons of their own, so the last one counts.
 */
export function parseFaults(setting: string | undefined): Faults {
  if (setting === undefined || setting === '') return { reach: () => {} }
  const [, point = '', count = ''] = /^(.+):([1-9]\d*)$/.exec(setting) ?? []
  if (point === '') {
    throw new UserError(`WINNOW_FAULT is ${JSON.stringify(setting)}`, {
      fix: 'unset it; it is for tests and reads <point>:<n>',
    })
  }
  let left = Number(count)
  return {
    reach(reached) {
      if (reached !== point) return
      left -= 1
      if (left === 0) process.kill(process.pid, 'SIGKILL')
    },
  }
}
