import { join } from 'node:path'
import { setTimeout as later } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { appears } from '../../action/a-job.ts'
import { sceneWithActions } from './scene-with-actions.ts'

const BY_HAND = 'on: workflow_dispatch'
const say = (name: string, value: string) => `run: echo '${name}=${value}' >> "$GITHUB_OUTPUT"`

test('needs, conditions, matrices from outputs, and outputs that merge', async () => {
  const it = await sceneWithActions({
    'ci.yml': `
${BY_HAND}
jobs:
  plan:
    runs-on: ubuntu-24.04
    outputs: { list: '\${{ steps.list.outputs.list }}', none: '' }
    steps:
      - id: list
        ${say('list', '[{"slot":0,"word":"ash"},{"slot":1,"word":"oak"}]')}
  work:
    needs: plan
    if: "!cancelled() && needs.plan.outputs.list != ''"
    runs-on: ubuntu-24.04
    name: work on \${{ matrix.word }}
    strategy: { fail-fast: false, matrix: { include: '\${{ fromJSON(needs.plan.outputs.list) }}' } }
    outputs:
      slot-0: \${{ matrix.slot == 0 && format('{0} {1}', job.status, matrix.word) || '' }}
      slot-1: \${{ matrix.slot == 1 && format('{0} {1}', job.status, matrix.word) || '' }}
    steps: [{ run: 'test "$WORD" = ash', env: { WORD: '\${{ matrix.word }}' } }]
  unasked: { needs: plan, if: needs.plan.outputs.none != '', runs-on: ubuntu-24.04, steps: [{ run: 'true' }] }
  after-unasked: { needs: unasked, runs-on: ubuntu-24.04, steps: [{ run: 'true' }] }
  settle:
    needs: [plan, work, unasked]
    if: always() && needs.plan.result != 'skipped'
    runs-on: ubuntu-24.04
    outputs: { told: '\${{ steps.told.outputs.told }}' }
    steps:
      - id: told
        env: { NEEDS: '\${{ toJSON(needs) }}' }
        run: echo "told=$(echo "$NEEDS" | tr -d '\\n ')" >> "$GITHUB_OUTPUT"
  after-settle: { needs: settle, runs-on: ubuntu-24.04, steps: [{ run: 'true' }] }
`,
  })
  const run = await it.dispatch('ci.yml')
  expect(it.results(run)).toEqual([
    'plan: success',
    'work on ash: success',
    'work on oak: failure',
    'unasked: skipped',
    'after-unasked: skipped',
    'settle: success',
    // Somewhere before it a job failed.
    'after-settle: skipped',
  ])
  expect(run).toMatchObject({ status: 'completed', conclusion: 'failure' })
  expect(JSON.parse(it.job(run, 'settle').outputs['told'] ?? '')).toEqual({
    plan: { result: 'success', outputs: { list: expect.stringContaining('ash'), none: '' } },
    work: { result: 'failure', outputs: { 'slot-0': 'successash', 'slot-1': 'failureoak' } },
    unasked: { result: 'skipped', outputs: {} },
  })
})

test('a job that fails stops the others of its matrix, unless it says otherwise', async () => {
  const it = await sceneWithActions(
    {
      'ci.yml': `
${BY_HAND}
jobs:
  work:
    runs-on: ubuntu-24.04
    strategy: { max-parallel: 1, matrix: { n: [1, 2], m: [a, b], exclude: [{ n: 1, m: b }], include: [{ n: 2, m: a, more: x }] } }
    steps: [{ run: exit 1 }]
  broken: { runs-on: ubuntu-24.04, strategy: { matrix: '\${{ fromJSON(github.event.nothing) }}' }, steps: [{ run: 'true' }] }
`,
    },
    { machines: 4 },
  )
  const run = await it.dispatch('ci.yml')
  expect(it.results(run)).toEqual([
    'work (1, a): failure',
    'work (2, a, x): cancelled',
    'work (2, b): cancelled',
    'broken: failure',
  ])
})

