import { describe, expect, it, test } from 'vitest'
import { findGithub, isOnGithub, selectToken } from '../../src/cli/action-pin.ts'

/** As much of a workshop as an address needs. */
function at(url: string): Parameters<typeof findGithub>[0] {
  const remotes = [{ name: 'origin', url }]
  return {
    remote: 'origin',
    checkout: { topLevel: '/x', commonDir: '/x/.git', head: null, remotes } as never,
  }
}

/** Where a person opens what that API is for. */
function webOf(apiUrl: string): string {
  return apiUrl.replace('https://api.', 'https://').replace('/api/v3', '')
}

describe('where the API of a remote is', () => {
  it.each([
    ['https://github.com/team/project.git', 'https://api.github.com', null],
    ['git@github.com:team/project.git', 'https://api.github.com', null],
    ['ssh://git@github.com/team/project', 'https://api.github.com', null],
    ['https://octo.ghe.com/team/project', 'https://api.octo.ghe.com', null],
    ['git@octo.ghe.com:team/project.git', 'https://api.octo.ghe.com', null],
    ['https://github.corp.example/team/project', 'https://github.corp.example/api/v3', 'github.corp.example'],
    [
      'https://ada:x@github.corp.example:8443/team/project',
      'https://github.corp.example:8443/api/v3',
      'github.corp.example:8443',
    ],
    [
      'ssh://git@github.corp.example:2222/team/project.git',
      'https://github.corp.example/api/v3',
      'github.corp.example',
    ],
    [
      'https://github.com.evil.example/team/project',
      'https://github.com.evil.example/api/v3',
      'github.com.evil.example',
    ],
    ['https://evilghe.com/team/project', 'https://evilghe.com/api/v3', 'evilghe.com'],
    ['https://a.b.ghe.com.example/team/project', 'https://a.b.ghe.com.example/api/v3', 'a.b.ghe.com.example'],
  ])('%s', (url, apiUrl, server) => {
    expect(findGithub(at(url), {})).toEqual({
      apiUrl,
      webUrl: webOf(apiUrl),
      repository: 'team/project',
      server,
    })
    expect(isOnGithub(at(url), {})).toBe(server === null)
  })

  it('is named by the environment of a job, not by the remote', () => {
    const job = { GITHUB_REPOSITORY: 'a/b', GITHUB_API_URL: 'https://github.corp.example/api/v3' }
    const found = findGithub(at('/somewhere'), job)
    expect(found).toEqual({
      apiUrl: job.GITHUB_API_URL,
      webUrl: 'https://github.corp.example',
      repository: 'a/b',
      server: 'github.corp.example',
    })
    const web = { ...job, GITHUB_SERVER_URL: 'https://elsewhere.example' }
    expect(findGithub(at('/somewhere'), web)).toMatchObject({ webUrl: web.GITHUB_SERVER_URL })
    expect(isOnGithub(at('/somewhere'), job)).toBe(true)
    expect(findGithub(at('/somewhere'), { ...job, GITHUB_API_URL: 'nonsense' })).toBeNull()
  })
})

describe('the token that is sent', () => {
  const env = {
    GITHUB_TOKEN: 'own',
    GH_TOKEN: 'cli',
    GH_ENTERPRISE_TOKEN: 'server',
    GITHUB_ENTERPRISE_TOKEN: 'other',
  }
  const sentTo = (url: string, given: Record<string, string> = env) => {
    const found = findGithub(at(url), given)
    return found && selectToken(found, given)
  }

  test("is the github.com token only for GitHub's own addresses", () => {
    expect(sentTo('https://github.com/a/b')).toBe('own')
    expect(sentTo('https://octo.ghe.com/a/b', { GH_TOKEN: 'cli' })).toBe('cli')
    for (const url of ['https://gitlab.com/a/b', 'https://github.com.evil.example/a/b', 'git@ghe.corp:a/b']) {
      expect(sentTo(url)).toBe('server')
      expect(sentTo(url, { GITHUB_TOKEN: 'own', GH_TOKEN: 'cli' })).toBe('')
    }
    expect(sentTo('https://github.com/a/b', { GH_ENTERPRISE_TOKEN: 'server' })).toBe('')
    expect(sentTo('https://ghe.corp/a/b', { GITHUB_ENTERPRISE_TOKEN: 'other' })).toBe('other')
  })

  test("is the job's own token for the server of the job", () => {
    const job = { ...env, GITHUB_REPOSITORY: 'a/b', GITHUB_API_URL: 'https://ghe.corp/api/v3' }
    expect(sentTo('https://ghe.corp/a/b', job)).toBe('own')
  })
})
