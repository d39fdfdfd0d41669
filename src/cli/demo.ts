import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UserError } from '../errors.ts'
import { createRepository } from '../git/bare-repository.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { createGitRunner, requireGit } from '../git/runner.ts'
import { applyFactCardRule, describeFactCardRule } from '../judge/fact-card-rule.ts'
import { type LocalModel, startLocalModel } from '../judge/local-model.ts'
import { applySkillRule, describeSkillRule } from '../judge/skill-rule.ts'
import type { Campaign } from '../model/campaign.ts'
import { quoteShell } from '../model/text.ts'
import { WAITING_EXIT_CODE } from '../model/verdict.ts'
import {
  renderDemoAttacks,
  renderDemoModelCost,
  renderDemoNextSteps,
  renderRunSummary,
} from '../report/run-summary.ts'
import { buildStatusView, renderStatus } from '../report/status.ts'
import { inspectVerb } from './inspect.ts'
import { runAndReport } from './run.ts'
import { listPullNumbers } from './subjects.ts'
import { type Call, type CommandArguments, refuseOptions, type Verb } from './verb.ts'

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
  options: [
    { name: 'skill', summary: 'improve a skill, judged by a local model that answers by a rule, offline' },
    {
      name: 'outer-loop',
      summary: 'improve the prompts of an agent over several epochs, with such a model, offline',
    },
  ],
  examples: ['winnow demo', 'winnow demo --skill', 'winnow demo --outer-loop', 'winnow demo ~/winnow-demo'],
  exits: { 130: 'interrupted; the repository can be inspected' },
  async run(call) {
    if (call.given.flag('skill'))
      refuseOptions(call, ['outer-loop'], 'and --skill are two demos', 'give one of the two')
    const demo = DEMOS.find(({ flag }) => flag !== null && call.given.flag(flag)) ?? PROGRAM_DEMO
    const directory = await prepareDemo(call, demo)
    const model = demo.answer === null ? null : await startLocalModel(demo.answer)
    try {
      return await runDemo(call, { demo, directory, model })
    } finally {
      await model?.close()
    }
  },
}

interface Demo {
  /** The option that selects it. Null: none is needed. */
  flag: string | null
  /** Paths from the source and from the bundle. */
  fixture: readonly string[]
  commit: string
  /** Printed first; the directory is shown after the first line. */
  intro: readonly [string, ...string[]]
  /** The rule of the local model. Null: no model is asked. */
  answer: Parameters<typeof startLocalModel>[0] | null
  renderEnd: (campaign: Campaign) => string[]
  /** Prints more than the campaign alone tells. */
  inspect?: (call: Call) => unknown
  /** Commands to try afterwards, before those of every demo. */
  next: readonly (readonly [words: string, why: string])[]
}

const PROGRAM_DEMO: Demo = {
  flag: null,
  fixture: ['../fixtures/demo', '../../fixtures/demo'],
  commit: 'a program that packs messages, and ideas for it',
  intro: [
    'The demo improves a small program that packs messages into bytes. Eleven ideas try to use fewer bytes; every message must unpack correctly.',
    '  .winnow/squeeze.yaml is the spec, ideas/ holds the ideas; no network or model is needed.',
  ],
  answer: null,
  renderEnd: renderDemoAttacks,
  next: [],
}

const SKILL_DEMO: Demo = {
  flag: 'skill',
  fixture: ['../fixtures/skill', '../../fixtures/skill'],
  commit: 'a skill for bug reports, and cases to judge it by',
  intro: [
    'The demo improves a skill: one Markdown file that tells an agent how to write bug reports.',
    '  .winnow/skill.yaml has rubric and gates, bench/ the cases and rules, ideas/ an attempt to deceive the judge.',
    ...describeSkillRule(),
  ],
  answer: applySkillRule,
  renderEnd: () => [],
  next: [
    ['show exp-001', 'the attempt to deceive the judge, and the rules that refused it'],
    ['show exp-002', 'the first earned improvement, case by case'],
  ],
}

