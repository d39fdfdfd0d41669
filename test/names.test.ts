import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const SRC = new URL('../src', import.meta.url).pathname

/** First words of function names. A new one belongs here if it is a verb that a newcomer would search for. */
const VERBS = new Set(
  `accept acquire add adopt advance aggregate allow analyze announce append apply approve archive are
   ask assess assign audit await back begin block build cache calibrate can
   cancel cap carry change check choose chunk claim classify clean clear close collect
   combine comment commit compare compile complete compose compute confirm continue convert copy
   count create cut decide decode dedupe defer delete describe detect diff digest disable dispatch
   draft draw drop edit enable encode end ensure enter escape estimate evaluate examine execute exit
   expand expire explain export extract fail fetch filter find finish fit flatten fold follow forget format
   freeze from gather generate get give group handle has hash hide highlight hold ignore import indent init
   inspect install interrupt is issue join judge keep label lay leave limit link list load locate
   log look lower make map mark mask match measure merge move name narrow needs
   neutralize normalise normalize note observe omit open order pack pair parse patch pause
   plan post predict prefix prepare print probe propose protect push queue quote raise rank read rebase
   rebuild recompute record recover redact reduce refer refuse register reject release remember
   remove render renew reopen replace replay report request require reserve reset resolve restart
   restore resume retry return reverse revert review rewrite rotate round run save score search
   select send serialize set settle share shift should show sign simulate sleep snapshot sort spawn
   split stage start stop store strip submit suggest sum summarize sync take tell test throw
   tick to trace track trim truncate try unescape unquote unwrap update verify wait walk watch
   weigh wipe with wrap write`.split(/\s+/),
)

const PREPOSITION = /(?:Of|In|At|By|From|To|For|On|With|Beside|After|Before)$/

interface Declaration {
  file: string
  name: string
  kind: 'function' | 'type'
  exported: boolean
}

function findDeclarations(dir: string): Declaration[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap(entry => {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) return findDeclarations(path)
    if (!entry.name.endsWith('.ts') || entry.name.endsWith('.d.ts')) return []
    const text = readFileSync(path, 'utf8').replaceAll(/`(?:[^`\\]|\\.)*`/g, '``')
    const found = text.matchAll(
      /^(?<exported>export )?(?:async )?(?<word>function\*?|interface|type|class) (?<name>\w+)/gm,
    )
    return [...found].map(({ groups = {} }): Declaration => {
      const { exported, word = '', name = '' } = groups
      const kind = word.startsWith('function') ? 'function' : 'type'
      return { file: relative(SRC, path), name, kind, exported: exported !== undefined }
    })
  })
}

const declarations = findDeclarations(SRC)
const functions = declarations.filter(({ kind }) => kind === 'function')

function listNames(found: readonly Declaration[]): string[] {
  return found.map(({ file, name }) => `${file}: ${name}`)
}

function findRepeated(found: readonly Declaration[]): string[] {
  const files = new Map<string, Set<string>>()
  for (const { name, file } of found) files.set(name, (files.get(name) ?? new Set()).add(file))
  return [...files]
    .filter(([, where]) => where.size > 1)
    .map(([name, where]) => `${name}: ${[...where].join(', ')}`)
}

describe('names in src', () => {
  it('of functions start with a verb', () => {
    const first = (name: string) => /^[a-z]+/.exec(name)?.[0] ?? ''
    expect(listNames(functions.filter(({ name }) => !VERBS.has(first(name))))).toEqual([])
  })

  it('of functions do not end in a preposition', () => {
    expect(listNames(functions.filter(({ name }) => PREPOSITION.test(name)))).toEqual([])
  })

  it('of types exist once', () => {
    expect(findRepeated(declarations.filter(({ kind }) => kind === 'type'))).toEqual([])
  })

  it('that are exported exist once', () => {
    expect(findRepeated(declarations.filter(({ exported }) => exported))).toEqual([])
  })
})
