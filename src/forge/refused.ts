import { ForgeError } from '../errors.ts'

/**
 * The forge says no to one thing, and would say so again: that costs this thing, and nothing else that is to be done.
 * A token that it does not know, a limit, and a server that is busy are about everything.
 */
export function isRefusal(error: unknown): error is ForgeError {
  if (!(error instanceof ForgeError)) return false
  const { status = 0, output = '' } = error.detail
  return status >= 400 && status < 500 && !ABOUT_ALL.has(status) && !/rate limit/i.test(output)
}

const ABOUT_ALL: ReadonlySet<number> = new Set([401, 407, 408, 429])