const OUTER_LOOP_DEMO: Demo = {
  flag: 'outer-loop',
  fixture: ['../fixtures/fact-cards', '../../fixtures/fact-cards'],
  commit: 'an agent that writes fact cards, and its prompts',
  intro: [
    'The demo improves the two prompts of an agent that writes fact cards: three tasks, each graded by rules.',
    '  .winnow/fact-cards.yaml is the spec, prompts/ holds the prompts, bench/ the agent, its notes and the grades.',
    ...describeFactCardRule(),
    'The loss is computed from the cards alone. The spec follows the rule of AWP: an update lands when its gates hold, its',
    'own epoch judges it, and a regression rolls it back. (By its own rule winnow would land only what is proven.)',
  ],
  answer: applyFactCardRule,
  renderEnd: () => [],
  inspect: call => inspectVerb.run(call),
  next: [
    ['show exp-003', 'the attempt to deceive the grades, and the gates that refused it'],
    ['inspect --artifact worker_pitfalls', 'every version of one prompt, with its differences'],
  ],
}

const DEMOS = [PROGRAM_DEMO, SKILL_DEMO, OUTER_LOOP_DEMO]

interface DemoRun {
  demo: Demo
  directory: string
  model: LocalModel | null
}

async function runDemo(call: Call, { demo, directory, model }: DemoRun): Promise<number> {
  const demoCall = toDemoCall(directory, call, model)
  const [first, ...others] = demo.intro
  for (const line of [first, `  ${directory}`, ...others, '']) call.terminal.out(line)
  await createRepository(directory, demoCall.environment.env, demo.commit)
  const called = formatDemoCommand(call)
  const code = await runAndReport(
    demoCall,
    async (_, { campaignContext, repositoryContext }, { campaign, waiting }) => {
      const view = buildStatusView(campaign, await listPullNumbers(campaignContext, campaign))
      const leftovers = [directory, repositoryContext.dataDir]
      const print = (lines: readonly string[]) => {
        for (const line of lines) call.terminal.out(line)
      }
      print([...renderRunSummary(campaign, waiting), '', ...renderStatus(campaign, view), ''])
      print(demo.renderEnd(campaign))
      if (demo.inspect) {
        await demo.inspect(demoCall)
        print([''])
      }
      print(model === null ? [] : renderDemoModelCost(campaign, model.countQuestions()))
      print(renderDemoNextSteps(campaign, { directory, called, leftovers, first: demo.next }))
    },
  )
  return code === WAITING_EXIT_CODE ? 0 : code
}

async function prepareDemo({ given, environment }: Call, demo: Demo): Promise<string> {
  await requireGit(createGitRunner(buildLocalIsolation(environment.directory, environment.env)))
  const directory = await createEmptyDirectory(given.positionals[0], environment)
  const fixture = demo.fixture.map(path => fileURLToPath(new URL(path, import.meta.url))).find(existsSync)
  if (fixture === undefined)
    throw new Error(`the directory ${demo.fixture[0]} is missing from the winnow package`)
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
function toDemoCall(directory: string, call: Call, model: LocalModel | null): Call {
  const { runtime } = call.program
  const { env } = call.environment
  const path = [...(isAbsolute(runtime) ? [dirname(runtime)] : []), env['PATH'] ?? ''].join(':')
  const modelEnv = model === null ? {} : { ...MODEL_ENV, WINNOW_MODEL_URL: model.url }
  const environment = {
    ...call.environment,
    directory,
    remote: null,
    env: { ...env, PATH: path, ...modelEnv },
  }
  return { ...call, given: AGREED_ARGUMENTS, environment }
}

/** The price of a small model, so that the demo shows a cost. No proxy reaches loopback. */
const MODEL_ENV = {
  WINNOW_MODEL_KEY: '',
  WINNOW_MODEL_PRICE: '0.4/1.6',
  NO_PROXY: '127.0.0.1',
  no_proxy: '127.0.0.1',
}

/** Repeats --cache-dir, so that the suggested commands find the demo's cache. */
function formatDemoCommand({ program, given }: Call): string {
  const cache = given.text('cache-dir')
  return cache === undefined ? program.called : `${program.called} --cache-dir ${quoteShell(resolve(cache))}`
}
