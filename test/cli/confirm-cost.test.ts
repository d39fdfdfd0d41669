import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { isAttended, createTerminal } from '../../src/cli/terminal.ts'
import type { CommandArguments } from '../../src/cli/verb.ts'
import { confirmStake, describeStake, estimateStake } from '../../src/cli/stake.ts'
import { winnowSpec } from '../spec/problems-of.ts'
import { FILES, project, SPEC } from './project.ts'

/** A terminal with a person at it, who answers this; null: who goes away. */
function person(answer: string | null, attended = true) {
  const input = new PassThrough()
  const err = new PassThrough()
  const words = createTerminal({
    input,
    out: new PassThrough(),
    err,
    colour: { out: false, err: false },
    attended,
  })
  if (answer === null) input.end()
  else input.write(answer)
  return { words, said: () => String(err.read() ?? '') }
}

function given(...flags: string[]): CommandArguments {
  return {
    positionals: [],
    command: [],
    flag: name => flags.includes(name),
    text: () => undefined,
    texts: () => [],
  }
}

const HOURS = { seconds: 11_400, money: [] }
const never = () => new AbortController().signal

describe('the question before much is spent', () => {
  it.each([
    ['y\n', true],
    ['Yes\n', true],
    ['n\n', false],
    ['\n', false],
    ['yesterday\n', false],
    [null, false],
  ])('a person is asked once: %j', async (answer, goes) => {
    const { words, said } = person(answer)
    const call = { given: given(), terminal: words, interrupt: never() }
    expect(await confirmStake(call, HOURS)).toBe(goes)
    expect(said()).toBe(`This will take about 3 h 10 min. Go on? [y/N] ${answer === null ? '\n' : ''}`)
  })

  it('is skipped with --yes, and without a terminal', async () => {
    const yes = person('n\n')
    expect(await confirmStake({ given: given('yes'), terminal: yes.words, interrupt: never() }, HOURS)).toBe(
      true,
    )
    const pipe = person('n\n', false)
    expect(await confirmStake({ given: given(), terminal: pipe.words, interrupt: never() }, HOURS)).toBe(true)
    expect(yes.said() + pipe.said()).toBe('')
  })

  it('takes Ctrl-C as no', async () => {
    const { words } = person('')
    const stop = new AbortController()
    const asked = confirmStake({ given: given(), terminal: words, interrupt: stop.signal }, HOURS)
    stop.abort()
    expect(await asked).toBe(false)
  })

  it('is asked only if input and output are terminals outside CI', () => {
    const tty = { isTTY: true }
    expect(isAttended([tty, tty], {})).toBe(true)
    expect(isAttended([tty, {}], {})).toBe(false)
    expect(isAttended([tty, tty], { CI: 'true' })).toBe(false)
  })
})

describe('the stake of a campaign', () => {
  const said = (changes: Record<string, unknown>, seconds: number | null) =>
    describeStake(estimateStake(winnowSpec(changes), seconds))
  const claude = { propose: [{ use: 'command', command: 'claude -p "one idea"' }] }
  const script = { propose: [{ use: 'command', command: 'sh ideas.sh' }] }

  it('needs no question if it is short, or if the campaign only waits for ideas', () => {
    expect(said(script, 600)).toBeNull()
    expect(said({}, null)).toBeNull()
  })

  it('is the forecast of winnow check, at most the limit of hours', () => {
    expect(said(script, 7_200)).toBe('This will take about 2 h')
    expect(said({ ...script, 'stopping.max_hours': 1.5 }, 72_000)).toBe('This will take about 1 h 30 min')
    expect(said(script, null)).toBe('How long this takes is not known yet (from winnow check), at most 8 h')
  })

  it('includes money if an agent is asked without a limit', () => {
    expect(said(claude, 60)).toBe(
      'This will take about 60 s; claude may cost money, with no limit (stopping.max_total_cost_usd is not set)',
    )
    expect(said({ ...claude, 'stopping.max_total_cost_usd': 5 }, 60)).toBeNull()
  })
})

describe('winnow run', () => {
  const spec = `${SPEC}propose: [{ use: command, command: "sh ideas.sh" }]\n`

  it('records nothing after a no, and uses the forecast of winnow check', async () => {
    const user = project({ ...FILES, '.winnow/size.yaml': spec, 'ideas.sh': 'exit 1\n' })
    const before = user.refs()
    const no = await user.winnowWith({ input: 'n\n', attended: true }, 'run')
    expect(no.code).toBe(130)
    expect(no.err).toContain(
      'How long this takes is not known yet (from winnow check), at most 8 h. Go on? [y/N]',
    )
    expect(no.err).toContain('Nothing was started.')
    expect(user.refs()).toBe(before)
    expect((await user.winnow('check')).code).toBe(0)
    const checked = await user.winnowWith({ input: 'n\n', attended: true }, 'run', '--dry-run')
    expect(checked.err).not.toContain('Go on?')
    const yes = await user.winnowWith({ input: 'n\n', attended: true }, 'run')
    expect(yes.err).not.toContain('Go on?')
    expect(user.refs()).not.toBe(before)
  })
})
