import { notFound } from './refusal.ts'
import type { Routes } from './route.ts'

const REPO = '/repos/{owner}/{repo}'
const ADMIN = { needs: 'administration=read', push: true } as const

/** What stands under Settings, as the API tells it. */
export const settingsRoutes: Routes = {
  [`GET ${REPO}/actions/permissions`]: {
    ...ADMIN,
    handle: ({ world }) => {
      const { enabled, allowed } = world.settings.actions
      return { status: 200, body: enabled ? { enabled, allowed_actions: allowed } : { enabled } }
    },
  },
  [`GET ${REPO}/actions/permissions/selected-actions`]: {
    ...ADMIN,
    handle: ({ world }) => {
      const { githubs, patterns } = world.settings.actions
      const body = { github_owned_allowed: githubs, verified_allowed: false, patterns_allowed: patterns }
      return { status: 200, body }
    },
  },
  [`GET ${REPO}/actions/permissions/workflow`]: {
    ...ADMIN,
    handle: ({ world }) => ({
      status: 200,
      body: {
        default_workflow_permissions: world.settings.defaultToken,
        can_approve_pull_request_reviews: world.settings.actionsMayOpenPulls,
      },
    }),
  },
  [`GET ${REPO}/environments/{environment_name}`]: {
    needs: 'actions=read',
    handle: ({ world, params }) => {
      const name = params['environment_name'] ?? ''
      if (!world.environments.has(name)) throw notFound()
      const custom = world.environmentBranches.has(name)
      const policy = custom ? { protected_branches: false, custom_branch_policies: true } : null
      return { status: 200, body: { name, deployment_branch_policy: policy } }
    },
  },
  [`GET ${REPO}/environments/{environment_name}/deployment-branch-policies`]: {
    needs: 'actions=read',
    handle: ({ world, params }) => {
      const names = world.environmentBranches.get(params['environment_name'] ?? '') ?? []
      const policies = names.map((name, id) => ({ id, name, type: 'branch' }))
      return { status: 200, body: { total_count: names.length, branch_policies: policies } }
    },
  },
  [`GET ${REPO}/environments/{environment_name}/secrets/{secret_name}`]: {
    needs: 'environments=read',
    push: true,
    handle: ({ world, params }) => {
      const name = params['secret_name'] ?? ''
      if (world.environments.get(params['environment_name'] ?? '')?.has(name) !== true) throw notFound()
      return { status: 200, body: { name } }
    },
  },
}
