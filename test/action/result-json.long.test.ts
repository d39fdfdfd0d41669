import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fitJson, MOST_CHARACTERS, parseJsonText, setOutputs } from '../../src/action/outputs.ts'
import { scratch } from '../git/scratch.ts'
import { outputsIn } from './a-runner.ts'

type Answer = Record<string, unknown>

function fitting(value: unknown): Answer {
  const json = fitJson(JSON.stringify(value))
  expect(json.length).toBeLessThanOrEqual(MOST_CHARACTERS)
  return JSON.parse(json) as Answer
}

const lots = (count: number, of: (at: number) => unknown) => Array.from({ length: count }, (_, at) => of(at))

describe('the answer of a command as an output', () => {
  it('is what it was where there is room, to the last character', () => {
    const json = JSON.stringify({ campaign: 'size', why: 'x'.repeat(MOST_CHARACTERS - 28) })
    expect(json).toHaveLength(MOST_CHARACTERS)
    expect(fitJson(json)).toBe(json)
    expect(fitJson('')).toBe('')
    expect(fitJson('no such campaign')).toBe('no such campaign')
  })

  it('loses the ends of long texts first, and says so', () => {
    const answer = { status: 'paused', why: 'y'.repeat(600_000), waiting: { for: 'person', what: 'a' } }
    expect(fitting(answer)).toEqual({
      ...answer,
      why: `${'y'.repeat(2000)}…`,
      cut: 'texts after 2000 characters, lists and lower objects after 10000 entries',
    })
  })

  it('then what comes last in lists and in lower objects; the names of the first level stay', () => {
    const counts = Object.fromEntries(lots(30_000, at => [`exp-${at}`, 'z'.repeat(20)]) as [string, string][])
    const { refused, experiments, ended, cut } = fitting({
      refused: lots(3_000, () => 'r'.repeat(500)),
      experiments: counts,
      ended: 30_000,
    })
    expect(refused).toHaveLength(100)
    expect(Object.keys(experiments as object)).toEqual(lots(100, at => `exp-${at}`))
    expect(ended).toBe(30_000)
    expect(cut).toBe('texts after 300 characters, lists and lower objects after 100 entries')
  })

  it('is at the last what is plain, of what nests too much for anything else', () => {
    const deep = lots(10, () =>
      lots(10, () => lots(10, () => lots(10, () => lots(10, () => 'w'.repeat(100))))),
    )
    expect(fitting({ status: 'running', spent: 3.5, paused: false, none: null, deep })).toEqual({
      status: 'running',
      spent: 3.5,
      paused: false,
      none: null,
      cut: 'everything but plain values of the first level',
    })
    const names = Object.fromEntries(lots(9_000, at => [`${at}`.repeat(200), 1]) as [string, number][])
    expect(Object.keys(fitting(names))).toContain('cut')
  })

  it('that is a list, or no JSON, stands beside the word', () => {
    expect(fitting(lots(20_000, () => 'v'.repeat(40)))).toEqual({
      result: lots(10_000, () => 'v'.repeat(40)),
      cut: expect.stringContaining('10000 entries'),
    })
    const said = JSON.parse(fitJson('not found '.repeat(60_000))) as Answer
    expect(said['result']).toBe(`${'not found '.repeat(200)}…`)
  })

  it('holds no half character', () => {
    const { why } = fitting({ why: `x${'\u{1f600}'.repeat(300_000)}` })
    expect(String(why)).not.toMatch(/\p{Surrogate}/u)
  })

  it('always fits, is always JSON, and says where it was cut', () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 3 }), fc.nat(4), (value, power) => {
        const whole = { value: lots(10 ** power, () => value), count: power }
        const json = JSON.stringify(whole)
        const told = fitting(whole)
        expect(told['count']).toBe(power)
        expect(Object.hasOwn(told, 'cut')).toBe(json.length > MOST_CHARACTERS)
      }),
      { numRuns: 60 },
    )
  })
})

it('is cut where it is written, beside the other outputs', () => {
  const file = join(scratch(), 'output')
  const answer = { error: 'e '.repeat(600_000) }
  vi.stubEnv('GITHUB_OUTPUT', file)
  onTestFinished(() => void vi.unstubAllEnvs())
  setOutputs({ 'result-json': JSON.stringify(answer), artifact: 'winnow-a' })
  const { 'result-json': told = '', artifact } = outputsIn(readFileSync(file, 'utf8'))
  expect(artifact).toBe('winnow-a')
  expect(JSON.parse(told)).toEqual({
    error: `${'e '.repeat(1000)}…`,
    cut: expect.stringContaining('texts after 2000 characters'),
  })
})

it('what is no JSON is told apart from null', () => {
  expect([parseJsonText('null'), parseJsonText(''), parseJsonText('[1')]).toEqual([
    null,
    undefined,
    undefined,
  ])
})
