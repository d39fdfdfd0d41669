import { isJson } from '../contract/describe.ts'
import { notFound, Refusal } from './refusal.ts'
import { type Answer, type Ask, paged, type Routes } from './route.ts'
import { shownArtifact, shownRun } from './shown.ts'
import { noteDispatch } from './events.ts'
import { workflowAt } from './workflows.ts'
import { type ArtifactRecord, defaultBranch, type RunRecord } from './world.ts'

const ACTIONS = '/repos/{owner}/{repo}/actions'

export const actionRoutes: Routes = {
  [`POST ${ACTIONS}/workflows/{workflow_id}/dispatches`]: {
    needs: 'actions=write',
    push: true,
    handle: dispatch,
  },
  [`GET ${ACTIONS}/workflows`]: {
    needs: 'actions=read',
    handle: ({ world }) => {
      const workflows = [...world.workflowStates].map(([path, state]) => ({ path, state }))
      return { status: 200, body: { total_count: workflows.length, workflows } }
    },
  },
  [`GET ${ACTIONS}/workflows/{workflow_id}/runs`]: { needs: 'actions=read', handle: runsOf },
  [`GET ${ACTIONS}/runs/{run_id}`]: {
    needs: 'actions=read',
    handle: ask => ({ status: 200, body: shownRun(ask.world, runOf(ask)) }),
  },
  [`POST ${ACTIONS}/runs/{run_id}/cancel`]: { needs: 'actions=write', push: true, handle: cancel },
  [`GET ${ACTIONS}/runs/{run_id}/artifacts`]: {
    needs: 'actions=read',
    handle: ask => {
      const { id } = runOf(ask)
      return listed(
        ask,
        ask.world.artifacts.filter(({ run }) => run === id),
        `/actions/runs/${id}/artifacts`,
      )
    },
  },
  [`GET ${ACTIONS}/artifacts`]: {
    needs: 'actions=read',
    handle: ask => listed(ask, ask.world.artifacts.toReversed(), '/actions/artifacts'),
  },
  [`GET ${ACTIONS}/artifacts/{artifact_id}/{archive_format}`]: { needs: 'actions=read', handle: download },
}

async function dispatch({ world, params, body, who }: Ask): Promise<Answer> {
  const file = params['workflow_id'] ?? ''
  const ref = body.text('ref') ?? ''
  const main = world.tips.get(await defaultBranch(world))
  if (!main || !(await workflowAt(world, main, file))) throw notFound()
  const branch = ref.replace(/^refs\/heads\//, '')
  const head = world.tips.get(branch)
  if (!head) throw new Refusal(422, `No ref found for: ${ref}`)
  const workflow = await workflowAt(world, head, file)
  if (!workflow || !('workflow_dispatch' in workflow.on))
    throw new Refusal(422, "Workflow does not have 'workflow_dispatch' trigger")
  const inputs = withDefaults(body.record('inputs'), workflow.on['workflow_dispatch'])
  const payload = { inputs, ref: `refs/heads/${branch}`, workflow: workflow.path }
  const [run] = await noteDispatch(world, { file: workflow.path, branch, head, payload, by: who })
  if (!run) throw new Refusal(422, 'Workflow is disabled')
  if (!world.settings.dispatchNamesRun || body.flag('return_run_details') !== true) return { status: 204 }
  const url = `${world.url}/api/v3/repos/${world.owner}/${world.repo}/actions/runs/${run.id}`
  const html = `${world.url}/${world.owner}/${world.repo}/actions/runs/${run.id}`
  return { status: 200, body: { workflow_run_id: run.id, run_url: url, html_url: html } }
}

/** Refuses inputs that are not declared, and missing ones that are required. */
function withDefaults(given: Record<string, unknown>, trigger: unknown): Record<string, unknown> {
  const declared = isJson(trigger) && isJson(trigger['inputs']) ? trigger['inputs'] : {}
  const unknown = Object.keys(given).filter(name => !(name in declared))
  if (unknown.length > 0) throw new Refusal(422, `Unexpected inputs provided: ${JSON.stringify(unknown)}`)
  const entries = Object.entries(declared).flatMap(([name, settings]): [string, unknown][] => {
    const { default: usual = '', required } = isJson(settings) ? settings : {}
    if (required === true && usual === '' && given[name] === undefined)
      throw new Refusal(422, `Required input '${name}' not provided`)
    return [[name, given[name] ?? usual]]
  })
  return Object.fromEntries(entries)
}

function runsOf(ask: Ask): Answer {
  const { world, params, query } = ask
  const file = params['workflow_id'] ?? ''
  const { event, branch, status } = query
  const found = world.runs.filter(
    run =>
      run.path.endsWith(`/${file}`) &&
      (event === undefined || run.event === event) &&
      (branch === undefined || run.branch === branch) &&
      (status === undefined || run.status === status || run.conclusion === status),
  )
  const newestFirst = found.toReversed().map(run => shownRun(world, run))
  const page = paged(ask, newestFirst, `/actions/workflows/${file}/runs`)
  return { ...page, body: { total_count: found.length, workflow_runs: page.body } }
}

function runOf({ world, params }: Ask): RunRecord {
  const found = world.runs.find(each => each.id === Number(params['run_id']))
  if (!found) throw notFound()
  return found
}

function cancel(ask: Ask): Answer {
  const run = runOf(ask)
  if (run.status === 'completed') throw new Refusal(409, 'Cannot cancel a workflow run that is completed.')
  if (ask.world.runner) ask.world.runner.cancel(run)
  else Object.assign(run, { status: 'completed', conclusion: 'cancelled' })
  return { status: 202, body: {} }
}

function listed(ask: Ask, all: readonly ArtifactRecord[], path: string): Answer {
  const name = ask.query['name']
  const found = all.filter(each => name === undefined || each.name === name)
  const page = paged(
    ask,
    found.map(each => shownArtifact(ask.world, each)),
    path,
  )
  return { ...page, body: { total_count: found.length, artifacts: page.body } }
}

/** The archive itself is kept elsewhere, where GitHub's credentials mean nothing. */
function download({ world, params }: Ask): Answer {
  const found = world.artifacts.find(each => each.id === Number(params['artifact_id']))
  if (!found || params['archive_format'] !== 'zip') throw notFound()
  if (found.expired) throw new Refusal(410, 'Artifact has expired')
  return { status: 302, headers: { location: `${world.url}/_artifacts/${found.id}` } }
}
