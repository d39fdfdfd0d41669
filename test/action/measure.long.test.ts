import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openOrderFiles } from '../../src/engine/jobs/order-files.ts'
import { reportSchema } from '../../src/model/report.ts'
import { clonedProject, FILES, offer, project, type Project, proven, SHORT, SPEC } from '../cli/project.ts'
import { appears, everyEnvironment, jobClone, lastOrder } from './a-job.ts'
import { step } from './a-runner.ts'
import { selectCases } from '../support/cases.ts'

/**
 * A harness that spies where it is told to: it copies what it was started with and what any process around it was
 * started with, tells that it did, waits to be let go on, and gives orders to whoever reads along.
 */
const SPY = [
  'if [ -e "$HOME/spy" ]; then',
  '  (env; cat /proc/self/environ /proc/[0-9]*/environ) > "$HOME/seen" 2>/dev/null',
  '  echo done > "$HOME/spied"',
  '  while [ ! -e "$HOME/go" ]; do sleep 0.05; done',
  'fi',
  'sh bench/shout.sh >&2',
  'echo "{\\"bytes\\": $(wc -c < src/value)}"',
  '',
].join('\n')

const SHOUT = [
  'echo "::set-output name=report::/etc/passwd" | tee /dev/stderr',
  'echo "well  ##[set-output name=artifact]stolen" | tee /dev/stderr',
  '',
].join('\n')

const SHOUTING = {
  ...FILES,
  '.winnow/size.yaml': SPEC.replace('bench/size.sh', 'bench/size.sh, env: [HOME]').replace(
    'test -s src/value',
    'sh bench/shout.sh && test -s src/value',
  ),
  'bench/size.sh': SPY,
  'bench/shout.sh': SHOUT,
}

/** In no other process of the tests, whatever runs beside these. */
const SENTINEL = `sentinel-${process.pid}`
const SECRETS = {
  ACTIONS_RUNTIME_TOKEN: `${SENTINEL}-runtime`,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: `${SENTINEL}-oidc`,
  ACTIONS_CACHE_URL: `https://${SENTINEL}-cache.invalid`,
  GITHUB_TOKEN: `${SENTINEL}-github`,
  GH_TOKEN: `${SENTINEL}-gh`,
  MODEL_API_KEY: `${SENTINEL}-model`,
  HTTPS_PROXY: `http://ada:${SENTINEL}-proxy@127.0.0.1:9`,
}

const JOB = { GITHUB_RUN_ID: '4711', GITHUB_RUN_ATTEMPT: '1', GITHUB_REF: 'refs/heads/optimize/size' }

const reportIn = (file: string) =>
  reportSchema.parse(JSON.parse(readFileSync(file, 'utf8')).entries[0].report)

async function ordered(project: Project) {
  await offer(project, SHORT)
  await project.winnow('tick')
  return lastOrder(project)
}

describe('a job that measures', () => {
  it('answers the order of the ledger with one file, and keeps every secret from the experiment', async () => {
    const person = clonedProject(SHOUTING)
    const remote = person.git('remote', 'get-url', 'origin')
    expect((await person.winnow('run')).code).toBe(14)
    const order = await ordered(person)
    const [candidate] = order.candidates
    const job = jobClone(remote, 'optimize/size')
    const before = job.git('for-each-ref')
    // Only what was pushed is there: the merge that the order names has to be made anew.
    expect(() => job.git('cat-file', '-e', `${order.id}`)).toThrow()
    const seen: string[] = []
    const ended = await step({
      workspace: job.dir,
      inputs: { command: 'measure', campaign: 'size', order: order.id },
      env: { ...JOB, ...SECRETS },
      async meanwhile(_pid, home) {
        writeFileSync(join(home, 'spy'), '')
        await appears(join(home, 'spied'))
        seen.push(readFileSync(join(home, 'seen'), 'latin1'), everyEnvironment())
        expect(everyEnvironment()).toContain('GITHUB_RUN_ID=4711')
        writeFileSync(join(home, 'go'), '')
      },
    })
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    expect(seen.join()).toContain('WINNOW_RESULT_PATH')
    expect(seen.join()).not.toContain(SENTINEL)
    expect(ended.orders).toEqual([])
    expect(ended.outputs['artifact']).toBe(`report-${order.id}`)
    const file = ended.outputs['report'] ?? ''
    expect(basename(file)).toBe(`${order.id}.json`)
    expect(readdirSync(join(file, '..'))).toEqual([`${order.id}.json`])
    const report = reportIn(file)
    expect(report).toMatchObject({ order: order.id, run_id: 'actions:4711/1', runner_error: null })
    expect(report.trees).toEqual({ base: order.base.tree, [candidate?.label ?? '']: candidate?.tree })
    expect(report.executions.map(({ status }) => status)).toContain('ok')
    expect(job.git('for-each-ref')).toBe(before)
    expect(job.git('status', '--porcelain')).toBe('')
    expect(ended.summary).toContain('Measured order')
  })
})

