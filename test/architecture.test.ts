import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

/** The four layers, and inside them the rooms that a room may use. A layer may use all layers above it. */
const LAYERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  core: {
    spec: [],
    model: ['spec'],
    decide: ['spec', 'model'],
    probes: ['spec', 'model', 'decide'],
    plan: ['spec', 'model', 'decide', 'probes'],
    report: ['spec', 'model', 'decide', 'probes', 'plan'],
  },
  adapters: {
    git: [],
    ledger: ['git'],
    measure: ['git'],
    github: ['git', 'ledger'],
    ideas: ['git', 'measure'],
    judge: ['ledger', 'measure'],
    dependencies: [],
    init: ['ideas', 'judge', 'measure'],
  },
  engine: { engine: [] },
  edges: { cli: [], action: ['cli'] },
}
const ALLOWED_ROOMS = new Map(
  Object.values(LAYERS).flatMap((layer, index) => {
    const above = Object.values(LAYERS).slice(0, index).flatMap(Object.keys)
    return Object.entries(layer).map(
      ([room, beside]) => [room, new Set([room, ...above, ...beside])] as const,
    )
  }),
)
const CORE = Object.keys(LAYERS['core'] ?? {})
/** Files of `src` itself that every room may use. */
const SHARED = new Set(['errors.ts', 'ports.ts', 'version.ts'])
const SRC = new URL('../src', import.meta.url).pathname

interface Import {
  file: string
  room: string
  target: string
}

function sources(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap(entry => {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) return sources(path)
    return entry.name.endsWith('.ts') ? [path] : []
  })
}

function importsOf(path: string): Import[] {
  const text = readFileSync(path, 'utf8')
  const file = relative(SRC, path)
  const [room = ''] = file.split('/')
  const found = [...text.matchAll(/(?:^import |^(?:import|export|\}).* from |\bimport\()'([^'\n]+)'/gm)]
  // The text of a harness imports JavaScript of the user's project.
  return found
    .filter(match => !/^\..*\.js$/.test(match[1] ?? ''))
    .map(match => ({
      file,
      room,
      target: match[1] ?? '',
    }))
}

const files = sources(SRC)
const imports = files.flatMap(importsOf)

function targetRoom({ file, target }: Import): string {
  return normalize(join(dirname(file), target)).split('/')[0] ?? ''
}

/** Lists the groups of files that import each other, by values or by types. */
function findCycles(): string[][] {
  const edges = new Map(files.map(path => [relative(SRC, path), new Set<string>()]))
  for (const { file, target } of imports)
    if (target.startsWith('.')) edges.get(file)?.add(normalize(join(dirname(file), target)))
  const reached = new Map([...edges.keys()].map(file => [file, collectReached(file, edges)]))
  const circular = [...edges.keys()].filter(file => reached.get(file)?.has(file))
  const groups = circular.map(file =>
    circular.filter(other => reached.get(file)?.has(other) && reached.get(other)?.has(file)).toSorted(),
  )
  return [...new Map(groups.map(group => [group.join(), group])).values()]
}

function collectReached(from: string, edges: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>()
  const pending = [from]
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    for (const next of edges.get(file) ?? []) {
      if (reached.has(next)) continue
      reached.add(next)
      pending.push(next)
    }
  }
  return reached
}

/** Comments and strings may name effects. */
function removeTexts(code: string): string {
  return code.replaceAll(/\/\*\*.*?\*\/|'[^'\n]*'|`[^`$]*`/gs, '')
}

describe('the rooms of src', () => {
  it('are those of the layers', () => {
    const found = readdirSync(SRC, { withFileTypes: true }).filter(entry => entry.isDirectory())
    expect(found.map(({ name }) => name).toSorted()).toEqual([...ALLOWED_ROOMS.keys()].toSorted())
  })

  it('import their own layer as the table says, and layers above it', () => {
    const wrong = imports.filter(each => {
      const allowed = ALLOWED_ROOMS.get(each.room)
      if (!each.target.startsWith('.') || allowed === undefined) return false
      const target = targetRoom(each)
      return !SHARED.has(target) && !allowed.has(target)
    })
    expect(wrong).toEqual([])
  })

  it('import no file in a circle, not even its types', () => {
    expect(findCycles()).toEqual([])
  })

  it('keep effects out of the core', () => {
    const allowed = new Set(['immer', 'node:crypto', 'node:path', 'string-width', 'yaml', 'zod'])
    const wrong = imports.filter(
      ({ room, target }) => CORE.includes(room) && !target.startsWith('.') && !allowed.has(target),
    )
    expect(wrong).toEqual([])
    const impure = files.filter(path => {
      const [room = ''] = relative(SRC, path).split('/')
      return (
        CORE.includes(room) &&
        /Date\.now|Math\.random|process\./.test(removeTexts(readFileSync(path, 'utf8')))
      )
    })
    expect(impure).toEqual([])
  })

  it('speak to GitHub in one place, which what measures cannot reach', () => {
    const places: [packages: RegExp, rooms: RegExp][] = [
      [/^(?:@octokit\/|undici$)/, /^github\//],
      [/^@actions\/github$/, /^(?:github|action)\//],
      [/^@actions\/core$/, /^action\//],
    ]
    for (const [packages, rooms] of places) {
      const speaking = imports.filter(({ target }) => packages.test(target))
      expect(speaking.length).toBeGreaterThan(0)
      expect(speaking.filter(({ file }) => !rooms.test(file))).toEqual([])
    }
    expect(ALLOWED_ROOMS.get('measure')?.has('github')).toBe(false)
  })

  it('hold no room that nobody can name', () => {
    const named = /(?:^|\/)(?:utils?|helpers?|common|misc|types|shared)\.ts$/
    expect(files.filter(path => named.test(path))).toEqual([])
  })
})
