import { execFileSync } from 'node:child_process'
import { readEvents } from '../../src/ledger/read-events.ts'
import type { CampaignContext } from '../../src/engine/campaign/context.ts'
import type { Pull } from '../../src/github/pull.ts'
import { toCanonicalJson } from '../../src/model/canonical-json.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import { toShortRef } from '../../src/model/ids.ts'
import { ENV } from '../support/campaign-client.ts'
import type { EmulatedGithub } from '../github/emulator/github.ts'
import { normalise, type Recording } from './normalise.ts'

export interface CampaignSource {
  /** The repository that holds the campaign's branches. */
  bare: string
  place: CampaignContext
  /** Where its pull requests are; a campaign on one machine has none. */
  github?: EmulatedGithub
  winnow: (...argv: string[]) => Promise<string[]>
}

/** Everything that people and programs can read of a campaign, as files by path. */
export async function recordCampaign(source: CampaignSource): Promise<Recording> {
  const { bare, place, github, winnow } = source
  const git = (...args: string[]) => gitIn(bare, args)
  const events = await readAllEvents(place, git('rev-parse', place.refs.state))
  const status = JSON.parse((await winnow('status', '--json')).join('\n'))
  const text = async (...argv: string[]) => `${(await winnow(...argv)).join('\n')}\n`
  const files: Recording = {
    'ledger.jsonl': events.map(event => `${toCanonicalJson(event)}\n`).join(''),
    'commits.txt': renderCommits(git),
    'tree.txt': `${git('ls-tree', '-r', place.refs.optimize)}\n`,
    ...(github
      ? { 'pull-requests.md': renderGithubPulls(github), 'check-runs.json': renderChecks(github) }
      : {}),
    'status.json': `${JSON.stringify(status, null, 2)}\n`,
    'status.txt': await text('status'),
    'log.txt': await text('log'),
    'audit.txt': await text('audit'),
    'replay.txt': await text('replay'),
    ...readLedgerFiles(git, place.refs.state),
  }
  const urls = github ? [github.world.url, github.url] : []
  const addresses = Object.fromEntries(urls.map(url => [url, 'https://github.example']))
  return normalise(files, { commits: listCommits(git), events, addresses })
}

function gitIn(directory: string, args: readonly string[]): string {
  const options = { env: ENV, encoding: 'utf8', maxBuffer: 2 ** 28 } as const
  return execFileSync('git', ['-C', directory, ...args], options).trimEnd()
}

type Git = (...args: string[]) => string

async function readAllEvents({ repository }: CampaignContext, tip: string): Promise<LedgerEvent[]> {
  const events: LedgerEvent[] = []
  for await (const event of readEvents(repository, tip, 0)) events.push(event)
  return events
}

function listCommits(git: Git): string[] {
  const objects = git('cat-file', '--batch-all-objects', '--batch-check=%(objecttype) %(objectname)')
  return objects
    .split('\n')
    .flatMap(line => (line.startsWith('commit ') ? [line.slice('commit '.length)] : []))
}

/** Branches and every commit that they lead to but those of the ledger: parents, author, message. */
function renderCommits(git: Git): string {
  const refs = git('for-each-ref', '--format=%(refname)', 'refs/heads').split('\n')
  const tips = refs.map(ref => `${toShortRef(ref)} ${git('rev-parse', ref)}`)
  const shown = refs.filter(ref => !/\/optimize-state\/|-archive\//.test(ref))
  const format = '--format=commit %H%nparents %P%nauthor %an <%ae> %aI%n%n%w(0,4,4)%B%w(0,0,0)'
  const log = git('log', '--topo-order', '--reverse', format, ...shown)
  return `${tips.join('\n')}\n\n${log}\n`
}

/** Its views, its spec and the results of what has ended: all that is not an event. */
function readLedgerFiles(git: Git, ref: string): Recording {
  const paths = git('ls-tree', '-r', '--name-only', ref).split('\n')
  const shown = paths.filter(path => !path.startsWith('events/'))
  return Object.fromEntries(
    shown.map(path => [`ledger-branch/${path}`, `${git('show', `${ref}:${path}`)}\n`]),
  )
}

function renderGithubPulls({ world }: EmulatedGithub): string {
  return world.pulls
    .map(pull =>
      renderPull({
        ...pull,
        branch: pull.fork === null ? pull.branch : `${pull.fork}:${pull.branch}`,
        author: pull.author.login,
        state: pull.merge === null ? pull.state : 'merged',
        comments: [
          ...world.reviews
            .filter(({ number }) => number === pull.number)
            .map(({ author, state, body }) => ({ author: author.login, body: `(${state}) ${body}` })),
          ...world.comments
            .filter(({ number }) => number === pull.number)
            .map(({ author, body, reactions }) => ({
              author: author.login,
              body: [body, ...reactions.map(({ by, content }) => `(${by} reacted: ${content})`)].join('\n'),
            })),
        ],
      }),
    )
    .join('\n')
}

interface ShownPull
  extends Pick<Pull, 'number' | 'title' | 'body' | 'branch' | 'head' | 'base' | 'author' | 'draft'> {
  state: string
  comments: readonly { author: string; body: string }[]
}

function renderPull(pull: ShownPull): string {
  const { number, title, state, draft, branch, base, head, author, body, comments } = pull
  const lines = [
    `======== #${number} ${title}`,
    `${draft ? 'draft, ' : ''}${state}, by ${author}: ${branch} into ${base}, head ${head}`,
    '',
    body,
    '',
    ...comments.flatMap(comment => [
      `-------- comment on #${number} by ${comment.author}`,
      '',
      comment.body,
      '',
    ]),
  ]
  return lines.join('\n')
}

function renderChecks({ world }: EmulatedGithub): string {
  const shown = world.checks.map(
    ({ name, head, externalId, status, history, conclusion, detailsUrl, output }) => {
      return { name, head, externalId, status, history, conclusion, detailsUrl, output }
    },
  )
  return `${JSON.stringify(shown, null, 2)}\n`
}
