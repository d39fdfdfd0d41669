import { UserError } from '../errors.ts'
import { MODEL_KEY } from '../measure/secret-names.ts'
import { type Endpoint, parseEndpoint, resolveModel } from '../models/endpoint.ts'
import { type Price, findPrice } from '../models/maker.ts'

/** Where models are asked, with what, and what that costs. */
export interface ModelAccess {
  endpoint: Endpoint
  key: string
  model: string
  /** Null: not known. */
  price: Price | null
}

const MODEL_URL = 'WINNOW_MODEL_URL'
const MODEL_PRICE = 'WINNOW_MODEL_PRICE'

/** Whether anything says where models are asked. */
export function hasModelUrl(env: Readonly<Record<string, string>>): boolean {
  return (env[MODEL_URL] ?? '') !== ''
}

/** What the person's environment says of models; the spec only names one. */
export function readModelAccess(env: Readonly<Record<string, string>>, name: string): ModelAccess {
  const key = env[MODEL_KEY] ?? ''
  if (!hasModelUrl(env))
    throw new UserError('a model is to judge, and nothing says where one is asked', {
      place: { path: MODEL_URL },
      fix: `set ${MODEL_URL}, as in https://api.openai.com/v1, and ${MODEL_KEY}`,
    })
  const endpoint = parseEndpoint(env[MODEL_URL] ?? '', key)
  const model = resolveModel(endpoint, name)
  const told = env[MODEL_PRICE] ?? ''
  return { endpoint, key, model, price: told === '' ? findPrice(endpoint.maker, model) : parsePrice(told) }
}

function parsePrice(told: string): Price {
  const [, input, output] = /^(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(told.trim()) ?? []
  if (input !== undefined && output !== undefined) return { input: Number(input), output: Number(output) }
  throw new UserError(`${MODEL_PRICE} is ${JSON.stringify(told)}`, {
    fix: 'write US dollars for a million tokens of input and output, as in 0.4/1.6',
  })
}
