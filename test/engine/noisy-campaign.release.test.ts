import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { patchOf, type TestRepository, createTestRepository } from '../support/repository.ts'

/**
 * The product of the factors in src, times e to the power of 3 % of a normal number. That number is the next of
 * a sequence counted in a file outside of everything winnow lays out, so that no two executions of the same code
 * print the same, and a whole campaign prints the same every time. No random numbers of awk's: each awk has others.
 */
const HARNESS = `BEGIN { file = ENVIRON["NOISE"] "/count"; getline count < file; close(file); print count + 1 > file }
{ score = FNR == 1 && NR == 1 ? $1 : score * $1 }
END {
  state = count
  for (i = 0; i < 6; i++) state = (state * state + 31337 * count + 1) % 94906249
  for (i = 0; i < 12; i++) { state = (state * state + 48271 + i) % 94906249; normal += state / 94906249 }
  printf "{\\"score\\": %.9f}", score * exp(0.03 * (normal - 6))
}
`

/** Everything else is the default. */
const SPEC = `winnow: 1
metric:
  primary: { name: score, direction: minimize }
  degenerate_gates: [{ name: score, check: '> 0' }]
measurement: { command: exec awk -f bench/score.awk src/*.txt, env: [NOISE], probes: off }
scope: { mutable: [src/] }
propose: [{ use: patch, dir: ideas }]
`

const GAINS = 6
const LOSSES = 9
const IDLE = 45

/** One idea per file, so that what is better is better on files of its own. */
function ideas(): string[] {
  const made = [
    ...Array.from({ length: GAINS }, (_, at) => changing(at, 'better', '0.94')),
    ...Array.from({ length: LOSSES }, (_, at) => changing(GAINS + at, 'worse', `1.0${at + 1}`)),
    ...Array.from({ length: IDLE }, (_, at) =>
      patchOf({ [`src/idle-${at}.txt`]: [null, '1\n'] }, { hypothesis: `idle ${at}` }),
    ),
  ]
  // 60 and 37 have no common divisor: an order that mixes the three kinds and leaves none out.
  return made.map((_, at) => made[(at * 37 + 5) % made.length] ?? '')
}

function changing(file: number, kind: string, factor: string): string {
  return patchOf({ [`src/f${file}.txt`]: ['1\n', `${factor}\n`] }, { hypothesis: `${kind} ${file}` })
}

async function createNoisyRepository(): Promise<TestRepository> {
  const noise = mkdtempSync(join(tmpdir(), 'winnow-noise-'))
  onTestFinished(() => rmSync(noise, { recursive: true, force: true }))
  writeFileSync(join(noise, 'count'), '1\n')
  const sources = Array.from({ length: GAINS + LOSSES }, (_, at) => [`src/f${at}.txt`, '1\n'])
  const patches = ideas().map((text, at) => [`ideas/${String(at).padStart(2, '0')}.patch`, text])
  const files = { 'bench/score.awk': HARNESS, ...Object.fromEntries([...sources, ...patches]) }
  return createTestRepository({
    files,
    spec: SPEC,
    name: 'noisy',
    seed: 'a noisy campaign',
    env: { NOISE: noise },
  })
}

describe('sixty ideas and 3 % of noise, with the defaults', () => {
  it('merges none of 45 that do nothing and 9 that are worse, and at least 5 of 6 that are 6 % better', async () => {
    const site = await createNoisyRepository()
    await site.start()
    expect(await site.run()).toMatchObject({ for: 'nothing' })

    const { experiments, calibration, error_budget, landings } = await site.campaign()
    const all = Object.values(experiments)
    expect(all).toHaveLength(GAINS + LOSSES + IDLE)
    const merged = all.filter(({ verdict }) => verdict === 'kept').map(({ hypothesis }) => hypothesis)
    expect(merged.filter(hypothesis => !hypothesis.startsWith('better '))).toEqual([])
    expect(merged.length).toBeGreaterThanOrEqual(GAINS - 1)
    expect(landings.map(({ experiment }) => experiments[experiment]?.hypothesis)).toEqual(merged)
    const rest = all.filter(({ hypothesis }) => !hypothesis.startsWith('better '))
    expect(rest.filter(({ outcome }) => outcome !== 'dropped' && outcome !== 'inconclusive')).toEqual([])

    // The true sd of a pair is 4.2 %; of 16 pairs it can be told within a factor of 2.
    const sd = calibration?.noise?.pair_sd ?? 0
    expect([calibration?.scale, sd > 0.021 && sd < 0.085]).toEqual(['log', true])
    // e-LOND: each of the sixty took a hundredth of the level, however its verdict came out.
    expect([error_budget.tests, error_budget.alpha_spent]).toEqual([60, expect.closeTo(0.6)])
    const tip = merged.map(hypothesis => Number(hypothesis.split(' ')[1])).toSorted((a, b) => a - b)
    const faster = site.bare('grep', '-l', '0.94', 'optimize/noisy', '--', 'src').split('\n')
    expect(faster).toEqual(tip.map(file => `optimize/noisy:src/f${file}.txt`))
    await site.proven()
  }, 1_200_000)
})
