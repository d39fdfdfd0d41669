import { z } from 'zod'
import { MODEL_KEY } from '../measure/secret-names.ts'
import { toSafeLine } from '../propose/quoted-text.ts'
import { parseJsonBody } from './chat-body.ts'

export interface ChatRefusal {
  /** Asking again may help. */
  again: boolean
  /** It may be about nothing but what was asked. */
  question: boolean
  /** Whether it may have been paid for: it was at work when it broke. */
  begun: boolean
  reason: string
}

interface RefusedChat {
  status: number
  body: string
  host: string
  model: string
  key: string
}

const said = z.object({
  error: z.union([
    z.string(),
    z.object({ message: z.string(), code: z.unknown().optional(), type: z.unknown().optional() }),
  ]),
})

const BUSY: ReadonlySet<number> = new Set([408, 409, 425, 429, 503, 529])
/** What filters of contents and limits of length answer with, and some a key or an account that is no good. */
const NOT_TAKEN: ReadonlySet<number> = new Set([400, 413, 422])

/** What an endpoint says instead of an answer, in the words of who can do something about it. */
export function describeChatRefusal(refused: RefusedChat): ChatRefusal {
  const { status } = refused
  const { words, code } = readErrorWords(refused)
  const reason = `${describeStatus(refused, code)} (${status})${words === '' ? '' : `: ${words}`}`
  if (code === 'insufficient_quota') return { again: false, question: false, begun: false, reason }
  if (BUSY.has(status)) return { again: true, question: false, begun: false, reason }
  const broke = status >= 500
  return { again: broke, question: NOT_TAKEN.has(status), begun: broke, reason }
}

function describeStatus({ status, host, model }: RefusedChat, code: string): string {
  if (code === 'insufficient_quota') return `the account at ${host} has nothing left to pay ${model} with`
  if (status === 401 || status === 403)
    return `${host} does not accept the key for ${model}: set ${MODEL_KEY} to a key that may ask it`
  if (status === 404) return `${host} has no model ${model}, or answers at another address`
  if (status >= 300 && status < 400) return `${host} points to another address: write that one`
  if (BUSY.has(status)) return `${host} is busy`
  return status >= 500 ? `${host} broke` : `${host} does not take the question to ${model}`
}

/** Never with the key in it, whoever put it there. */
function readErrorWords({ body, key }: RefusedChat): { words: string; code: string } {
  const { error } = said.safeParse(parseJsonBody(body)).data ?? { error: '' }
  const { message, code, type } =
    typeof error === 'string' ? { message: error, code: undefined, type: undefined } : error
  const told = key === '' ? message : message.replaceAll(key, '***')
  const codes = [code, type].filter(each => typeof each === 'string')
  const quota = codes.includes('insufficient_quota') ? 'insufficient_quota' : (codes[0] ?? '')
  return { words: toSafeLine(told, 300), code: quota }
}
