/**
 * Writes fixtures/github: the part of GitHub's own descriptions that winnow uses, small enough to commit.
 * `node test/github/contract/extract.mjs` fetches the packages into a temporary directory; with newer
 * versions in PACKAGES it brings the fixtures up to date.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, print, visit } from 'graphql'
import { EVENTS, GRAPHQL, OPERATIONS, PACKAGES, RECORDED } from './used.mjs'

const OUT = new URL('../../../fixtures/github/', import.meta.url).pathname
const NOISE = new Set(['description', 'summary', 'example', 'examples', 'title', 'externalDocs', 'tags'])

function packed({ name, version, file }, dir) {
  const options = { cwd: dir, encoding: 'utf8' }
  execFileSync('npm', ['pack', '--silent', `${name}@${version}`], options)
  const archive = `${name.slice(1).replace('/', '-')}-${version}.tgz`
  execFileSync('tar', ['-xzf', archive, `package/${file}`], options)
  return readFileSync(join(dir, 'package', file), 'utf8')
}

/** OpenAPI 3.0 says `nullable`, JSON Schema says so with a type. */
function plain(value, inProperties = false) {
  if (Array.isArray(value)) return value.map(each => plain(each))
  if (value === null || typeof value !== 'object') return value
  const result = {}
  for (const [key, each] of Object.entries(value)) {
    if (!inProperties && (key.startsWith('x-') || NOISE.has(key))) continue
    if (!inProperties && key === 'nullable') continue
    result[key] = plain(each, key === 'properties' && !inProperties)
  }
  return inProperties || value.nullable !== true ? result : orNull(result)
}

function orNull(schema) {
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  const values = schema.enum && !schema.enum.includes(null) ? { enum: [...schema.enum, null] } : {}
  return { ...schema, type: [schema.type, 'null'], ...values }
}

function operation(description, route) {
  const [method, path] = route.split(' ')
  const shared = description.paths[path]
  const found = shared?.[method.toLowerCase()]
  if (!found) throw new Error(`GitHub describes no ${route}`)
  const resolve = each => (each.$ref ? at(description, each.$ref) : each)
  const parameters = [...(shared.parameters ?? []), ...(found.parameters ?? [])].map(resolve)
  const answers = Object.entries(found.responses).map(([status, each]) => [status, schemaOf(resolve(each))])
  return {
    parameters: parameters.map(({ name, in: where, required = false, schema }) => ({
      name,
      in: where,
      required,
      schema: plain(schema),
    })),
    body: found.requestBody ? plain(schemaOf(found.requestBody)) : null,
    answers: Object.fromEntries(answers.map(([status, schema]) => [status, plain(schema)])),
  }
}

function schemaOf({ content = {} }) {
  const media = content['application/json'] ?? Object.values(content)[0]
  return media?.schema ?? null
}

function at(description, ref) {
  return ref
    .slice(2)
    .split('/')
    .reduce((value, key) => value[key], description)
}

