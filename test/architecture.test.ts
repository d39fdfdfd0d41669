import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

/** A room may use those above it in this list, and nothing below (docs/architecture.md). */
const ROOMS = [
  'spec',
  'model',
  'decide',
  'plan',
  'git',
  'ledger',
  'measure',
  'github',
  'ideas',
  'judge',
  'dependencies',
  'report',
  'init',
  'engine',
  'cli',
  'action',
]
const SHARED = new Set(['errors.ts', 'ports.ts', 'version.ts'])
const PURE = ['model', 'decide', 'plan']
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
  return [...text.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)].map(match => ({
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

describe('the rooms of src', () => {
  it('are those of the architecture', () => {
    const found = readdirSync(SRC, { withFileTypes: true }).filter(entry => entry.isDirectory())
    expect(found.map(({ name }) => name).filter(name => !ROOMS.includes(name))).toEqual([])
  })

  it('depend only on rooms above them', () => {
    const wrong = imports.filter(each => {
      if (!each.target.startsWith('.') || !ROOMS.includes(each.room)) return false
      const target = targetRoom(each)
      return !SHARED.has(target) && ROOMS.indexOf(target) > ROOMS.indexOf(each.room)
    })
    expect(wrong).toEqual([])
  })

  it('keep effects out of the pure ones', () => {
    const allowed = new Set(['node:crypto', 'zod'])
    const wrong = imports.filter(
      ({ room, target }) => PURE.includes(room) && !target.startsWith('.') && !allowed.has(target),
    )
    expect(wrong).toEqual([])
    const impure = files.filter(path => {
      const [room = ''] = relative(SRC, path).split('/')
      return PURE.includes(room) && /Date\.now|Math\.random|process\./.test(readFileSync(path, 'utf8'))
    })
    expect(impure).toEqual([])
  })

  it('speak to GitHub in one place, which what measures cannot reach', () => {
    const speaking = imports.filter(({ target }) => target.startsWith('@octokit/'))
    expect(speaking.filter(({ file }) => !file.startsWith('github/'))).toEqual([])
    expect(ROOMS.indexOf('measure')).toBeLessThan(ROOMS.indexOf('github'))
  })

  it('hold no room that nobody can name', () => {
    const named = /(?:^|\/)(?:utils?|helpers?|common|misc|types|shared)\.ts$/
    expect(files.filter(path => named.test(path))).toEqual([])
  })
})
