import { z } from 'zod'
import type { ModelQuestion } from '../ports.ts'
import type { Tokens } from './budget.ts'
import type { Maker } from './maker.ts'

/** One question as the OpenAI-compatible interface takes it, in JSON mode, and as much of the same as a model offers. */
export function buildChatBody({ model, system, user, maxTokens }: ModelQuestion, maker: Maker): string {
  return JSON.stringify({
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    response_format: { type: 'json_object' },
    [maker.limit]: maxTokens,
    ...(maker.ownTemperature?.test(model) === true ? {} : { temperature: 0 }),
  })
}

/** What goes around the messages; no model needs more. */
const AROUND = 100

/** A token is never less than a byte of what it stands for. */
export function computeMaxTokens({ system, user, maxTokens }: ModelQuestion): Tokens {
  const bytes = new TextEncoder().encode(system + user).length
  return { input: bytes + AROUND, output: maxTokens }
}

const tokens = z.object({
  prompt_tokens: z.number().int().nonnegative(),
  completion_tokens: z.number().int().nonnegative(),
})
const completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  /** Not every server says it. */
  usage: tokens.nullish().catch(null),
})

export interface ChatAnswer {
  text: string
  complete: boolean
  tokens: Tokens | null
}

/** Null: whatever it is, it is no answer of this interface. */
export function readChatAnswer(body: string): ChatAnswer | null {
  const parsed = completion.safeParse(parseJsonBody(body))
  const choice = parsed.data?.choices[0]
  if (choice === undefined) return null
  const { message, finish_reason: ended } = choice
  const said = parsed.data?.usage
  return {
    text: message.content ?? '',
    complete: ended === undefined || ended === null || ended === 'stop',
    tokens: said ? { input: said.prompt_tokens, output: said.completion_tokens } : null,
  }
}

export function parseJsonBody(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // A page of a gateway, or half an answer: whoever reads it finds nothing of what is looked for.
    return null
  }
}
