import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COMMAND_NAMES } from '../../src/action/commands.ts'
import { INPUTS } from '../../src/action/inputs.ts'
import { OUTPUTS } from '../../src/action/runner-protocol.ts'
import { permissionTable, RIGHTS } from '../../src/setup/github/permissions.ts'
import { OWN_ACTION, writtenWith } from '../../src/setup/github/reusable.ts'
import { cronOf } from '../../src/setup/github/schedule.ts'
import { parsedWorkflow, stepsOfAction } from './parsed.ts'
import { ACTION, everyFile, PROJECTS, REUSABLES, written } from './written.ts'

const textOf = (files: ReturnType<typeof written>, name: string) =>
  files.find(({ path }) => path.endsWith(`/${name}`))?.text ?? ''

describe('the schedule', () => {
  it.each(['hourly', 'daily', 'weekly'])('%s: at an odd minute, the same for the same spec', schedule => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/), name => {
        const [minute = '', hour = '', , , day = ''] = cronOf({ name, schedule }).split(' ')
        expect(Number(minute) % 2).toBe(1)
        expect(Number(minute)).toBeLessThan(60)
        if (hour !== '*') expect(Number(hour)).toBeLessThan(24)
        if (day !== '*') expect(Number(day)).toBeLessThan(7)
        expect(cronOf({ name, schedule })).toBe(cronOf({ name, schedule }))
      }),
    )
  })

  it('is as the spec says where it says more, and one of each for several campaigns', () => {
    expect(cronOf({ name: 'a', schedule: '*/20 1-5,7 * * 1' })).toBe('*/20 1-5,7 * * 1')
    const lines = ['schedule: "7 * * * *"']
    expect(textOf(written([lines, lines, []]), 'winnow.yml').match(/- cron:/g)).toHaveLength(2)
  })

  it.each(['sometimes', '* * * *', "1 2 3 4 5'\non: push", '@hourly', ''])('refuses %j', schedule => {
    expect(() => cronOf({ name: 'a', schedule })).toThrow('the schedule of a is')
  })
})

