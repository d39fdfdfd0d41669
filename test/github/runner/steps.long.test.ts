import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { sceneWithActions } from './scene-with-actions.ts'

const BY_HAND = 'on: workflow_dispatch'
const CHECKOUT = `actions/checkout@${'a1'.repeat(20)} # v6`
const UPLOAD = 'actions/upload-artifact@v6'
const DOWNLOAD = 'actions/download-artifact@v6'

test('actions of GitHub: a real clone, artifacts with digests, set-ups that do nothing', async () => {
  const it = await sceneWithActions(
    {
      'ci.yml': `
${BY_HAND}
jobs:
  make:
    runs-on: ubuntu-24.04
    outputs: { digest: '\${{ steps.up.outputs.artifact-digest }}', seen: '\${{ steps.seen.outputs.seen }}' }
    steps:
      - { uses: ${CHECKOUT.replace(' # v6', '')}, with: { path: all, fetch-depth: 0, persist-credentials: false, fetch-dept: 1 } }
      - { uses: actions/checkout@v6, with: { ref: other, path: one } }
      - { uses: actions/setup-node@v6, with: { node-version: 24 } }
      - id: seen
        run: |
          echo "seen=$(git -C all rev-list --all --count) $(git -C one rev-list --all --count) $(cat one/src/b.txt) $(git -C all config --get-regexp extraheader | wc -l) $(git -C one config --get-regexp extraheader | wc -l)" >> "$GITHUB_OUTPUT"
          mkdir out && echo 1 > out/report.json && echo 2 > out/.hidden
      - { id: up, uses: ${UPLOAD}, with: { name: report, path: out } }
      - { id: again, uses: ${UPLOAD}, with: { name: report, path: out }, continue-on-error: true }
      - { id: none, uses: ${UPLOAD}, with: { name: none, path: nowhere, if-no-files-found: error }, continue-on-error: true }
      - { run: 'test "\${{ steps.again.outcome }} \${{ steps.none.outcome }}" = "failure failure"' }
  take:
    needs: make
    runs-on: ubuntu-24.04
    steps:
      - { uses: ${DOWNLOAD}, with: { name: report, path: in } }
      - run: test "$(ls -A in)" = report.json
`,
    },
    {},
    { 'src/a.txt': 'a\n' },
  )
  it.commit('other', { 'src/b.txt': 'other\n' }, [it.tip('main')])
  const run = await it.dispatch('ci.yml')
  const { outputs, steps, warnings, log } = it.job(run, 'make')
  expect(it.results(run), log.join('\n')).toEqual(['make: success', 'take: success'])
  const [artifact, ...more] = it.github.world.artifacts
  const digest = createHash('sha256')
    .update(artifact?.bytes ?? '')
    .digest('hex')
  expect([outputs, more]).toEqual([{ digest, seen: '3 1 other 0 1' }, []])
  const { body } = await it.ask(it.ada, `GET /actions/runs/${run.id}/artifacts`)
  expect(body['artifacts']).toMatchObject([{ name: 'report', digest: `sha256:${digest}` }])
  expect(warnings).toEqual([
    expect.stringMatching(/^Unexpected input\(s\) 'fetch-dept' of actions\/checkout/),
  ])
  expect(steps.slice(-3).map(({ name }) => name)).toEqual([
    'Post Run actions/setup-node',
    'Post Run actions/checkout',
    'Post Run actions/checkout',
  ])
})

const COMPOSITE = `
name: greet
description: Greets.
inputs: { who: { description: Whom., default: world }, loud: { description: How., default: 'no' } }
outputs: { said: { description: What it said., value: '\${{ steps.say.outputs.said }}' } }
runs:
  using: composite
  steps:
    - { id: say, shell: bash, run: 'echo "said=hello $WHO $(cat "$GITHUB_ACTION_PATH/mark" 2>/dev/null)" >> "$GITHUB_OUTPUT"; echo "LEFT=here" >> "$GITHUB_ENV"', env: { WHO: '\${{ inputs.who }}' } }
`
const PROGRAM = `
name: program
description: Runs.
inputs: { word: { description: A word., default: none } }
runs: { using: node24, main: main.cjs, post: main.cjs }
`
const MAIN = `
const { appendFileSync } = require('node:fs')
const { INPUT_WORD, ACTIONS_RUNTIME_TOKEN = '', GITHUB_OUTPUT } = process.env
appendFileSync(GITHUB_OUTPUT, 'word=' + INPUT_WORD + ' ' + (ACTIONS_RUNTIME_TOKEN !== ''))
`

