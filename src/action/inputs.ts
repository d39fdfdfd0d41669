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
  'dry-run',
] as const
export type InputName = (typeof INPUTS)[number]
export const TOKENS = ['github-token', 'app-token'] as const satisfies readonly InputName[]

export type Inputs = Readonly<Record<InputName, string>>

export type ActionEnv = Readonly<Record<string, string>>

/** A runner passes an input as INPUT_ and its name in capitals, with its hyphens. */
export function readInputs(env: ActionEnv): Inputs {
  const input = (name: InputName) => (env[`INPUT_${name.toUpperCase()}`] ?? '').trim()
  return {
    command: input('command'),
    campaign: input('campaign'),
    order: input('order'),
    directory: input('directory'),
    'next-jobs': input('next-jobs'),
    jobs: input('jobs'),
    items: input('items'),
    'github-token': input('github-token'),
    'app-token': input('app-token'),
    'dry-run': input('dry-run'),
  }
}

/** Rejects all other values: taking a typo for "no" would write for real. */
export function isDryRun({ 'dry-run': given }: Inputs): boolean {
  if (given === 'true') return true
  if (given === '' || given === 'false') return false
  throw new UserError(`the input dry-run is ${JSON.stringify(given)}`, { fix: 'give true or false' })
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
  throw new UserError('ACTIONS_ALLOW_UNSECURE_COMMANDS is set: what experiments print would be obeyed', {
    fix: 'remove it from the workflow and from the runner',
  })
}