test('steps go by the status of their job, and hand on outputs, variables and paths', async () => {
  const it = await sceneWithActions(
    {
      'ci.yml': `
${BY_HAND}
env: { COLOUR: red }
jobs:
  work:
    runs-on: ubuntu-24.04
    env: { SHAPE: round }
    outputs: { seen: '\${{ steps.seen.outputs.seen }}', secret: 'x \${{ secrets.KEY }}', masked: '\${{ steps.first.outputs.hidden }}' }
    steps:
      - id: first
        run: |
          echo "SIZE=big" >> "$GITHUB_ENV"
          mkdir bin && printf '#!/bin/sh\\necho tool' > bin/a-tool && chmod +x bin/a-tool
          echo "$PWD/bin" >> "$GITHUB_PATH"
          echo "hidden=a-long-mask" >> "$GITHUB_OUTPUT"
          echo "::add-mask::a-long-mask"
          echo "### Done" >> "$GITHUB_STEP_SUMMARY"
      - id: seen
        run: echo "seen=$COLOUR $SHAPE $SIZE $(a-tool) \${{ env.SIZE }} \${{ steps.first.outcome }} \${{ vars.WHERE }}" >> "$GITHUB_OUTPUT"
      - { id: soft, run: exit 3, continue-on-error: true }
      - { id: hard, if: steps.soft.outcome == 'failure', run: exit 4 }
      - { id: not, run: 'true' }
      - { id: still, if: always(), run: 'true' }
      - { id: sorry, if: failure(), run: 'test "\${{ job.status }}" = failure' }
      - { id: bashism, if: failure(), shell: bash, run: 'false | true' }
`,
    },
    { secrets: { KEY: 'very-secret' } },
  )
  it.github.world.variables.set('WHERE', 'here')
  const run = await it.dispatch('ci.yml')
  const { steps, outputs, warnings, summary } = it.job(run, 'work')
  expect(steps.map(({ id, conclusion }) => `${id}: ${conclusion}`)).toEqual([
    ': success',
    'first: success',
    'seen: success',
    'soft: success',
    'hard: failure',
    'not: skipped',
    'still: success',
    'sorry: success',
    'bashism: failure',
  ])
  expect(outputs).toEqual({ seen: 'red round big tool big success here' })
  expect(warnings).toEqual([
    "Skip output 'secret' since it may contain secret.",
    "Skip output 'masked' since it may contain secret.",
  ])
  expect(summary.join('')).toBe('### Done\n')
})

test('the token of a job may what its permissions say, and dies with it', async () => {
  const curl = (route: string) =>
    `curl -s -o /dev/null -w '%{http_code}' -H "authorization: Bearer $TOKEN" "$GITHUB_API_URL/repos/team/project${route}"`
  const it = await sceneWithActions({
    'ci.yml': `
${BY_HAND}
permissions: {}
jobs:
  reads:
    permissions: { actions: read }
    runs-on: ubuntu-24.04
    outputs: { status: '\${{ steps.a.outputs.status }}', token: '\${{ steps.a.outputs.token }}' }
    steps:
      - id: a
        env: { TOKEN: '\${{ github.token }}' }
        run: |
          echo "status=$(${curl('/actions/artifacts')}) $(${curl('/pulls')}) $(env | grep -c ^GITHUB_TOKEN)" >> "$GITHUB_OUTPUT" || true
          echo "token=$TOKEN" >> "$GITHUB_OUTPUT"
  nothing: { runs-on: ubuntu-24.04, steps: [{ run: 'true' }] }
`,
  })
  const run = await it.dispatch('ci.yml')
  const { outputs, grants, log } = it.job(run, 'reads')
  expect(outputs, log.join('\n')).toEqual({ status: '200 403 0' })
  expect([grants, it.job(run, 'nothing').grants]).toEqual([{ actions: 'read' }, {}])
  const [key = ''] = [...it.github.world.accounts].findLast(([, { run: of }]) => of === run.id) ?? []
  expect((await it.ask(key, 'GET /actions/artifacts')).status).toBe(401)
  expect(it.actions.bill()).toMatchObject({ runs: [{ jobs: 2, minutes: 2, requests: 2 }], requests: 2 })
})

test('re-runs keep what succeeded, and repeat what depends on what they repeat', async () => {
  const it = await sceneWithActions({
    'ci.yml': `
${BY_HAND}
jobs:
  plan: { runs-on: ubuntu-24.04, outputs: { a: '\${{ steps.a.outputs.a }}' }, steps: [{ id: a, run: 'echo "a=$GITHUB_RUN_ATTEMPT" >> "$GITHUB_OUTPUT"' }] }
  work:
    needs: plan
    runs-on: ubuntu-24.04
    strategy: { fail-fast: false, matrix: { n: [1, 2] } }
    outputs: { one: '\${{ matrix.n == 1 && github.run_attempt || '''' }}' }
    steps: [{ run: 'test \${{ matrix.n }} != 2 -o $GITHUB_RUN_ATTEMPT != 1' }]
  settle:
    needs: [plan, work]
    if: always()
    runs-on: ubuntu-24.04
    outputs: { seen: '\${{ needs.plan.outputs.a }} \${{ needs.work.outputs.one }} \${{ needs.work.result }}' }
    steps: [{ run: 'true' }]
`,
  })
  const run = await it.dispatch('ci.yml')
  expect(it.job(run, 'settle').outputs).toEqual({ seen: '1 1 failure' })
  it.actions.rerun(run, 'failed')
  await it.actions.rest()
  expect(run).toMatchObject({ attempt: 2, conclusion: 'success' })
  expect(it.job(run, 'settle').outputs).toEqual({ seen: '1 1 success' })
  const worked = it.actions.jobs.filter(({ attempt, took }) => attempt === 2 && took !== null)
  expect(worked.map(({ name }) => name)).toEqual(['work (2)', 'settle'])
  it.actions.rerun(run)
  await it.actions.rest()
  expect(it.job(run, 'settle').outputs).toEqual({ seen: '3 3 success' })
})