test('composite actions and programs of the checkout, with inputs, outputs and what they leave', async () => {
  const it = await sceneWithActions(
    {
      'ci.yml': `
${BY_HAND}
jobs:
  one:
    runs-on: ubuntu-24.04
    outputs: { said: '\${{ steps.greet.outputs.said }}', word: '\${{ steps.program.outputs.word }}', left: '\${{ env.LEFT }}' }
    steps:
      - { uses: actions/checkout@v6, with: { path: trusted } }
      - { id: greet, uses: ./trusted/.github/actions/greet, with: { who: you, whom: me } }
      - { id: program, uses: ./trusted/program, with: { word: to-day } }
`,
    },
    {},
    {
      '.github/actions/greet/action.yml': COMPOSITE,
      '.github/actions/greet/mark': 'there',
      'program/action.yml': PROGRAM,
      'program/main.cjs': MAIN,
    },
  )
  const run = await it.dispatch('ci.yml')
  const { outputs, warnings, log } = it.job(run, 'one')
  expect(outputs, log.join('\n')).toEqual({ said: 'hello you there', word: 'to-day true', left: 'here' })
  expect(warnings).toEqual([expect.stringContaining("Unexpected input(s) 'whom'")])
})

test('what the runner refuses', async () => {
  const ours = { 'team/winnow': { dir: '/nowhere', refs: ['v1'] } }
  const uses = (what: string) =>
    `${BY_HAND}\njobs: { one: { runs-on: ubuntu-24.04, steps: [{ uses: ${what} }] } }`
  const refused: [workflow: string, says: RegExp][] = [
    [uses('$/'), /the path after '\$\/' is empty/],
    [uses('$/nowhere'), /Can't find 'action.yml'/],
    [uses('./nowhere'), /Can't find 'action.yml'.*Did you forget to run actions\/checkout/],
    [uses('nobody/nothing@v1'), /repository not found/],
    [uses('actions/checkout@ab12cd3'), /shortened version of a commit SHA/],
    [uses('team/winnow@v2'), /unable to find version `v2`/],
    [uses('actions/checkout@main'), /unable to find version/],
    [`${BY_HAND}\njobs: { one: { run-on: x, steps: [] } }`, /Invalid workflow file/],
    [
      `${BY_HAND}\njobs: { one: { runs-on: x, if: steps.a.b, steps: [{ run: a }] } }`,
      /Unrecognized named-value/,
    ],
    [`${BY_HAND}\njobs: { one: { uses: team/winnow/.github/workflows/a.yml@v9 } }`, /workflow was not found/],
  ]
  const files = Object.fromEntries(refused.map(([text], index) => [`${index}.yml`, text]))
  const it = await sceneWithActions(files, { published: ours })
  for (const [index, [text, says]] of refused.entries()) {
    const run = await it.dispatch(`${index}.yml`)
    const told =
      run.refusal ??
      it.actions
        .jobsOf(run)
        .flatMap(({ log }) => log)
        .join('\n')
    expect([run.conclusion, told], text).toEqual(['failure', expect.stringMatching(says)])
  }
  expect(it.actions.bill().jobs).toBe(7)
})

test('any job of a run may take away or replace what another uploaded, and the digest tells', async () => {
  const it = await sceneWithActions({
    'ci.yml': `
${BY_HAND}
jobs:
  one: { runs-on: ubuntu-24.04, outputs: { digest: '\${{ steps.up.outputs.artifact-digest }}' }, steps: [{ run: echo 1 > a.json }, { id: up, uses: ${UPLOAD}, with: { name: report, path: a.json } }] }
`,
  })
  const run = await it.dispatch('ci.yml')
  it.actions.replaceArtifact(run, 'report', { 'a.json': '2' })
  const { body } = await it.ask(it.ada, `GET /actions/runs/${run.id}/artifacts`)
  expect(body['total_count']).toBe(1)
  expect(JSON.stringify(body)).not.toContain(it.job(run, 'one').outputs['digest'])
  it.actions.replaceArtifact(run, 'report', null)
  expect((await it.ask(it.ada, `GET /actions/runs/${run.id}/artifacts`)).body['total_count']).toBe(0)
})
