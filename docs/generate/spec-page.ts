import { unbuilt } from './spec-unbuilt.ts'
import { halvesOf, type Key, type KeySchema, keysBelow, plainText, valuesText } from './spec-keys.ts'

/** The reference of the spec, from the schema that validates it and that editors read. */
export function specPage(schema: unknown): string {
  const { winnow, ce } = halvesOf(schema)
  const inCe = new Map(keysBelow(ce).map(key => [key.path, key]))
  const keys = keysBelow(winnow)
  const sections = new Set(keys.filter(({ path }) => /^[a-z_]+(?:\[\])?\./.test(path)).map(topOf))
  const top = keys.filter(key => !sections.has(topOf(key)))
  const parts = [...sections].flatMap(name => [
    `## ${name}`,
    '',
    ...keys.filter(({ path }) => path === name).map(sectionText),
    '',
    ...tableOf(
      keys.filter(key => topOf(key) === name && key.path !== name),
      inCe,
    ),
  ])
  return `${[...HEAD, '## Top level', '', ...tableOf(top, inCe), ...parts].join('\n').trimEnd()}\n`
}

const HEAD = [
  '# The spec: `.winnow/<name>.yaml`',
  '',
  '<!-- Written by `npm run docs` from the schema: change src/spec, not this page. -->',
  '',
  'What to improve, how to measure it, and what may change. The smallest one that works:',
  '',
  '```yaml',
  'winnow: 1',
  'measurement: { command: node bench/parse.mjs }   # timed by winnow; need not print anything',
  'gates: [{ name: tests, command: npm test }]      # must pass before speed counts',
  'scope: { mutable: [src/] }                       # everything else is refused, so the benchmark is safe',
  '```',
  '',
  "`winnow: 1` selects winnow's defaults; without it the file is a ce-optimize spec. Every key is legal in both, only",
  'defaults differ: "ce:" comes before the default of a ce spec. A key that is not below is an error, and `winnow check`',
  'says what was meant. `[]` is an entry of a list; **required** marks a key that its mapping must have. The schema accepts',
  'a key that is *not built yet*; `winnow check` refuses it, and names what to use instead.',
  '',
  'A ce-optimize spec is decided by the rules of ce-optimize: it compares with a stored score, which noise can mislead.',
  '',
  'Benchmark tools whose output is read as it is: [adapters](adapters.md). How noisy numbers are decided:',
  '[deciding](deciding.md).',
  '',
]

function topOf({ path }: Key): string {
  return /^[a-z_]+/.exec(path)?.[0] ?? path
}

function tableOf(keys: readonly Key[], inCe: ReadonlyMap<string, Key>): string[] {
  const rows = keys.map(key => {
    const { path, schema, variant } = key
    const name = variant === null ? `\`${path}\`` : `\`${path}\` (\`${variant}\`)`
    const cells = [name, valuesText(schema), defaultCell(key, inCe.get(path)), meaning(path, schema)]
    return `| ${cells.map(cellText).join(' | ')} |`
  })
  return ['| key | value | default | meaning |', '|---|---|---|---|', ...rows, '']
}

function sectionText(key: Key): string {
  const own = defaultText(key)
  const standard = own === '' || own === '**required**' ? [] : [`Default: ${own}.`]
  return [meaning(key.path, key.schema), ...standard].join(' ')
}

function cellText(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/<(?=[a-z])/g, '&lt;')
}

function defaultCell(key: Key, other: Key | undefined): string {
  const own = defaultText(key)
  if (key.path === 'winnow' || other === undefined || other.variant !== key.variant) return own
  const theirs = defaultText(other)
  return own === theirs ? own : `${own === '' ? 'none' : own} (ce: ${theirs === '' ? 'none' : theirs})`
}

/** A mapping is what its keys are: `{}` would say nothing. */
function defaultText({ schema, required, choice }: Key): string {
  if (required) return choice ? '**one of these**' : '**required**'
  if (schema.default === undefined) return ''
  if (JSON.stringify(schema.default) === '{}' && !mayBeNull(schema)) return ''
  return `\`${plainText(schema.default)}\``
}

function mayBeNull({ anyOf = [] }: KeySchema): boolean {
  return anyOf.some(({ type }) => type === 'null')
}

function meaning(path: string, schema: KeySchema): string {
  const examples = (schema.examples ?? []).map(example => `\`${plainText(example)}\``)
  const shown = examples.length === 0 ? [] : [`Example: ${examples.join(', ')}.`]
  return [schema.description ?? '', ...shown, ...unbuilt(path, schema)].join(' ')
}
