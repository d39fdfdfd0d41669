import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type AgentRequest, type AgentResult, askAgent } from '../../src/ideas/agent.ts'
import { scratch, userRepository } from '../git/scratch.ts'
import { contentOf, type Start, useRepository } from './incumbent.ts'

const startWith = useRepository()
const startWithSha256 = useRepository('sha256')
const FIXTURES = resolve('fixtures/proposers')

function program(name: string): string {
  return `${name.endsWith('.mjs') ? 'node' : 'sh'} '${join(FIXTURES, name)}'`
}

function asking(
  { repository, main }: Start,
  rest: Partial<AgentRequest> & { command: string },
): AgentRequest {
  return {
    repo: repository,
    incumbent: main,
    name: 'agent',
    brief: '# Make it faster\n',
    timeoutSeconds: 60,
    workDir: join(scratch(), 'work place'),
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' },
    signal: new AbortController().signal,
    now: () => 1_700_000_000_500,
    monotonic: () => performance.now(),
    ...rest,
  }
}

function accepted(asked: AgentResult): Extract<AgentResult, { ok: true }> {
  if (!asked.ok) throw new Error(asked.reason)
  return asked
}

async function changes({ repository, main }: Start, commit: string): Promise<string[]> {
  const entries = await repository.diff(main.tree, (await repository.commit(commit)).tree)
  return entries.map(({ status, path }) => `${status} ${path}`)
}

describe('a program that edits files', () => {
  it('results in one commit on the incumbent, without ignored files', async () => {
    const start = await startWith({ '.gitignore': '*.log\n' })
    const asked = accepted(await askAgent(asking(start, { command: program('edits.sh') })))
    expect(await changes(start, asked.commit)).toEqual(['M src/a.txt', 'A src/new.txt'])
    expect(asked.base).toEqual(start.main)
    const commit = await start.repository.commit(asked.commit)
    expect(commit.parents).toEqual([start.main.commit])
    expect(commit.message).toBe('Spelled three out\n\nWinnow-Source: agent\n')
    expect(commit.committer).toMatchObject({ name: 'winnow', date: 1_700_000_000 })
  })

  it('gets the brief on standard input and in a file outside the tree, which is removed afterwards', async () => {
    const start = await startWith()
    const input = asking(start, { command: program('edits.sh'), brief: '# Ünïcode `$HOME` "quotes"\n' })
    accepted(await askAgent(input))
    expect(readFileSync(join(input.workDir, 'seen-brief.txt'), 'utf8')).toBe(input.brief)
    expect(readdirSync(input.workDir)).toEqual(['seen-brief.txt'])
  })

  it('describes its idea in its last JSON object', async () => {
    const start = await startWith()
    const asked = accepted(await askAgent(asking(start, { command: program('answers.mjs') })))
    expect(asked).toMatchObject({
      idea: {
        hypothesis: 'Count the brief instead of reading it',
        category: 'algorithm',
        priority: 'medium',
        required_deps: ['left-pad'],
        family: null,
      },
      learnings: 'Briefs have a {length}.\nIt can be counted.',
    })
  })

  it('gets a hypothesis from its changes if it prints nothing', async () => {
    const asked = accepted(await askAgent(asking(await startWith(), { command: 'echo x >> src/a.txt' })))
    expect(asked.idea.hypothesis).toBe('agent: 1 file changed')
  })

  it('works in a git repository of its own, may commit there, and has no remote', async () => {
    const start = await startWith()
    const input = asking(start, { command: program('commits.sh') })
    const asked = accepted(await askAgent(input))
    expect(await contentOf(start.repository, asked.commit, 'src/a.txt')).toBe('two\n')
    expect(await changes(start, asked.commit)).toEqual(['D README.md', 'M src/a.txt'])
    expect(readFileSync(join(input.workDir, 'remotes.txt'), 'utf8').trim()).toBe('0')
    expect(readFileSync(join(input.workDir, 'history.txt'), 'utf8').trim().split('\n')).toHaveLength(2)
  })

  it('may remove its repository; git then finds none above it', async () => {
    const start = await startWith()
    const workDir = join(userRepository().dir, 'work')
    const asked = accepted(await askAgent(asking(start, { command: program('removes-git.sh'), workDir })))
    expect(await changes(start, asked.commit)).toEqual(['M src/a.txt'])
  })

  it('keeps links as links and modes as they are, so that policy sees them', async () => {
    const start = await startWith()
    const asked = accepted(await askAgent(asking(start, { command: program('links.sh') })))
    const { tree } = await start.repository.commit(asked.commit)
    const link = await start.repository.findEntry(tree, 'src/link.txt')
    expect(link?.mode).toBe('120000')
    expect((await start.repository.blob(link?.oid ?? '')).toString()).toBe('/etc/passwd')
    expect((await start.repository.findEntry(tree, 'src/a.txt'))?.mode).toBe('100755')
  })

  it('works in a repository of either object format', async () => {
    const start = await startWithSha256()
    const asked = accepted(await askAgent(asking(start, { command: program('edits.sh') })))
    expect(asked.commit).toMatch(/^[0-9a-f]{64}$/)
    expect(await changes(start, asked.commit)).toContain('M src/a.txt')
  })

  it('starts in a clean directory after a killed request', async () => {
    const start = await startWith()
    const input = asking(start, { command: program('edits.sh') })
    mkdirSync(join(input.workDir, 'tree', '.git'), { recursive: true })
    writeFileSync(join(input.workDir, 'tree', 'left.txt'), 'x')
    const asked = accepted(await askAgent(input))
    expect(await changes(start, asked.commit)).not.toContain('A left.txt')
  })

  it('never has its files converted by attributes of the tree', async () => {
    const command = 'test -z "$(git status --porcelain --ignored)" && printf \'new\\r\\n\' > new.txt'
    const start = await startWith({
      '.gitattributes': '*.txt text eol=lf ident\n*.bin filter=lfs\n',
      '.gitignore': 'kept.txt\n',
      'kept.txt': 'tracked although ignored\n',
      'dos.txt': 'one\r\n$Id$\r\n',
      'x.bin': 'raw',
    })
    const asked = accepted(await askAgent(asking(start, { command })))
    expect(await changes(start, asked.commit)).toEqual(['A new.txt'])
    expect(await contentOf(start.repository, asked.commit, 'new.txt')).toBe('new\r\n')
  })
})

