import { expect, test } from 'vitest'
import { detect } from '../../src/setup/detect.ts'
import { renderGithubFiles } from '../../src/setup/github/files.ts'
import { toolchainOf } from '../../src/setup/github/toolchain.ts'
import { projectFiles } from '../../src/setup/project-files.ts'
import { parseSpec } from '../../src/spec/parse.ts'
import { jobClone } from '../action/a-job.ts'
import { winnowAction } from '../action/a-runner.ts'
import { openPost } from '../engine/post.ts'
import { scratch } from '../git/scratch.ts'
import { startActions } from './runner/actions.ts'
import { scene } from './scene.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const COMMIT = 'ab12'.repeat(10)
const SPEC = `winnow: 1
name: speed
metric: { primary: { name: ms, direction: minimize } }
measurement: { command: sh bench/run.sh }
gates: [{ name: tests, command: test -s src/work }]
scope: { mutable: [src/] }
evidence: { pairs_per_job: 4, max_jobs: 3, min_effect: 0.05 }
`
/** A number that repeats to one per cent. */
const FILES = {
  'bench/run.sh': `noise=$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
echo "{\\"ms\\": $(( $(wc -c < src/work) * 10000 + noise ))}"
`,
  'src/work': `${'work '.repeat(100)}\n`,
}

test('a campaign whose jobs all run on one machine ends with a verdict, and says so', async () => {
  const it = await scene()
  const { github } = it
  const yard = projectFiles(Object.keys(FILES), new Map(Object.entries(FILES)))
  const found = { files: yard, repository: yard, directory: '' }
  const setup = { action: `team/winnow@${COMMIT}`, specs: [parseSpec(SPEC, { file: 'speed.yaml' }).spec] }
  const written = renderGithubFiles(setup, toolchainOf(detect(found, undefined), found))
  const files = Object.fromEntries(written.map(({ path, text }) => [path, text]))
  it.commit('main', { ...FILES, ...files, '.winnow/speed.yaml': SPEC })
  await github.settle()
  const start = (inputs: Record<string, string>) => winnowAction(inputs['command'] ?? '')
  const published = { 'team/winnow': { dir: ROOT, refs: [COMMIT], start } }
  const actions = startActions(github, { published })
  const ada = github.token('ada')
  await it.ask(ada, 'POST /actions/workflows/winnow.yml/dispatches', { ref: 'main', inputs: {} })
  await actions.rest()
  it.commit('half', { 'src/work': `${'work '.repeat(50)}\n` }, [it.tip('main')])
  await it.ask(ada, 'POST /pulls', { title: 'half', head: 'half', base: 'optimize/speed' })
  await actions.rest()

  const { dir } = jobClone(github.bare, 'main')
  const post = await openPost({ name: 'speed', directory: dir, cacheDir: scratch(), remote: null })
  try {
    const { experiments, machine, calibration } = await post.campaign()
    expect(calibration).toMatchObject({ deterministic: false })
    expect(machine).toMatchObject({ in_a_row: machine.reports })
    const { outcome, single_machine, reason } = experiments['exp-001'] ?? {}
    expect([outcome, single_machine]).toEqual(['kept', true])
    expect(reason).toContain(', on this machine')
    const said = github.world.comments.map(({ body }) => body).join('\n')
    expect(said).toMatch(/\*\*Kept: .* on this machine/)
    expect(said).not.toContain('used up')
  } finally {
    await post.close()
  }
})
