import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const DIST = new URL('../../dist', import.meta.url).pathname
const KB = 1000
const BUDGET_KB = { action: 3200, cli: 3200, index: 3200, measure: 1500, propose: 1500 }

/** How a bundle names a chunk that it loads with itself, and how also one that it loads when it is asked for. */
const AT_ONCE = ['"']
const EVER = ['"', '`', "'"]

/** An entry with every chunk that it loads so. */
function loaded(entry: string, quotes: readonly string[], found = new Set<string>()): Set<string> {
  if (found.has(entry)) return found
  found.add(entry)
  const text = readFileSync(join(DIST, entry), 'utf8')
  // Doc comments of packages name files of theirs in the same way.
  const chunks = readdirSync(DIST).filter(name =>
    quotes.some(each => text.includes(`${each}./${name}${each}`)),
  )
  for (const chunk of chunks) loaded(chunk, quotes, found)
  return found
}

const sizeOf = (entry: string, quotes: readonly string[]) =>
  [...loaded(entry, quotes)].reduce((sum, chunk) => sum + statSync(join(DIST, chunk)).size, 0) / KB

describe('what is shipped', () => {
  it.each(Object.entries(BUDGET_KB))('%s loads at most %i kB, now and ever', (entry, most) => {
    expect(sizeOf(`${entry}.js`, EVER)).toBeLessThanOrEqual(most)
  })

  it('counts what is loaded later: the action is nothing without it', () => {
    expect(sizeOf('action.js', EVER)).toBeGreaterThan(20 * sizeOf('action.js', AT_ONCE))
  })

  it('lets the action start at once: before its command is known it loads a fiftieth of what there is', () => {
    expect(sizeOf('action.js', AT_ONCE)).toBeLessThan(sizeOf('cli.js', AT_ONCE) / 50)
    const packages = readFileSync(join(DIST, 'action.js'), 'utf8').match(/from ?"(?!node:|\.\/)[^"]+"/g)
    expect(packages).toBeNull()
  })

  it('is at most 6 MB as a whole', () => {
    const sizes = readdirSync(DIST).map(name => statSync(join(DIST, name)).size / KB)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(6000)
  })

  it.each(['lib-github.js', 'lib-undici.js'])('loads %s only where GitHub or a proxy is asked', library => {
    for (const entry of ['action.js', 'cli.js', 'index.js'])
      expect([...loaded(entry, AT_ONCE)]).not.toContain(library)
    for (const entry of ['action.js', 'cli.js']) expect([...loaded(entry, EVER)]).toContain(library)
  })

  it.each(['measure.js', 'propose.js'])('keeps what speaks to GitHub or the network out of %s', entry => {
    const text = readFileSync(join(DIST, entry), 'utf8')
    for (const module of [
      'node:https',
      'node:http',
      'node:net',
      'node:tls',
      'node:dgram',
      'https',
      'http',
      'net',
      'tls',
      'undici',
    ])
      expect(text).not.toMatch(new RegExp(`["'\`]${module}["'\`]`))
    expect(text).not.toMatch(/\bfetch\(["'`]http/)
    expect([...loaded(entry, AT_ONCE)].filter(name => name.startsWith('lib-'))).toEqual([])
  })

  it('lets nothing of measure.js reach the network, and of propose.js only what asks models behind a proxy', () => {
    expect([...loaded('measure.js', EVER)]).toEqual(['measure.js'])
    expect([...loaded('propose.js', EVER)]).toEqual([
      'propose.js',
      'propose-lib-undici.js',
      'propose-runtime.js',
    ])
  })
})
