import { expect, test } from 'vitest'
import { sceneWithActions } from './scene-with-actions.ts'

const JOBS = `
jobs: { one: { runs-on: ubuntu-24.04, steps: [{ run: 'true' }] } }`
const dispatchByToken = (file: string) =>
  `curl -sf -X POST -H "authorization: Bearer $TOKEN" -d '{"ref":"main"}' "$GITHUB_API_URL/repos/team/project/actions/workflows/${file}/dispatches"`

test('a design that waits for workflow_run of what its own token started starves', async () => {
  const it = await sceneWithActions({
    'loop.yml': `
on: { workflow_dispatch: {}, workflow_run: { workflows: [measure, by-hand], types: [completed] } }
permissions: { actions: write }
jobs:
  tick:
    runs-on: ubuntu-24.04
    steps: [{ env: { TOKEN: '\${{ github.token }}' }, run: '${dispatchByToken('measure.yml').replaceAll("'", "''")}' }]
`,
    'measure.yml': `name: measure\non: workflow_dispatch${JOBS}`,
    'by-hand.yml': `name: by-hand\non: workflow_dispatch${JOBS}`,
  })
  await it.dispatch('loop.yml')
  const started = () => it.github.world.runs.map(({ event, path }) => `${path.split('/').at(-1)} by ${event}`)
  // The dispatch is heard, its end by nobody: the loop does not turn.
  expect(started()).toEqual(['loop.yml by workflow_dispatch', 'measure.yml by workflow_dispatch'])
  expect(it.run('measure.yml').conclusion).toBe('success')
  await it.dispatch('by-hand.yml')
  expect(started().slice(2)).toEqual([
    'by-hand.yml by workflow_dispatch',
    'loop.yml by workflow_run',
    'measure.yml by workflow_dispatch',
  ])
})

const LISTENS = `
on:
  pull_request: { branches: ['release/**'] }
  pull_request_target: { branches: ['optimize/**'], types: [opened, synchronize, reopened, closed] }
  pull_request_review: { types: [submitted] }
  issue_comment: { types: [created] }
  schedule: [{ cron: '7 5 * * *' }]
  push: { branches: [main] }
run-name: \${{ github.event_name }} \${{ github.event.action }} by \${{ github.actor }}${JOBS}`

test('what people do starts runs, from the file of the right branch; what a job does starts none', async () => {
  const it = await sceneWithActions({ 'ci.yml': LISTENS })
  const { world } = it.github
  const job = it.github.jobToken({ contents: 'write', pull_requests: 'write', issues: 'write' })
  it.git('update-ref', 'refs/heads/optimize/size', 'main')
  const head = it.commit('idea', { 'src/a.txt': 'b\n' }, [it.tip('main')])
  const idea = { title: 'idea', head: 'idea', base: 'optimize/size' }
  const { body } = await it.ask(it.ada, 'POST /pulls', idea)
  const number = Number(body['number'])
  await it.ask(it.ada, `POST /issues/${number}/comments`, { body: '/winnow status' })
  await it.ask(it.github.token('bob'), `POST /pulls/${number}/reviews`, { event: 'APPROVE' })
  it.commit('idea', { 'src/a.txt': 'c\n' })
  await it.ask(it.ada, `PATCH /pulls/${number}`, { state: 'closed' })
  await it.ask(job, `POST /issues/${number}/comments`, { body: '/winnow status' })
  await it.ask(job, `PATCH /pulls/${number}`, { state: 'open' })
  await it.push(job, `${head}:refs/heads/main`)
  await it.actions.fireSchedule()
  await it.actions.rest()
  const target = (action: string) => [`pull_request_target ${action} by ada`, 'refs/heads/main']
  expect(world.runs.map(({ title, job: facts }) => [title, facts?.ref])).toEqual([
    target('opened'),
    ['issue_comment created by ada', 'refs/heads/main'],
    ['pull_request_review submitted by bob', 'refs/pull/1/merge'],
    target('synchronize'),
    target('closed'),
    ['schedule  by ada', 'refs/heads/main'],
  ])
  expect(new Set(world.runs.map(({ conclusion }) => conclusion))).toEqual(new Set(['success']))
})

test('pull requests of outsiders and of jobs wait for approval; those in conflict start nothing', async () => {
  const files = { 'ci.yml': `on: [pull_request, pull_request_review]\npermissions: write-all${JOBS}` }
  const it = await sceneWithActions(files, { secrets: { KEY: 'x' } })
  const eve = it.github.token('eve', { permission: 'read' })
  const job = it.github.jobToken({ contents: 'write', pull_requests: 'write' })
  const fork = it.github.fork('eve')
  const theirs = it.commit('spare', { 'src/a.txt': 'b\n' }, [it.tip('main')])
  it.git('push', '-q', fork, `${theirs}:refs/heads/faster`)
  it.commit('clash', { 'src/a.txt': 'c\n' }, [it.tip('main')])
  await it.ask(eve, 'POST /pulls', { title: 'theirs', head: 'eve:faster', base: 'main' })
  await it.ask(job, 'POST /pulls', { title: 'ours', head: 'spare', base: 'main' })
  it.commit('main', { 'src/a.txt': 'd\n' })
  await it.ask(it.ada, 'POST /pulls', { title: 'clash', head: 'clash', base: 'main' })
  await it.actions.rest()
  const { runs } = it.github.world
  expect(runs.map(({ title, conclusion }) => [title, conclusion])).toEqual([
    ['theirs', 'action_required'],
    ['ours', 'action_required'],
  ])
  const [first] = runs
  if (!first) throw new Error('nothing waits')
  it.actions.approve(first)
  await it.actions.rest()
  expect(it.results(first)).toEqual(['one: success'])
  expect(new Set(Object.values(it.job(first, 'one').grants))).toEqual(new Set(['read']))
})
