import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openOrderFiles } from '../../src/engine/jobs/order-files.ts'
import { reportSchema } from '../../src/model/report.ts'
import { clonedProject, FILES, offer, type Project, proven, SHORT, SPEC } from '../cli/project.ts'
import { scratch } from '../git/scratch.ts'
import type { SideUsers } from '../../src/measure/isolation/side-users.ts'
import { amongUsers, asRunner, SUDO_ROOT } from '../measure/in-namespace.ts'
import { isRoot, throwAwayUsers } from '../measure/throw-away-users.ts'
import { appears, everyEnvironment, jobClone, lastOrder, readable } from './a-job.ts'
import { type Step, step } from './a-runner.ts'
import { releaseTest } from '../support/cases.ts'

/** Several jobs, one after the other. */
const SLOW = { timeout: 240_000 }
const JOB = { GITHUB_RUN_ID: '4711', GITHUB_RUN_ATTEMPT: '1', GITHUB_REF: 'refs/heads/optimize/size' }
/** In no other process of the tests, whatever runs beside these. */
const SENTINEL = `sentinel-${process.pid}`
const SECRETS = { ACTIONS_RUNTIME_TOKEN: `${SENTINEL}-runtime`, GITHUB_TOKEN: `${SENTINEL}-github` }

/** Answers only where it is no user who can be root, in a home of its own. */
const OWN = 'test "$(id -u)" != 0 && test -O "$HOME" && echo "{\\"bytes\\": $(wc -c < src/value)}"\n'

/** A campaign that begins with one spec and harness and goes on with others, of which nothing is measured yet. */
async function fresh(files: Record<string, string>) {
  const person = clonedProject()
  expect((await person.winnow('run')).code).toBe(14)
  person.commit('another harness', files)
  person.git('push', '-q', 'origin', 'main')
  await person.winnow('tick')
  return { person, order: await lastOrder(person) }
}

async function nextOrder(person: Project) {
  await offer(person, SHORT)
  await person.winnow('tick')
  return lastOrder(person)
}

type Ended = Awaited<ReturnType<typeof step>>

function measuring(person: Project, order: { id: string }, rest: Partial<Step> = {}): Promise<Ended> {
  const { dir } = jobClone(person.git('remote', 'get-url', 'origin'), 'optimize/size')
  const users = throwAwayUsers()
  return step({
    inputs: { command: 'measure', campaign: 'size', order: order.id },
    workspace: dir,
    env: { ...JOB, ...SECRETS },
    through: argv => amongUsers(users, argv),
    ...rest,
  })
}

const reportIn = ({ outputs }: Ended) =>
  reportSchema.parse(JSON.parse(readFileSync(outputs['report'] ?? '', 'utf8')).entries[0].report)

/** As the artifact of that run would be taken in. */
async function takeIn(person: Project, { id }: { id: string }, ended: Ended) {
  const room = readdirSync(person.cache).find(name => /^[0-9a-f]{20}$/.test(name)) ?? ''
  const files = openOrderFiles(join(person.cache, room, 'campaigns/size/orders'), () => {})
  await files.claim(id, 'actions:4711/1')
  await files.report(id, reportIn(ended))
  return person.winnow('tick')
}

