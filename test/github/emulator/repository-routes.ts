import { notFound, Refusal } from './refusal.ts'
import type { Answer, Ask, Routes } from './route.ts'
import { shownAccount } from './shown.ts'
import { type Account, accountOf, defaultBranch, now } from './world.ts'

const REPO = '/repos/{owner}/{repo}'

export const repositoryRoutes: Routes = {
  [`GET ${REPO}`]: {
    needs: 'metadata=read',
    handle: async ({ world, who }) => ({
      status: 200,
      headers: who.scopes === undefined ? {} : { 'x-oauth-scopes': who.scopes.join(', ') },
      body: {
        name: world.repo,
        full_name: `${world.owner}/${world.repo}`,
        private: world.settings.private,
        default_branch: await defaultBranch(world),
        delete_branch_on_merge: world.settings.deletesMergedBranches,
        ...(who.grants === null ? { permissions: permissionsOf(who) } : {}),
      },
    }),
  },
  [`GET ${REPO}/collaborators/{username}/permission`]: { needs: 'metadata=read', handle: permission },
  [`GET ${REPO}/activity`]: { needs: 'contents=read', handle: activity },
  'GET /orgs/{org}/teams/{team_slug}/memberships/{username}': { needs: 'members=read', handle: membership },
  [`GET ${REPO}/rules/branches/{branch}`]: {
    needs: 'metadata=read',
    handle: ({ world, params }) => ({
      status: 200,
      body: world.rules.flatMap(({ under, type }) =>
        params['branch']?.startsWith(under) === true ? [{ type }] : [],
      ),
    }),
  },
  [`GET ${REPO}/branches/{branch}`]: {
    needs: 'contents=read',
    handle({ world, params }) {
      const name = params['branch'] ?? ''
      const sha = world.tips.get(name)
      if (sha === undefined) throw notFound()
      return { status: 200, body: { name, commit: { sha }, protected: world.protection.has(name) } }
    },
  },
  [`GET ${REPO}/branches/{branch}/protection`]: {
    needs: 'administration=read',
    handle({ world, params, who }) {
      const found = world.protection.get(params['branch'] ?? '')
      if (who.permission !== 'admin') throw notFound()
      if (found === undefined) throw new Refusal(404, 'Branch not protected')
      return { status: 200, body: found }
    },
  },
  [`GET ${REPO}/actions/variables/{name}`]: { needs: 'variables=read', push: true, handle: variable },
  [`POST ${REPO}/actions/variables`]: { needs: 'variables=write', push: true, handle: addVariable },
  [`PATCH ${REPO}/actions/variables/{name}`]: {
    needs: 'variables=write',
    push: true,
    handle: changeVariable,
  },
}

function permissionsOf({ permission: level }: Account): Record<string, boolean> {
  const admin = level === 'admin'
  const push = admin || level === 'write'
  return { admin, maintain: admin, push, triage: push, pull: level !== 'none' }
}

function permission({ world, params }: Ask): Answer {
  const account = accountOf(world, params['username'] ?? '')
  if (!account) throw notFound()
  const { permission } = account
  return { status: 200, body: { permission, role_name: permission, user: shownAccount(account) } }
}

function activity({ world, params, query }: Ask): Answer {
  const owner = params['owner'] ?? ''
  const branch = (query['ref'] ?? '').replace(/^refs\/heads\//, '')
  const fork = owner === world.owner ? null : owner
  const opener = world.pulls.find(each => each.branch === branch && each.fork === fork)?.author.login
  const found = world.pushes.filter(each => each.owner === owner && each.branch === branch).toReversed()
  const body = found.flatMap(({ after }, index) => {
    const said = world.pushers.get(after)
    const account = accountOf(world, (said === undefined ? opener : said) ?? '')
    if (said === null || account === null) return []
    const shown = { ref: `refs/heads/${branch}`, before: found[index + 1]?.after ?? '0'.repeat(40), after }
    return [
      {
        id: index,
        node_id: `PSH_${index}`,
        ...shown,
        activity_type: 'push',
        timestamp: now(world),
        actor: shownAccount(account),
      },
    ]
  })
  return { status: 200, body }
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
