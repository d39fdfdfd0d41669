import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { UNKNOWN_MODEL } from '../judge/http-models.ts'
import { modelServer } from '../servers/model-server.ts'
import { SIZE_SPEC } from '../support/size-repository.ts'
import { scratch } from '../git/scratch.ts'
import { githubFrom, type Snapshot, snapshotOf } from '../github/emulator/github.ts'
import { carrying } from '../measure/processes.ts'
import { waitingRuns, wholeRun } from '../github/measuring-job.ts'
import { woken, wokenJobs } from '../github/job-in-process.ts'
import { appears, jobClone } from './a-job.ts'
import { type Ended, type Step, step } from './a-runner.ts'
import { BUNDLED, IN_PROCESS, job, onGithub, settlingAfter, type WritingJobs } from './a-campaign.ts'
import { releaseTest } from '../support/cases.ts'

/** Shortens a.txt once, and has no other idea; shouts at the runner, and looks for what it may not have. */
const THINK = `
mkdir -p "$HOME/seen"
env > "$HOME/seen/own"
cat /proc/self/environ /proc/[0-9]*/environ > "$HOME/seen/around" 2> /dev/null
echo '::set-output name=report::/etc/passwd'
echo '##[set-output name=artifact]stolen' >&2
test "$(wc -c < src/a.txt)" = 16 || { echo 'nothing comes to mind ::error::x' >&2; exit 3; }
echo aaa > src/a.txt
echo '{"hypothesis": "three letters do ::stop-commands::x", "learnings": "letters cost"}'
`
const PROPOSE =
  'propose: [{ use: command, command: sh tools/think.sh, name: thinker }]\nmerge: { forgeable: allow }\nexecution: { mode: serial }'
const SPEC = SIZE_SPEC.replace(/propose: .*/, PROPOSE)

/** In no other process of the tests, whatever runs beside these. */
const SENTINEL = `sentinel-${process.pid}`
const SECRETS = {
  ACTIONS_RUNTIME_TOKEN: `${SENTINEL}-runtime`,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: `${SENTINEL}-oidc`,
  GITHUB_TOKEN: `${SENTINEL}-github`,
  OTHER_API_KEY: `${SENTINEL}-other`,
}

type Begun = Pick<Awaited<ReturnType<typeof onGithub>>, 'github' | 'token'>

async function asking(files: Record<string, string> = {}, spec = SPEC) {
  return repositoryOn(await onGithub({ '.winnow/size.yaml': spec, 'tools/think.sh': THINK, ...files }))
}

let begunBefore: { snapshot: Snapshot; token: string; run: number } | undefined
const kept: string[] = []
afterAll(() => {
  for (const folder of kept) rmSync(folder, { recursive: true, force: true })
})

/** A campaign whose program is to be asked, begun once: every test goes on from a copy. */
async function askingBegun() {
  begunBefore ??= await beginOnce()
  const { snapshot, token, run } = begunBefore
  const github = await githubFrom(snapshot)
  onTestFinished(() => github.stop())
  return { repository: repositoryOn({ github, token }), run }
}

async function beginOnce() {
  const repository = await asking()
  const run = await repository.begin()
  const folder = mkdtempSync(join(tmpdir(), 'winnow-begun-'))
  kept.push(folder)
  return {
    snapshot: snapshotOf(repository.github, join(folder, 'repository.git')),
    token: repository.token,
    run,
  }
}

function repositoryOn(there: Begun) {
  const { github, token } = there
  const env = (run: number) => ({ GITHUB_RUN_ID: String(run) })
  return {
    ...there,
    /** The jobs of one wake-up, which are those of one run. */
    first: (run: number, attempt = 1) =>
      IN_PROCESS.ticking(
        github,
        token,
        { ...env(run), GITHUB_RUN_ATTEMPT: String(attempt) },
        { 'next-jobs': 'measure, propose' },
      ),
    propose: (run: number, more: Record<string, string> = {}, how: Pick<Step, 'meanwhile'> = {}) =>
      job(github, 'main', {
        inputs: { command: 'propose', campaign: 'size' },
        env: { ...env(run), ...SECRETS, ...more },
        ...how,
      }),
    settle: (run: number, answers: string, jobs: WritingJobs = IN_PROCESS) =>
      settlingAfter(github, token, { run, job: 'propose', file: answers }, jobs),
    /** Measuring is another test's subject: these jobs run in this process. */
    async measureAll() {
      const jobs = wokenJobs({ github, token })
      for (const run of waitingRuns(github)) await wholeRun(github, run, jobs)
    },
    async measureUntilIdle() {
      for (let runs = 0; waitingRuns(github).length > 0; runs++) {
        expect(
          runs,
          this.events()
            .map(({ kind }) => kind)
            .join(' '),
        ).toBeLessThan(20)
        await this.measureAll()
      }
    },
    /** Until a proposer is to be asked. */
    async begin() {
      expect(await woken({ github, token, env: env(1) })).toMatchObject({ code: 0 })
      await this.measureAll()
      const ended = await this.first(2)
      expect(ended.outputs['propose']).toBe('size')
      return 2
    },
    events(): Record<string, unknown>[] {
      const { dir } = jobClone(github.bare, 'optimize-state/size')
      const files = execFileSync('git', ['-C', dir, 'ls-files', 'events'], { encoding: 'utf8' }).trim()
      return files.split('\n').map(name => JSON.parse(readFileSync(join(dir, name), 'utf8')))
    },
    kinds(...wanted: string[]) {
      return this.events().filter(({ kind }) => wanted.includes(String(kind)))
    },
  }
}

