import { notFound } from './refusal.ts'
import type { Answer, Ask, Routes } from './route.ts'
import { shownAccount } from './shown.ts'
import { accountOf, now } from './world.ts'

const REPO = '/repos/{owner}/{repo}'

export const repositoryRoutes: Routes = {
  [`GET ${REPO}`]: {
    needs: 'metadata=read',
    handle: ({ world }) => ({
      status: 200,
      body: {
        name: world.repo,
        full_name: `${world.owner}/${world.repo}`,
        default_branch: 'main',
        delete_branch_on_merge: world.settings.deletesMergedBranches,
      },
    }),
  },
  [`GET ${REPO}/collaborators/{username}/permission`]: { needs: 'metadata=read', handle: permission },
  'GET /orgs/{org}/teams/{team_slug}/memberships/{username}': { needs: 'members=read', handle: membership },
  [`GET ${REPO}/rules/branches/{branch}`]: {
    needs: 'metadata=read',
    handle: () => ({ status: 200, body: [] }),
  },
  [`GET ${REPO}/actions/permissions/workflow`]: {
    needs: 'administration=read',
    push: true,
    handle: ({ world }) => ({
      status: 200,
      body: {
        default_workflow_permissions: 'read',
        can_approve_pull_request_reviews: world.settings.actionsMayOpenPulls,
      },
    }),
  },
  [`GET ${REPO}/actions/variables/{name}`]: { needs: 'variables=read', push: true, handle: variable },
  [`POST ${REPO}/actions/variables`]: { needs: 'variables=write', push: true, handle: addVariable },
  [`PATCH ${REPO}/actions/variables/{name}`]: {
    needs: 'variables=write',
    push: true,
    handle: changeVariable,
  },
}

function permission({ world, params }: Ask): Answer {
  const account = accountOf(world, params['username'] ?? '')
  if (!account) throw notFound()
  const { permission } = account
  return { status: 200, body: { permission, role_name: permission, user: shownAccount(account) } }
}

function membership({ world, params }: Ask): Answer {
  const { team_slug: team = '', username = '' } = params
  if (world.teams.get(team)?.has(username) !== true) return { status: 404 }
  const url = `${world.url}/api/v3/orgs/${world.owner}/teams/${team}/memberships/${username}`
  return { status: 200, body: { url, role: 'member', state: 'active' } }
}

function variable({ world, params }: Ask): Answer {
  const name = (params['name'] ?? '').toUpperCase()
  const value = world.variables.get(name)
  if (value === undefined) throw notFound()
  return { status: 200, body: { name, value, created_at: now(world), updated_at: now(world) } }
}

function addVariable({ world, body }: Ask): Answer {
  world.variables.set((body.text('name') ?? '').toUpperCase(), body.text('value') ?? '')
  return { status: 201, body: {} }
}

function changeVariable({ world, params, body }: Ask): Answer {
  const name = (params['name'] ?? '').toUpperCase()
  if (!world.variables.has(name)) throw notFound()
  world.variables.set(name, body.text('value') ?? '')
  return { status: 204 }
}
