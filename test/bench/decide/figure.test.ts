import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { figure } from '../../../bench/decide/figure.ts'
import { parseOptions } from '../../../bench/decide/options.ts'

const DOCS = new URL('../../../docs/', import.meta.url)

describe('the figure of docs/deciding.md', () => {
  it('is what the command drew that stands below it', () => {
    const page = readFileSync(new URL('deciding.md', DOCS), 'utf8')
    const args = /npm run bench:decide -- (--figure --seed \w+)/.exec(page)?.[1]?.split(' ') ?? []
    const { form, seed } = parseOptions(args)
    expect(form).toBe('figure')
    expect(`${figure(seed)}\n`).toBe(readFileSync(new URL('evidence.svg', DOCS), 'utf8'))
  })

  it('is another one for another seed', () => {
    expect(figure('a')).not.toBe(figure('b'))
    expect(figure('a')).toBe(figure('a'))
  })
})
