import { describe, expect, test } from 'vitest'
import { type Scene, scene } from './scene.ts'
import { GRANTS } from './tick-job.ts'

const WORKFLOW = `name: measure
run-name: \${{ inputs.order }}
on:
  push:
  pull_request:
  workflow_dispatch:
    inputs:
      order:
        required: true
`

async function withPull(settings = {}) {
  const it = await scene(settings)
  const ada = it.github.token('ada')
  const head = it.commit('fast', { 'src/a.txt': 'faster\n' }, [it.tip('main')])
  const opened = await open(it, ada, 'fast')
  expect(opened.status).toBe(201)
  return { ...it, ada, head }
}

function open(it: Scene, token: string, head: string, rest = {}) {
  return it.ask(token, 'POST /pulls', { title: `try ${head}`, head, base: 'main', ...rest })
}

function pull(it: Scene, token: string, number = 1) {
  return it.ask(token, `GET /pulls/${number}`)
}

describe('a pull request', () => {
  test('follows its branch, and tells of files and conflicts as git does', async () => {
    const it = await withPull()
    expect((await pull(it, it.ada)).body).toMatchObject({ head: { sha: it.head }, mergeable: true })
    const files = await it.ask(it.ada, 'GET /pulls/1/files')
    expect(files.list).toMatchObject([
      { filename: 'src/a.txt', status: 'modified', additions: 1, deletions: 1 },
    ])
    const next = it.commit('fast', { 'src/b.txt': 'b\n' })
    it.commit('main', { 'src/a.txt': 'other\n' })
    expect((await pull(it, it.ada)).body).toMatchObject({ head: { sha: next }, mergeable: false })
    expect(it.git('rev-parse', 'refs/pull/1/head')).toBe(next)
  })

  test('is refused twice, with nothing in it, and without its branches', async () => {
    const it = await withPull()
    it.commit('nothing', {}, [it.tip('main')])
    it.git('update-ref', 'refs/heads/same', 'refs/heads/main')
    const twice = await open(it, it.ada, 'fast')
    expect(twice).toMatchObject({
      status: 422,
      body: { errors: [{ message: expect.stringMatching(/already exists for team:fast/) }] },
    })
    expect((await open(it, it.ada, 'same')).body).toMatchObject({
      errors: [{ message: expect.stringMatching(/No commits between/) }],
    })
    expect((await open(it, it.ada, 'gone')).body).toMatchObject({
      errors: [{ field: 'head', code: 'invalid' }],
    })
    expect((await open(it, it.ada, 'fast', { base: 'gone' })).body).toMatchObject({
      errors: [{ field: 'base' }],
    })
  })

  test('is merged only at the head that was seen, and only where git can', async () => {
    const it = await withPull()
    const merge = (body = {}) => it.ask(it.ada, 'PUT /pulls/1/merge', body)
    expect((await merge({ sha: it.tip('main') })).status).toBe(409)
    const { status, body } = await merge({ sha: it.head })
    expect(status).toBe(200)
    expect(it.tip('main')).toBe(body['sha'])
    expect((await pull(it, it.ada)).body).toMatchObject({ merged: true, state: 'closed' })
    expect((await merge()).status).toBe(405)
    it.commit('other', { 'src/a.txt': 'x\n' }, [it.head])
    it.commit('main', { 'src/a.txt': 'y\n' })
    await open(it, it.ada, 'other')
    expect((await it.ask(it.ada, 'PUT /pulls/2/merge', {})).status).toBe(405)
  })

  test('is merged by a push that brings its head into the base', async () => {
    const it = await withPull()
    const merge = it.commit('next', { 'src/c.txt': 'c\n' }, [it.tip('main'), it.head])
    expect(await it.push(it.ada, `${merge}:refs/heads/main`)).toMatchObject({ ok: true })
    expect((await pull(it, it.ada)).body).toMatchObject({ merged: true, merge_commit_sha: merge })
  })

  test('that lost its branch is closed for good', async () => {
    const it = await withPull()
    await it.push(it.ada, ':refs/heads/fast')
    expect((await pull(it, it.ada)).body).toMatchObject({ merged: false, state: 'closed' })
    it.git('update-ref', 'refs/heads/fast', it.head)
    expect((await it.ask(it.ada, 'PATCH /pulls/1', { state: 'open' })).status).toBe(422)
  })

  test('follows its base where that was merged and deleted', async () => {
    const it = await withPull({ deletesMergedBranches: true })
    it.commit('on-top', { 'src/b.txt': 'b\n' }, [it.head])
    await open(it, it.ada, 'on-top', { base: 'fast' })
    await it.ask(it.ada, 'PUT /pulls/1/merge', {})
    expect(it.git('for-each-ref', 'refs/heads/fast')).toBe('')
    expect((await pull(it, it.ada, 2)).body).toMatchObject({ state: 'open', base: { ref: 'main' } })
  })

  test('of a fork is read here by its number', async () => {
    const it = await withPull()
    const fork = it.github.fork('eve')
    const eve = it.github.token('eve', { permission: 'none' })
    it.git('push', '-q', fork, `${it.head}:refs/heads/mine`)
    expect((await open(it, eve, 'eve:mine')).status).toBe(404)
    const reader = it.github.token('eve', { permission: 'read' })
    expect((await open(it, reader, 'eve:mine')).status).toBe(201)
    expect(it.git('rev-parse', 'refs/pull/2/head')).toBe(it.head)
    expect(await it.push(reader, 'main:refs/heads/mine')).toMatchObject({ ok: false })
  })
})

