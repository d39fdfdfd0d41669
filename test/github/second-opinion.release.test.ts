import { describe, expect, test } from 'vitest'
import { isJson, type Json } from './contract/describe.ts'
import { type AnyGithub, type Answered, ourGithub, theirGithub } from './second-opinion.ts'

/** One thing that our forge relies on, asked of any GitHub; what it says of it. */
type Question = (github: AnyGithub) => Promise<unknown>

function fields(body: Json, ...names: string[]): Json {
  return Object.fromEntries(names.map(name => [name, body[name]]))
}

function login({ user }: Json): unknown {
  return isJson(user) ? user['login'] : null
}

function sha(body: Json, side: 'head' | 'base'): unknown {
  const found = body[side]
  return isJson(found) ? found['sha'] : null
}

function open({ ask }: AnyGithub, head = 'fast', rest = {}): Promise<Answered> {
  return ask('ada', 'POST /pulls', { title: `try ${head}`, body: 'why', head, base: 'main', ...rest })
}

const QUESTIONS: Readonly<Record<string, Question>> = {
  'the repository and its default branch': async ({ ask }) => {
    const { status, body } = await ask('rex', 'GET ')
    return { status, ...fields(body, 'name', 'full_name', 'default_branch', 'delete_branch_on_merge') }
  },

  'without a token': async ({ ask }) =>
    (await ask('nobody', 'POST /pulls', { title: 'x', head: 'fast', base: 'main' })).status,

  'what is not there': async github => {
    const absent = [
      await github.ask('ada', 'GET /pulls/77'),
      await github.ask('ada', 'GET /actions/runs/77'),
      await github.ask('ada', 'PATCH /issues/comments/77', { body: 'x' }),
      await github.ask('job', 'PATCH /check-runs/77', { status: 'in_progress' }),
    ]
    return absent.map(({ status }) => status)
  },

  'a draft that is opened, and read again': async github => {
    const opened = await open(github, 'fast', { draft: true })
    const { body } = await github.ask('rex', 'GET /pulls/1')
    const said = fields(body, 'number', 'title', 'body', 'state', 'draft', 'merged')
    const [head, base] = [await github.tip('fast'), await github.tip('main')]
    return {
      status: opened.status,
      ...said,
      by: login(body),
      head: sha(body, 'head') === head,
      base: sha(body, 'base') === base,
    }
  },

  'a second one of the same branch': async github => {
    await open(github)
    return (await open(github)).status
  },

  'one without its branches': async github => [
    (await open(github, 'gone')).status,
    (await open(github, 'fast', { base: 'gone' })).status,
  ],

  'words, closing and opening again': async github => {
    await open(github)
    const states = []
    for (const change of [{ title: 'kept', body: 'kept: 3 %' }, { state: 'closed' }, { state: 'open' }]) {
      const { status, body } = await github.ask('ada', 'PATCH /pulls/1', change)
      states.push({ status, ...fields(body, 'title', 'body', 'state'), closed: body['closed_at'] !== null })
    }
    return states
  },

  'a merge at another head than was seen': async github => {
    await open(github)
    const sha = await github.tip('main')
    const { status } = await github.ask('ada', 'PUT /pulls/1/merge', { sha })
    return { status, merged: (await github.ask('ada', 'GET /pulls/1')).body['merged'] }
  },

  'a merge at the head that was seen, and again': async github => {
    await open(github)
    const head = await github.tip('fast')
    const { status, body } = await github.ask('ada', 'PUT /pulls/1/merge', { sha: head })
    const told = (await github.ask('ada', 'GET /pulls/1')).body
    const again = (await github.ask('ada', 'PUT /pulls/1/merge', {})).status
    return {
      status,
      ...fields(told, 'state', 'merged'),
      tip: (await github.tip('main')) === body['sha'],
      again,
    }
  },

  'a merge of a draft': async github => {
    await open(github, 'fast', { draft: true })
    return (await github.ask('ada', 'PUT /pulls/1/merge', {})).status
  },

  'lists in pages': async github => {
    await open(github)
    await open(github, 'slow')
    const first = await github.ask('rex', 'GET /pulls?per_page=1&direction=asc')
    const second = await github.ask('rex', 'GET /pulls?per_page=1&direction=asc&page=2')
    const only = await github.ask('rex', 'GET /pulls?base=main&state=open&per_page=100')
    return [first, second, only].map(({ status, list, links }) => ({
      status,
      numbers: list.map(each => each['number']),
      links,
    }))
  },

  'comments, and changing them': async github => {
    await open(github)
    const made = await github.ask('bob', 'POST /issues/1/comments', { body: 'measuring' })
    const changed = await github.ask('bob', `PATCH /issues/comments/${String(made.body['id'])}`, {
      body: 'kept',
    })
    const { list } = await github.ask('rex', 'GET /issues/1/comments')
    return {
      statuses: [made.status, changed.status],
      list: list.map(each => ({ body: each['body'], by: login(each) })),
    }
  },

  'a comment by whoever may read': async github => {
    await open(github)
    return (await github.ask('rex', 'POST /issues/1/comments', { body: 'me too' })).status
  },

  'changing the comment of somebody else, as a reader': async github => {
    await open(github)
    const { body } = await github.ask('ada', 'POST /issues/1/comments', { body: 'mine' })
    const { status } = await github.ask('rex', `PATCH /issues/comments/${String(body['id'])}`, {
      body: 'yours',
    })
    return { refused: status === 403 || status === 404 }
  },

  'labels, and taking them away': async github => {
    await open(github)
    const added = await github.ask('ada', 'POST /issues/1/labels', { labels: ['a', 'b'] })
    const again = await github.ask('ada', 'POST /issues/1/labels', { labels: ['a'] })
    const gone = await github.ask('ada', 'DELETE /issues/1/labels/a')
    const twice = await github.ask('ada', 'DELETE /issues/1/labels/a')
    const names = [added, again, gone].map(({ list }) => list.map(each => each['name']))
    return { names, statuses: [added, again, gone, twice].map(({ status }) => status) }
  },

  "a review of a head, and of one's own": async github => {
    await open(github)
    const own = await github.ask('ada', 'POST /pulls/1/reviews', { event: 'APPROVE' })
    const approve = { event: 'APPROVE', commit_id: await github.tip('fast') }
    const made = await github.ask('bob', 'POST /pulls/1/reviews', approve)
    const { list } = await github.ask('rex', 'GET /pulls/1/reviews')
    const shown = list.map(each => ({
      by: login(each),
      state: each['state'],
      here: each['commit_id'] === approve.commit_id,
    }))
    return { own: own.status, made: made.status, shown }
  },

  'who may do what': async ({ ask }) => {
    const asked = ['ada', 'rex', 'stranger'].map(name => ask('ada', `GET /collaborators/${name}/permission`))
    return (await Promise.all(asked)).map(({ status, body }) => [status, body['permission']])
  },

  'a check of a commit, in progress and then completed': async github => {
    const head_sha = await github.tip('fast')
    const begun = { name: 'winnow', head_sha, external_id: 'exp-001', status: 'in_progress' }
    const made = await github.ask('job', 'POST /check-runs', begun)
    const output = { title: 'not proven', summary: 'more runs are needed' }
    const done = { status: 'completed', conclusion: 'neutral', output }
    const ended = await github.ask('job', `PATCH /check-runs/${String(made.body['id'])}`, done)
    const { body } = await github.ask('rex', 'GET /commits/fast/check-runs?check_name=winnow')
    const shown = [body['check_runs']].flat().filter(isJson)
    const told = shown.map(each => ({
      ...fields(each, 'name', 'status', 'conclusion', 'external_id'),
      here: each['head_sha'] === head_sha,
    }))
    return { statuses: [made.status, ended.status], count: body['total_count'], told }
  },

  'a check of a commit by a person': async github => {
    const check = { name: 'winnow', head_sha: await github.tip('fast'), status: 'in_progress' }
    return (await github.ask('ada', 'POST /check-runs', check)).status
  },

  'a pull request that follows its branch': async github => {
    await open(github)
    return { files: (await github.ask('ada', 'GET /pulls/1/files')).list.map(each => each['filename']) }
  },
}

