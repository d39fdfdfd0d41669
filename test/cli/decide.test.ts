import { describe, expect, it } from 'vitest'
import { project } from './project.ts'

function payload(candidate: number, more: object = {}): string {
  const spec = { metric: { primary: { name: 'ms', direction: 'minimize' } }, measurement: { stability: {} } }
  return JSON.stringify({
    spec,
    baseline: { metrics: { ms: 100 } },
    candidate: { metrics: { ms: candidate } },
    ...more,
  })
}

describe('winnow decide', () => {
  it('judges a payload from a file or from standard input', async () => {
    const { winnow, winnowWith, write } = project()
    write('payload.json', payload(50))
    const fromFile = await winnow('decide', 'payload.json')
    expect(fromFile.code).toBe(0)
    expect(JSON.parse(fromFile.out)).toMatchObject({ decision: 'keep', eligible: true, primary_delta: 50 })
    for (const argv of [['decide'], ['decide', '-']]) {
      expect((await winnowWith({ input: payload(50) }, ...argv)).out).toBe(fromFile.out)
    }
  })

  it('judges a stream, one line each', async () => {
    const input = `${payload(50)}\n\n${payload(150)}\n`
    const { out } = await project().winnowWith({ input }, 'decide', '--jsonl')
    const decisions = out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).decision)
    expect(decisions).toEqual(['keep', 'revert'])
  })

  it('reads a stream from a file as well', async () => {
    const { winnow, write } = project()
    write('all.jsonl', `${payload(50)}\n${payload(100)}\n`)
    expect((await winnow('decide', '--jsonl', 'all.jsonl')).out.trimEnd().split('\n')).toHaveLength(2)
  })

  it('names the line of a stream that is wrong, after answering those before it', async () => {
    const input = `${payload(50)}\n{"spec": 1}\n`
    const { code, out, err } = await project().winnowWith({ input }, 'decide', '--jsonl')
    expect(code).toBe(2)
    expect(out.trimEnd().split('\n')).toHaveLength(1)
    expect(err).toContain('line 2: payload')
    expect(err).toContain('fix: give {spec, baseline, candidate}')
  })

  it.each([
    ['nothing', '', 'payload: not JSON'],
    ['half a payload', '{"spec": {}', 'payload: not JSON'],
    ['a payload with another key', payload(1, { extra: 1 }), 'payload'],
  ])('says what is wrong with %s', async (_, input, expected) => {
    const { code, err } = await project().winnowWith({ input }, 'decide')
    expect([code, err]).toEqual([2, expect.stringContaining(expected)])
  })

  it('explains that a directory is not a payload', async () => {
    const { code, err } = await project().winnow('decide', '.')
    expect([code, err]).toEqual([2, expect.stringContaining('error: .: . cannot be read: EISDIR')])
  })

  it('says that a file is not there', async () => {
    expect((await project().winnow('decide', 'none.json')).err).toContain('there is no file none.json')
  })

  it('needs no repository', async () => {
    const { winnowWith } = project()
    expect((await winnowWith({ directory: '/', input: payload(50) }, 'decide')).code).toBe(0)
  })
})
