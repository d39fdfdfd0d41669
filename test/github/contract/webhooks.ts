import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { isJson, type Json, schemasIn } from './describe.ts'

export type EventName =
  | 'issue_comment'
  | 'pull_request'
  | 'pull_request_review'
  | 'workflow_run'
  | 'workflow_dispatch'

interface Webhooks {
  from: string[]
  /** The definition of each event. */
  events: Record<EventName, string>
  definitions: Record<string, Json>
  payloads: { event: EventName; payload: Json }[]
}

const FIXTURE = new URL('../../../fixtures/github/webhooks.json', import.meta.url)
const webhooks: Webhooks = JSON.parse(readFileSync(FIXTURE, 'utf8'))

/** What GitHub sent to somebody, for the events that start a workflow of winnow's; `extract.mjs` renews them. */
export const recorded = webhooks.payloads

const ajv = new Ajv({ strict: false, allErrors: true, logger: false })
formats.default(ajv)
ajv.addSchema({ $id: 'webhooks', definitions: webhooks.definitions })

/** What of a payload the published schema of its event does not allow. */
export function payloadWrongs(event: EventName, payload: unknown): string[] {
  const $id = `webhooks#/definitions/${webhooks.events[event]}`
  const validate = ajv.getSchema($id)
  if (!validate) throw new Error(`the webhook schemas have no ${event}`)
  if (validate(payload)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${event}${instancePath} ${message}`)
}

/** The kinds of an event, as `types:` of a workflow names them. */
export function actionsOf(event: EventName): string[] {
  return shapesOf(definition(webhooks.events[event])).flatMap(shape => {
    const of = propertyOf(shape, 'action')
    return of === null
      ? []
      : [of['const'], ...[of['enum']].flat()].flatMap(each => (typeof each === 'string' ? [each] : []))
  })
}

/** Whether every payload of an event has a value at a path, some have one, or no schema knows of it. */
export function presence(event: EventName, path: string): 'always' | 'sometimes' | 'never' {
  let shapes = shapesOf(definition(webhooks.events[event]))
  let always = true
  for (const key of path.split('.')) {
    const next = shapes.map(shape => propertyOf(shape, key))
    always &&= shapes.every((shape, index) => next[index] !== null && requiredIn(shape).has(key))
    shapes = next.flatMap(found => (found === null ? [] : shapesOf(found)))
    if (shapes.length === 0) return 'never'
  }
  return always ? 'always' : 'sometimes'
}

function definition(name: string): Json {
  const found = webhooks.definitions[name]
  if (!found) throw new Error(`the webhook schemas have no ${name}`)
  return found
}

/** A schema as the alternatives it is, each with what it is besides. */
function shapesOf(schema: Json): Json[] {
  const ref = schema['$ref']
  if (typeof ref === 'string') return shapesOf(definition(ref.split('/').at(-1) ?? ''))
  const choices = [...schemasIn(schema['oneOf']), ...schemasIn(schema['anyOf'])]
  return choices.length === 0 ? [schema] : choices.filter(({ type }) => type !== 'null').flatMap(shapesOf)
}

/** All that a shape is at once. */
function partsOf(shape: Json): Json[] {
  return [shape, ...schemasIn(shape['allOf']).flatMap(part => shapesOf(part).flatMap(partsOf))]
}

function propertyOf(shape: Json, key: string): Json | null {
  for (const { properties } of partsOf(shape)) {
    const found = isJson(properties) ? properties[key] : undefined
    if (isJson(found)) return found
  }
  return null
}

function requiredIn(shape: Json): Set<string> {
  return new Set(
    partsOf(shape).flatMap(({ required }) => (Array.isArray(required) ? required.map(String) : [])),
  )
}
