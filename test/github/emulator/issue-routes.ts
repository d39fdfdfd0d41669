import { noteComment } from './events.ts'
import { fitting, notFound, Refusal } from './refusal.ts'
import { type Answer, type Ask, numbered, paged, type Routes } from './route.ts'
import { shownAccount, shownComment } from './shown.ts'
import { type CommentRecord, freshId, now } from './world.ts'

const REPO = '/repos/{owner}/{repo}'
const WRITE = 'issues=write; pull_requests=write'

export const issueRoutes: Routes = {
  [`GET ${REPO}/issues/{issue_number}/comments`]: {
    needs: 'issues=read; pull_requests=read',
    handle: ask => {
      const { number } = numbered(ask)
      const found = ask.world.comments.filter(each => each.number === number)
      return paged(ask, found.map(shownComment), `/issues/${number}/comments`)
    },
  },
  [`POST ${REPO}/issues/{issue_number}/comments`]: { needs: WRITE, handle: comment },
  [`PATCH ${REPO}/issues/comments/{comment_id}`]: { needs: WRITE, handle: rewrite },
  // Pull requests are not enough here, by GitHub's table of permissions.
  [`POST ${REPO}/issues/comments/{comment_id}/reactions`]: { needs: 'issues=write', handle: react },
  [`POST ${REPO}/issues/{issue_number}/labels`]: { needs: WRITE, push: true, handle: label },
  [`DELETE ${REPO}/issues/{issue_number}/labels/{name}`]: { needs: WRITE, push: true, handle: unlabel },
}

async function comment(ask: Ask): Promise<Answer> {
  const { world, who, body } = ask
  const pull = numbered(ask)
  const { number } = pull
  const text = commentText(body.text('body') ?? '')
  const made = { id: freshId(world), number, author: who, body: text, createdAt: now(world) }
  const written: CommentRecord = { ...made, editedAt: null, reactions: [] }
  world.comments.push(written)
  await noteComment(world, pull, written, who)
  return { status: 201, body: shownComment(written) }
}

function commentText(text: string): string {
  if (text === '')
    throw new Refusal(422, 'Validation Failed', { errors: [{ code: 'missing_field', field: 'body' }] })
  return fitting('body', text)
}

function existing({ world, params }: Ask): CommentRecord {
  const found = world.comments.find(each => each.id === Number(params['comment_id']))
  if (!found) throw notFound()
  return found
}

function rewrite(ask: Ask): Answer {
  const found = existing(ask)
  const { who, world, body } = ask
  if (found.author.login !== who.login && !['admin', 'write'].includes(who.permission)) throw notFound()
  Object.assign(found, { body: commentText(body.text('body') ?? ''), editedAt: now(world) })
  return { status: 200, body: shownComment(found) }
}

function react(ask: Ask): Answer {
  const { world, who, body } = ask
  const found = existing(ask)
  const content = body.text('content') ?? '+1'
  const old = found.reactions.find(each => each.by === who.login && each.content === content)
  const reaction = old ?? { id: freshId(world), by: who.login, content }
  if (!old) found.reactions.push(reaction)
  const shown = { id: reaction.id, user: shownAccount(who), content, created_at: now(world) }
  return { status: old ? 200 : 201, body: shown }
}

function label(ask: Ask): Answer {
  const pull = numbered(ask)
  pull.labels = [...new Set([...pull.labels, ...ask.body.texts('labels')])]
  return { status: 200, body: pull.labels.map(name => ({ name })) }
}

function unlabel(ask: Ask): Answer {
  const pull = numbered(ask)
  const name = ask.params['name'] ?? ''
  if (!pull.labels.includes(name)) throw new Refusal(404, 'Label does not exist')
  pull.labels = pull.labels.filter(each => each !== name)
  return { status: 200, body: pull.labels.map(each => ({ name: each })) }
}