describe('the jobs', () => {
  it('have the rights of the table, and no job is without a row', () => {
    const files = written([['propose: [{ use: command, command: ./ideas }]']])
    for (const { path, text } of files.filter(({ path }) => path.includes('/workflows/'))) {
      for (const [job, { permissions }] of Object.entries(parsedWorkflow(text).jobs)) {
        const row = Object.values(RIGHTS).find(of => path.endsWith(`/${of.file}`) && job.startsWith(of.job))
        const levels = Object.entries<readonly string[]>(row?.permissions ?? {})
        expect([path, job, permissions]).toEqual([
          path,
          job,
          Object.fromEntries(levels.map(([name, [level]]) => [name, level])),
        ])
      }
    }
    const [first] = Object.values(parsedWorkflow(textOf(files, 'winnow.yml')).jobs)
    const called = written([[]], undefined, { calls: true }).concat(REUSABLES)
    for (const { path, text } of called.filter(
      ({ text }) => text.includes('reusable-tick') || /^on:\n {2}workflow_call/m.test(text),
    ))
      for (const { permissions } of Object.values(parsedWorkflow(text).jobs))
        expect([path, permissions]).toEqual([
          path,
          /measure/.test(path) ? { contents: 'read' } : first?.permissions,
        ])
    const rows = permissionTable().split('\n')
    expect(rows).toHaveLength(Object.keys(RIGHTS).length + 2)
    expect(rows.filter(row => row.split('|').length !== 7)).toEqual([])
  })

  it('ask models only where a spec does', () => {
    const jobs = (lines: string[]) => Object.keys(parsedWorkflow(textOf(written([lines]), 'winnow.yml')).jobs)
    expect(jobs([])).toEqual(['tick'])
    expect(jobs(['propose: [{ use: command, command: ./ideas }]'])).toEqual(['tick', 'propose', 'settle'])
  })

  it('ask for as long as the slowest program may take', () => {
    const slow =
      'propose: [{ use: command, command: ./ideas, timeout_seconds: 7200 }, { use: command, command: b }]'
    const { jobs } = parsedWorkflow(textOf(written([[], [slow]]), 'winnow.yml'))
    expect(jobs['propose']?.['timeout-minutes']).toBe(150)
  })

  it('measure each campaign on its own runner', () => {
    const lines = ['execution: { runs_on: [self-hosted, bench], services: { db: { image: "postgres:17" } } }']
    const { jobs } = parsedWorkflow(textOf(written([[], lines]), 'winnow-measure.yml'))
    expect(Object.keys(jobs)).toEqual(['measure-size-0', 'measure-size-1'])
    expect(jobs['measure-size-1']).toMatchObject({
      'runs-on': ['self-hosted', 'bench'],
      services: { db: { image: 'postgres:17' } },
      if: expect.stringContaining("inputs.campaign == 'size-1'"),
    })
  })

  it.each([
    ['auto', 'Make a user for each side'],
    ['uid', 'Make a user for each side'],
    ['none', 'Give up the right to become root'],
  ])('settle who may become root as isolation %s asks', (isolation, step) => {
    const lines = [`measurement: { command: sh bench/size.sh, isolation: ${isolation} }`]
    const { jobs } = parsedWorkflow(textOf(written([lines]), 'winnow-measure.yml'))
    const names = jobs['measure-size-0']?.steps.map(({ name }) => name) ?? []
    expect(names[names.indexOf('Measure the order') - 1]).toBe(step)
    const called = parsedWorkflow(textOf(written([lines], undefined, { calls: true }), 'winnow-measure.yml'))
    expect(called.jobs['measure-size-0']?.with).toMatchObject({ users: isolation !== 'none' })
  })

  it.each([
    'runs_on: "${' + '{ inputs.order }}"',
    'services: { a: { env: { K: "${' + '{ secrets.K }}" } } }',
  ])('take no expression from a spec: %s', line => {
    expect(() => written([[`execution: { ${line} }`]])).toThrow('holds an expression of GitHub')
  })

  it('give the action what it takes, and take from it what it gives', () => {
    for (const { of, path, text } of everyFile().filter(file => file.path.includes('/workflows/'))) {
      const { jobs } = parsedWorkflow(text)
      const steps = Object.values(jobs).flatMap(job => job.steps)
      for (const { with: given = {} } of steps.filter(({ uses }) =>
        /^(?:somebody\/winnow@|\$\/)/.test(`${uses}`),
      )) {
        expect(INPUTS, of).toEqual(expect.arrayContaining(Object.keys(given)))
        expect(COMMAND_NAMES, of).toContain(given['command'])
      }
      for (const [, output = ''] of text.matchAll(/steps\.\w+\.outputs\.([\w-]+)/g))
        expect(OUTPUTS, path).toContain(output)
    }
  })

  it('that call hand over all that the called one asks for, at the commit of the action', () => {
    const runner = 'execution: { runs_on: [self-hosted, bench] }'
    const files = written([[runner]], undefined, { calls: true })
    const asked = parsedWorkflow(REUSABLES[1]?.text ?? '').on['workflow_call']
    const { jobs } = parsedWorkflow(textOf(files, 'winnow-measure.yml'))
    expect(Object.keys(jobs['measure-size-0']?.with ?? {})).toEqual(Object.keys(Object(asked).inputs))
    expect(jobs['measure-size-0']).toMatchObject({
      uses: `somebody/winnow/.github/workflows/reusable-measure.yml@${'ab12'.repeat(10)}`,
      with: { campaign: 'size-0', 'runs-on': '["self-hosted","bench"]', users: true },
    })
    for (const name of ['winnow.yml', 'winnow-comments.yml'])
      expect(textOf(files, name)).toContain('somebody/winnow/.github/workflows/reusable-tick.yml@ab12')
  })

  it.each([
    [['execution: { services: { db: { image: "postgres:17" } } }'], undefined, 'takes no service containers'],
    [[], `somebody/all/winnow@${'ab12'.repeat(10)}`, 'is not at the top of its repository'],
  ])('cannot all be called: %j %s', (lines, action, why) => {
    expect(() => written([lines], undefined, { calls: true, ...(action ? { action } : {}) })).toThrow(why)
  })

  it('are known again by what they were written with', () => {
    for (const calls of [true, false]) {
      const text = textOf(written([[]], undefined, { calls }), 'winnow.yml')
      expect(writtenWith(text)).toEqual({ action: ACTION, calls })
    }
    const own = textOf(written([[]], undefined, { calls: true, action: OWN_ACTION }), 'winnow.yml')
    expect(writtenWith(own)).toEqual({ action: OWN_ACTION, calls: true })
    expect(writtenWith('jobs: { a: { uses: ./.github/workflows/mine.yml } }')).toBeNull()
  })

  it('are named by their order', () => {
    const text = textOf(written([[]]), 'winnow-measure.yml')
    expect(parsedWorkflow(text)).toMatchObject({ 'run-name': '$' + '{{ inputs.order }}' })
  })
})

describe('the set-up of programs that are asked', () => {
  const agents = (lines: string[]) =>
    written([lines]).find(({ path }) => path.includes('/winnow-agents/'))?.text

  it('is there only where one is, and has the agents that specs name, each once', () => {
    expect(agents([])).toBeUndefined()
    const named = agents([
      'propose: [{ use: command, preset: claude }, { use: command, preset: claude, name: b }, { use: command, preset: aider }]',
    ])
    expect(stepsOfAction(named ?? '').map(({ run }) => run)).toEqual([
      'npm install --global @anthropic-ai/claude-code',
      'pipx install aider-chat',
    ])
    const own = agents(['propose: [{ use: command, command: ./ideas }]'])
    expect(stepsOfAction(own ?? '')).toMatchObject([{ run: 'true' }])
  })

  it('is not what a job that measures uses', () => {
    const files = written([['propose: [{ use: command, preset: claude }]']])
    expect(textOf(files, 'winnow-measure.yml')).not.toContain('winnow-agents')
  })
})

describe('the set-up of a tool chain', () => {
  const setup = (project: Record<string, string>) =>
    stepsOfAction(textOf(written([[]], project), 'action.yml'))

  it.each([
    ['node', 'actions/setup-node@', 'repository/.nvmrc'],
    ['python', 'actions/setup-python@', 'pipx install uv'],
    ['pnpm', 'actions/setup-node@', 'corepack enable pnpm'],
    ['go', 'actions/setup-go@', 'repository/go.mod'],
    ['rust', 'rustup', '~/.cargo/registry'],
    ['java', 'actions/setup-java@', '~/.m2/repository'],
    ['ruby', 'bundle', 'ruby'],
    ['shell', 'bash', 'bash'],
  ])('of %s is what was found', (name, ...expected) => {
    const text = JSON.stringify(setup(PROJECTS[name] ?? {}))
    for (const part of expected) expect(text).toContain(part)
  })
})