describe.skipIf(!isRoot)('a job where there are users for sides', () => {
  it('measures with them, where the harness works that way', async () => {
    const { person, order } = await fresh({ 'bench/size.sh': OWN })
    const ended = await measuring(person, order)
    expect([ended.code, ended.stderr, ended.orders]).toEqual([0, '', []])
    expect(ended.stdout).toContain('Isolation: each side runs as a separate user.')
    const report = reportIn(ended)
    expect(report.executions.map(({ status }) => status)).toContain('ok')
    expect(report).toMatchObject({ flags: [], tampered: null, runner_error: null })
    expect(ended.result).toMatchObject({ isolated: true })
  })

  releaseTest(
    'measures every later order of that harness the same way, and what is kept stands its proof',
    SLOW,
    async () => {
      const { person, order } = await fresh({ 'bench/size.sh': OWN })
      let last = order
      for (let turn = 0; turn < 6; turn++) {
        await takeIn(person, last, await measuring(person, last))
        const next = await lastOrder(person)
        if (next.id === last.id) break
        last = next
      }
      const kept = await nextOrder(person)
      const ended = await measuring(person, kept)
      // Nothing is tried again: what was found stands in the ledger.
      expect(reportIn(ended).flags).toEqual([])
      expect((await takeIn(person, kept, ended)).err).toMatch(/^exp-001 Kept: bytes 100 -> 50/m)
      await proven(person)
      const elsewhere = await measuring(person, kept, { through: argv => argv })
      expect(elsewhere.stdout).toContain(': it is measured already')
    },
  )

  releaseTest(
    'does without where the harness does not work that way, and says why in its log, summary and report',
    async () => {
      const needs = 'test "$(id -u)" = 0 || { echo "no tool for you" >&2; exit 3; }\n'
      const { person, order } = await fresh({ 'bench/size.sh': needs + FILES['bench/size.sh'] })
      const ended = await measuring(person, order)
      expect([ended.code, ended.stderr]).toEqual([0, ''])
      const why = 'as a separate user, the harness fails: no tool for you'
      expect(ended.stdout).toContain(`Isolation: none, because ${why}.`)
      expect(ended.summary).toContain(`Without isolation, because ${why}.`)
      const report = reportIn(ended)
      expect(report).toMatchObject({ flags: ['unisolated'], unisolated_because: why })
      expect(report.executions.map(({ status }) => status)).toContain('ok')
    },
  )

  it('does without where such users could change code that later steps run, and names it', async () => {
    const { person, order } = await fresh({
      'bench/size.sh': `${FILES['bench/size.sh']}# another\n`,
    })
    const action = '_actions/actions/upload-artifact/v6/dist'
    const ended = await measuring(person, order, {
      before(home) {
        chmodSync(home, 0o755)
        mkdirSync(join(home, action), { recursive: true })
        writeFileSync(join(home, action, 'index.js'), 'upload()')
        chmodSync(join(home, action, 'index.js'), 0o666)
      },
    })
    const file = join(ended.home, action, 'index.js')
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    expect(ended.summary).toMatch(/Without isolation, because user \d+ of a side can write to /)
    expect(reportIn(ended).unisolated_because).toContain(
      `${file}, from which later steps of this job run code`,
    )
    expect(readFileSync(file, 'utf8')).toBe('upload()')
  })

  releaseTest('goes on without where its campaign was measured without before', async () => {
    const person = clonedProject()
    expect((await person.winnow('run')).code).toBe(14)
    const ended = await measuring(person, await nextOrder(person))
    expect(ended.stdout).toContain(
      'Isolation: none, because the earlier measurements were made without isolation.',
    )
    expect(reportIn(ended).flags).toContain('unisolated')
  })

  releaseTest('does as the spec says where it says more than auto', async () => {
    const spec = (isolation: string) =>
      SPEC.replace('sh bench/size.sh', `sh bench/size.sh, isolation: ${isolation}`)
    const none = await fresh({ '.winnow/size.yaml': spec('none') })
    const without = await measuring(none.person, none.order)
    expect(reportIn(without)).toMatchObject({ unisolated_because: 'the spec says isolation: none' })
    const uid = await fresh({ '.winnow/size.yaml': spec('uid'), 'bench/size.sh': 'exit 3\n' })
    const failing = await measuring(uid.person, uid.order)
    expect(reportIn(failing)).toMatchObject({ flags: [] })
    const nobody = await measuring(uid.person, uid.order, { through: argv => argv })
    expect([nobody.code, nobody.outputs['report']]).toEqual([2, ''])
    expect(nobody.orders).toMatchObject([
      {
        command: 'error',
        data: expect.stringContaining('measurement.isolation uid: there is no user winnow-1'),
      },
    ])
  })

  it('keeps every secret from what it measures, and the order from arguments that anybody sees', async () => {
    const waits =
      'if [ -d "$SPY" ]; then touch "$SPY/here"; while [ ! -e "$SPY/go" ]; do sleep 0.05; done; fi\n'
    const spec = SPEC.replace('sh bench/size.sh', 'sh bench/size.sh, env: [SPY]')
    const { person, order } = await fresh({ '.winnow/size.yaml': spec, 'bench/size.sh': waits + OWN })
    const spy = openScratch()
    const seen: string[] = []
    const ended = await measuring(person, order, {
      env: { ...JOB, ...SECRETS, SPY: spy },
      async meanwhile() {
        await appears(join(spy, 'here'))
        seen.push(everyEnvironment(), everyCommand())
        writeFileSync(join(spy, 'go'), '')
      },
    })
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    expect(seen.join()).toContain('WINNOW_OUT_DIR')
    expect(seen.join()).not.toContain(SENTINEL)
    expect(seen.join()).not.toContain(order.id)
    expect(statSync(ended.outputs['report'] ?? '').uid).toBe(process.getuid?.())
  })

  it('ends what it measures when it is cancelled, and reports nothing', async () => {
    const waits = 'if [ -d "$SPY" ]; then touch "$SPY/here"; sleep 1000; fi\n'
    const spec = SPEC.replace('sh bench/size.sh', 'sh bench/size.sh, env: [SPY]')
    const { person, order } = await fresh({ '.winnow/size.yaml': spec, 'bench/size.sh': waits + OWN })
    const spy = openScratch()
    const ended = await measuring(person, order, {
      env: { ...JOB, ...SECRETS, SPY: spy },
      async meanwhile(pid) {
        await appears(join(spy, 'here'))
        process.kill(pid, 'SIGINT')
      },
    })
    expect([ended.code, ended.outputs['report'], ended.orders]).toEqual([130, '', []])
    expect(ended.stdout).toContain('Cancelled: winnow saved the measurements that it had finished')
    expect(everyEnvironment()).not.toContain(`SPY=${spy}`)
  })
})

const RUNNER = 99_000 + (process.pid % 900)