const answersIn = ({ outputs }: Ended) => JSON.parse(readFileSync(outputs['report'] ?? '', 'utf8')).entries

// Each is a dozen jobs, one after the other.
describe('command propose', { timeout: 180_000 }, () => {
  it('asks in its own job what tick asked for, and settle opens it', async () => {
    const { repository, run } = await askingBegun()
    const asked = await repository.propose(run, { WINNOW_MODEL_KEY: 'sentinel-model' })
    expect([asked.code, asked.stderr, asked.orders]).toEqual([0, '', []])
    expect(asked.result).toEqual({ campaign: 'size', asked: 1, ideas: 1 })
    const answers = asked.outputs['report'] ?? ''
    const settled = await repository.settle(run, answers, BUNDLED)
    expect([settled.code, settled.stderr, settled.orders]).toEqual([0, '', []])
    expect(settled.outputs).toMatchObject({ propose: '' })
    expect(repository.github.world.pulls).toMatchObject([
      { draft: true, base: 'optimize/size', state: 'open' },
    ])
    const [opened] = repository.kinds('experiment-opened')
    expect(opened).toMatchObject({ learnings: 'letters cost', source: { use: 'command' } })
    expect(repository.kinds('spent')).toMatchObject([{ who: 'thinker', ok: true }])
    await repository.settle(run, answers)
    expect(repository.kinds('spent')).toHaveLength(1)
    expect(repository.github.world.pulls).toHaveLength(1)
  })

  it('gives the program the key of its model and nothing else that is secret', async () => {
    const { repository, run } = await askingBegun()
    const proxy = 'http://ada:word@127.0.0.1:9'
    const held = { WINNOW_MODEL_KEY: 'sentinel-model', HTTPS_PROXY: proxy }
    const asked = await repository.propose(run, held)
    const seen = (name: string) => readFileSync(join(asked.home, 'seen', name), 'utf8')
    expect(seen('own')).toContain('WINNOW_MODEL_KEY=sentinel-model')
    // Its model may be asked by that proxy alone.
    expect(seen('own')).toContain(`HTTPS_PROXY=${proxy}`)
    expect(seen('own')).not.toMatch(/^(?:GITHUB|ACTIONS|INPUT|RUNNER)_/m)
    for (const text of [seen('own'), seen('around')])
      for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret)
    expect(asked.stdout + JSON.stringify(asked.outputs)).not.toContain('sentinel')
  })

  releaseTest('counts what fails as on one machine: after three nobody asks any more', async () => {
    const repository = await asking({ 'tools/think.sh': 'echo "::error::no idea" >&2; exit 3\n' })
    let run = await repository.begin()
    for (let failed = 1; failed <= 3; failed++, run++) {
      const asked = await repository.propose(run)
      expect([asked.code, asked.orders]).toEqual([0, []])
      expect(answersIn(asked)).toMatchObject([{ ok: false }])
      const settled = await repository.settle(run, asked.outputs['report'] ?? '')
      expect([settled.code, settled.orders]).toEqual([0, []])
      // Whom the last run had nothing from is asked by the next schedule.
      expect(waitingRuns(repository.github)).toEqual([])
      expect(repository.kinds('spent')).toHaveLength(failed)
      expect((await repository.first(run + 1)).outputs['propose']).toBe(failed < 3 ? 'size' : '')
    }
    expect(repository.kinds('alert')).toMatchObject([{ code: 'proposer-disabled', about: 'thinker' }])
    expect(repository.kinds('campaign-stopped')).toMatchObject([{ code: 'empty_backlog' }])
  })

  releaseTest('brings home what others answered where one cannot be asked, and says so', async () => {
    const breaking = 'f=$(echo ../running-*.json); rm $f; mkdir $f'
    const both = `propose: [
  { use: command, command: sh tools/think.sh, name: thinker },
  { use: command, command: "${breaking}", name: "br <b> | #1" }]
execution: { mode: parallel, max_concurrent: 2 }`
    const repository = await asking({}, SIZE_SPEC.replace(/propose: .*/, both))
    const run = await repository.begin()
    const asked = await repository.propose(run)
    expect([asked.code, asked.result]).toEqual([0, { campaign: 'size', asked: 2, ideas: 1 }])
    const said = 'br <b> | #1 could not be asked: Path is a directory'
    expect(answersIn(asked)).toMatchObject([
      { who: 'thinker', ok: true },
      { who: 'br <b> | #1', ok: false, reason: expect.stringContaining(said) },
    ])
    expect(asked.stdout).toContain(said)
    expect(asked.summary).toMatch(/^- br \\<b\\> \\\| .*1 could not be asked/m)
    await repository.settle(run, asked.outputs['report'] ?? '')
    expect(repository.kinds('experiment-opened')).toMatchObject([{ learnings: 'letters cost' }])
    expect(repository.kinds('spent')).toMatchObject([{ ok: true }, { ok: false }])
  })

  releaseTest('hands out an idea of the backlog, which ends with its experiment', async () => {
    const repository = await asking()
    await woken({ github: repository.github, token: repository.token, env: { GITHUB_RUN_ID: '1' } })
    await repository.measureAll()
    const { dir } = jobClone(repository.github.bare, 'main')
    const winnow = join(process.cwd(), 'dist/cli.js')
    const argv = [
      winnow,
      'idea',
      'add',
      'spell it with three letters',
      '--category',
      'spelling',
      '--campaign',
      'size',
    ]
    execFileSync(process.execPath, [...argv, '--cache-dir', scratch('winnow-cache-')], { cwd: dir })
    expect((await repository.first(2)).outputs['propose']).toBe('size')
    const [idea] = repository.kinds('hypothesis-added')
    expect(repository.kinds('proposal-requested')).toMatchObject([{ carries: idea?.['id'] }])
    const asked = await repository.propose(2)
    await repository.settle(2, asked.outputs['report'] ?? '')
    expect(repository.kinds('experiment-opened')).toMatchObject([
      { category: 'spelling', carries: idea?.['id'] },
    ])
    await repository.measureAll()
    await repository.first(3)
    expect(repository.kinds('hypothesis-updated')).toMatchObject([{ status: 'tried', outcome: 'kept' }])
  })

  releaseTest(
    'has a model rewrite an artifact after a pass, and one that cannot be asked costs nothing and is asked again',
    async () => {
      let known = false
      const rewrite = { artifact_name: 'a', proposed_content: 'aaa\n', rationale: 'three letters do' }
      const text = JSON.stringify({ ...rewrite, expected_loss_reduction: 0.5, confidence: 0.5 })
      const server = await modelServer(() => (known ? { text, tokens: [900, 100] } : UNKNOWN_MODEL))
      const spec = `${SIZE_SPEC.replace(/propose: .*/, 'propose: [{ use: textgrad, model: m }]')}
artifacts: [{ name: a, path: src/a.txt }]
epochs: { count: 1, baseline: 2, learning_rate: 1 }
merge: { forgeable: allow, unisolated: allow, hold_above: null }
stopping: { max_total_cost_usd: 1 }
`
      const repository = await asking({}, spec)
      await woken({ github: repository.github, token: repository.token, env: { GITHUB_RUN_ID: '1' } })
      await repository.measureUntilIdle()
      expect(repository.kinds('baseline-measured')).toHaveLength(2)
      const env = { WINNOW_MODEL_KEY: 'a-model-key', WINNOW_MODEL_URL: server.url, WINNOW_MODEL_PRICE: '1/1' }

      expect((await repository.first(2)).outputs['propose']).toBe('size')
      const failed = await repository.propose(2, env)
      const why = /no model could be asked for a rewrite: .+ has no model m/
      expect(failed.stdout).toMatch(why)
      await repository.settle(2, failed.outputs['report'] ?? '')
      const reason = expect.stringMatching(why)
      expect(repository.kinds('proposal-lost', 'spent', 'experiment-opened', 'alert')).toMatchObject([
        { kind: 'proposal-lost', reason },
        { kind: 'alert', code: 'asking-failed', message: reason },
      ])

      known = true
      expect((await repository.first(3)).outputs['propose']).toBe('size')
      const asked = await repository.propose(3, env)
      expect([asked.code, asked.stderr, asked.result]).toEqual([
        0,
        '',
        { campaign: 'size', asked: 1, ideas: 1 },
      ])
      expect(server.asked.map(({ authorization }) => authorization)).toEqual(
        Array(2).fill('Bearer a-model-key'),
      )
      await repository.settle(3, asked.outputs['report'] ?? '')
      expect(repository.kinds('proposal-requested')).toMatchObject([
        { who: 'textgrad', may_cost_usd: 0.25 },
        { who: 'textgrad', may_cost_usd: expect.any(Number) },
      ])
      expect(repository.kinds('spent').filter(({ what }) => what === 'propose')).toMatchObject([
        { who: 'textgrad', ok: true, requests: 1, tokens: 1000, usd: 0.001 },
      ])
      expect(repository.kinds('experiment-opened')).toMatchObject([
        { hypothesis: 'three letters do', category: 'a', learnings: expect.stringMatching(/^Expected loss/) },
      ])
      await repository.measureUntilIdle()
      expect(repository.kinds('decided')).toMatchObject([{ outcome: 'kept' }])
      expect(repository.kinds('campaign-stopped')).toMatchObject([{ code: 'epochs' }])
      expect(JSON.stringify(repository.events())).not.toContain('a-model-key')
    },
    300_000,
  )

  releaseTest(
    'asks nobody in a run that is started again, whose answers could not be handed over',
    async () => {
      const { repository, run } = await askingBegun()
      const again = await repository.propose(run, { GITHUB_RUN_ATTEMPT: '2' })
      expect([again.code, again.outputs['report']]).toEqual([0, ''])
      expect(again.stdout).toContain('only in the first attempt of a run')
      await repository.settle(run, '')
      expect((await repository.first(run, 2)).outputs['propose']).toBe('')
      expect((await repository.first(run + 1)).outputs['propose']).toBe('size')
      expect(repository.kinds('proposal-requested')).toHaveLength(2)
    },
  )

  it('asks nobody whom the ledger does not name for this very run, and not in a campaign that was paused', async () => {
    const { repository, run } = await askingBegun()
    const other = await repository.propose(run + 7)
    expect([other.code, other.outputs['report']]).toEqual([0, ''])
    expect(other.stdout).toContain(
      'Requested no ideas from programs: campaign size is running and has no open request of this run.',
    )
    const again = await repository.first(run + 1)
    expect([again.outputs['propose'], again.result]).toMatchObject([
      '',
      { campaigns: [{ waiting: { for: 'proposers' } }] },
    ])
    expect(repository.kinds('proposal-requested')).toHaveLength(1)
    const { dir } = jobClone(repository.github.bare, 'main')
    const argv = [join(process.cwd(), 'dist/cli.js'), 'pause', '-m', 'enough', '--campaign', 'size']
    execFileSync(process.execPath, [...argv, '--cache-dir', scratch('winnow-cache-')], { cwd: dir })
    expect((await repository.propose(run)).stdout).toContain(
      'Requested no ideas from programs: campaign size is paused',
    )
  })

  releaseTest('ends with everything that it started where its job is cancelled', async () => {
    const waits = 'sleep 98765.25 & touch "$HOME/waits"; wait\n'
    const repository = await asking({ 'tools/think.sh': waits })
    const run = await repository.begin()
    const meanwhile = async (pid: number, home: string) => {
      await appears(join(home, 'waits'))
      expect(carrying('98765.25')).not.toEqual([])
      process.kill(pid, 'SIGTERM')
    }
    const asked = await repository.propose(run, {}, { meanwhile })
    expect([asked.code, asked.outputs['report']]).toEqual([130, ''])
    expect(asked.stdout).toContain('Cancelled: winnow stopped the running programs.')
    expect(carrying('98765.25')).toEqual([])
    await repository.settle(run, '')
    expect(repository.kinds('proposal-lost')).toHaveLength(1)
  })

  it.each(['github-token', 'app-token'])('takes no %s', async name => {
    const inputs = { command: 'propose', [name]: 'sentinel' }
    const { code, orders } = await step({ inputs, workspace: tmpdir() })
    expect(code).toBe(2)
    expect(orders).toMatchObject([
      { data: expect.stringContaining(`does not accept the input ${name}: it runs the programs`) },
    ])
  })
})
