import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { winnowAction } from '../action/a-runner.ts'
import { projectIn } from '../cli/project.ts'
import { ENV } from '../support/campaign-client.ts'
import { at, scratch } from '../git/scratch.ts'
import { commandsOn } from '../page-commands.ts'
import { startActions } from './runner/actions.ts'
import { scene } from './scene.ts'
import { releaseTest } from '../support/cases.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const COMMIT = 'ab12'.repeat(10)

/** What a person has who has never heard of winnow. */
const PROJECT = {
  'test.sh': 'test -s src/greeting\n',
  'bench/size.sh': 'echo "{\\"bytes\\": $(wc -c < src/greeting)}"\n',
  'src/greeting': `${'hello '.repeat(20)}\n`,
}

releaseTest(
  'the three steps of docs/github.md lead to a verdict, and its cost is what GitHub bills',
  async () => {
    const it = await scene()
    const { github } = it
    const { world } = github
    it.commit('main', PROJECT)
    const ada = github.token('ada')
    const { url, env } = github.remote(ada)
    const dir = join(scratch(), 'clone')
    // GitHub answers in this process, which must not wait for git.
    const gitAt = async (cwd: string, args: string[]) =>
      (await promisify(execFile)('git', args, { cwd, env: { ...ENV, ...env } })).stdout.trim()
    const git = (...args: string[]) => gitAt(dir, args)
    await gitAt(scratch(), ['clone', '-q', url, dir])
    await git('config', 'user.name', 'Ada')
    await git('config', 'user.email', 'ada@example.com')
    const person = projectIn(at(dir))
    const winnow = (...argv: string[]) =>
      person.winnowWith({ env: { ...env, GH_ENTERPRISE_TOKEN: ada } }, ...argv)
    const [init = [], setUp = [], doctor = []] = commandsOn('docs/github.md').map(({ command }) =>
      command.split(' ').slice(1),
    )

    expect(await winnow(...init)).toMatchObject({ code: 0, err: expect.not.stringContaining('error') })
    await git('add', '.winnow')
    await git('commit', '-q', '-m', 'winnow: a spec')
    await git('push', '-q', 'origin', 'HEAD')

    const opened = await winnow(...setUp, '--action', `team/winnow@${COMMIT}`)
    expect(opened).toMatchObject({ code: 0, out: expect.stringContaining('Opened ') })
    await it.ask(ada, `PUT /pulls/${world.pulls.at(-1)?.number}/merge`, { merge_method: 'merge' })
    await github.settle()
    expect(await winnow(...doctor)).toMatchObject({
      code: 0,
      out: expect.stringContaining('No problem found'),
    })

    const start = (inputs: Record<string, string>) => winnowAction(inputs['command'] ?? '')
    const published = { 'team/winnow': { dir: ROOT, refs: [COMMIT], start } }
    const actions = startActions(github, { published })
    await it.ask(ada, 'POST /actions/workflows/winnow.yml/dispatches', { ref: 'main', inputs: {} })
    await actions.rest()
    await git('fetch', '-q')
    await git('switch', '-q', '-c', 'faster', 'origin/optimize/speed')
    person.write('src/greeting', `${'hello '.repeat(12)}\n`)
    await git('commit', '-q', '-a', '-m', 'Say it once')
    await git('push', '-q', '-u', 'origin', 'faster')
    await it.ask(ada, 'POST /pulls', { title: 'Say it once', head: 'faster', base: 'optimize/speed' })
    await actions.rest()

    expect(it.git('show', 'optimize/speed:src/greeting')).toBe('hello '.repeat(12).trim())
    expect(world.comments.map(({ body }) => body).join('\n')).toContain('**Kept: bytes 121 → 73 (-39.7 %)**')
    expect(world.checks.at(-1)).toMatchObject({ status: 'completed', conclusion: 'success' })
    expect(actions.jobs.some(({ name }) => name.includes('exp-001 vs incumbent'))).toBe(true)
    const { minutes } = actions.bill()
    expect(world.pulls.at(-1)).toMatchObject({
      base: 'main',
      branch: 'optimize-campaign/speed',
      body: expect.stringContaining(` · ${minutes} job-minutes · `),
    })
    expect((await winnow('status')).out).toContain(`  cost: 11 executions in ${minutes} job-minutes\n`)
    expect((await winnow('audit')).code).toBe(0)
  },
)
