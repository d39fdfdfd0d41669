import { readFileSync } from 'node:fs'
import { buildSchema, execute, GraphQLError, parse, validate } from 'graphql'
import type { Json } from '../contract/describe.ts'
import { nodeId } from './shown.ts'
import {
  type Account,
  accountOf,
  type CommentRecord,
  type PullRecord,
  type ReviewRecord,
  type World,
} from './world.ts'

const FIXTURE = new URL('../../../fixtures/github/schema.graphql', import.meta.url)
const schema = buildSchema(readFileSync(FIXTURE, 'utf8'))

interface Question {
  query: string
  variables: Json
}

export interface GraphqlAnswer {
  /** What is wrong with the question by GitHub's own schema: it certifies both directions. */
  wrongs: string[]
  body: Json
}

/** The few questions that one call answers where REST needs many, over GitHub's own schema. */
export async function answerGraphql(world: World, who: Account, question: Question): Promise<GraphqlAnswer> {
  const document = parse(question.query)
  const wrongs = validate(schema, document).map(({ message }) => message)
  if (wrongs.length > 0) return { wrongs, body: { errors: wrongs.map(message => ({ message })) } }
  const rootValue = root(world, who)
  const result = await execute({ schema, document, rootValue, variableValues: question.variables })
  const errors = (result.errors ?? []).map(({ message, path, extensions }) => ({
    message,
    path,
    type: extensions['type'],
  }))
  const unexpected = errors.filter(({ type }) => type === undefined).map(({ message }) => message)
  return { wrongs: unexpected, body: { data: result.data, ...(errors.length === 0 ? {} : { errors }) } }
}

function refused(type: 'NOT_FOUND' | 'FORBIDDEN', message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { type } })
}

function root(world: World, who: Account) {
  function requireGrant(level: 'read' | 'write') {
    const grant = who.grants?.['pull_requests']
    if (who.grants === null || grant === 'write' || grant === level) return
    throw refused('FORBIDDEN', 'Resource not accessible by integration')
  }
  function change({ input }: { input: { pullRequestId: string } }, draft: boolean) {
    requireGrant('write')
    const pull = world.pulls.find(each => nodeId(each) === input.pullRequestId)
    if (!pull)
      throw refused('NOT_FOUND', `Could not resolve to a node with the global id of '${input.pullRequestId}'`)
    pull.draft = draft
    return { pullRequest: pullNode(world, who, pull) }
  }
  return {
    repository({ owner, name }: { owner: string; name: string }) {
      if (owner !== world.owner || name !== world.repo)
        throw refused('NOT_FOUND', `Could not resolve to a Repository with the name '${owner}/${name}'.`)
      requireGrant('read')
      return repositoryNode(world, who)
    },
    nodes({ ids }: { ids: string[] }) {
      requireGrant('read')
      return ids.map(id => {
        const found = world.comments.find(each => nameOf(each) === id)
        return found ? commentNode(world, who, found) : null
      })
    },
    markPullRequestReadyForReview: (given: { input: { pullRequestId: string } }) => change(given, false),
    convertPullRequestToDraft: (given: { input: { pullRequestId: string } }) => change(given, true),
  }
}

interface PullArguments extends Window {
  baseRefName?: string
  headRefName?: string
  states?: string[]
  orderBy?: { field: string; direction: string }
}