/** Says by a file that it can be interrupted. */
const SLOW =
  "trap 'echo interrupted; exit 130' INT; touch $RUNNER_TEMP/slow; for i in $(seq 200); do sleep 0.05; done"

test('cancelling interrupts the step; what always runs, runs', async () => {
  const it = await sceneWithActions(
    {
      'ci.yml': `
${BY_HAND}
jobs:
  work:
    runs-on: ubuntu-24.04
    outputs: { status: '\${{ job.status }} \${{ steps.after.outputs.after }}' }
    steps:
      - id: slow
        run: ${SLOW}
      - { id: not, run: 'true' }
      - id: after
        if: always()
        ${say('after', 'rescued')}
  waits: { needs: work, runs-on: ubuntu-24.04, steps: [{ run: 'true' }] }
  settle: { needs: [work, waits], if: always(), runs-on: ubuntu-24.04, steps: [{ run: 'true' }] }
`,
    },
    {
      async during(_, step, { temp }) {
        if (step !== 'slow') return
        await appears(join(temp, 'slow'))
        it.actions.cancel(it.run('ci.yml'))
      },
    },
  )
  const run = await it.dispatch('ci.yml')
  const { outputs, log } = it.job(run, 'work')
  expect(it.results(run)).toEqual(['work: cancelled', 'waits: cancelled', 'settle: success'])
  expect(log.join('\n')).toContain('interrupted')
  expect(outputs).toEqual({ status: 'cancelled rescued' })
  expect(run.conclusion).toBe('cancelled')
})

test('groups of concurrency: one waits, the newest; with queue: max all do, in their order', async () => {
  const workflow = (queue: string) => `
on: { workflow_dispatch: { inputs: { n: {} } } }
run-name: number \${{ inputs.n }}
jobs:
  one:
    runs-on: ubuntu-24.04
    concurrency: { group: alone, cancel-in-progress: false${queue} }
    steps: [{ id: first, run: 'true' }]
`
  for (const [queue, expected] of [
    ['', ['success', 'cancelled', 'success']],
    [', queue: max', ['success', 'success', 'success']],
  ] as const) {
    const start = (n: string) =>
      it.ask(it.ada, 'POST /actions/workflows/ci.yml/dispatches', { ref: 'main', inputs: { n } })
    const others = new Map([['1', ['2', '3']]])
    const it = await sceneWithActions(
      { 'ci.yml': workflow(queue) },
      {
        async during(job) {
          const { title } = it.github.world.runs.find(({ id }) => id === job.run) ?? { title: '' }
          for (const n of others.get(title.slice(-1)) ?? []) await start(n)
          while (it.actions.jobs.length < 3) await later(5)
        },
      },
    )
    await start('1')
    await it.actions.rest()
    const { runs } = it.github.world
    expect(runs.map(({ title, conclusion }) => [title, conclusion])).toEqual(
      expected.map((conclusion, index) => [`number ${index + 1}`, conclusion]),
    )
  }
})

test('a job without a machine waits until it is cancelled, or its time is up', async () => {
  const it = await sceneWithActions(
    {
      'ci.yml': `
${BY_HAND}
jobs:
  nowhere: { runs-on: [self-hosted, gpu], steps: [{ run: 'true' }] }
  somewhere: { runs-on: [self-hosted, bench], steps: [{ run: 'test "$RUNNER_ENVIRONMENT" = self-hosted' }] }
  late: { runs-on: ubuntu-24.04, timeout-minutes: 5, steps: [{ id: late, run: "${SLOW}" }] }
`,
    },
    {
      selfHosted: [['self-hosted', 'linux', 'bench']],
      async during(job, step, { temp }) {
        if (step !== 'late') return
        await appears(join(temp, 'slow'))
        it.actions.timeOut(job)
      },
    },
  )
  const run = await it.dispatch('ci.yml')
  expect(it.results(run)).toEqual(['nowhere: null', 'somewhere: success', 'late: cancelled'])
  expect(run.status).toBe('in_progress')
  it.actions.cancel(run)
  await it.actions.rest()
  expect(it.results(run)[0]).toBe('nowhere: cancelled')
  expect(it.actions.bill()).toMatchObject({ jobs: 2, minutes: 2 })
})
