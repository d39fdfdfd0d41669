import { describe, expect, it } from 'vitest'
import type { Memory } from '../../../bench/decide/rule.ts'
import { STORED_RULES } from '../../../bench/decide/stored-rules.ts'

/** Jobs whose runs take the given log times, one after the other. */
function jobs(...times: number[][]): () => () => number {
  const left = times.map(job => [...job])
  return () => {
    const job = left.shift() ?? []
    return () => job.shift() ?? Number.NaN
  }
}

function judge(name: string, memory: Partial<Memory>, ...times: number[][]) {
  const rule = STORED_RULES.find(each => each.name === name)
  if (rule === undefined) throw new Error(`no rule ${name}`)
  return rule.judge({ best: [1], history: [1], ...memory }, jobs(...times))
}

describe('one run, strictly better', () => {
  it('keeps any gain and no tie', () => {
    expect(judge('one run, strictly better', {}, [0.999])).toMatchObject({
      kept: true,
      executions: 1,
      jobs: 1,
    })
    expect(judge('one run, strictly better', {}, [1])).toMatchObject({ kept: false })
  })
})

describe('one run, three attempts', () => {
  it('tries in a new job until one is better', () => {
    const outcome = judge('one run, three attempts', {}, [1.1], [0.8], [0.7])
    expect(outcome).toMatchObject({ kept: true, executions: 2, jobs: 2, scores: [0.8] })
    expect(outcome.claimed).toBeCloseTo(0.2, 12)
  })

  it('gives up after the third', () => {
    expect(judge('one run, three attempts', {}, [2], [2], [2], [0])).toMatchObject({
      kept: false,
      executions: 3,
      jobs: 3,
    })
  })
})

describe('the median of five', () => {
  it('ignores outliers and asks for its threshold', () => {
    const best = [1, 1, 1, 1, 5]
    const name = 'median of 5 better by 2 %'
    expect(judge(name, { best }, [0.97, 0.97, 0.97, 9, 9])).toMatchObject({ kept: true, executions: 5 })
    expect(judge(name, { best }, [0.99, 0.99, 0.99, 0, 0])).toMatchObject({ kept: false })
  })
})

describe('the ladder', () => {
  const name = 'ladder, all paired differences over 5 %'
  const best = [1, 1, 1, 1, 1]

  it('stops at a clear loss, looks twice when unsure, and confirms a gain five times', () => {
    expect(judge(name, { best }, [1.2])).toMatchObject({ kept: false, executions: 1 })
    expect(judge(name, { best }, [1, 0.5])).toMatchObject({ kept: false, executions: 2 })
    expect(judge(name, { best }, [0.9, 0.9, 0.9, 0.9, 0.9])).toMatchObject({ kept: true, executions: 5 })
    expect(judge(name, { best }, [0.9, 0.9, 0.9, 1, 0.9])).toMatchObject({ kept: false, executions: 4 })
  })
})

describe('two median deviations', () => {
  const name = 'one run, better by 2 MAD'

  it('are of all scores seen, and need three of them', () => {
    const history = [0.9, 1, 1.1, 1, 1]
    expect(judge(name, { history: [0.5, 1, 1.5, 1] }, [0.95])).toMatchObject({ kept: false })
    expect(judge(name, { history }, [0.7])).toMatchObject({ kept: true })
    expect(judge(name, { history: [1] }, [0.1])).toMatchObject({ kept: false })
  })
})

describe('the Bayesian early stop', () => {
  const name = 'mean with Bayesian early stop'

  it('stops after two runs that agree, and compares means after five that do not', () => {
    expect(judge(name, {}, [0.8, 0.81])).toMatchObject({ kept: true, executions: 2 })
    expect(judge(name, {}, [1.2, 1.21])).toMatchObject({ kept: false, executions: 2 })
    expect(judge(name, {}, [0.8, 1.15, 0.85, 1.1, 0.9])).toMatchObject({ kept: true, executions: 5 })
  })
})