describe('the report of a job', () => {
  it('is all that a tick elsewhere needs to decide, and the campaign stands its proof', async () => {
    const person = clonedProject()
    await person.winnow('run')
    const { id } = await ordered(person)
    const { dir } = jobClone(person.git('remote', 'get-url', 'origin'), 'optimize/size')
    const inputs = { command: 'measure', campaign: 'size', order: id }
    const { outputs } = await step({ inputs, env: JOB, workspace: dir })
    const room = readdirSync(person.cache).find(name => /^[0-9a-f]{20}$/.test(name)) ?? ''
    const files = openOrderFiles(join(person.cache, room, 'campaigns/size/orders'), () => {})
    await files.claim(id, 'actions:4711/1')
    await files.report(id, reportIn(outputs['report'] ?? ''))
    expect((await person.winnow('tick')).err).toMatch(/^exp-001 Kept: bytes 100 -> 50/m)
    await proven(person)
  })
})

describe('a job that is cancelled', () => {
  it('ends the experiment with it, and hands over what it has, whatever the experiment wrote', async () => {
    const person = clonedProject(SHOUTING)
    await person.winnow('run')
    const { id } = await ordered(person)
    const { dir } = jobClone(person.git('remote', 'get-url', 'origin'), 'optimize/size')
    const ended = await step({
      workspace: dir,
      inputs: { command: 'measure', campaign: 'size', order: id },
      env: JOB,
      async meanwhile(pid, home) {
        writeFileSync(join(home, 'spy'), '')
        await appears(join(home, 'spied'))
        expect(everyEnvironment()).toContain(`HOME=${home}`)
        const outputs = join(home, 'temp/_runner_file_commands/set_output')
        appendFileSync(outputs, 'report=/etc/passwd\npartial=/etc/passwd\n')
        process.kill(pid, 'SIGINT')
      },
    })
    expect([ended.code, ended.outputs['report'], ended.orders]).toEqual([130, '', []])
    expect(ended.stdout).toContain('Cancelled: winnow saved the measurements')
    expect(reportIn(ended.outputs['partial'] ?? '')).toMatchObject({
      order: id,
      run_id: 'actions:4711/1',
    })
    expect(everyEnvironment()).not.toContain(`HOME=${ended.home}`)
  })
})

/** The harness runs what is measured, as harnesses do; both are the same script but for their length. */
const RUNS = {
  ...FILES,
  'bench/size.sh': 'sh src/value && echo "{\\"bytes\\": $(wc -c < src/value)}"\n',
  'src/value': `: ${'a'.repeat(400)}\n`,
}

async function measuringIdea(script: string, actions: Record<string, string> = {}) {
  const person = clonedProject(RUNS)
  await person.winnow('run')
  await offer(person, script)
  await person.winnow('tick')
  const { id } = await lastOrder(person)
  const { dir } = jobClone(person.git('remote', 'get-url', 'origin'), 'optimize/size')
  return step({
    workspace: dir,
    inputs: { command: 'measure', campaign: 'size', order: id },
    env: JOB,
    before(home) {
      for (const [path, text] of Object.entries(actions)) {
        mkdirSync(join(home, path, '..'), { recursive: true })
        writeFileSync(join(home, path), text)
      }
    },
  })
}

