import { UserError } from '../errors.ts'
import type { GithubJob } from './github-job.ts'

/** The token is for the repository of this job: a clone of another one would get its branches written there. */
export function requireOwnRemote(
  remotes: readonly { name: string; url: string }[],
  { serverUrl, repository }: Pick<GithubJob, 'serverUrl' | 'repository'>,
): void {
  const url = remotes.find(({ name }) => name === 'origin')?.url ?? ''
  const own = `${serverUrl}/${repository}`
  if (normalizeRemoteUrl(url) === normalizeRemoteUrl(own)) return
  throw new UserError(`origin of this clone is ${url || 'nothing'}, and the job is about ${own}`, {
    fix: 'clone the repository itself, over HTTPS, with actions/checkout',
  })
}

function normalizeRemoteUrl(url: string): string {
  return url
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .toLowerCase()
}
