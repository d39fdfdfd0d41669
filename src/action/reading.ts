import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removeSecrets } from '../measure/secret-names.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import { withCloneAsRemote } from './clone-as-remote.ts'
import type { Task } from './commands.ts'
import type { ActionEnv } from './inputs.ts'
import { renderAnnotation, toLogLine, setOutputs, appendSummary } from './runner-protocol.ts'

const MOST_BYTES = 32 * 1024 * 1024

/** The command line, for those commands that only look: what it answers is the output. */
export async function runReadingCommand({ inputs, env }: Task, argv: readonly string[]): Promise<number> {
  const directory = resolve(env['GITHUB_WORKSPACE'] ?? '.', inputs.directory)
  const at = { inputs: { ...inputs, directory }, env }
  return withCloneAsRemote(directory, env, gitEnv => spawnCommandLine(at, argv, gitEnv))
}

async function spawnCommandLine(
  { inputs, env }: Task,
  argv: readonly string[],
  gitEnv: ActionEnv,
): Promise<number> {
  const { campaign, directory } = inputs
  const options = [...(campaign === '' ? [] : [`--campaign=${campaign}`]), `--directory=${directory}`]
  const program = fileURLToPath(new URL('cli.js', import.meta.url))
  const ended = spawnSync(process.execPath, [program, ...argv, ...options], {
    env: { ...removeSecrets(env), ...gitEnv },
    encoding: 'utf8',
    maxBuffer: MOST_BYTES,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (ended.error !== undefined) throw ended.error
  setOutputs(env, { 'result-json': ended.stdout.trim() })
  for (const text of [ended.stdout, ended.stderr]) if (text !== '') console.log(toLogLine(text.trimEnd()))
  const [mistake] = /^error: .*$/m.exec(ended.stderr) ?? []
  if (mistake !== undefined) console.log(renderAnnotation('error', mistake))
  appendSummary(
    env,
    `winnow ${argv[0] ?? ''}, exit code ${ended.status ?? 'none'}. ${escapeMarkdown(mistake ?? '')}`.trimEnd(),
  )
  return ended.status ?? 70
}
