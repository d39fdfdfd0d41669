import { notePull, noteReview } from './events.ts'
import { fitting, invalid, invalidPull, Refusal } from './refusal.ts'
import { type Answer, type Ask, numbered, paged, type Routes } from './route.ts'
import { end, holdHead, settle } from './settle.ts'
import { shownPull, shownReview } from './shown.ts'
import { freshId, now, type PullRecord, type World } from './world.ts'

const PULLS = '/repos/{owner}/{repo}/pulls'
const PULL = `${PULLS}/{pull_number}`

export const pullRoutes: Routes = {
  [`GET ${PULLS}`]: { needs: 'pull_requests=read', handle: list },
  [`POST ${PULLS}`]: { needs: 'pull_requests=write', handle: open },
  [`GET ${PULL}`]: {
    needs: 'pull_requests=read',
    handle: async ask => ({ status: 200, body: await whole(ask.world, numbered(ask)) }),
  },
  [`PATCH ${PULL}`]: { needs: 'pull_requests=write', handle: edit },
  [`GET ${PULL}/files`]: { needs: 'pull_requests=read', handle: files },
  [`PUT ${PULL}/merge`]: { needs: 'contents=write', push: true, handle: merge },
  [`GET ${PULL}/reviews`]: {
    needs: 'pull_requests=read',
    handle: ask => {
      const { number } = numbered(ask)
      const found = ask.world.reviews.filter(each => each.number === number)
      return paged(ask, found.map(shownReview), `/pulls/${number}/reviews`)
    },
  },
  [`POST ${PULL}/reviews`]: { needs: 'pull_requests=write', handle: review },
}

function list(ask: Ask): Answer {
  const { query, world } = ask
  const { state = 'open', base, head, sort = 'created' } = query
  const direction = query['direction'] ?? (sort === 'created' ? 'desc' : 'asc')
  const found = world.pulls.filter(
    pull =>
      (state === 'all' || pull.state === state) &&
      (base === undefined || pull.base === base) &&
      (head === undefined || head === `${pull.fork ?? world.owner}:${pull.branch}`),
  )
  const sorted = direction === 'asc' ? found : found.toReversed()
  return paged(
    ask,
    sorted.map(pull => shownPull(world, pull)),
    '/pulls',
  )
}

async function whole(world: World, pull: PullRecord) {
  const base = world.tips.get(pull.base)
  const tree = base && pull.state === 'open' ? await world.git.mergedTree(base, pull.head) : null
  const mergeable = pull.state === 'open' ? tree !== null : null
  const mergeable_state = mergeable === null ? 'unknown' : mergeable ? 'clean' : 'dirty'
  return { ...shownPull(world, pull), merged: pull.merge !== null, mergeable, mergeable_state }
}

async function open({ body, world, who }: Ask): Promise<Answer> {
  const [owner, branch] = headOf(world, body.text('head') ?? '')
  const base = body.text('base') ?? ''
  const fork = owner === world.owner ? null : owner
  const tips = fork === null ? world.tips : await world.forks.get(fork)?.tips()
  const head = tips?.get(branch)
  const target = world.tips.get(base)
  if (head === undefined) throw invalid([{ resource: 'PullRequest', field: 'head', code: 'invalid' }])
  if (target === undefined) throw invalid([{ resource: 'PullRequest', field: 'base', code: 'invalid' }])
  if (who.kind === 'actions' && !world.settings.actionsMayOpenPulls)
    throw new Refusal(403, 'GitHub Actions is not permitted to create or approve pull requests.')
  if (body.flag('draft') === true && !world.settings.draftsSupported)
    throw invalidPull('Draft pull requests are not supported in this repository.')
  const twin = world.pulls.find(
    each => each.state === 'open' && each.branch === branch && each.base === base && each.fork === fork,
  )
  if (twin) throw invalidPull(`A pull request already exists for ${owner}:${branch}.`)
  const pull: PullRecord = {
    number: world.nextNumber,
    title: fitting('title', body.text('title') ?? ''),
    body: fitting('body', body.text('body') ?? ''),
    author: who,
    fork,
    branch,
    head,
    base,
    state: 'open',
    draft: body.flag('draft') ?? false,
    merge: null,
    headGone: false,
    labels: [],
    createdAt: now(world),
    closedAt: null,
    reopenedAt: [],
  }
  await holdHead(world, pull)
  if (await world.git.contains(target, head)) throw invalidPull(`No commits between ${base} and ${branch}`)
  world.nextNumber++
  world.pulls.push(pull)
  await notePull(world, pull, 'opened', who)
  return { status: 201, body: await whole(world, pull) }
}

function headOf(world: World, head: string): [string, string] {
  const colon = head.indexOf(':')
  return colon === -1 ? [world.owner, head] : [head.slice(0, colon), head.slice(colon + 1)]
}

