import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COMMAND_NAMES } from '../../src/action/commands.ts'
import { INPUTS } from '../../src/action/inputs.ts'
import { OUTPUTS } from '../../src/action/outputs.ts'
import { MAX_ORDERS_PER_RUN } from '../../src/model/job-file.ts'
import { OWN_ACTION, readWrittenWorkflow } from '../../src/init/workflows/steps.ts'
import { SETUP_ACTION, WORKFLOW } from '../../src/init/workflows/files.ts'
import { renderPermissionTable, RIGHTS } from '../../src/init/workflows/setup.ts'
import { buildCron } from '../../src/init/workflows/workflow.ts'
import { type Job, parsedWorkflow, stepsOfAction, type Workflow } from './parsed.ts'
import { ACTION, COUNTING, everyFile, JUDGED, NODE, PROJECTS, written } from './written.ts'

const ASKING = 'propose: [{ use: command, command: ./ideas }]'

/** Not in the run of a review, which gets no secret of an environment. */
const NEXT = (all: string) =>
  '$' + `{{ github.event_name == 'pull_request_review' && 'measure' || '${all}' }}`

const readText = (files: ReturnType<typeof written>, wanted: string) =>
  files.find(({ path }) => path === wanted)?.text ?? ''
const workflowFor = (...more: string[][]): Workflow => parsedWorkflow(readText(written(more), WORKFLOW))
const singleJobFor = (...more: string[][]): Workflow =>
  parsedWorkflow(readText(written(more, NODE, { singleJob: true }), WORKFLOW))

function findStep(job: Job | undefined, command: string) {
  return job?.steps.find(step => step.with?.['command'] === command)
}

describe('the schedule', () => {
  it.each(['hourly', 'daily', 'weekly'])('%s: at an odd minute, the same for the same spec', schedule => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/), name => {
        const [minute = '', hour = '', , , day = ''] = buildCron({ name, schedule }).split(' ')
        expect(Number(minute) % 2).toBe(1)
        expect(Number(minute)).toBeLessThan(60)
        if (hour !== '*') expect(Number(hour)).toBeLessThan(24)
        if (day !== '*') expect(Number(day)).toBeLessThan(7)
        expect(buildCron({ name, schedule })).toBe(buildCron({ name, schedule }))
      }),
    )
  })

  it('is as the spec says where it says more, and one of each for several campaigns', () => {
    expect(buildCron({ name: 'a', schedule: '*/20 1-5,7 * * 1' })).toBe('*/20 1-5,7 * * 1')
    const lines = ['schedule: "7 * * * *"']
    expect(workflowFor(lines, lines, []).on['schedule']).toEqual([
      { cron: '7 * * * *' },
      { cron: buildCron({ name: 'size-2', schedule: 'daily' }) },
    ])
  })

  it.each(['sometimes', '* * * *', "1 2 3 4 5'\non: push", '@hourly', ''])('refuses %j', schedule => {
    expect(() => buildCron({ name: 'a', schedule })).toThrow('the schedule of a is')
  })
})

