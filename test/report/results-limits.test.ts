import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { hashSha256, toCanonicalJson } from '../../src/model/canonical-json.ts'
import type { MetricValues } from '../../src/model/report.ts'
import { ExperimentRecord } from '../../src/report/experiment.ts'
import { type ChangedPath, MOST_PATHS } from '../../src/report/diff-summary.ts'
import {
  buildResults,
  MOST_METRICS,
  MOST_SAMPLES,
  renderResultsYaml,
  resultsSchema,
} from '../../src/report/results.ts'
import { run } from '../decide/a-spec.ts'
import { campaign } from '../plan/a-campaign.ts'

/** What results.yaml holds of one experiment with these executions of both sides. */
function read(runs: readonly MetricValues[], diff: ChangedPath[] | null = null) {
  const built = campaign().withExperiment().ordered()
  const executions = runs.flatMap(metrics => [run('base', metrics), run('exp-001', metrics)])
  built.measured({ 'exp-001': { executions } })
  const record = new ExperimentRecord('exp-001')
  for (const event of built.events) record.take(event)
  const experiment = built.experiment('exp-001')
  const yaml = renderResultsYaml(buildResults({ spec: 'size', experiment, record, ending: null, diff }))
  return resultsSchema.parse(parse(yaml))
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

describe('results.yaml', () => {
  it('contains all samples up to a limit, then their digest', () => {
    const all = upTo(MOST_SAMPLES)
    expect(read(all.map(bytes => ({ bytes }))).metrics['bytes']?.samples).toEqual({
      base: all,
      candidate: all,
    })
    const more = upTo(MOST_SAMPLES + 1)
    const digest = { count: 61, sha256: hashSha256(toCanonicalJson(more)), min: 1, max: 61 }
    expect(read(more.map(bytes => ({ bytes }))).metrics['bytes']).toEqual({
      base: 31,
      candidate: 31,
      samples: { base: digest, candidate: digest },
    })
  })

  it('omits and counts further metrics, but none that the spec names', () => {
    const others = (count: number) => Object.fromEntries(upTo(count).map(at => [`other_${at}`, at]))
    const within = read([{ ...others(MOST_METRICS), bytes: 5 }])
    expect([Object.keys(within.metrics).length, within.metrics_left_out]).toEqual([MOST_METRICS + 1, 0])
    const past = read([{ ...others(MOST_METRICS + 3), bytes: 5 }])
    expect([Object.keys(past.metrics).length, past.metrics_left_out]).toEqual([MOST_METRICS + 1, 3])
    expect(Object.keys(past.metrics)[0]).toBe('bytes')
    expect(past.metrics).not.toHaveProperty(`other_${MOST_METRICS + 1}`)
  })

  it('lists paths up to a limit and counts all', () => {
    const diff = upTo(MOST_PATHS + 1).map(at => ({ status: 'M', path: `src/${at}`, added: 2, deleted: 1 }))
    const { files, added, deleted, paths } = read([{ bytes: 5 }], diff).diff ?? {}
    expect([files, added, deleted]).toEqual([101, 202, 101])
    expect(paths).toEqual(diff.slice(0, MOST_PATHS).map(({ path }) => `M ${path} +2 -1`))
  })
})
