import { join } from 'node:path'
import type { Call } from '../../src/cli/verb.ts'
import { parseCommandLine } from '../../src/cli/command-line.ts'
import { VERBS } from '../../src/cli/registry.ts'
import { BEGINNING, ENV, type CampaignClient } from '../support/campaign-client.ts'
import type { SizeOptions } from '../support/size-repository.ts'
import type { CommentRecord } from './emulator/world.ts'
import type { Scene } from './scene.ts'
import { GRANTS, tickJob } from './tick-job.ts'

/** No workflow runs: here the process that ticks measures as well. */
const { actions: _, ...GRANTED } = GRANTS

/** A campaign on the emulated GitHub whose engine is used as its commands are, with the token of a job. */
export interface OnGithub extends Scene {
  client: CampaignClient
  /** The checkout that its commands work in. */
  repo: string
  /** More of the environment of its commands. */
  env: Record<string, string>
  /** A command of winnow's; what it printed. */
  winnow: (...argv: string[]) => Promise<string[]>
  /** The same on a person's own machine, whose winnow knows of no GitHub. */
  laptop: (...argv: string[]) => Promise<string[]>
  /** A first line of a comment, by somebody. */
  say: (login: string, number: number, body: string) => Promise<CommentRecord>
  /** Anything else that somebody asks of GitHub; it has to be taken. */
  asks: (login: string, route: string, body: unknown) => Promise<void>
  /** What winnow answered, and how it reacted. */
  answerTo: (comment: CommentRecord) => { text: string; reactions: string[] } | null
  number: (title: string) => number
}

export async function onGithub(ideas: readonly string[], options: SizeOptions = {}): Promise<OnGithub> {
  const {
    github,
    testRepository: repository,
    scene,
    env,
    forge,
  } = await tickJob(ideas, { grants: GRANTED, ...options })
  const begun = options.seed === undefined ? Date.now() : Date.parse(BEGINNING)
  github.world.clock = begun + 3_600_000
  const { seed, timeless } = options
  const client = await repository.another({
    env,
    forge,
    ...(seed === undefined ? {} : { seed }),
    ...(timeless === undefined ? {} : { timeless }),
  })
  /** Whoever the test gave no rights may read. */
  function of(login: string): string {
    const known = [...github.world.accounts].find(([, account]) => account.login === login)?.[0]
    return known ?? github.token(login, { permission: 'read' })
  }

  const more: Record<string, string> = {}
  async function command(argv: string[], here: Here): Promise<string[]> {
    const { clock, random } = client.place
    return runVerb(argv, { directory: repository.repo, remote: null, clock, random, ...here })
  }

  const robot = { run_id: 'test', attempt: 1, actor: 'github-actions[bot]' }
  const person = { run_id: 'cli:1', attempt: 1, actor: 'ada' }
  return {
    ...scene,
    client,
    repo: repository.repo,
    env: more,
    winnow: (...argv) =>
      command(argv, {
        env: { ...ENV, ...env, ...more },
        cacheDir: join(repository.root, 'cache-of-verbs'),
        by: robot,
        forge,
      }),
    laptop: (...argv) =>
      command(argv, {
        env: { ...ENV, ...github.remote(github.token('ada')).env },
        cacheDir: join(repository.root, 'cache-of-ada'),
        by: person,
      }),
    async say(login, number, body) {
      const { id } = await scene.ask(of(login), `POST /issues/${number}/comments`, { body })
      const found = github.world.comments.find(each => each.id === Number(id))
      if (!found) throw new Error(`nothing was said at #${number}`)
      return found
    },
    async asks(login, route, body) {
      const { status, body: answer } = await scene.ask(of(login), route, body)
      if (status >= 300) throw new Error(`${status} ${JSON.stringify(answer)}`)
    },
    answerTo(comment) {
      const said = github.world.comments.filter(each => each.number === comment.number)
      const next = said.slice(said.indexOf(comment) + 1).find(({ author }) => author.kind === 'actions')
      const text = next?.body.split('\n')[0]
      return text === undefined ? null : { text, reactions: comment.reactions.map(({ content }) => content) }
    },
    number: title => github.world.pulls.find(pull => pull.title === title)?.number ?? 0,
  }
}

type Here = Pick<Call['environment'], 'env' | 'cacheDir' | 'by' | 'forge'>

type Around = Here & Pick<Call['environment'], 'directory' | 'remote' | 'clock' | 'random'>

/** A command of winnow's in this process; what it printed. */
export async function runVerb(argv: readonly string[], around: Around): Promise<string[]> {
  const said: string[] = []
  const parsed = parseCommandLine(argv, VERBS, text => said.push(text))
  if (parsed === null) return said
  const { verb, given } = parsed
  const silent = { faults: { reach: () => undefined }, progress: { say: () => undefined } }
  const call = { given, terminal: hearing(said), environment: { version: '0.0.0', ...silent, ...around } }
  await verb.run({ ...call, ...REST })
  return said
}

const REST: Pick<Call, 'interrupt' | 'verbs' | 'program'> = {
  interrupt: new AbortController().signal,
  verbs: VERBS,
  program: { called: 'winnow', runtime: 'node' },
}

function hearing(said: string[]): Call['terminal'] {
  return {
    out: text => void said.push(text),
    err: text => void said.push(text),
    json: value => void said.push(JSON.stringify(value)),
    live: () => undefined,
    confirm: null,
    lines: async function* () {},
  }
}
