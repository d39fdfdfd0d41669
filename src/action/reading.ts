import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withoutSecrets } from '../measure/secret-names.ts'
import { cell } from '../report/markdown.ts'
import { withCloneAsRemote } from './clone-as-remote.ts'
import type { Task } from './commands.ts'
import type { Env } from './inputs.ts'
import { annotation, said, setOutputs, summarise } from './runner-protocol.ts'

const MOST_BYTES = 32 * 1024 * 1024

/** The command line, for those commands that only look: what it answers is the output. */
export async function answerOf({ inputs, env }: Task, argv: readonly string[]): Promise<number> {
  const directory = resolve(env['GITHUB_WORKSPACE'] ?? '.', inputs.directory)
  const at = { inputs: { ...inputs, directory }, env }
  return withCloneAsRemote(directory, env, gitEnv => answerFrom(at, argv, gitEnv))
}

async function answerFrom({ inputs, env }: Task, argv: readonly string[], gitEnv: Env): Promise<number> {
  const { campaign, directory } = inputs
  const options = [...(campaign === '' ? [] : [`--campaign=${campaign}`]), `--directory=${directory}`]
  const program = fileURLToPath(new URL('cli.js', import.meta.url))
  const ended = spawnSync(process.execPath, [program, ...argv, ...options], {
    env: { ...withoutSecrets(env), ...gitEnv },
    encoding: 'utf8',
    maxBuffer: MOST_BYTES,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (ended.error !== undefined) throw ended.error
  setOutputs(env, { 'result-json': ended.stdout.trim() })
  for (const text of [ended.stdout, ended.stderr]) if (text !== '') console.log(said(text.trimEnd()))
  const [mistake] = /^error: .*$/m.exec(ended.stderr) ?? []
  if (mistake !== undefined) console.log(annotation('error', mistake))
  summarise(
    env,
    `winnow ${argv[0] ?? ''}, exit code ${ended.status ?? 'none'}. ${cell(mistake ?? '')}`.trimEnd(),
  )
  return ended.status ?? 70
}
