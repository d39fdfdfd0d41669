import { z } from 'zod'
import { buildSpecSchema, type SpecRules } from './schema.ts'

type JsonObject = Record<string, unknown>

const WINNOW_KEY = {
  const: 1,
  description: "Selects winnow's defaults; without it the file is a ce-optimize spec.",
}

/** Removes the bounds that zod adds to every integer: they say nothing about the key. */
function removeIntegerLimits(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
}

/** Restores the default and the examples, which zod omits for transformed values such as percentages. */
function restoreDefault(schema: z.core.$ZodTypes, written: z.core.JSONSchema.BaseSchema): void {
  if (schema instanceof z.ZodDefault) written.default ??= schema.def.defaultValue
  const examples = z.globalRegistry.get(schema)?.examples
  if (Array.isArray(examples)) written.examples ??= examples
}

function buildRulesSchema(rules: SpecRules): JsonObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(buildSpecSchema(rules), {
    io: 'input',
    target: 'draft-07',
    override: ({ zodSchema, jsonSchema }) => {
      removeIntegerLimits(jsonSchema)
      restoreDefault(zodSchema, jsonSchema)
    },
  })
  return schema
}

/**
 * Describes both kinds of spec in one schema, selected by the key `winnow`. Uses draft 7, because the YAML servers of
 * editors support no newer draft fully.
 */
export function buildSpecJsonSchema(): JsonObject {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'winnow spec',
    description: 'What to improve, how to measure it, and what may change.',
    type: 'object',
    properties: { winnow: WINNOW_KEY },
    if: { required: ['winnow'] },
    // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema's own keyword
    then: { $ref: '#/definitions/winnow' },
    else: { $ref: '#/definitions/ce' },
    definitions: { winnow: buildRulesSchema('winnow'), ce: buildRulesSchema('ce') },
  }
}

/** Renders the exact content of `schema/spec.schema.json`. */
export function renderSpecJsonSchema(): string {
  return `${JSON.stringify(buildSpecJsonSchema(), null, 2)}\n`
}
