import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { untouched } from '../git/untouched.ts'
import { type Project, project } from './project.ts'

const PAGE = readFileSync(new URL('../../docs/compare.md', import.meta.url), 'utf8')
const FORMULA = 'exports.sum = count => (count * (count + 1)) / 2\n'

/** The project of the page. */
function sums(): Project {
  const person = project({
    'sum.js': `exports.sum = count => {
  let total = 0
  for (let i = 1; i <= count; i++) total += Math.sqrt(i * i)
  return total
}
`,
    'bench.js': "const { sum } = require('./sum.js')\nsum(40_000_000)\n",
    'size.js': "console.log(JSON.stringify({ bytes: require('node:fs').statSync('sum.js').size }))\n",
  })
  person.git('checkout', '-qb', 'formula')
  person.commit('formula', { 'sum.js': FORMULA })
  person.git('checkout', '-q', 'main')
  return person
}

interface Shown {
  command: string
  output: string
}

function shown(): Shown[] {
  return [...PAGE.matchAll(/^```\n\$ winnow (.*)\n([\s\S]*?)```$/gm)].map(
    ([, command = '', output = '']) => ({
      command,
      output,
    }),
  )
}

/** Times and what noise decides come out differently each time; the words do not. A quieter metric depends on the machine. */
function shape(output: string): string {
  return output
    .replace(/^ {2}\w+ is quieter: .*\n/gm, '')
    .replace(/(?:less than )?\d+ (?:s|min)\b/g, 'TIME')
    .replace(/▕.*▏/g, 'BAR')
    .replace(/(?<=[ (])\d+(?:\.\d+)?(?= |$|\))/gm, 'N')
}

function argvOf(command: string): string[] {
  return (command.match(/"[^"]*"|\S+/g) ?? []).map(word => word.replaceAll('"', ''))
}

describe('docs/compare.md', () => {
  it('shows what its commands print', async () => {
    const person = sums()
    for (const { command, output } of shown()) {
      if (/compare main --/.test(command)) person.write('sum.js', FORMULA)
      const checkout = untouched(person.dir, 'no-prefix')
      const { code, out, err } = await person.winnow(...argvOf(command))
      expect([command, shape(out), code], err).toEqual([command, shape(output), 0])
      checkout.check()
    }
  })

  it('has an example of each kind', () => {
    expect(shown()).toHaveLength(3)
  })
})