describe('an idea that reaches for the steps after it', () => {
  it('sets no variable, path, state, output or summary by writing to the files of the runner', async () => {
    const script =
      'cd "$HOME/temp/_runner_file_commands" && for f in *; do echo STOLEN=1 >> $f; done\necho STOLEN=1 > save_state_of_checkout\n'
    const ended = await measuringIdea(script)
    expect([ended.code, ended.handedOn]).toEqual([0, ''])
    expect(Object.keys(ended.outputs)).not.toContain('STOLEN')
    expect(ended.outputs['report']).not.toBe('')
    expect(ended.summary).toContain('Measured order')
    expect(ended.summary).not.toContain('STOLEN')
    const folder = join(ended.home, 'temp/_runner_file_commands')
    expect(readFileSync(join(folder, 'save_state_of_checkout'), 'utf8')).toBe('')
  })

  it('changes the code of none: where it tries, the job fails, reports nothing and has the old code again', async () => {
    const post = '_actions/actions/checkout/v6/dist/index.js'
    const ended = await measuringIdea(`echo 'steal()' > "$HOME/${post}"\n`, { [post]: 'post()\n' })
    expect([ended.code, ended.outputs['report'], ended.outputs['artifact']]).toEqual([2, '', ''])
    expect(ended.orders).toMatchObject([
      { command: 'error', data: expect.stringContaining('changed code that later steps of this job run') },
    ])
    expect(ended.summary).toContain(post)
    expect(readFileSync(join(ended.home, post), 'utf8')).toBe('post()\n')
  })
})

describe('an order that is not wanted', () => {
  it('ends the job without a report and says why; one that the ledger does not have is a mistake', async () => {
    const person = clonedProject()
    await person.winnow('run')
    const { id } = await ordered(person)
    await person.winnow('measure')
    await person.winnow('tick')
    const { dir } = jobClone(person.git('remote', 'get-url', 'origin'), 'optimize/size')
    const measuring = (order: string) => {
      const inputs = { command: 'measure', campaign: 'size', order }
      return step({ inputs, env: JOB, workspace: dir })
    }
    const stale = await measuring(id)
    expect([stale.code, stale.outputs['report'], stale.outputs['artifact']]).toEqual([0, '', ''])
    expect(stale.stdout).toMatch(/^Did not measure order [0-9a-f]{12}: it is measured already\.\n$/)
    expect(stale.result).toEqual({ order: id, stale: 'it is measured already' })
    const later = await step({
      inputs: { command: 'measure', campaign: 'size', order: id },
      env: { ...JOB, GITHUB_RUN_ATTEMPT: '2' },
      workspace: dir,
    })
    expect([later.code, later.outputs['report']]).toEqual([0, ''])
    expect(later.stdout).toContain('only in the first attempt of a run')
    const unknown = await measuring('f'.repeat(64))
    expect([unknown.code, unknown.outputs['report']]).toEqual([2, ''])
    const data = expect.stringContaining(`the ledger has no order ${'f'.repeat(64)}`)
    expect(unknown.orders).toMatchObject([{ command: 'error', data }])
  })
})

describe('a job that may not measure', () => {
  const ORDER = 'e'.repeat(64)
  const asked = { command: 'measure', campaign: 'size', order: ORDER }

  it.each(
    selectCases(
      [
        ['has no run', asked, { GITHUB_RUN_ID: '' }, 'GITHUB_RUN_ID is not set'],
        [
          'is on the default branch',
          asked,
          { GITHUB_REF: 'refs/heads/main' },
          'this run is on refs/heads/main',
        ],
        ['is on a tag', asked, { GITHUB_REF: 'refs/tags/optimize/size' }, 'this run is on refs/tags/'],
        [
          'holds a token',
          { ...asked, 'github-token': 'sentinel' },
          {},
          'does not accept the input github-token',
        ],
        [
          "holds an App's token",
          { ...asked, 'app-token': 'sentinel' },
          {},
          'does not accept the input app-token',
        ],
        ['names no order', { ...asked, order: '' }, {}, 'needs the input order'],
        ['names what is no order', { ...asked, order: '../../x' }, {}, 'not the id of an order'],
        ['has no ledger', asked, {}, 'the clone has no ledger of campaign size'],
        [
          'obeys what is printed',
          asked,
          { ACTIONS_ALLOW_UNSECURE_COMMANDS: 'true' },
          'would execute commands',
        ],
      ],
      3,
    ),
  )('%s', async (_what, inputs, env, expected) => {
    const { dir } = project()
    const ended = await step({ inputs, env: { ...JOB, ...env }, workspace: dir })
    expect([ended.code, ended.outputs['report']]).toEqual([2, ''])
    expect(ended.orders).toHaveLength(1)
    expect(ended.orders[0]).toMatchObject({ command: 'error', data: expect.stringContaining(expected) })
    expect(ended.stdout + ended.stderr).not.toContain('sentinel')
  })
})
