import { createHash } from 'node:crypto'
import type { Json } from '../contract/describe.ts'
import type {
  Account,
  ArtifactRecord,
  CheckRecord,
  CommentRecord,
  PullRecord,
  ReviewRecord,
  RunRecord,
  World,
} from './world.ts'

/** How this GitHub tells of what it holds: what is meant, and nothing that the description fills in itself. */
export function shownAccount({ login, id, kind }: Account): Json {
  return { login, id, type: kind === 'person' ? 'User' : 'Bot' }
}

export function shownPull(world: World, pull: PullRecord): Json {
  const { number, title, body, author, fork, branch, head, base, state, draft, merge } = pull
  const owner = fork ?? world.owner
  return {
    id: number,
    node_id: nodeId(pull),
    number,
    title,
    body,
    user: shownAccount(author),
    head: { ref: branch, sha: head, label: `${owner}:${branch}` },
    base: { ref: base, sha: world.tips.get(base) ?? head, label: `${world.owner}:${base}` },
    state,
    draft,
    labels: pull.labels.map(name => ({ name })),
    merged_at: merge === null ? null : pull.closedAt,
    merge_commit_sha: merge?.commit ?? null,
    created_at: pull.createdAt,
    closed_at: pull.closedAt,
  }
}

export function nodeId({ number }: PullRecord): string {
  return `PR_${number}`
}

export function shownComment({ id, author, body, createdAt, editedAt }: CommentRecord): Json {
  return {
    id,
    node_id: `IC_${id}`,
    user: shownAccount(author),
    body,
    created_at: createdAt,
    updated_at: editedAt ?? createdAt,
  }
}

export function shownReview({ id, author, body, state, commit, at }: ReviewRecord): Json {
  return { id, user: shownAccount(author), body, state, commit_id: commit, submitted_at: at }
}

export function shownCheck(check: CheckRecord): Json {
  const { id, name, head, status, conclusion, externalId, detailsUrl, output } = check
  const { title = null, summary = null, text = null } = output
  return {
    id,
    name,
    head_sha: head,
    status,
    conclusion,
    external_id: externalId,
    details_url: detailsUrl,
    output: { title, summary, text },
  }
}

export function shownRun(world: World, run: RunRecord): Json {
  const { id, path, name, title, event, branch, head, status, conclusion, createdAt } = run
  return {
    id,
    name,
    path,
    display_title: title,
    event,
    head_branch: branch,
    head_sha: head,
    status,
    conclusion,
    head_repository: { full_name: run.repository ?? `${world.owner}/${world.repo}` },
    run_attempt: run.attempt ?? 1,
    created_at: createdAt,
    html_url: `${world.url}/${world.owner}/${world.repo}/actions/runs/${id}`,
  }
}

export function shownArtifact(
  world: World,
  { id, run, name, bytes, createdAt, expired }: ArtifactRecord,
): Json {
  const of = world.runs.find(each => each.id === run)
  return {
    id,
    name,
    size_in_bytes: bytes.byteLength,
    digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    expired,
    created_at: createdAt,
    workflow_run: { id: run, ...(of ? { head_branch: of.branch, head_sha: of.head } : {}) },
  }
}
