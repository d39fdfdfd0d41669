import { describe, expect, it } from 'vitest'
import { NOISY_SPEC, noisyProject } from './noisy-project.ts'
import type { Project } from './project.ts'
import { releaseTest } from '../support/cases.ts'

/** Prints two numbers of one run: `ms` varies by a tenth, `ticks` by a hundredth of that, and both by the same cause. */
const TWO_NUMBERS = `random=$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
base=$(cat src/ms)
printf '{"ms": %s, "ticks": %s}' "$((base + base * random / 655360))" "$((base + base * random / 65536000))"
`

function twoNumbers(spec = NOISY_SPEC): Project {
  const person = noisyProject({ spec: () => spec, files: { 'bench/ms.sh': TWO_NUMBERS } })
  person.git('checkout', '-qb', 'shorter')
  person.commit('shorter', { 'src/ms': '990000\n' })
  person.git('checkout', '-q', 'main')
  return person
}

const FIGURES = String.raw`ticks is quieter: pairs differ by 0\.\d+ % instead of \d\.\d %; smallest visible gain \d\.\d % instead of (\d+\.\d %|none)`
const SPEC_LINE = 'metric: { primary: { name: ticks, direction: minimize } }'

describe('a quieter metric of the same runs', () => {
  it('is named by check, with both figures and the line of the spec', async () => {
    const { out, code } = await twoNumbers().winnow('check')
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^  ${FIGURES}$`, 'm'))
    expect(out).toContain(`  to compare it: ${SPEC_LINE}\n`)
  })

  releaseTest('is named by compare, with the option', async () => {
    const command = ['--metric', 'ms', '--max-jobs', '2', '--', 'sh bench/ms.sh']
    const { out } = await twoNumbers().winnow('compare', 'main', 'shorter', ...command)
    expect(out).toMatch(new RegExp(`^  ${FIGURES}; --metric ticks compares it$`, 'm'))
  })

  releaseTest('is named where an idea is not proven', async () => {
    const person = twoNumbers(`${NOISY_SPEC}evidence: { max_jobs: 2 }\n`)
    person.write('src/ms', '970000\n')
    const { out, err } = await person.winnow('try', '-m', 'A little less')
    expect(out, err).toMatch(/^Not proven/)
    expect(out).toMatch(new RegExp(`^Next: .* Or: ${FIGURES}\\. To compare it, write `, 'm'))
    expect(out).toContain(`write ${SPEC_LINE} in the spec.`)
    const shown = await person.winnow('show', 'exp-001')
    expect(shown.out).toMatch(new RegExp(`^  ${FIGURES}`, 'm'))
  })
})