/** Where the two do not agree: what theirs says, and why it is ours that is right. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  'a second one of the same branch': 'theirs opens it; GitHub answers 422, "A pull request already exists"',
  'one without its branches': 'theirs opens it; GitHub answers 422 and names the field',
  'a merge at another head than was seen':
    'theirs answers 422; 409 is what GitHub describes for that operation',
  'a merge at the head that was seen, and again': 'theirs answers 422; 405 is what GitHub describes',
  'a merge of a draft': 'theirs answers 422; 405 is what GitHub describes',
  'changing the comment of somebody else, as a reader': 'theirs lets anybody do it',
  "a review of a head, and of one's own":
    'theirs takes an approval of what is one’s own, and answers 201 for 200',
  'who may do what': 'theirs says push and pull; GitHub describes admin, write, read and none',
  'a check of a commit by a person': 'theirs takes it; GitHub takes checks of apps alone',
  'a pull request that follows its branch': 'theirs lists no files, ever',
}

describe('our emulated GitHub and somebody else’s', () => {
  test.each(Object.entries(QUESTIONS))('%s', async (name, question) => {
    const [ours, theirs] = [await question(await ourGithub()), await question(await theirGithub())]
    if (name in DIFFERENCES) expect(theirs, 'they agree by now: take it off the list').not.toEqual(ours)
    else expect(ours).toEqual(theirs)
  })

  test('disagree about nothing that is not asked', () => {
    expect(Object.keys(DIFFERENCES).filter(name => !(name in QUESTIONS))).toEqual([])
  })
})
