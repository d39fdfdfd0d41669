import { describe, expect, it } from 'vitest'
import { ExperimentRecord } from '../../src/report/experiment.ts'
import { type CampaignBuilder, SPEC } from '../plan/a-campaign.ts'
import { settle } from '../plan/a-world.ts'
import { answered, GAIN, measuredOut, noisy, NOTHING, SWAYING } from '../plan/noisy.ts'

/** What the results of an experiment are made of, from all events before the one that closes it or from those noted. */
function records({ events }: CampaignBuilder, id: string, noted: readonly number[]) {
  const told = (from: typeof events) => {
    const record = new ExperimentRecord(id)
    for (const event of from) record.take(event)
    const { measurements, decided, story } = record
    return { measurements, decided, story }
  }
  const end = events.findIndex(event => event.kind === 'closed' && event.experiment === id)
  const before = events.slice(0, end === -1 ? undefined : end)
  return { all: told(before), few: told(before.filter(({ seq }) => noted.includes(seq))) }
}

describe('the events that results consist of', () => {
  it('are recorded while an experiment is open, and suffice for its results', () => {
    const built = noisy(`${SPEC}execution: { max_concurrent: 2 }\n`).withExperiments(2)
    settle(built)
    const sides = { 'exp-001': SWAYING, 'exp-002': NOTHING }
    built.lost('exp-001')
    for (let jobs = 0; jobs < 3; jobs++) {
      settle(built)
      answered(built, sides)
    }
    const { result_events } = built.experiment('exp-001')
    const { all, few } = records(built, 'exp-001', result_events)
    expect(all.measurements.length).toBeGreaterThan(1)
    expect(few).toEqual(all)
  })

  it('do not grow with the ledger, and are dropped when it is closed', () => {
    const counts = [0, 300].map(notes => {
      const built = noisy()
      for (let nth = 0; nth < notes; nth++)
        built.add({ kind: 'note', cause: `note ${nth}`, text: 'waiting', experiment: null })
      built.withExperiment()
      settle(built)
      answered(built, { 'exp-001': SWAYING })
      const { length } = built.experiment('exp-001').result_events
      measuredOut(built, { 'exp-001': GAIN })
      expect(built.experiment('exp-001')).toMatchObject({ closed: true, result_events: [] })
      return length
    })
    // The start of the campaign, which brought the spec as well; the order, and its report.
    expect(counts).toEqual([3, 3])
  })
})
