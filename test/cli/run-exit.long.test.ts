import { describe, expect, it } from 'vitest'
import { EXIT_CODES, type Outcome, toVerdictWord } from '../../src/model/verdict.ts'
import { toRunExitCode } from '../../src/cli/run.ts'
import { renderHelp } from '../../src/cli/command-line.ts'
import { VERBS } from '../../src/cli/registry.ts'
import { campaignOf, decided, LANDS, opened, REVERTED, type Told } from '../report/campaign-of.ts'
import { FILES, offer, project, SHORT, SPEC } from './project.ts'
import { selectCases } from '../support/cases.ts'

const STOPPED = { for: 'nothing', reason: 'enough' } as const

/** What `run` answers where a stopped campaign came to these outcomes. */
function codeOf(...outcomes: readonly (Outcome | 'worse')[]): number {
  const drafts = outcomes.flatMap((each, index): Told[] => {
    const outcome = each === 'worse' ? 'dropped' : each
    const verdict = toVerdictWord(outcome, each === 'worse')
    return [opened(index + 1), decided(index + 1, { outcome, verdict })]
  })
  return toRunExitCode({ campaign: campaignOf(...drafts), waiting: STOPPED })
}

describe('what run answers to a script', () => {
  it.each<[readonly (Outcome | 'worse')[], number]>([
    [['kept'], 0],
    [['dropped', 'runner_up_kept', 'error'], 0],
    [['dropped'], 10],
    [['worse', 'refused'], 15],
    [['inconclusive', 'not_selected'], 10],
    [['inconclusive'], 11],
    [['inconclusive', 'refused', 'error'], 11],
    [['refused'], 12],
    [['refused', 'degenerate'], 13],
    [['error', 'timeout'], 13],
    [[], 10],
  ])('after %j is %i', (outcomes, code) => {
    expect(codeOf(...outcomes)).toBe(code)
  })

  it('counts no verdict of an experiment that is measured again', () => {
    const open = { outcome: 'inconclusive', verdict: 'not proven', stays_open: true } as const
    const worse = [opened(2), decided(2, { outcome: 'dropped', verdict: 'worse' })]
    const again = { kind: 'steered', action: 'retry', experiment: 'exp-001', reason: 'r' } as const
    const answer = (...drafts: Told[]) =>
      toRunExitCode({
        campaign: campaignOf(opened(1), decided(1, open), ...worse, ...drafts),
        waiting: STOPPED,
      })
    expect([answer(), answer(again)]).toEqual([11, 15])
    const refused = decided(1, { outcome: 'refused', verdict: 'refused' })
    expect(answer(again, refused)).toBe(15)
  })

  it('is 10 where the only kept change was reverted, whatever came of other ideas', () => {
    const kept = [opened(1), decided(1), ...LANDS, REVERTED]
    const refused = [opened(2), decided(2, { outcome: 'refused', verdict: 'refused' })]
    expect(toRunExitCode({ campaign: campaignOf(...kept, ...refused), waiting: STOPPED })).toBe(10)
  })

  it('is 14 while it waits, whatever was kept', () => {
    const campaign = campaignOf(opened(1), decided(1))
    for (const waiting of [
      { for: 'ideas' },
      { for: 'orders', orders: ['1'] },
      { for: 'person', what: 'x' },
    ] as const) {
      const each = 'orders' in waiting ? { ...waiting, orders: [...waiting.orders] } : waiting
      expect(toRunExitCode({ campaign, waiting: each })).toBe(14)
    }
  })

  it('is in its help, each code with its meaning', () => {
    const text = renderHelp(VERBS, 'run')
    for (const code of [...Object.values(EXIT_CODES), 14, 130])
      expect(text).toMatch(new RegExp(`^ {2}${code} +\\S`, 'm'))
  })
})

const STOPS = `${SPEC}stopping: { max_iterations: 1 }\n`

describe('winnow run, at its end', () => {
  it.each([
    [SHORT, 0],
    [`${'a'.repeat(149)}\n`, 15],
    ['', 13],
  ])('with the idea %j answers %i', async (value, code) => {
    const person = project({ ...FILES, '.winnow/size.yaml': STOPS })
    await person.winnow('run')
    await offer(person, value)
    expect((await person.winnow('run')).code).toBe(code)
    expect((await person.winnow('run')).code).toBe(code)
  })

  it.each(
    selectCases([
      ['a harness that fails', { 'bench/size.sh': 'exit 3\n' }],
      ['a gate that the base fails', { '.winnow/size.yaml': SPEC.replace('test -s src/value', 'exit 1') }],
      ['a harness that prints nothing', { 'bench/size.sh': 'true\n' }],
    ]),
  )('answers 13 where it is paused by %s', async (_, files) => {
    const person = project({ ...FILES, ...files })
    expect((await person.winnow('run')).code).toBe(13)
    expect((await person.winnow('run')).code).toBe(13)
  })

  it('answers 14 where a person paused it, and 13 where a noisy metric cannot be calibrated', async () => {
    const noisy = 'echo "{\\"bytes\\": $(od -An -N4 -td4 /dev/urandom)}"\n'
    const person = project({ ...FILES, 'bench/size.sh': noisy })
    const first = await person.winnow('run')
    expect([first.code, first.out]).toEqual([13, expect.stringContaining('evidence.min_effect is not set')])
    const other = project()
    await other.winnow('run')
    await other.winnow('pause')
    expect((await other.winnow('run')).code).toBe(14)
  })

  it('answers 0 to a rehearsal', async () => {
    expect((await project().winnow('run', '--dry-run')).code).toBe(0)
  })
})