describe('a program that proposes nothing', () => {
  async function reason(command: string, rest: Partial<AgentRequest> = {}): Promise<string> {
    const asked = await askAgent(asking(await startWith(), { command, ...rest }))
    return asked.ok ? 'it was accepted' : asked.reason
  }

  it('changes nothing', async () => {
    expect(await reason(program('nothing.sh'))).toBe('agent changed nothing')
  })

  it('fails: its changes do not count, and the error shows its last line', async () => {
    expect(await reason(program('fails.sh'))).toBe('agent ended with exit code 3: model is not available')
  })

  it('does not exist', async () => {
    expect(await reason('no-such-agent --edit')).toMatch(/^agent ended with exit code 127: .*not found/)
  })

  it('leaves files that cannot be read, and the error says why', async () => {
    expect(await reason(program('nested.sh'))).toMatch(/^agent: its files cannot be read back: .*vendor/)
  })

  it('removes its own directory', async () => {
    expect(await reason('rm -rf "$PWD"')).toBe('agent: its work tree is gone')
    expect(await reason('rm -rf "$PWD"; ln -s / "$PWD"')).toBe('agent: its work tree is gone')
  })
})

describe('the environment of a program', () => {
  it('is that of the user without variables that lead to the repository or the job', async () => {
    const start = await startWith()
    const env = {
      PATH: process.env['PATH'] ?? '',
      ANTHROPIC_API_KEY: 'model-key',
      GITHUB_TOKEN: 'secret-1',
      GH_TOKEN: 'secret-2',
      GIT_DIR: '/secret-3',
      ACTIONS_RUNTIME_TOKEN: 'secret-4',
      INPUT_TOKEN: 'secret-5',
      RUNNER_TEMP: '/secret-6',
      'INPUT_GITHUB-TOKEN': 'secret-7',
      SSH_AUTH_SOCK: '/secret-8',
      GITLAB_TOKEN: 'secret-9',
      CI_JOB_TOKEN: 'secret-10',
      NPM_TOKEN: 'secret-11',
    }
    const asked = accepted(await askAgent(asking(start, { command: program('environment.sh'), env })))
    const seen = await contentOf(start.repository, asked.commit, 'src/environment.txt')
    expect(seen).toContain('ANTHROPIC_API_KEY=model-key')
    expect(seen).toContain('WINNOW_BRIEF=')
    expect(seen).not.toContain('secret')
  })
})

describe('a program that is cancelled', () => {
  it('ends at once, and the request fails with the reason of the cancellation', async () => {
    const cancel = new AbortController()
    const input = asking(await startWith(), {
      command: 'echo > ../started; exec sleep 600',
      signal: cancel.signal,
    })
    const asked = expect(askAgent(input)).rejects.toThrow('stop was asked for')
    await expect.poll(() => existsSync(join(input.workDir, 'started')), { timeout: 20_000 }).toBe(true)
    cancel.abort(new Error('stop was asked for'))
    await asked
    expect(existsSync(join(input.workDir, 'tree'))).toBe(false)
  })
})
