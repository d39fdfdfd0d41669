import { isJson } from '../contract/describe.ts'

export type Grants = Record<string, 'read' | 'write'>

const SCOPES = [
  'actions',
  'attestations',
  'checks',
  'contents',
  'deployments',
  'discussions',
  'issues',
  'packages',
  'pages',
  'pull_requests',
  'security_events',
  'statuses',
]

/** What a repository gives whose workflow says nothing: the restricted default. */
const USUAL: Grants = { contents: 'read', packages: 'read' }

/** What the token of a job may, of `permissions` of its job or, where that says nothing, of its workflow. */
export function toGrants(permissions: unknown, fromFork: boolean): Grants {
  const granted = grantsIn(permissions)
  if (!fromFork) return granted
  return Object.fromEntries(Object.keys(granted).map(scope => [scope, 'read']))
}

function grantsIn(permissions: unknown): Grants {
  if (permissions === undefined) return USUAL
  if (permissions === 'read-all') return Object.fromEntries(SCOPES.map(scope => [scope, 'read']))
  if (permissions === 'write-all') return Object.fromEntries(SCOPES.map(scope => [scope, 'write']))
  const granted = Object.entries(isJson(permissions) ? permissions : {}).flatMap(
    ([scope, level]): [string, 'read' | 'write'][] =>
      level === 'read' || level === 'write' ? [[scope.replaceAll('-', '_'), level]] : [],
  )
  return Object.fromEntries(granted)
}
