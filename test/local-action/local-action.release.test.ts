import { afterAll, describe, expect, it } from 'vitest'
import { COMMAND_NAMES } from '../../src/action/commands.ts'
import { onGithub, ticking } from '../action/a-campaign.ts'
import { answers, ITEMS_HARNESS, JUDGED_SPEC, scoresByWord } from '../support/judged-repository.ts'
import { SIZE_SPEC } from '../support/size-repository.ts'
import type { EmulatedGithub } from '../github/emulator/github.ts'
import { waitingRuns } from '../github/measuring-job.ts'
import { modelServer } from '../servers/model-server.ts'
import { type LocalRun, runLocally } from './local-action.ts'
import { runJobs } from './run-jobs.ts'

/** Shortens a.txt once, and has no other idea. */
const THINK = `test "$(wc -c < src/a.txt)" = 16 || exit 3
echo aaa > src/a.txt
echo '{"hypothesis": "three letters do"}'
`
const PROGRAM = `propose: [{ use: command, command: sh tools/think.sh, name: thinker }]
merge: { forgeable: allow }
execution: { mode: serial }`
const NEXT = { 'next-jobs': 'measure, propose, judge' }

/** The quick tier runs check and tick by local-action. */
const ran = new Set(['check', 'tick'])

async function run(github: EmulatedGithub, inputs: Record<string, string>): Promise<LocalRun> {
  const ended = await runLocally(github, { inputs })
  expect(ended).toMatchObject({ code: 0 })
  ran.add(inputs['command'] ?? '')
  return ended
}

describe('local-action', { timeout: 300_000 }, () => {
  afterAll(() => expect([...ran].toSorted()).toEqual(COMMAND_NAMES.toSorted()))

  it('measures, settles, asks a program for ideas, and looks at the campaign', async () => {
    const { github, token } = await onGithub({
      '.winnow/size.yaml': SIZE_SPEC.replace(/propose: .*/, PROGRAM),
      'tools/think.sh': THINK,
    })
    await ticking(github, token, {}, NEXT)
    for (const locally of [['measure', 'settle'], ['propose']]) {
      const [next] = waitingRuns(github)
      if (next === undefined) throw new Error('no run was started')
      for (const command of await runJobs(github, next, { token, locally }))
        if (locally.includes(command)) ran.add(command)
    }
    expect(waitingRuns(github)).toMatchObject([{ branch: 'optimize/size' }])
    const ideas = github.world.pulls.filter(({ base }) => base === 'optimize/size')
    expect(ideas).toMatchObject([{ state: 'open' }])

    const status = { campaign: 'size', state: 'running' }
    expect((await run(github, { command: 'status' })).result).toMatchObject(status)
    expect((await run(github, { command: 'report' })).result).toMatchObject(status)
    expect((await run(github, { command: 'audit' })).result).toMatchObject({ ok: true })
    expect((await run(github, { command: 'replay' })).result).toMatchObject({ ok: true })
  })

  it('has a model score what was measured', async () => {
    const model = await modelServer(scoresByWord)
    const { github, token } = await onGithub({
      '.winnow/size.yaml': JUDGED_SPEC,
      'bench/items.awk': ITEMS_HARNESS,
      'src/answers.txt': answers('poor'),
    })
    await ticking(github, token, {}, NEXT)
    const env = { WINNOW_MODEL_URL: model.url, WINNOW_MODEL_KEY: 'key', WINNOW_MODEL_PRICE: '1/5' }
    const commands = []
    for (let runs = 0; runs < 2; runs++)
      for (const next of waitingRuns(github))
        commands.push(...(await runJobs(github, next, { token, env, locally: ['judge'] })))
    expect(commands).toEqual(['tick', 'measure', 'settle', 'tick', 'judge', 'settle'])
    expect(model.asked.length).toBeGreaterThan(0)
    ran.add('judge')
  })

  it('ends as the action does', async () => {
    const { github } = await onGithub()
    const mistaken = await runLocally(github, { inputs: { command: 'statsu' } })
    expect(mistaken).toMatchObject({ code: 2, printed: expect.stringContaining('did you mean status?') })
  })

  it('does everything in a single job', async () => {
    const { github, token } = await onGithub()
    const { result } = await run(github, { command: 'run', 'github-token': token })
    expect(result).toMatchObject({ waiting: { for: 'ideas' } })
    const ideas = github.world.pulls.filter(({ base }) => base === 'optimize/size')
    expect(ideas).toMatchObject([{ state: 'closed', merge: {} }])
  })
})
