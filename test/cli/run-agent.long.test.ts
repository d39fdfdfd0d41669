import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scratch } from '../git/scratch.ts'
import { FILES, project, proven, SPEC } from './project.ts'

const FAKE = `#!/bin/sh
cat > "$HOME/brief"
head -c $(($(wc -c < src/value) / 2)) src/value > shorter && mv shorter src/value
echo '{"hypothesis": "half of it"}'
`

function pathWith(name: string): string {
  const folder = scratch()
  writeFileSync(join(folder, name), FAKE)
  chmodSync(join(folder, name), 0o755)
  return `${folder}:${process.env['PATH'] ?? ''}`
}

describe('winnow run --agent', () => {
  it('asks it in this run, records who it was, and leaves the spec as it is pinned', async () => {
    const spec = `${SPEC}stopping: { max_iterations: 2 }\nexecution: { mode: serial }\nmerge: { forgeable: allow }\n`
    const person = project({ ...FILES, '.winnow/size.yaml': spec })
    const env = { PATH: pathWith('claude') }
    const { code, err } = await person.winnowWith({ env }, 'run', '--agent', 'claude')
    expect([code, err]).toEqual([0, expect.stringContaining('exp-001 opened (command): half of it')])
    const events = (await person.winnow('log', '--json')).out.trimEnd().split('\n')
    const told = events.map(line => JSON.parse(line))
    expect(told.find(({ kind }) => kind === 'spent')).toMatchObject({ who: 'command:claude', ok: true })
    expect(told.find(({ kind }) => kind === 'experiment-opened').source.key).toMatch(
      /^command:claude:[0-9a-f]{16}$/,
    )
    expect(told.filter(({ kind }) => kind === 'campaign-amended')).toEqual([])
    expect(told[0]).toMatchObject({ kind: 'campaign-started', spec_yaml: spec })
    await proven(person)
  })

  it('says what it does not know, and what is not installed, before it begins', async () => {
    const person = project()
    const unknown = await person.winnow('run', '--agent', 'claud')
    expect([unknown.code, unknown.err]).toEqual([
      2,
      'error: winnow knows no agent claud; it knows claude, codex, gemini, copilot, opencode, aider\n  fix: did you mean claude?\n',
    ])
    const missing = await person.winnow('run', '--agent', 'gemini')
    expect([missing.code, missing.err]).toEqual([
      2,
      'error: the program gemini is not installed: it is not on PATH\n  fix: install gemini as its documentation says and sign in once, or write command: instead of preset: gemini\n',
    ])
    expect(person.refs()).not.toContain('optimize')
    const spec = `${SPEC}propose: [{ use: command, preset: codex }]\n`
    person.commit('an agent', { '.winnow/size.yaml': spec })
    expect((await person.winnow('run')).err).toContain('the program codex is not installed')
  })
})