describe('a review', () => {
  test('is bound to the head that was looked at, and nobody reviews their own', async () => {
    const it = await withPull()
    const bob = it.github.token('bob')
    const approve = { event: 'APPROVE', commit_id: it.head }
    expect((await it.ask(it.ada, 'POST /pulls/1/reviews', approve)).status).toBe(422)
    await it.ask(bob, 'POST /pulls/1/reviews', approve)
    it.commit('fast', { 'src/b.txt': 'b\n' })
    const { list } = await it.ask(bob, 'GET /pulls/1/reviews')
    expect(list).toMatchObject([{ commit_id: it.head, state: 'APPROVED', user: { login: 'bob' } }])
  })
})

describe('permissions', () => {
  test('are asked of the API, by login', async () => {
    const it = await withPull()
    it.github.token('reader', { permission: 'read' })
    const of = async (login: string) => (await it.ask(it.ada, `GET /collaborators/${login}/permission`)).body
    expect(await of('ada')).toMatchObject({ permission: 'write' })
    expect(await of('reader')).toMatchObject({ permission: 'read' })
  })

  test('of a job are what its workflow grants, and the one that lacks is named', async () => {
    const it = await withPull()
    const job = it.github.jobToken({ contents: 'read' })
    const { status, headers, body } = await it.ask(job, 'PATCH /pulls/1', { title: 'x' })
    expect([status, body['message']]).toEqual([403, 'Resource not accessible by integration'])
    expect(headers.get('x-accepted-github-permissions')).toBe('pull_requests=write')
    expect((await it.ask('nobody', 'GET /pulls')).status).toBe(401)
  })

  test('of a job end at workflow files that no branch has yet', async () => {
    const it = await withPull()
    const job = it.github.jobToken(GRANTS)
    it.commit('ci', { '.github/workflows/measure.yml': WORKFLOW }, [it.tip('main')])
    const changed = it.commit('bad', { '.github/workflows/measure.yml': `${WORKFLOW}# more\n` }, [
      it.tip('ci'),
    ])
    it.git('update-ref', '-d', 'refs/heads/bad')
    const refused = await it.push(job, `${changed}:refs/heads/optimize/x`)
    expect(refused.said).toMatch(/refusing to allow a GitHub App .* without `workflows` permission/)
    expect(await it.push(job, 'ci:refs/heads/optimize/x')).toMatchObject({ ok: true })
    expect(await it.push(it.ada, `${changed}:refs/heads/optimize/x`)).toMatchObject({ ok: true })
  })

  test('to write more than GitHub takes nobody has, and nothing is cut off', async () => {
    const it = await withPull()
    const job = it.github.jobToken(GRANTS)
    for (const edit of [{ title: 'x'.repeat(257) }, { body: 'x'.repeat(65_537) }])
      expect((await it.ask(job, 'PATCH /pulls/1', edit)).status).toBe(422)
    expect(it.github.world.pulls).toMatchObject([{ title: 'try fast', body: '' }])
  })

  test('to move a protected branch nobody has', async () => {
    const it = await withPull()
    it.github.protect('main')
    expect((await it.push(it.ada, 'fast:main')).said).toMatch(/GH006: Protected branch update failed/)
  })

  test('to open pull requests a job has only where the repository says so', async () => {
    const it = await scene({ actionsMayOpenPulls: false })
    it.commit('fast', { 'src/a.txt': 'faster\n' }, [it.tip('main')])
    const { status, body } = await open(it, it.github.jobToken(GRANTS), 'fast')
    expect([status, body['message']]).toEqual([403, expect.stringMatching(/not permitted to create/)])
  })
})

