import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { askAgent, getBriefPath } from '../../src/ideas/agent.ts'
import {
  buildAgentCommand,
  findMissingAgent,
  isPreset,
  type Preset,
  PRESETS,
  withModelKey,
} from '../../src/ideas/proposers.ts'
import { scratch } from '../git/scratch.ts'
import { contentOf, useRepository } from './incumbent.ts'

const startWith = useRepository()

/** Says how it was called, edits one file, and leaves notes of its own as aider does. */
const FAKE = `#!/bin/sh
cat > "$RECORD.stdin"
for word in "$@"; do printf '%s\\0' "$word"; done > "$RECORD.argv"
env > "$RECORD.env"
echo faster > src/a.txt
echo chat > .aider.chat.history.md
echo '{"hypothesis": "made it faster"}'
`

function agentOnPath(name: string) {
  const folder = scratch()
  writeFileSync(join(folder, name), FAKE)
  chmodSync(join(folder, name), 0o755)
  return `${folder}:${process.env['PATH'] ?? ''}`
}

const BRIEF = `# Make it faster\n'$(touch hacked)' \`touch hacked\` "it's" -- \\\n`

async function askedAs(preset: Preset) {
  const { repository, main } = await startWith()
  const record = join(scratch(), 'record')
  const workDir = join(scratch(), 'work')
  const env = { PATH: agentOnPath(preset), HOME: '/nonexistent', RECORD: record, GITHUB_TOKEN: 'secret' }
  const proposer = { use: 'command', preset, timeout_seconds: 60 } as const
  expect(await findMissingAgent([proposer], env)).toBeNull()
  const file = getBriefPath(workDir)
  const asked = await askAgent({
    repo: repository,
    incumbent: main,
    name: `command:${preset}`,
    command: buildAgentCommand(proposer, { text: BRIEF, file }) ?? '',
    brief: BRIEF,
    timeoutSeconds: 60,
    workDir,
    env,
    signal: new AbortController().signal,
    now: () => 1_700_000_000_500,
    monotonic: () => performance.now(),
  })
  if (!asked.ok) throw new Error(asked.reason)
  expect(asked.idea.hypothesis).toBe('made it faster')
  expect(await contentOf(repository, asked.commit, 'src/a.txt')).toBe('faster\n')
  const files = await repository.diff(main.tree, (await repository.commit(asked.commit)).tree)
  expect(files.map(({ path }) => path)).toEqual(['src/a.txt'])
  expect(existsSync(join(workDir, 'tree', 'hacked'))).toBe(false)
  const read = (what: string) => readFileSync(`${record}.${what}`, 'utf8')
  expect(read('env')).not.toContain('secret')
  return { argv: read('argv').split('\0').slice(0, -1), stdin: read('stdin'), file }
}

describe('a known agent', () => {
  it.each([
    ['claude', ['--print', '--permission-mode', 'acceptEdits']],
    ['codex', ['exec', '--sandbox', 'workspace-write', '-']],
    ['gemini', ['--skip-trust', '--approval-mode', 'auto_edit', '--prompt', 'Do what the text above asks.']],
    ['copilot', ['--silent', '--allow-all-tools', '--no-ask-user', '--prompt', BRIEF]],
    ['opencode', ['run']],
  ] as const)('%s runs with these arguments and gets its brief', async (preset, expected) => {
    const { argv, stdin } = await askedAs(preset)
    expect(argv).toEqual(expected)
    expect(stdin).toBe(BRIEF)
  })

  it('aider gets its brief as a file, commits nothing, and its notes are not part of the idea', async () => {
    const { argv, file } = await askedAs('aider')
    expect(argv.slice(-2)).toEqual(['--message-file', file])
    expect(argv).toEqual(expect.arrayContaining(['--yes-always', '--no-auto-commits', '--no-gitignore']))
  })

  it('is a preset of the spec', () => {
    expect(PRESETS).toEqual(['claude', 'codex', 'gemini', 'copilot', 'opencode', 'aider'])
    expect(isPreset('codex')).toBe(true)
    expect(isPreset('toString')).toBe(false)
  })

  it('that is not installed is reported with a fix; commands are not checked', async () => {
    const env = { PATH: `:${scratch()}:/nonexistent` }
    const claude = { use: 'command', preset: 'claude', timeout_seconds: 60 } as const
    expect(await findMissingAgent([{ use: 'external' }, claude], env)).toEqual({
      what: 'the program claude is not installed: it is not on PATH',
      fix: 'install claude as its documentation says and sign in once, or write command: instead of preset: claude',
    })
    const own = { use: 'command', command: 'claude --mine', timeout_seconds: 60 } as const
    expect(await findMissingAgent([own], env)).toBeNull()
    expect(buildAgentCommand(own, { text: '', file: '' })).toBe('claude --mine')
    expect(buildAgentCommand({ use: 'command', timeout_seconds: 60 }, { text: '', file: '' })).toBeNull()
  })

  it.each([
    [{ preset: 'claude' }, { WINNOW_MODEL_KEY: 'k', ANTHROPIC_API_KEY: 'k' }],
    [{ preset: 'codex' }, { WINNOW_MODEL_KEY: 'k', CODEX_API_KEY: 'k' }],
    [{ preset: 'gemini' }, { WINNOW_MODEL_KEY: 'k', GEMINI_API_KEY: 'k' }],
    [{ preset: 'copilot' }, { WINNOW_MODEL_KEY: 'k', COPILOT_GITHUB_TOKEN: 'k' }],
    [{ preset: 'opencode' }, { WINNOW_MODEL_KEY: 'k' }],
    [{ preset: 'claude', command: 'my-claude' }, { WINNOW_MODEL_KEY: 'k' }],
    [{ command: 'mine' }, { WINNOW_MODEL_KEY: 'k' }],
  ] as const)('gets the model key under its own variable: %j', (named, expected) => {
    const proposer = { use: 'command', timeout_seconds: 1, ...named } as const
    expect(withModelKey(proposer, 'k', { A: 'b' })).toEqual({ A: 'b', ...expected })
    expect(withModelKey(proposer, '', { A: 'b' })).toEqual({ A: 'b' })
  })
})
