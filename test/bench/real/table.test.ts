import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMITS, type RealCommit } from '../../../bench/real/commits.ts'
import { readResults, type Result, type ResultFile } from '../../../bench/real/results.ts'
import { describeTruth, listRows, renderReport, type Row } from '../../../bench/real/table.ts'

const ROOT = new URL('../../..', import.meta.url).pathname

const MACHINE = { processor: 'Example 3000', cores: 8, core: null, memory_gib: 32, system: 'Linux 6.1' }

type Made = Partial<Omit<Result, 'winnow'>> & { verdict: Result['winnow']['verdict']; winnowGain?: number }

function makeRow(entry: RealCommit, low: number, high: number, made: Made): Row {
  const { verdict, winnowGain = (low + high) / 2, ...more } = made
  return {
    entry,
    result: {
      repository: entry.repository,
      parent: entry.parent,
      commit: entry.commit,
      backwards: entry.backwards === true,
      workload: entry.workload,
      workload_digest: '',
      date: '2026-01-02',
      pairs: 200,
      gain: { estimate: (low + high) / 2, low, high },
      base_seconds: 0.4,
      counted: { by: 'CPU time', gain: 0.1 },
      same_answers: true,
      others_share: 0.01,
      winnow: { verdict, gain: winnowGain, executions: 57, seconds: 60 },
      ...more,
    },
  }
}

function makeEntry(repository: string, workload: string, more: Partial<RealCommit> = {}): RealCommit {
  const [parent, commit] = ['a'.repeat(40), 'b'.repeat(40)]
  return { repository, parent, commit, workload, claim: 'gain', change: 'does less', ...more }
}

const ROWS = [
  makeRow(makeEntry('one/js', 'a.mjs'), 0.08, 0.12, { verdict: 'better' }),
  makeRow(makeEntry('two/c', 'a.c'), 0.04, 0.06, {
    verdict: 'not proven',
    counted: { by: 'instructions', gain: 0.05 },
    same_answers: false,
  }),
  makeRow(makeEntry('two/c', 'a.c', { claim: 'no-op' }), -0.01, 0.01, {
    verdict: 'better',
    date: '2026-01-03',
  }),
  makeRow(makeEntry('one/js', 'a.mjs', { claim: 'regression', backwards: true }), -0.14, -0.1, {
    verdict: 'worse',
    counted: null,
  }),
  makeRow(makeEntry('one/js', 'a.mjs'), 0.005, 0.015, { verdict: 'no gain' }),
]

const FILE: ResultFile = { machine: MACHINE, any_load: false, results: ROWS.map(({ result }) => result) }

describe('the table of recorded results', () => {
  const text = renderReport(FILE, ROWS)

  it('counts verdicts by claim and by truth', () => {
    expect(text.split('\n\n')[0]).toBe(
      [
        'winnow compare on 5 public commits of 2 libraries in 2 languages',
        '----------------------------------------------------------------',
        '                          commits  better  no gain  not proven  worse  wrong  missed',
        'claimed gain                    3       1        1           1      0      0       1',
        'claimed no-op                   1       1        0           0      0      1       0',
        'claimed regression              1       0        0           0      1      0       0',
        'truly faster                    3       1        1           1      0      0       1',
        'truly without difference        1       1        0           0      0      1       0',
        'truly slower                    1       0        0           0      1      0       0',
        'all                             5       2        1           1      1      1       1',
        '  truth: the 95 % interval of the paired times of long interleaved runs',
        '  wrong: better without a true gain, or worse without a true loss; missed: a true gain of 2 % or more',
      ].join('\n'),
    )
  })

  it('shows each commit with its truth, its count and the verdict', () => {
    const cells = (line: string) => line.split(/ {2,}/)
    const table = text.split('\n\n')[1]?.split('\n').map(cells) ?? []
    expect(table.slice(3, 7)).toEqual([
      [
        'one/js bbbbbbbb',
        'gain',
        '+10.0 %',
        '+8.0 % to +12.0 %',
        '+10.0 % CPU time',
        'better',
        '+10.0 %',
        '57',
      ],
      [
        'two/c bbbbbbbb (other answers)',
        'gain',
        '+5.0 %',
        '+4.0 % to +6.0 %',
        '+5.0 % instructions',
        'not proven',
        '+5.0 %',
        '57',
      ],
      ['two/c bbbbbbbb', 'no-op', '0.0 %', '-1.0 % to +1.0 %', '+10.0 % CPU time', 'better', '0.0 %', '57'],
      [
        'one/js bbbbbbbb',
        'regression (backwards)',
        '-12.0 %',
        '-14.0 % to -10.0 %',
        'worse',
        '-12.0 %',
        '57',
      ],
    ])
  })

  it('names the machine and the days', () => {
    expect(text).toMatch(
      /\nMeasured 2026-01-02 to 2026-01-03 on Example 3000, 8 cores, 32 GiB, Linux 6\.1\.$/,
    )
  })

  it('says that one core was used if not all were', () => {
    const text = renderReport({ ...FILE, machine: { ...MACHINE, core: 1 } }, ROWS)
    expect(text).toContain('The workloads had one core for themselves.')
  })

  it('says that a file measured under load is not a result', () => {
    expect(renderReport({ ...FILE, any_load: true }, ROWS)).toContain('not a result')
  })

  it('takes its truth from the interval, not from the claim', () => {
    expect(ROWS.map(({ result }) => describeTruth(result))).toEqual([
      'faster',
      'faster',
      'no difference',
      'slower',
      'faster',
    ])
  })

  it('has room for every commit of the list', () => {
    const rows = COMMITS.map(entry => makeRow(entry, 0.1, 0.2, { verdict: 'better' }))
    expect(renderReport({ ...FILE, results: [] }, rows)).toContain(`on ${COMMITS.length} public commits`)
  })
})

const RECORDED = 'bench/real/results.json'

describe('the recorded results', () => {
  const file = readResults(join(ROOT, RECORDED)) ?? expect.fail('nothing is recorded')
  const rows = listRows(file, join(ROOT, 'bench/real/workloads'))

  it('are quoted by the page about deciding', () => {
    expect(file.any_load).toBe(false)
    const page = readFileSync(join(ROOT, 'docs/deciding.md'), 'utf8')
    expect(page).toContain(renderReport(file, rows).split('\n\n')[0])
  })

  it('are quoted by the README: all gains found, and nothing else called better', () => {
    const libraries = new Set(rows.map(({ entry }) => entry.repository)).size
    const better = rows.filter(({ result }) => result.winnow.verdict === 'better')
    const gains = rows.filter(({ result }) => describeTruth(result) === 'faster')
    expect(better).toEqual(gains)
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    expect(readme).toContain(`On [${rows.length} commits of ${libraries} libraries]`)
    expect(readme).toContain(`found all ${gains.length} gains`)
  })
})
