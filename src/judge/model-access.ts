import { z } from 'zod'
import { UserError } from '../errors.ts'
import { MODEL_KEY } from '../measure/environment.ts'
import { tryParseJson } from '../model/canonical-json.ts'
import type { Fetch } from '../ports.ts'
import type { Spec } from '../spec/schema.ts'
import { type Endpoint, parseEndpoint, resolveModel } from './endpoint.ts'

/** US dollars for a million tokens. */
export interface Price {
  input: number
  output: number
}

export interface ModelAccess {
  endpoint: Endpoint
  key: string
  model: string
  /** Null: unknown. */
  price: Price | null
}

interface ModelSettings {
  env: Readonly<Record<string, string>>
  /** The models of the spec, with their prices. */
  models: Spec['models']
  web: Fetch
}

const MODEL_URL = 'WINNOW_MODEL_URL'
const MODEL_PRICE = 'WINNOW_MODEL_PRICE'

export function hasModelUrl(env: Readonly<Record<string, string>>): boolean {
  return (env[MODEL_URL] ?? '') !== ''
}

/** winnow remembers no price: it comes from the spec, else from the environment, else from the endpoint. */
export async function readModelAccess(settings: ModelSettings, name: string): Promise<ModelAccess> {
  const { env, models } = settings
  const { endpoint, key } = readEndpoint(env)
  const model = resolveModel(endpoint, name)
  const given = models.find(({ id, price }) => price !== null && (id === model || id === name))?.price
  const price = given ?? readPrice(env) ?? (await fetchListedPrice(settings, { endpoint, key, model }))
  return { endpoint, key, model, price }
}

export function readEndpoint(env: Readonly<Record<string, string>>): Pick<ModelAccess, 'endpoint' | 'key'> {
  const key = env[MODEL_KEY] ?? ''
  if (hasModelUrl(env)) return { endpoint: parseEndpoint(env[MODEL_URL] ?? '', key), key }
  throw new UserError('the spec needs a model, but no address of a model is set', {
    place: { path: MODEL_URL },
    fix: `set ${MODEL_URL}, as in https://api.openai.com/v1, and ${MODEL_KEY}`,
  })
}

function readPrice(env: Readonly<Record<string, string>>): Price | null {
  const text = env[MODEL_PRICE] ?? ''
  if (text === '') return null
  const [, input, output] = /^(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(text.trim()) ?? []
  if (input !== undefined && output !== undefined) return { input: Number(input), output: Number(output) }
  throw new UserError(`${MODEL_PRICE} is ${JSON.stringify(text)}`, {
    fix: 'write US dollars for a million tokens of input and output, as in 0.4/1.6',
  })
}

// The prices that an endpoint lists

const LIST_TIMEOUT_MS = 20_000
const MOST_LIST_BYTES = 16 * 1024 * 1024
const MILLION = 1_000_000

/** Number reads a blank text as 0: a model without a price would be free. */
const dollars = z
  .union([z.string().regex(/\S/), z.number()])
  .transform(Number)
  .pipe(z.number().nonnegative())
/** OpenRouter's form, which gateways share: US dollars for a token, and for a request. */
const listedModel = z.object({
  id: z.string(),
  pricing: z.object({ prompt: dollars, completion: dollars, request: dollars.optional() }),
})

/** Null where the endpoint lists no price, gives no list, or charges for each request as well. */
async function fetchListedPrice(
  { web }: Pick<ModelSettings, 'web'>,
  { endpoint, key, model }: Omit<ModelAccess, 'price'>,
): Promise<Price | null> {
  const list = z.object({ data: z.array(z.unknown()) }).safeParse(await fetchModels(web, endpoint, key)).data
  for (const each of list?.data ?? []) {
    const { data } = listedModel.safeParse(each)
    if (data?.id !== model || (data.pricing.request ?? 0) > 0) continue
    return { input: data.pricing.prompt * MILLION, output: data.pricing.completion * MILLION }
  }
  return null
}

async function fetchModels(web: Fetch, endpoint: Endpoint, key: string): Promise<unknown> {
  const headers = { accept: 'application/json', ...(key === '' ? {} : { authorization: `Bearer ${key}` }) }
  const signal = AbortSignal.timeout(LIST_TIMEOUT_MS)
  try {
    const response = await web(`${endpoint.url}/models`, { headers, redirect: 'manual', signal })
    const body = await readLimitedBody(response, MOST_LIST_BYTES)
    return response.status === 200 ? tryParseJson(body) : null
  } catch {
    return null
  }
}

export async function readLimitedBody(response: Awaited<ReturnType<Fetch>>, most: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > most) throw new Error(`it is larger than ${most} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
