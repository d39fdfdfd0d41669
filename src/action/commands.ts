import { fileURLToPath } from 'node:url'
import { UserError } from '../errors.ts'
import { findProxy, removeProxySecrets } from '../git/isolation.ts'
import { MODEL_KEY, removeSecrets } from '../measure/environment.ts'
import { findNearestWord } from '../spec/nearest-word.ts'
import { dropSecrets } from './drop-secrets.ts'
import { resolveInWorkspace, TOKENS } from './inputs.ts'
import type { Task } from './root-pipe.ts'

type ActionCommand = (task: Task) => Promise<number>

const APPS = ['app-token'] as const
const ASKS_NOBODY = 'it only reads the clone'

/** Commands that run experiment code start another process. The others hold a token or a key. */
const COMMANDS: Readonly<Record<string, ActionCommand>> = {
  tick: async task => {
    requireUsableProxy(task)
    return (await import('./tick.ts')).tickOnGithub(task)
  },
  settle: async task => {
    requireUsableProxy(task)
    return (await import('./settle.ts')).settleOnGithub(refuseDryRun(task))
  },
  propose: startProposing,
  judge: async task => {
    refuseTokens(task, 'it only reads the clone, and uses a separate key for models')
    return (await import('./judge.ts')).judgeItems(refuseDryRun(task))
  },
  measure: startMeasuring,
  run: async task => {
    refuseTokens(task, 'it measures in the same job', APPS)
    requireUsableProxy(task)
    return (await import('./single-job.ts')).runOnGithub(refuseDryRun(task))
  },
  report: async task => {
    refuseTokens(task, ASKS_NOBODY)
    return (await import('./report.ts')).reportCampaign(task)
  },
  audit: startAuditing,
  replay: task => runReadOnly(task, ['replay', '--json']),
  status: task => runReadOnly(task, ['status', '--json']),
  check: task => runReadOnly(task, ['check', '--no-try', '--json']),
}

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS)

export function findActionCommand(name: string): ActionCommand {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command !== undefined) return task => command(refuseAuditInputs(task))
  const near = findNearestWord(name, COMMAND_NAMES)
  throw new UserError(`command is ${JSON.stringify(name)}`, {
    fix: near === undefined ? `give one of ${COMMAND_NAMES.join(', ')}` : `did you mean ${near}?`,
  })
}

/** Octokit's package would fail with the proxy as soon as it is loaded, and not say which variable is wrong. */
function requireUsableProxy({ env }: Task): void {
  findProxy(env['GITHUB_API_URL'] || 'https://api.github.com', env)
}

/** Measuring, asking and judging spend money whether or not their result is written. */
function refuseDryRun(task: Task): Task {
  if (!task.inputs.isDryRun) return task
  throw new UserError(`command ${task.inputs.command} does not support dry-run`, {
    fix: 'use command: tick with dry-run: true, which prints what winnow would do next',
  })
}

/** Each token that a job does not need is one more that its programs could read. */
function refuseTokens(
  { inputs }: Task,
  why: string,
  refused: readonly (typeof TOKENS)[number][] = TOKENS,
): void {
  for (const name of refused) {
    if (inputs[name] === '') continue
    const rights = 'remove the input, and give the job `permissions: { contents: read }` alone'
    throw new UserError(`command ${inputs.command} does not accept the input ${name}: ${why}`, {
      fix: name === 'app-token' ? 'remove the input: it is for tick and settle alone' : rights,
    })
  }
}

async function startMeasuring(task: Task): Promise<number> {
  const { inputs, env } = refuseDryRun(task)
  const { campaign, order, directory } = inputs
  refuseTokens(task, 'it runs experiment code')
  for (const [name, value] of Object.entries({ campaign, order })) {
    if (value === '') throw new UserError(`command measure needs the input ${name}`)
  }
  const program = fileURLToPath(new URL('measure.js', import.meta.url))
  const request = { campaign, order, directory }
  const scrubbedEnv = removeProxySecrets(env)
  const { runAsRoot } = await import('./root-pipe.ts')
  const result = await runAsRoot(program, request, {
    env: scrubbedEnv,
    programEnv: removeSecrets(scrubbedEnv),
  })
  if (typeof result === 'number') return result
  return dropSecrets(program, JSON.stringify({ ...request, noUsers: result }), scrubbedEnv)
}

/** A model's programs can read neighbouring processes, so those hold the model key and no token. */
async function startProposing(task: Task): Promise<number> {
  const { inputs, env } = refuseDryRun(task)
  const { campaign, directory } = inputs
  refuseTokens(task, 'it runs the programs that the spec names')
  const program = fileURLToPath(new URL('propose.js', import.meta.url))
  const key = env[MODEL_KEY] ?? ''
  const modelEnv = key === '' ? {} : { [MODEL_KEY]: key }
  return dropSecrets(program, JSON.stringify({ campaign, directory }), env, modelEnv)
}

function refuseAuditInputs(task: Task): Task {
  const { command, isAttestedRequired, 'trusted-root': root } = task.inputs
  if (command !== 'audit' && (isAttestedRequired || root !== ''))
    throw new UserError(
      `command ${command} has no input ${isAttestedRequired ? 'require-attested' : 'trusted-root'}`,
      {
        fix: 'use it with command: audit',
      },
    )
  if (root !== '' && !isAttestedRequired)
    throw new UserError('the input trusted-root needs require-attested', {
      fix: 'add require-attested: true',
    })
  return task
}

/** GitHub is asked for attestations only where they are required. Its answers are public, or need a token that reads. */
async function startAuditing(task: Task): Promise<number> {
  const { isAttestedRequired, 'trusted-root': root, 'github-token': token } = task.inputs
  if (!isAttestedRequired) return runReadOnly(task, ['audit', '--json'])
  refuseTokens(task, 'it writes nothing', APPS)
  const roots = root === '' ? [] : [`--trusted-root=${resolveInWorkspace(task.env, root)}`]
  const argv = ['audit', '--json', '--require-attested', ...roots]
  const { runReadingCommand } = await import('./read-only.ts')
  return runReadingCommand(task, argv, token === '' ? {} : { GITHUB_TOKEN: token })
}

async function runReadOnly(task: Task, argv: readonly string[]): Promise<number> {
  refuseTokens(task, ASKS_NOBODY)
  return (await import('./read-only.ts')).runReadingCommand(task, argv)
}
