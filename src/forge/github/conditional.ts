import type { Octokit } from '@octokit/core'

type EtagAnswer = Awaited<ReturnType<Octokit['request']>>

const REMEMBERED = 200

/** What was answered before is asked for with its tag: unchanged, it costs nothing of the hour's allowance. */
export function cacheByEtag(octokit: Octokit): void {
  const known = new Map<string, { etag: string; answer: EtagAnswer }>()

  octokit.hook.wrap('request', async (request, options) => {
    if (options.method !== 'GET') return request(options)
    const { url } = octokit.request.endpoint(options)
    const before = known.get(url)
    if (before) options.headers['if-none-match'] = before.etag
    try {
      const answer = await request(options)
      const { etag } = answer.headers
      if (etag !== undefined && typeof answer.data === 'object') remember(url, etag, answer)
      return answer
    } catch (error) {
      if (before && isUnchanged(error)) return before.answer
      throw error
    }
  })

  function remember(url: string, etag: string, answer: EtagAnswer): void {
    known.delete(url)
    known.set(url, { etag, answer })
    const [oldest] = known.keys()
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest)
  }
}

function isUnchanged(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'status' in error && error.status === 304
}
