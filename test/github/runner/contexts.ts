import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../contract/describe.ts'
import { toText } from './expressions.ts'
import type { RunRecord, World } from '../emulator/world.ts'

export const EVENT_FILE = 'event.json'

/** Everything of the `github` context that does not depend on the machine. */
export function githubContext(world: World, run: RunRecord, job: string): Json {
  const { owner, repo, url } = world
  const { payload = {}, ref = `refs/heads/${run.branch}`, commit = run.head, number = 1 } = run.job ?? {}
  const isPull = ref.startsWith('refs/pull/')
  const pull = payload['pull_request']
  return {
    event: payload,
    event_name: run.event,
    ref,
    ref_name: ref.replace(/^refs\/(?:heads|tags|pull)\//, ''),
    ref_type: 'branch',
    sha: commit,
    repository: `${owner}/${repo}`,
    repository_owner: owner,
    repository_id: '1',
    run_id: String(run.id),
    run_number: String(number),
    run_attempt: String(run.attempt ?? 1),
    workflow: run.name,
    workflow_ref: `${owner}/${repo}/${run.path}@${ref}`,
    workflow_sha: commit,
    job,
    actor: run.actor,
    triggering_actor: run.actor,
    head_ref: isPull || pull !== undefined ? run.branch : '',
    base_ref: baseOf(pull),
    server_url: url,
    api_url: `${url}/api/v3`,
    graphql_url: `${url}/api/graphql`,
    action: '',
  }
}

function baseOf(pull: unknown): string {
  const { base }: { base?: { ref?: string } } = Object(pull)
  return base?.ref ?? ''
}

const IN_ENVIRONMENT = [
  'actor',
  'api_url',
  'base_ref',
  'event_name',
  'event_path',
  'graphql_url',
  'head_ref',
  'job',
  'ref',
  'ref_name',
  'ref_type',
  'repository',
  'repository_id',
  'repository_owner',
  'run_attempt',
  'run_id',
  'run_number',
  'server_url',
  'sha',
  'triggering_actor',
  'workflow',
  'workflow_ref',
  'workflow_sha',
  'workspace',
]

/** The GITHUB_ variables of a step; its token is in none. */
export function githubVariables(github: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    IN_ENVIRONMENT.map(name => [`GITHUB_${name.toUpperCase()}`, toText(github[name])]),
  )
}

/** What the runner writes for GITHUB_EVENT_PATH. */
export function writeEventFile(folder: string, { job }: RunRecord): string {
  const file = join(folder, EVENT_FILE)
  writeFileSync(file, JSON.stringify(job?.payload ?? {}))
  return file
}
