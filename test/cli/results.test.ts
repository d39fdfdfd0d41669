import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { resultsSchema } from '../../src/report/results.ts'
import { FILES, project, SHORT, SPEC } from './project.ts'

const GATED = {
  ...FILES,
  '.winnow/size.yaml': SPEC.replace('test -s src/value', 'echo "not ok 1 - keeps a"; grep -q a src/value'),
}

const RESULTS = '.winnow/results/size/exp-001/results.yaml'

describe('winnow results', () => {
  it('prints everything that was measured of one experiment, as the ledger holds it', async () => {
    const person = project()
    person.write('src/value', SHORT)
    expect((await person.winnow('try', '-m', 'half as long')).code).toBe(0)

    const { code, out } = await person.winnow('results', '1')
    expect(code).toBe(0)
    const printed = resultsSchema.parse(parse(out))
    expect(printed).toMatchObject({
      summary: expect.stringMatching(/^Kept: bytes 100 -> 50 \(-50\.0 %\)/),
      spec: 'size',
      experiment: 'exp-001',
      hypothesis: 'half as long',
      verdict: 'kept',
      outcome: 'kept',
      failure_class: null,
      effect: {
        metric: 'bytes',
        direction: 'minimize',
        scale: 'linear',
        value: 50,
        interval: null,
        pairs: 0,
      },
      evidence: null,
      metrics: { bytes: { base: 100, candidate: 50, samples: { base: [100], candidate: [50] } } },
      gates: [{ name: 'tests', kind: 'command', passed: true, exit_code: 0, timed_out: false }],
      failed: null,
      diff: { files: 1, added: 1, deleted: 1, paths: ['M src/value +1 -1'] },
      base: { commit: person.git('rev-parse', 'main') },
      candidate: { branch: expect.stringMatching(/^optimize-exp\/size\//) },
      cost: { judge_usd: 0 },
    })
    expect(Object.keys(printed.metrics)[0]).toBe('bytes')
    expect(printed.cost.executions).toBeGreaterThanOrEqual(4)
    const stored = parse(person.git('show', 'optimize-state/size:results/exp-001.yaml'))
    expect({ ...stored, links: printed.links }).toEqual(printed)
    const kept = person.git(
      'log',
      '--format=%H',
      '--full-history',
      '--diff-filter=A',
      'optimize-closed/size',
      '--',
      RESULTS,
    )
    expect(parse(person.git('show', `${kept}:${RESULTS}`))).toEqual(stored)
  })

  it('holds the failing test of a gate, and lists all experiments', async () => {
    const person = project(GATED)
    person.write('src/value', `${'b'.repeat(49)}\n`)
    expect((await person.winnow('try', '-m', 'no a left')).code).toBe(13)
    person.write('src/value', SHORT)
    expect((await person.winnow('try', '-m', 'half as long')).code).toBe(0)

    const all = JSON.parse((await person.winnow('results', '--json')).out)
    expect(all.map((one: { experiment: string; verdict: string }) => [one.experiment, one.verdict])).toEqual([
      ['exp-001', 'broken'],
      ['exp-002', 'kept'],
    ])
    expect(resultsSchema.parse(all[0])).toMatchObject({
      failure_class: 'hypothesis',
      effect: null,
      gates: [{ name: 'tests', passed: false, exit_code: 1 }],
      failed: { what: 'gate tests', output: { failing: ['not ok 1 - keeps a'], stderr: '' } },
    })
    const texts = (await person.winnow('results')).out
      .split('---\n')
      .map(text => resultsSchema.parse(parse(text)))
    expect(texts).toEqual(all)
    expect((await person.winnow('results', '9')).code).toBe(2)
  })
})