function repositoryNode(world: World, who: Account) {
  const node = (pull: PullRecord) => pullNode(world, who, pull)
  return {
    pullRequests({ baseRefName, headRefName, states, orderBy, ...window }: PullArguments) {
      const found = inOrder(world, orderBy).filter(
        each =>
          (baseRefName === undefined || each.base === baseRefName) &&
          (headRefName === undefined || each.branch === headRefName) &&
          (states?.includes(stateOf(each)) ?? true),
      )
      return connection(found.map(node), window)
    },
    pullRequest({ number }: { number: number }) {
      const pull = world.pulls.find(each => each.number === number)
      if (!pull)
        throw refused('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`)
      return node(pull)
    },
    ref({ qualifiedName }: { qualifiedName: string }) {
      const branch = qualifiedName.replace(/^refs\/heads\//, '')
      if (!world.tips.has(branch)) return null
      const pulls = world.pulls.filter(each => each.fork === null && each.branch === branch)
      return {
        associatedPullRequests({ baseRefName, ...window }: PullArguments) {
          const into = pulls.filter(each => baseRefName === undefined || each.base === baseRefName)
          return connection(into.map(node), window)
        },
      }
    },
  }
}

/** As they were opened; or by what happened to them last, which a comment and a review are as well. */
function inOrder(world: World, { field, direction }: PullArguments['orderBy'] = BY_AGE): PullRecord[] {
  const happened = ({ number, createdAt, closedAt }: PullRecord) =>
    [
      createdAt,
      closedAt ?? '',
      ...world.comments.filter(each => each.number === number).map(each => each.editedAt ?? each.createdAt),
      ...world.reviews.filter(each => each.number === number).map(({ at }) => at ?? ''),
    ].reduce((last, at) => (at > last ? at : last))
  const way = direction === 'DESC' ? -1 : 1
  return field === 'UPDATED_AT'
    ? world.pulls.toSorted((a, b) => (happened(a) < happened(b) ? -way : way))
    : world.pulls.toSorted((a, b) => way * (a.number - b.number))
}

const BY_AGE = { field: 'CREATED_AT', direction: 'ASC' }

interface Window {
  first?: number | null
  last?: number | null
  after?: string | null
  before?: string | null
}

function connection<T>(all: readonly T[], { first, last, after, before }: Window) {
  const from = after ? Number(after) : 0
  const to = before ? Number(before) : all.length
  const start = last ? Math.max(from, to - last) : from
  const end = first ? Math.min(to, from + first) : to
  return {
    nodes: all.slice(start, end),
    pageInfo: {
      hasNextPage: end < all.length,
      endCursor: String(end),
      hasPreviousPage: start > 0,
      startCursor: String(start),
    },
  }
}

function stateOf({ state, merge }: PullRecord): string {
  return merge ? 'MERGED' : state.toUpperCase()
}

/** GraphQL names a bot without the suffix that REST gives it. */
function actor({ login, kind }: Account) {
  return { __typename: kind === 'person' ? 'User' : 'Bot', login: login.replace(/\[bot\]$/, '') }
}

function pullNode(world: World, who: Account, pull: PullRecord) {
  const { number, title, body, branch, head, base, author, draft, labels, fork, merge } = pull
  return {
    id: nodeId(pull),
    number,
    title,
    body,
    headRefName: branch,
    headRefOid: head,
    baseRefName: base,
    author: actor(author),
    state: stateOf(pull),
    isDraft: draft,
    isCrossRepository: fork !== null,
    headRepository: { nameWithOwner: `${fork ?? world.owner}/${world.repo}` },
    commits: async (window: Window) =>
      connection(
        (await commitsOf(world, pull)).map(commit => ({ commit })),
        window,
      ),
    headRepositoryOwner: { __typename: 'User', login: fork ?? world.owner },
    labels: (window: Window) =>
      connection(
        labels.map(name => ({ name })),
        window,
      ),
    comments: (window: Window) =>
      connection(
        world.comments.filter(each => each.number === number).map(each => commentNode(world, who, each)),
        window,
      ),
    reviews: (window: Window) =>
      connection(world.reviews.filter(each => each.number === number).map(reviewNode), window),
    latestOpinionatedReviews({ writersOnly, ...window }: Window & { writersOnly?: boolean }) {
      const last = new Map<string, ReviewRecord>()
      for (const each of world.reviews)
        if (each.number === number && each.state !== 'COMMENTED') last.set(each.author.login, each)
      const found = [...last.values()].filter(each => writersOnly !== true || mayWrite(world, each.author))
      return connection(found.map(reviewNode), window)
    },
    mergeCommit: merge && { oid: merge.commit },
    createdAt: pull.createdAt,
    closedAt: pull.closedAt,
    timelineItems({ itemTypes, ...window }: Window & { itemTypes: string[] }) {
      const events = pull.reopenedAt.map(createdAt => ({ __typename: 'ReopenedEvent', createdAt }))
      return connection(itemTypes.includes('REOPENED_EVENT') ? events : [], window)
    },
    viewerDidAuthor: author.login === who.login,
  }
}

function nameOf({ id }: CommentRecord): string {
  return `IC_${id}`
}

const REACTIONS = { '+1': 'THUMBS_UP', '-1': 'THUMBS_DOWN', confused: 'CONFUSED' } as const

function commentNode(world: World, who: Account, comment: CommentRecord) {
  const { id, author, body, createdAt, editedAt, reactions } = comment
  return {
    __typename: 'IssueComment',
    id: nameOf(comment),
    databaseId: id,
    author: actor(author),
    authorAssociation: mayWrite(world, author) ? 'MEMBER' : 'NONE',
    reactionGroups: Object.entries(REACTIONS).map(([content, named]) => ({
      content: named,
      viewerHasReacted: reactions.some(each => each.content === content && each.by === who.login),
    })),
    createdAt,
    body,
    viewerDidAuthor: author.login === who.login,
    lastEditedAt: editedAt,
  }
}

function mayWrite(world: World, { login }: Account): boolean {
  const { permission } = accountOf(world, login) ?? { permission: 'none' }
  return permission === 'write' || permission === 'admin'
}

/** Its commits as git has them; whose address is that of an account, the account. */
async function commitsOf(world: World, { head, base }: PullRecord) {
  const from = world.tips.get(base) ?? ''
  const format = ['log', '--reverse', '--format=%ae %ce', '--max-count=100']
  const lines = await world.git.run(...format, head, '--not', from)
  const gitActor = (email: string) => {
    const found = accountOf(world, email.split('@')[0] ?? '')
    return { user: found && { login: found.login } }
  }
  return lines.split('\n').map(line => {
    const [author = '', committer = ''] = line.split(' ')
    return { author: gitActor(author), committer: gitActor(committer) }
  })
}

function reviewNode({ author, at, commit, state, body }: ReviewRecord) {
  return { author: actor(author), submittedAt: at, commit: { oid: commit }, state, body }
}
