/** What of GitHub's descriptions winnow and its tests use. */
export const PACKAGES = {
  rest: { name: '@octokit/openapi', version: '23.0.2', file: 'generated/api.github.com.json' },
  graphql: { name: '@octokit/graphql-schema', version: '15.26.1', file: 'schema.graphql' },
  webhooks: { name: '@octokit/webhooks-schemas', version: '7.6.1', file: 'schema.json' },
  recorded: { name: '@octokit/fixtures', version: '23.1.2', file: 'scenarios/api.github.com' },
  payloads: { name: '@octokit/webhooks-examples', version: '7.6.1', file: 'api.github.com/index.json' },
}

/** Recorded exchanges that are ours, or whose form is: by scenario, those with these methods. */
export const RECORDED = {
  'get-repository': ['get'],
  'add-labels-to-issue': ['post'],
  errors: ['post'],
  'paginate-issues': ['get'],
}

/** Events that start a workflow of winnow's: how many recorded payloads of each of their actions are kept, the newest. */
export const EVENTS = {
  issue_comment: { created: 2 },
  pull_request: { opened: 1, synchronize: 1, reopened: 1, closed: 1, ready_for_review: 1 },
  pull_request_review: { submitted: 2, dismissed: 1 },
  workflow_run: { completed: 3, requested: 1 },
  workflow_dispatch: { '': 1 },
}

const repo = '/repos/{owner}/{repo}'

export const OPERATIONS = [
  `GET ${repo}`,
  `GET ${repo}/pulls`,
  `POST ${repo}/pulls`,
  `GET ${repo}/pulls/{pull_number}`,
  `PATCH ${repo}/pulls/{pull_number}`,
  `GET ${repo}/pulls/{pull_number}/files`,
  `PUT ${repo}/pulls/{pull_number}/merge`,
  `GET ${repo}/pulls/{pull_number}/reviews`,
  `POST ${repo}/pulls/{pull_number}/reviews`,
  `GET ${repo}/issues/{issue_number}/comments`,
  `POST ${repo}/issues/{issue_number}/comments`,
  `PATCH ${repo}/issues/comments/{comment_id}`,
  `POST ${repo}/issues/comments/{comment_id}/reactions`,
  `POST ${repo}/issues/{issue_number}/labels`,
  `DELETE ${repo}/issues/{issue_number}/labels/{name}`,
  `POST ${repo}/check-runs`,
  `PATCH ${repo}/check-runs/{check_run_id}`,
  `GET ${repo}/commits/{ref}/check-runs`,
  `GET ${repo}/actions/workflows`,
  `POST ${repo}/actions/workflows/{workflow_id}/dispatches`,
  `GET ${repo}/actions/workflows/{workflow_id}/runs`,
  `GET ${repo}/actions/runs/{run_id}`,
  `POST ${repo}/actions/runs/{run_id}/cancel`,
  `GET ${repo}/actions/runs/{run_id}/artifacts`,
  `GET ${repo}/actions/artifacts`,
  `GET ${repo}/actions/artifacts/{artifact_id}/{archive_format}`,
  `GET ${repo}/actions/variables/{name}`,
  `POST ${repo}/actions/variables`,
  `PATCH ${repo}/actions/variables/{name}`,
  `GET ${repo}/actions/permissions/workflow`,
  `GET ${repo}/rules/branches/{branch}`,
  `GET ${repo}/branches/{branch}/protection`,
  `GET ${repo}/branches/{branch}`,
  `GET ${repo}/collaborators/{username}/permission`,
  'GET /orgs/{org}/teams/{team_slug}/memberships/{username}',
]

/** Types of the GraphQL schema with the fields that are kept; inputs, enums and scalars follow by themselves. */
export const GRAPHQL = {
  Query: ['repository', 'viewer'],
  Mutation: ['markPullRequestReadyForReview', 'convertPullRequestToDraft'],
  MarkPullRequestReadyForReviewPayload: ['pullRequest'],
  ConvertPullRequestToDraftPayload: ['pullRequest'],
  Repository: ['pullRequests', 'pullRequest', 'ref'],
  Ref: ['associatedPullRequests'],
  PullRequestConnection: ['nodes', 'pageInfo'],
  PageInfo: ['hasNextPage', 'endCursor', 'hasPreviousPage', 'startCursor'],
  PullRequest: [
    'id',
    'number',
    'title',
    'body',
    'headRefName',
    'headRefOid',
    'baseRefName',
    'author',
    'state',
    'isDraft',
    'labels',
    'comments',
    'reviews',
    'mergeCommit',
    'createdAt',
    'closedAt',
    'isCrossRepository',
    'headRepositoryOwner',
    'viewerDidAuthor',
  ],
  Actor: ['login'],
  User: ['login'],
  Bot: ['login'],
  RepositoryOwner: ['login'],
  LabelConnection: ['nodes'],
  Label: ['name'],
  IssueCommentConnection: ['nodes', 'pageInfo'],
  IssueComment: ['id', 'databaseId', 'author', 'createdAt', 'body', 'viewerDidAuthor', 'lastEditedAt'],
  PullRequestReviewConnection: ['nodes'],
  PullRequestReview: ['author', 'submittedAt', 'commit', 'state', 'body'],
  Commit: ['oid'],
}
