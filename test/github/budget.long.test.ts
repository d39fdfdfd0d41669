import { createServer, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { githubClient } from '../../src/forge/github/client.ts'
import { letters, shorter } from '../engine/size-yard.ts'
import { proven } from '../engine/yard.ts'
import { actionsYard } from './actions-yard.ts'
import { waitingRuns } from './measuring-job.ts'
import { listeningForTest } from '../servers/loopback.ts'

/** One wake-up: what it asked of GitHub, and whether anything had happened since the one before. */
interface Wake {
  reads: number
  writes: number
  idle: boolean
}

/** Of the design: for a wake-up with nothing to do, for an experiment, for each of its orders. */
const BUDGET = { idle: 3, experiment: 8, order: 2 }

test('a campaign with its checks, labels and its own pull request keeps to the budget of requests', async () => {
  const { github, post, scene, ada, wake, machines } = await actionsYard([shorter('a', 3), shorter('c', 19)])
  const here = await post()
  await here.start()
  scene.commit('small', { 'src/b.txt': letters('b', 5) }, [scene.tip('main')])
  await scene.ask(ada, 'POST /pulls', { title: 'mine', head: 'small', base: 'optimize/size' })
  const wakes: Wake[] = []
  async function counted(idle: boolean) {
    github.spent()
    const began = github.api.log.length
    const waiting = await wake()
    const asked = github.api.log.slice(began)
    const writes = asked.filter(isWrite).length
    wakes.push({ reads: github.spent().length - writes, writes, idle })
    return waiting
  }
  while ((await counted(false)).for === 'orders') {
    expect(wakes.length).toBeLessThan(30)
    // Woken by something else while orders are under way: everything is looked at, and nothing is to be done.
    if (waitingRuns(github).length > 0) await counted(true)
    await machines()
  }
  await counted(true)
  await proven(here.place)
  const { pulls, checks, runs } = github.world
  const outcomes = await here.outcomes()
  const of = { experiments: Object.keys(outcomes).length, orders: runs.length }
  // Nothing that costs requests was left out.
  expect(outcomes).toMatchObject({ a3: 'kept', mine: 'runner_up_kept' })
  expect(checks.map(({ history }) => history.at(-1))).toEqual(['completed', 'completed', 'completed'])
  expect(pulls.filter(({ base }) => base === 'main')).toMatchObject([{ branch: 'optimize-campaign/size' }])
  const figures = figuresOf(wakes, of)
  if (process.env['WINNOW_FIGURES'] !== undefined) console.log(figures.lines.join('\n'))
  expect(figures.idle).toBeLessThanOrEqual(BUDGET.idle)
  expect(figures.spent).toBeLessThanOrEqual(figures.allowed)
})

function isWrite({ route, body }: { route: string; body: unknown }): boolean {
  return route === 'POST /graphql' ? JSON.stringify(body).includes('mutation') : !route.startsWith('GET ')
}

/** `npm run bench:requests` prints them. */
function figuresOf(wakes: readonly Wake[], { experiments, orders }: { experiments: number; orders: number }) {
  const sum = (of: readonly Wake[]) => of.reduce((total, { reads, writes }) => total + reads + writes, 0)
  const idle = Math.max(...wakes.filter(wake => wake.idle).map(wake => sum([wake])))
  const spent = sum(wakes)
  // The campaign's own pull request is opened and kept like one more experiment's.
  const allowed = BUDGET.idle * wakes.length + BUDGET.experiment * (experiments + 1) + BUDGET.order * orders
  const writes = wakes.reduce((total, wake) => total + wake.writes, 0)
  const lines = [
    `an idle wake-up: at most ${idle} requests (budget ${BUDGET.idle})`,
    `a campaign of ${experiments} experiments, ${orders} orders and ${wakes.length} wake-ups: ` +
      `${spent} requests (budget ${allowed}), ${writes} of them writes`,
  ]
  return { idle, spent, allowed, lines }
}

test('writes wait for one another, however many are asked for at once', async () => {
  const waiting: { method: string; response: ServerResponse }[] = []
  let together = 0
  let read = false
  /** Nothing is answered until everybody who does not wait for an answer has asked. */
  const server = createServer((request, response) => {
    waiting.push({ method: request.method ?? '', response })
    together = Math.max(together, waiting.filter(({ method }) => method === 'POST').length)
    read ||= request.method === 'GET'
    if (!read) return
    for (const { response: each } of waiting.splice(0))
      each.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  const { request, where } = githubClient({
    apiUrl: `http://127.0.0.1:${await listeningForTest(server)}`,
    repository: 'team/project',
    token: 'x',
    version: '0.0.0',
    say: () => undefined,
  })
  const issue = { ...where, issue_number: 1 }
  const label = () =>
    request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', { ...issue, labels: ['x'] })
  await Promise.all([
    label(),
    label(),
    request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', issue),
  ])
  expect(together).toBe(1)
})