describe('the jobs', () => {
  it('have the rights of the table', () => {
    const { jobs } = workflowFor([ASKING, ...JUDGED], ['execution: { runs_on: bench }'])
    const single = singleJobFor([]).jobs
    for (const [name, { permissions }] of Object.entries({ ...jobs, ...single })) {
      const row = Object.entries(RIGHTS).find(([job]) => name === job || name.startsWith(`${job}-`))
      const levels = Object.entries<readonly string[]>(row?.[1].permissions ?? {})
      const expected = Object.fromEntries(levels.map(([right, [level]]) => [right, level]))
      expect([name, permissions]).toEqual([name, expected])
    }
    const rows = renderPermissionTable().split('\n')
    expect(rows).toHaveLength(Object.keys(RIGHTS).length + 2)
    expect(rows.filter(row => row.split('|').length !== 6)).toEqual([])
  })

  it('ask programs and models only where a spec does', () => {
    const jobs = (...more: string[][]) => {
      const workflow = workflowFor(...more)
      const needs = workflow.jobs['settle']?.['needs']
      const next = findStep(workflow.jobs['tick'], 'tick')?.with?.['next-jobs']
      return [Object.keys(workflow.jobs), needs, next]
    }
    expect(jobs([])).toEqual([['tick', 'measure', 'settle'], ['tick', 'measure'], 'measure'])
    expect(jobs([ASKING])).toEqual([
      ['tick', 'propose', 'measure', 'settle'],
      ['tick', 'propose', 'measure'],
      NEXT('measure, propose'),
    ])
    expect(jobs([], [ASKING, ...JUDGED])).toEqual([
      ['tick', 'propose', 'measure', 'judge', 'settle'],
      ['tick', 'propose', 'judge', 'measure'],
      NEXT('measure, propose, judge'),
    ])
  })

  it('ask for as long as the slowest program may take', () => {
    const slow =
      'propose: [{ use: command, command: ./ideas, timeout_seconds: 7200 }, { use: command, command: b }]'
    expect(workflowFor([], [slow]).jobs['propose']?.['timeout-minutes']).toBe(150)
  })

  it('measure a campaign with a runner or services of its own in a job of its own', () => {
    const lines = ['execution: { runs_on: [self-hosted, bench], services: { db: { image: "postgres:17" } } }']
    const { jobs } = workflowFor([], lines)
    expect(jobs['measure']).toMatchObject({
      'runs-on': 'ubuntu-24.04',
      if: expect.stringContaining(`!contains(fromJSON('["size-1"]'), needs.tick.outputs.campaign)`),
    })
    expect(jobs['measure-size-1']).toMatchObject({
      'runs-on': ['self-hosted', 'bench'],
      services: { db: { image: 'postgres:17' } },
      if: expect.stringContaining("needs.tick.outputs.campaign == 'size-1'"),
    })
    expect(Object.keys(workflowFor(lines).jobs)).toEqual(['tick', 'measure-size-0', 'settle'])
  })

  it('install valgrind only where a spec of the job counts what a command does', () => {
    const installs = ({ steps }: Job) =>
      steps.some(({ run }) => run?.includes('install --yes --quiet valgrind'))
    const counting = (...more: string[][]) =>
      Object.entries(workflowFor(...more).jobs).flatMap(([name, job]) => (installs(job) ? [name] : []))
    const own = 'execution: { runs_on: bench }'
    expect(counting([])).toEqual([])
    expect(counting([], COUNTING)).toEqual(['measure'])
    expect(counting([], [...COUNTING, own])).toEqual(['measure-size-1'])
    expect(counting([own], COUNTING)).toEqual(['measure'])
    expect(Object.values(singleJobFor(COUNTING).jobs).map(installs)).toEqual([true])
    expect(Object.values(singleJobFor([]).jobs).map(installs)).toEqual([false])
  })

  it('leave the run of a review to another run where GitHub attests', () => {
    const attesting = (...more: string[][]) =>
      parsedWorkflow(readText(written(more, NODE, { attest: true }), WORKFLOW))
    expect(Object.keys(attesting([]).on)).toContain('pull_request_review')
    const nextJobs = (...more: string[][]) =>
      findStep(attesting(...more).jobs['tick'], 'tick')?.with?.['next-jobs']
    expect(nextJobs([])).toBe('measure, attest')
    expect(nextJobs([ASKING])).toBe(
      '$' +
        `{{ github.event_name == 'pull_request_review' && 'measure, attest' || 'measure, attest, propose' }}`,
    )
  })

  it('have a slot for each order of a run, which tells how the job ended and what it uploaded', () => {
    const measure = workflowFor([]).jobs['measure']
    const slots = Array.from({ length: MAX_ORDERS_PER_RUN }, (_, slot) => [
      `slot-${slot}`,
      expect.stringContaining(`matrix.slot == ${slot} && format('{0} {1}', job.status, `),
    ])
    expect(measure?.['outputs']).toEqual(Object.fromEntries(slots))
    expect(measure?.['strategy']).toEqual({
      'fail-fast': false,
      matrix: { include: '$' + '{{ fromJSON(needs.tick.outputs.orders) }}' },
    })
  })

  it.each([
    'runs_on: "${' + '{ inputs.order }}"',
    'services: { a: { env: { K: "${' + '{ secrets.K }}" } } }',
  ])('take no expression from a spec: %s', line => {
    expect(() => written([[`execution: { ${line} }`]])).toThrow('holds an expression of GitHub')
  })

  it('give the action inputs that it has, and read outputs that it has', () => {
    for (const { of, path, text } of everyFile().filter(file => file.path === WORKFLOW)) {
      const steps = Object.values(parsedWorkflow(text).jobs).flatMap(job => job.steps)
      const own = steps.filter(step => step.with?.['command'] !== undefined)
      expect(own.length, of).toBeGreaterThan(0)
      for (const { with: given = {} } of own) {
        expect(INPUTS, of).toEqual(expect.arrayContaining(Object.keys(given)))
        expect(COMMAND_NAMES, of).toContain(given['command'])
      }
      const ids = new Set(own.map(step => step['id']))
      for (const [, id, output = ''] of text.matchAll(/steps\.(\w+)\.outputs\.([\w-]+)/g))
        if (ids.has(id)) expect(OUTPUTS, path).toContain(output)
        else expect(output).toBe('artifact-digest')
    }
  })

  it('are known again by the action and the mode that they were written with', () => {
    for (const singleJob of [true, false]) {
      for (const action of [ACTION, ACTION.replace(/ #.*/, ''), OWN_ACTION]) {
        const text = readText(written([[ASKING]], NODE, { singleJob, action }), WORKFLOW)
        expect(readWrittenWorkflow(text)).toEqual({ action, singleJob, attests: false })
      }
    }
    const attested = readText(written([[]], NODE, { attest: true }), WORKFLOW)
    expect(readWrittenWorkflow(attested)).toMatchObject({ attests: true })
    expect(readWrittenWorkflow('jobs: { a: { uses: ./.github/workflows/mine.yml } }')).toBeNull()
  })
})

describe('the single job', () => {
  it('has a model key and the programs only where a spec asks', () => {
    const plain = singleJobFor([]).jobs['run']
    expect(plain?.environment).toBeUndefined()
    expect(findStep(plain, 'run')?.env).toBeUndefined()
    expect(JSON.stringify(plain)).not.toContain('winnow-agents')
    const asking = singleJobFor([ASKING]).jobs['run']
    expect(asking?.environment).toBe('winnow-models')
    expect(Object.keys(findStep(asking, 'run')?.env ?? {})).toContain('WINNOW_MODEL_KEY')
    expect(JSON.stringify(asking)).toContain('winnow-agents')
    // The run of a review gets no secret of an environment, and its job would be refused.
    expect(Object.keys(singleJobFor([ASKING]).on)).not.toContain('pull_request_review')
    expect(Object.keys(singleJobFor([]).on)).toContain('pull_request_review')
  })

  it('is the shortest file there is', () => {
    const lines = (singleJob: boolean) =>
      readText(written([[]], NODE, { singleJob }), WORKFLOW).split('\n').length
    expect(lines(true)).toBeLessThan(100)
    expect(lines(true)).toBeLessThan(lines(false) / 1.5)
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
    expect(stepsOfAction(agents([ASKING]) ?? '')).toMatchObject([{ run: 'true' }])
  })

  it('is not what a job that measures uses', () => {
    const { jobs } = workflowFor(['propose: [{ use: command, preset: claude }]'])
    expect(JSON.stringify(jobs['propose'])).toContain('winnow-agents')
    expect(JSON.stringify(jobs['measure'])).not.toContain('winnow-agents')
  })
})

describe('the set-up of a tool chain', () => {
  const setup = (project: Record<string, string>) =>
    stepsOfAction(readText(written([[]], project), SETUP_ACTION))

  it.each([
    ['node', 'actions/setup-node@', 'repository/.nvmrc'],
    ['python', 'actions/setup-python@', 'pipx install uv'],
    ['pnpm', 'actions/setup-node@', 'corepack enable pnpm'],
    ['go', 'actions/setup-go@', 'repository/go.mod'],
    ['rust', 'rustup', 'toolchain install'],
    ['java', 'actions/setup-java@', 'temurin'],
    ['ruby', 'bundle', 'ruby'],
    ['shell', 'bash', 'bash'],
  ])('of %s is what was found', (name, ...expected) => {
    const text = JSON.stringify(setup(PROJECTS[name] ?? {}))
    for (const part of expected) expect(text).toContain(part)
  })
})