function restDescription(description) {
  const operations = Object.fromEntries(OPERATIONS.map(route => [route, operation(description, route)]))
  const schemas = {}
  const pending = [operations]
  while (pending.length > 0) {
    for (const [, name] of JSON.stringify(pending.pop()).matchAll(/#\/components\/schemas\/([\w-]+)/g)) {
      if (schemas[name]) continue
      schemas[name] = plain(description.components.schemas[name])
      pending.push(schemas[name])
    }
  }
  return { operations, components: { schemas } }
}

function graphqlSchema(sdl) {
  const document = parse(sdl)
  const wanted = new Set(Object.keys(GRAPHQL))
  const named = new Map(document.definitions.map(each => [each.name?.value, each]))
  const isOutput = ({ kind }) => /^(Object|Interface|Union)TypeDefinition$/.test(kind)
  const slim = definition =>
    visit(definition, {
      enter: node => {
        if (node.kind === 'StringValue' && node === definition.description) return null
        if (node.kind === 'FieldDefinition' && !GRAPHQL[definition.name.value]?.includes(node.name.value))
          return null
        if (node.kind === 'UnionTypeDefinition')
          return {
            ...node,
            description: undefined,
            types: node.types.filter(each => wanted.has(each.name.value)),
          }
        return node.description || node.directives?.length
          ? { ...node, description: undefined, directives: [] }
          : undefined
      },
    })
  const kept = new Map()
  function take(name) {
    const definition = named.get(name)
    if (!definition || kept.has(name) || (isOutput(definition) && !wanted.has(name))) return
    const reduced = { ...slim(definition), description: undefined }
    if (reduced.interfaces)
      reduced.interfaces = reduced.interfaces.filter(({ name: { value } }) =>
        GRAPHQL[value]?.every(field => GRAPHQL[name]?.includes(field)),
      )
    kept.set(name, reduced)
    visit(reduced, {
      NamedType: node => {
        take(node.name.value)
      },
    })
  }
  for (const name of wanted) take(name)
  const types = [...kept.values()].toSorted((a, b) => a.name.value.localeCompare(b.name.value))
  return types.map(each => print(each)).join('\n\n')
}

function webhookSchemas({ definitions }) {
  const kept = {}
  const pending = Object.keys(EVENTS).map(eventDefinition)
  function eventDefinition(event) {
    const name = [`${event}_event`, `${event}$event`].find(each => each in definitions)
    if (name === undefined) throw new Error(`the webhook schemas have no ${event}`)
    return name
  }
  const events = Object.fromEntries(Object.keys(EVENTS).map(event => [event, eventDefinition(event)]))
  while (pending.length > 0) {
    const name = pending.pop()
    if (kept[name]) continue
    kept[name] = plain(definitions[name])
    for (const [, next] of JSON.stringify(kept[name]).matchAll(/"#\/definitions\/([^"]+)"/g))
      pending.push(next)
  }
  return { events, definitions: kept }
}

function recordedPayloads(recorded) {
  return Object.entries(EVENTS).flatMap(([event, actions]) => {
    const { examples } = recorded.find(({ name }) => name === event)
    return Object.entries(actions).flatMap(([action, most]) =>
      examples
        .filter(payload => (payload.action ?? '') === action)
        .slice(-most)
        .map(payload => ({ event, payload })),
    )
  })
}

/** Of a list only what leads to its other pages. */
function recordedExchanges(dir) {
  return Object.entries(RECORDED).flatMap(([scenario, methods]) => {
    const file = `${PACKAGES.recorded.file}/${scenario}/normalized-fixture.json`
    const exchanges = JSON.parse(packed({ ...PACKAGES.recorded, file }, dir))
    return exchanges
      .filter(({ method }) => methods.includes(method))
      .map(({ method, path, body, status, response, headers: { link } }) => ({
        scenario,
        method: method.toUpperCase(),
        path,
        status,
        ...(link === undefined ? { body, response } : { link }),
      }))
  })
}

const dir = mkdtempSync(join(tmpdir(), 'winnow-contract-'))
try {
  const rest = restDescription(JSON.parse(packed(PACKAGES.rest, dir)))
  const stamp = ({ name, version }) => `${name}@${version}`
  writeFileSync(
    join(OUT, 'openapi.json'),
    `${JSON.stringify({ from: stamp(PACKAGES.rest), ...rest }, null, 1)}\n`,
  )
  const schema = graphqlSchema(packed(PACKAGES.graphql, dir))
  writeFileSync(join(OUT, 'schema.graphql'), `# from ${stamp(PACKAGES.graphql)}\n\n${schema}\n`)
  const webhooks = webhookSchemas(JSON.parse(packed(PACKAGES.webhooks, dir)))
  const payloads = recordedPayloads(JSON.parse(packed(PACKAGES.payloads, dir)))
  const from = [stamp(PACKAGES.webhooks), stamp(PACKAGES.payloads)]
  writeFileSync(join(OUT, 'webhooks.json'), `${JSON.stringify({ from, ...webhooks, payloads }, null, 1)}\n`)
  const exchanges = recordedExchanges(dir)
  const recorded = { from: stamp(PACKAGES.recorded), exchanges }
  writeFileSync(join(OUT, 'recorded.json'), `${JSON.stringify(recorded, null, 1)}\n`)
} finally {
  rmSync(dir, { recursive: true })
}