async function edit(ask: Ask): Promise<Answer> {
  const { body, world, who } = ask
  const pull = numbered(ask)
  const base = body.text('base')
  if (base !== undefined && !world.tips.has(base))
    throw invalid([{ resource: 'PullRequest', field: 'base', code: 'invalid' }])
  const isTwin = (each: PullRecord) =>
    each.state === 'open' && each !== pull && each.branch === pull.branch && each.fork === pull.fork
  if (base !== undefined && world.pulls.some(each => isTwin(each) && each.base === base))
    throw invalidPull(`A pull request already exists for base branch '${base}' and head '${pull.branch}'`)
  const state = body.text('state')
  if (state === 'open' && pull.state === 'closed' && (pull.merge || pull.headGone))
    throw invalid([{ resource: 'PullRequest', field: 'state', code: 'invalid' }])
  Object.assign(pull, {
    title: fitting('title', body.text('title') ?? pull.title),
    body: fitting('body', body.text('body') ?? pull.body),
    base: base ?? pull.base,
  })
  if (state === 'closed' && pull.state === 'open') await end(world, pull, null, who)
  if (state === 'open' && pull.state === 'closed') {
    Object.assign(pull, { state: 'open', closedAt: null })
    pull.reopenedAt.push(now(world))
    await notePull(world, pull, 'reopened', who)
  }
  return { status: 200, body: await whole(world, pull) }
}

const STATUS: Record<string, string> = { A: 'added', M: 'modified', D: 'removed' }

async function files(ask: Ask): Promise<Answer> {
  const { world } = ask
  const pull = numbered(ask)
  const range = `${world.tips.get(pull.base) ?? pull.head}...${pull.head}`
  const lines = (
    await world.git.run('diff', '--no-renames', '--raw', '--numstat', '--abbrev=40', range)
  ).split('\n')
  const counts = new Map(
    lines
      .filter(line => line !== '' && !line.startsWith(':'))
      .map(line => line.split('\t'))
      .map(([added = '0', deleted = '0', path = '']) => [path, [Number(added) || 0, Number(deleted) || 0]]),
  )
  const entries = lines.filter(line => line.startsWith(':')).map(line => line.split(/[ \t]/))
  const body = entries.map(([, , , sha = null, letter = 'M', ...path]) => {
    const [additions = 0, deletions = 0] = counts.get(path.join(' ')) ?? []
    const status = STATUS[letter] ?? 'changed'
    return { filename: path.join(' '), sha, status, additions, deletions, changes: additions + deletions }
  })
  return paged(ask, body, `/pulls/${pull.number}/files`)
}

async function merge(ask: Ask): Promise<Answer> {
  const { body, world, who } = ask
  const pull = numbered(ask)
  const base = world.tips.get(pull.base)
  if (pull.state !== 'open' || pull.draft || base === undefined) {
    throw new Refusal(405, pull.draft ? 'Pull Request is still a draft' : 'Pull Request is not mergeable')
  }
  const expected = body.text('sha')
  if (expected !== undefined && expected !== pull.head)
    throw new Refusal(409, 'Head branch was modified. Review and try the merge again.')
  const tree = await world.git.mergedTree(base, pull.head)
  if (tree === null) throw new Refusal(405, 'Pull Request is not mergeable')
  const title = body.text('commit_title') ?? `Merge pull request #${pull.number} from ${pull.branch}`
  const message = `${title}\n\n${body.text('commit_message') ?? pull.title}`
  const squash = body.text('merge_method') === 'squash'
  const sha = await world.git.commit(tree, squash ? [base] : [base, pull.head], message, world.commitDate)
  await world.git.moveRef(`refs/heads/${pull.base}`, sha, base)
  await end(world, pull, { commit: sha, by: who.login }, who)
  if (world.settings.deletesMergedBranches && pull.fork === null)
    await world.git.moveRef(`refs/heads/${pull.branch}`, null)
  await settle(world)
  return { status: 200, body: { sha, merged: true, message: 'Pull Request successfully merged' } }
}

const EVENTS = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const

async function review(ask: Ask): Promise<Answer> {
  const { body, world, who } = ask
  const pull = numbered(ask)
  const asked = body.text('event') ?? 'COMMENT'
  const event = Object.entries(EVENTS).find(([name]) => name === asked)
  if (!event) throw new Refusal(422, `unknown event ${asked}`)
  if (asked !== 'COMMENT' && pull.author.login === who.login)
    throw new Refusal(422, 'Unprocessable Entity', {
      errors: ['Review Can not approve your own pull request'],
    })
  if (who.kind === 'actions' && asked === 'APPROVE' && !world.settings.actionsMayOpenPulls)
    throw new Refusal(403, 'GitHub Actions is not permitted to create or approve pull requests.')
  const text = body.text('body') ?? ''
  if (asked !== 'APPROVE' && text === '')
    throw new Refusal(422, 'Unprocessable Entity', { errors: ['Body is missing'] })
  const commit = body.text('commit_id') ?? pull.head
  const made = { id: freshId(world), number: pull.number, author: who, commit, state: event[1], body: text }
  const written = { ...made, at: now(world) }
  world.reviews.push(written)
  await noteReview(world, pull, written, 'submitted', who)
  return { status: 200, body: shownReview(written) }
}
