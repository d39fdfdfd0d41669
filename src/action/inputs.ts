import { resolve } from 'node:path'
import { getBooleanInput, getInput } from '@actions/core'
import { UserError } from '../errors.ts'

/** Input names of action.yml. Inputs that were not given are empty. */
export const INPUTS = [
  'command',
  'campaign',
  'order',
  'directory',
  'next-jobs',
  'jobs',
  'items',
  'github-token',
  'app-token',
  'require-attested',
  'trusted-root',
  'dry-run',
] as const
export type InputName = (typeof INPUTS)[number]
export const TOKENS = ['github-token', 'app-token'] as const satisfies readonly InputName[]

const FLAGS = ['dry-run', 'require-attested'] as const satisfies readonly InputName[]
export type Inputs = Readonly<
  Record<Exclude<InputName, (typeof FLAGS)[number]>, string> & {
    isDryRun: boolean
    isAttestedRequired: boolean
  }
>

export type ActionEnv = Readonly<Record<string, string>>

export function readInputs(): Inputs {
  return {
    command: getInput('command'),
    campaign: getInput('campaign'),
    order: getInput('order'),
    directory: getInput('directory'),
    'next-jobs': getInput('next-jobs'),
    jobs: getInput('jobs'),
    items: getInput('items'),
    'github-token': getInput('github-token'),
    'app-token': getInput('app-token'),
    'trusted-root': getInput('trusted-root'),
    isDryRun: readFlag('dry-run'),
    isAttestedRequired: readFlag('require-attested'),
  }
}

/** Rejects all other values: taking a typo for "no" would write for real. */
function readFlag(name: (typeof FLAGS)[number]): boolean {
  const given = getInput(name)
  if (given === '') return false
  try {
    return getBooleanInput(name)
  } catch (cause) {
    const fix = 'set it to true or false'
    throw new UserError(`the input ${name} is ${JSON.stringify(given)}`, { fix, cause })
  }
}

export function omitUndefined(env: Readonly<Record<string, string | undefined>>): ActionEnv {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

export function refuseWindows(platform: NodeJS.Platform): void {
  if (platform !== 'win32') return
  throw new UserError('winnow runs on Linux and macOS', {
    fix: 'give the job runs-on: ubuntu-24.04, for example',
  })
}

/** With this variable set, output of a program can set variables of later steps. */
export function refuseUnsafe(env: ActionEnv): void {
  if ((env['ACTIONS_ALLOW_UNSECURE_COMMANDS'] ?? '').toLowerCase() !== 'true') return
  const what =
    'ACTIONS_ALLOW_UNSECURE_COMMANDS is set: the runner would execute commands that experiments print'
  throw new UserError(what, { fix: 'remove it from the workflow and from the runner' })
}

export function resolveInWorkspace(env: ActionEnv, path: string): string {
  return resolve(env['GITHUB_WORKSPACE'] ?? '.', path)
}
