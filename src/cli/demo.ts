import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UserError } from '../errors.ts'
import { createRepository } from '../git/bare-repository.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { createGitRunner, requireGit } from '../git/runner.ts'
import { quoteShell } from '../model/text.ts'
import { WAITING_EXIT_CODE } from '../model/verdict.ts'
import {
  renderDemoAttacks,
  renderDemoIntro,
  renderDemoNextSteps,
  renderRunSummary,
} from '../report/run-summary.ts'
import { buildStatusView, renderStatus } from '../report/status.ts'
import { runAndReport } from './run.ts'
import { listPullNumbers } from './subjects.ts'
import type { Call, CommandArguments, Verb } from './verb.ts'

export const demoVerb: Verb = {
  name: 'demo',
  group: 'start',
  summary: 'run a complete campaign in a few seconds, in its own repository',
  access: 'apart',
  arguments: [
    {
      name: 'directory',
      summary: 'where to create the repository; by default a temporary directory',
    },
  ],
  examples: ['winnow demo', 'winnow demo ~/winnow-demo'],
  exits: { 130: 'interrupted; the repository can be inspected' },
  async run(call) {
    const directory = await prepareDemo(call)
    const demoCall = toDemoCall(directory, call)
    for (const line of renderDemoIntro({ directory })) call.terminal.out(line)
    await createRepository(
      directory,
      demoCall.environment.env,
      'a program that packs messages, and ideas for it',
    )
    const called = formatDemoCommand(call)
    const code = await runAndReport(
      demoCall,
      async (_, { campaignContext, repositoryContext }, { campaign, waiting }) => {
        const view = buildStatusView(campaign, await listPullNumbers(campaignContext, campaign))
        const ends = renderDemoNextSteps(campaign, {
          directory,
          called,
          leftovers: [directory, repositoryContext.dataDir],
        })
        const lines = [
          ...renderRunSummary(campaign, waiting),
          '',
          ...renderStatus(campaign, view),
          '',
          ...renderDemoAttacks(campaign),
          ...ends,
        ]
        for (const line of lines) call.terminal.out(line)
      },
    )
    return code === WAITING_EXIT_CODE ? 0 : code
  },
}

/** Paths from the source and from the bundle. */
const FIXTURE = ['../fixtures/demo', '../../fixtures/demo']

async function prepareDemo({ given, environment }: Call): Promise<string> {
  await requireGit(createGitRunner(buildLocalIsolation(environment.directory, environment.env)))
  const directory = await createEmptyDirectory(given.positionals[0], environment)
  const fixture = FIXTURE.map(path => fileURLToPath(new URL(path, import.meta.url))).find(existsSync)
  if (fixture === undefined) throw new Error('the directory fixtures/demo is missing from the winnow package')
  await cp(fixture, directory, { recursive: true })
  return directory
}

async function createEmptyDirectory(
  given: string | undefined,
  { directory, env }: Call['environment'],
): Promise<string> {
  const wanted =
    given === undefined ? join(env['TMPDIR'] || '/tmp', 'winnow-demo-') : resolve(directory, given)
  const made = given === undefined ? mkdtemp(wanted) : mkdir(wanted, { recursive: true }).then(() => wanted)
  const found = await made.catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw new UserError(`winnow cannot create the demo there: ${why}`, { fix: ELSEWHERE, cause: error })
  })
  if ((await readdir(found)).length > 0) throw new UserError(`${found} is not empty`, { fix: ELSEWHERE })
  return realpath(found)
}

const ELSEWHERE = 'give an empty or new directory that you may write to: winnow demo <directory>'

/** Running the demo implies consent: it asks no questions. */
const AGREED_ARGUMENTS: CommandArguments = {
  positionals: [],
  command: [],
  flag: name => name === 'yes',
  text: () => undefined,
  texts: () => [],
}

/** Runs without a remote. Puts the running node first on PATH, because the demo's programs need it. */
function toDemoCall(directory: string, call: Call): Call {
  const { runtime } = call.program
  const { env } = call.environment
  const path = [...(isAbsolute(runtime) ? [dirname(runtime)] : []), env['PATH'] ?? ''].join(':')
  const environment = { ...call.environment, directory, remote: null, env: { ...env, PATH: path } }
  return { ...call, given: AGREED_ARGUMENTS, environment: environment }
}

/** Repeats --cache-dir, so that the suggested commands find the demo's cache. */
function formatDemoCommand({ program, given }: Call): string {
  const cache = given.text('cache-dir')
  return cache === undefined ? program.called : `${program.called} --cache-dir ${quoteShell(resolve(cache))}`
}
