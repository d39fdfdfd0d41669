import { isJson, type Json } from '../contract/describe.ts'
import { payloadWrongs, recorded } from '../contract/webhooks.ts'

/** Events that have the payload of another. */
const PAYLOAD_OF: Readonly<Record<string, string>> = { pull_request_target: 'pull_request' }

/** A payload with everything that GitHub sends besides, and what its published schema does not allow of it. */
export function completePayload(event: string, payload: Json): { payload: Json; wrongs: string[] } {
  const name = PAYLOAD_OF[event] ?? event
  const alike = recorded.filter(each => each.event === name && isWellFormed(each))
  const found = alike.find(each => each.payload['action'] === payload['action']) ?? alike[0]
  if (!found) return { payload, wrongs: [] }
  const whole = merge(found.payload, payload)
  return { payload: whole, wrongs: payloadWrongs(found.event, whole) }
}

/** Some were recorded before GitHub sent everything that it sends now. */
function isWellFormed({ event, payload }: (typeof recorded)[number]): boolean {
  return payloadWrongs(event, payload).length === 0
}

function merge(under: Json, over: Json): Json {
  const merged = Object.entries(over).map(([key, value]) => {
    const below = under[key]
    return [key, isJson(value) && isJson(below) && key !== 'inputs' ? merge(below, value) : value]
  })
  return { ...under, ...Object.fromEntries(merged) }
}