describe('workflow runs', () => {
  async function withWorkflow(settings = {}) {
    const it = await scene(settings)
    it.commit('main', { '.github/workflows/measure.yml': WORKFLOW })
    return { ...it, ada: it.github.token('ada'), job: it.github.jobToken(GRANTS) }
  }
  const runs = async (it: Scene & { job: string }) => {
    const { body } = await it.ask(it.job, 'GET /actions/workflows/measure.yml/runs')
    return body['workflow_runs']
  }

  test("are not started by a job's push, and by its pull request only with approval", async () => {
    const it = await withWorkflow()
    const head = it.commit('spare', { 'src/a.txt': 'faster\n' }, [it.tip('main')])
    it.git('update-ref', '-d', 'refs/heads/spare')
    await it.push(it.job, `${head}:refs/heads/fast`)
    expect(await runs(it)).toEqual([])
    await open(it, it.job, 'fast')
    expect(await runs(it)).toMatchObject([{ event: 'pull_request', conclusion: 'action_required' }])
    await it.push(it.ada, 'main:refs/heads/mine')
    expect(await runs(it)).toMatchObject([{ event: 'push', status: 'queued' }, {}])
  })

  test('are not started where the message of the head commit says so', async () => {
    const it = await scene()
    const ada = it.github.token('ada')
    it.commit('main', { '.github/workflows/measure.yml': WORKFLOW })
    it.commit('quiet', { 'src/a.txt': 'faster\n' }, [it.tip('main')])
    const message = ['skipped', '', 'for now [skip ci]'].join('\n')
    const quiet = it.git('commit-tree', `${it.tip('quiet')}^{tree}`, '-p', it.tip('main'), '-m', message)
    it.git('update-ref', 'refs/heads/quiet', quiet)
    expect((await open(it, ada, 'quiet')).status).toBe(201)
    expect(it.github.world.runs).toEqual([])
    it.commit('quiet', { 'src/a.txt': 'louder\n' })
    await pull(it, ada)
    expect(it.github.world.runs.map(({ event }) => event)).toEqual(['pull_request'])
  })

  test('are dispatched by a job, named by their inputs, and cancelled once', async () => {
    const it = await withWorkflow()
    const dispatch = (body: object) => it.ask(it.job, 'POST /actions/workflows/measure.yml/dispatches', body)
    const started = await dispatch({ ref: 'main', inputs: { order: 'o-1' }, return_run_details: true })
    const { id } = started
    expect(await runs(it)).toMatchObject([
      { id: Number(id), display_title: 'o-1', event: 'workflow_dispatch' },
    ])
    expect((await it.ask(it.job, `POST /actions/runs/${id}/cancel`)).status).toBe(202)
    expect((await it.ask(it.job, `POST /actions/runs/${id}/cancel`)).status).toBe(409)
    expect((await it.ask(it.job, `GET /actions/runs/${id}`)).body).toMatchObject({ conclusion: 'cancelled' })
    expect((await dispatch({ ref: 'gone', inputs: {} })).status).toBe(422)
    expect((await dispatch({ ref: 'main', inputs: { oder: 'o-2' } })).status).toBe(422)
    it.github.world.settings.dispatchNamesRun = false
    expect((await dispatch({ ref: 'main', inputs: { order: 'o-3' }, return_run_details: true })).status).toBe(
      204,
    )
  })

  test('keep artifacts elsewhere, where no token is wanted', async () => {
    const it = await withWorkflow()
    await it.ask(it.job, 'POST /actions/workflows/measure.yml/dispatches', {
      ref: 'main',
      inputs: { order: 'o-1' },
    })
    const [run] = it.github.world.runs
    if (!run) throw new Error('nothing runs')
    it.github.finish(run, 'success', { report: { 'report.json': '{}' } })
    const { body } = await it.ask(it.job, `GET /actions/runs/${run.id}/artifacts`)
    expect(body).toMatchObject({
      total_count: 1,
      artifacts: [{ name: 'report', workflow_run: { id: run.id } }],
    })
    const [artifact] = it.github.world.artifacts
    const moved = await it.ask(it.job, `GET /actions/artifacts/${artifact?.id}/zip`)
    expect(moved.status).toBe(302)
    const location = moved.headers.get('location') ?? ''
    expect((await fetch(location)).status).toBe(200)
    expect((await fetch(location, { headers: { authorization: 'Bearer x' } })).status).toBe(400)
  })
})

