import { invalid, notFound, Refusal } from './refusal.ts'
import type { Answer, Ask, Routes } from './route.ts'
import { shownCheck } from './shown.ts'
import { type CheckRecord, freshId } from './world.ts'

const REPO = '/repos/{owner}/{repo}'

export const checkRoutes: Routes = {
  [`POST ${REPO}/check-runs`]: { needs: 'checks=write', handle: create },
  [`PATCH ${REPO}/check-runs/{check_run_id}`]: { needs: 'checks=write', handle: update },
  [`GET ${REPO}/commits/{ref}/check-runs`]: { needs: 'checks=read', handle: list },
}

async function create(ask: Ask): Promise<Answer> {
  const { world, body, who } = ask
  if (who.kind === 'person') throw new Refusal(403, 'You must authenticate via a GitHub App.')
  const head = body.text('head_sha') ?? ''
  if ((await world.git.run('cat-file', '-t', head).catch(() => '')) !== 'commit')
    throw invalid([{ resource: 'CheckRun', code: 'custom', message: `No commit found for SHA: ${head}` }])
  const check: CheckRecord = {
    id: freshId(world),
    name: body.text('name') ?? '',
    head,
    status: 'queued',
    history: [],
    conclusion: null,
    externalId: body.text('external_id') ?? '',
    detailsUrl: body.text('details_url') ?? null,
    output: {},
  }
  write(ask, check)
  world.checks.push(check)
  return { status: 201, body: shownCheck(check) }
}

function update(ask: Ask): Answer {
  const found = ask.world.checks.find(each => each.id === Number(ask.params['check_run_id']))
  if (!found) throw notFound()
  write(ask, found)
  return { status: 200, body: shownCheck(found) }
}

const MOST_ANNOTATIONS = 50

function write({ body }: Ask, check: CheckRecord): void {
  const output = body.record('output')
  const annotations = output['annotations']
  if (Array.isArray(annotations) && annotations.length > MOST_ANNOTATIONS)
    throw invalid([{ resource: 'CheckRun', code: 'custom', message: 'too many annotations' }])
  check.conclusion = body.text('conclusion') ?? null
  check.status = check.conclusion === null ? (body.text('status') ?? check.status) : 'completed'
  check.history.push(check.status)
  check.output = { ...check.output, ...output }
}

function list({ world, params, query }: Ask): Answer {
  const { ref = '' } = params
  const head = world.tips.get(ref) ?? ref
  const name = query['check_name']
  const found = world.checks.filter(each => each.head === head && (name === undefined || each.name === name))
  const latest = new Map(found.map(each => [each.name, each]))
  const shown = query['filter'] === 'all' ? found.toReversed() : [...latest.values()]
  return { status: 200, body: { total_count: shown.length, check_runs: shown.map(shownCheck) } }
}