/** A job as on a hosted runner, whose user may become root and is not. */
function hosted(
  person: Project,
  order: { id: string },
  { after, users = throwAwayUsers() }: { after?: string; users?: Pick<SideUsers, 'owners'> } = {},
): Promise<Ended> {
  return measuring(person, order, {
    env: { ...JOB, ...SECRETS, RUNNER_ENVIRONMENT: 'github-hosted' },
    owner: RUNNER,
    through: argv => asRunner(users, RUNNER, argv, after),
  })
}

describe.skipIf(!isRoot || SUDO_ROOT === '')('a job whose user may become root', () => {
  /** Who may become root when all is over. */
  const AFTER = `setpriv --reuid ${RUNNER} --regid ${RUNNER} --clear-groups -- sudo --non-interactive id -u; ls -A /var/lib/winnow; true`

  it('measures as users of sides, and hands the report to whom the job belongs', async () => {
    const { person, order } = await fresh({ 'bench/size.sh': OWN })
    const ended = await hosted(person, order)
    expect(statSync(ended.workspace).mode & 0o777).toBe(0o700)
    expect([ended.code, ended.stderr, ended.orders]).toEqual([0, '', []])
    expect(ended.stdout).toContain('Isolation: each side runs as a separate user.')
    expect(reportIn(ended)).toMatchObject({ flags: [], tampered: null, runner_error: null })
    const file = ended.outputs['report'] ?? ''
    expect([statSync(file).uid, statSync(join(file, '..')).uid]).toEqual([RUNNER, RUNNER])
    expect(
      readdirSync(join(ended.home, 'temp')).filter(name => name.startsWith('winnow-report-')),
    ).toHaveLength(1)
  })

  it('gives up that right before anything runs as that user', async () => {
    const spies =
      'if sudo --non-interactive true 2> /dev/null; then exit 9; fi\ntest "$(id -u)" = $RUNNER || exit 8\n'
    const spec = SPEC.replace('sh bench/size.sh', 'sh bench/size.sh, isolation: none')
    const harness = spies.replace('$RUNNER', String(RUNNER)) + FILES['bench/size.sh']
    const { person, order } = await fresh({ '.winnow/size.yaml': spec, 'bench/size.sh': harness })
    const ended = await hosted(person, order, { after: AFTER })
    expect(ended.code).toBe(0)
    expect(reportIn(ended)).toMatchObject({ unisolated_because: 'the spec says isolation: none' })
    expect(reportIn(ended).executions.map(({ status }) => status)).toContain('ok')
    expect(ended.stdout.split('\n')).not.toContain('0')
    expect(readdirSync(join(ended.home, 'temp')).filter(name => name.startsWith('winnow-root-'))).toEqual([])
  })

  releaseTest(
    'gives it up where there are no users for sides, before anything runs as that user',
    async () => {
      const spies = 'if sudo --non-interactive true 2> /dev/null; then exit 9; fi\n'
      const { person, order } = await fresh({ 'bench/size.sh': spies + FILES['bench/size.sh'] })
      const ended = await hosted(person, order, { after: AFTER, users: { owners: [] } })
      expect([ended.code, ended.orders]).toEqual([0, []])
      expect(reportIn(ended)).toMatchObject({ unisolated_because: 'there is no user winnow-1' })
      expect(reportIn(ended).executions.map(({ status }) => status)).toContain('ok')
      expect(ended.stdout.split('\n')).not.toContain('0')
    },
  )

  it('has it no more once sides were measured, and nobody who is measured has it', async () => {
    const tries = 'if sudo --non-interactive true 2> /dev/null; then exit 9; fi\n'
    const { person, order } = await fresh({ 'bench/size.sh': tries + OWN })
    const ended = await hosted(person, order, { after: AFTER })
    expect(reportIn(ended).executions.map(({ status }) => status)).toContain('ok')
    expect(reportIn(ended).flags).toEqual([])
    expect(ended.stdout.split('\n')).not.toContain('0')
    expect(ended.stdout).toMatch(/^closed\n/m)
  })

  it('is cancelled by a word to its own process alone', async () => {
    const waits = 'if [ -d "$SPY" ]; then touch "$SPY/here"; sleep 1000; fi\n'
    const spec = SPEC.replace('sh bench/size.sh', 'sh bench/size.sh, env: [SPY]')
    const { person, order } = await fresh({ '.winnow/size.yaml': spec, 'bench/size.sh': waits + OWN })
    const spy = openScratch()
    const users = throwAwayUsers()
    const ended = await measuring(person, order, {
      env: { ...JOB, ...SECRETS, SPY: spy },
      owner: RUNNER,
      through: argv => asRunner(users, RUNNER, argv),
      async meanwhile(pid) {
        await appears(join(spy, 'here'))
        expect(everyEnvironment()).not.toContain(SENTINEL)
        process.kill(pid, 'SIGTERM')
      },
    })
    expect([ended.code, ended.outputs['report'], ended.orders]).toEqual([130, '', []])
    expect(everyEnvironment()).not.toContain(`SPY=${spy}`)
  })
})

function openScratch(): string {
  const dir = scratch('winnow-spy-')
  chmodSync(dir, 0o777)
  return dir
}

function everyCommand(): string {
  const ids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return ids.map(id => readable(`/proc/${id}/cmdline`)).join('\0')
}