describe('what is small', () => {
  test('comments, reactions, labels, checks and variables are kept', async () => {
    const it = await withPull()
    const job = it.github.jobToken({ ...GRANTS, variables: 'write' })
    const made = await it.ask(job, 'POST /issues/1/comments', { body: 'measuring' })
    const { id } = made
    await it.ask(job, `PATCH /issues/comments/${id}`, { body: 'kept' })
    expect((await it.ask(it.ada, `POST /issues/comments/${id}/reactions`, { content: 'eyes' })).status).toBe(
      201,
    )
    expect((await it.ask(it.ada, 'GET /issues/1/comments')).list).toMatchObject([
      { body: 'kept', user: { login: 'github-actions[bot]', type: 'Bot' } },
    ])
    expect((await it.ask(job, 'POST /issues/1/labels', { labels: ['a', 'b'] })).list).toMatchObject([
      { name: 'a' },
      { name: 'b' },
    ])
    expect((await it.ask(job, 'DELETE /issues/1/labels/c')).status).toBe(404)
    const check = { name: 'winnow', head_sha: it.head, status: 'in_progress' }
    const begun = await it.ask(job, 'POST /check-runs', check)
    const done = { conclusion: 'neutral', output: { title: 'not proven', summary: 'more runs needed' } }
    await it.ask(job, `PATCH /check-runs/${begun.id}`, done)
    expect((await it.ask(job, `GET /commits/fast/check-runs?check_name=winnow`)).body).toMatchObject({
      check_runs: [{ status: 'completed', conclusion: 'neutral', head_sha: it.head }],
    })
    expect((await it.ask(it.ada, 'POST /check-runs', check)).status).toBe(403)
    expect((await it.ask(job, 'GET /actions/variables/WINNOW_PAUSED')).status).toBe(404)
    await it.ask(job, 'POST /actions/variables', { name: 'WINNOW_PAUSED', value: 'true' })
    expect((await it.ask(job, 'GET /actions/variables/WINNOW_PAUSED')).body).toMatchObject({ value: 'true' })
  })

  test('lists come in pages, and unchanged ones for nothing', async () => {
    const it = await withPull()
    for (const name of ['b', 'c']) {
      it.commit(name, { [name]: name }, [it.tip('main')])
      await open(it, it.ada, name)
    }
    const first = await it.ask(it.ada, 'GET /pulls?per_page=2&direction=asc')
    expect(first.headers.get('link')).toMatch(/page=2>; rel="next"/)
    expect(first.list.map(each => each['number'])).toEqual([1, 2])
    it.github.spent()
    const etag = { 'if-none-match': first.headers.get('etag') ?? '' }
    const again = await it.ask(it.ada, 'GET /pulls?per_page=2&direction=asc', undefined, etag)
    expect(again.status).toBe(304)
    expect(it.github.spent()).toEqual([])
    expect(first.headers.get('x-ratelimit-limit')).toBe('1000')
  })
})

describe('what GitHub does not know', () => {
  test('fails the test, whoever sends it', async () => {
    const it = await withPull()
    const sent = await it.ask(it.ada, 'PATCH /pulls/1', { titel: 'x', state: 'shut' })
    expect(sent.status).toBe(422)
    await it.ask(it.ada, 'GET /pulls?per_page=many')
    await it.ask(it.ada, 'GET /nothing')
    const { violations } = it.github.api
    expect(violations).toEqual([
      expect.stringMatching(/knows no titel/),
      expect.stringMatching(/body\/state must be equal to one of the allowed values/),
      expect.stringMatching(/\?per_page\/value must be integer/),
      expect.stringMatching(/none of the operations/),
    ])
    await expect(it.github.stop()).rejects.toThrow(/does not speak so/)
    violations.length = 0
  })
})
