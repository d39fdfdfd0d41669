import type { CampaignContext } from '../engine/campaign/context.ts'
import type { Environment, RepositoryContext } from '../engine/campaign/open.ts'
import type { HeadPushers } from '../engine/controller/reviews.ts'
import { UserError } from '../errors.ts'
import type { RefUpdate } from '../git/push.ts'
import type { Repository } from '../git/repository.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { KnownCampaign } from './known-campaigns.ts'

export interface Option {
  name: string
  short?: string
  summary: string
  /** Placeholder in help. An option without `value` and `values` is a switch. */
  value?: string
  /** Allowed values. Any other is an error with a suggestion. */
  values?: readonly string[]
  many?: boolean
}

export interface Argument {
  name: string
  summary: string
  required?: boolean
  values?: readonly string[]
  /** In a comment on an experiment's pull request, this argument defaults to that experiment. */
  subject?: boolean
  /** The last argument may be repeated. */
  many?: boolean
}

/** Use of a verb as the first line of a comment: `/winnow <verb> …`. */
interface InComments {
  options: readonly string[]
  alias?: string
  /** Replaces the verb's own `run` in comments. */
  run?(call: Call): Promise<number>
}

export type VerbGroup = 'start' | 'see' | 'steer' | 'more'

export interface Verb {
  name: string
  /** Section in plain `winnow`. Only `winnow help all` lists `more`. */
  group: VerbGroup
  summary: string
  /** `read` never writes, `write` supports --dry-run, `apart` needs no campaign. */
  access: 'read' | 'write' | 'apart'
  arguments?: readonly Argument[]
  options?: readonly Option[]
  command?: Argument
  examples: readonly string[]
  exits?: Readonly<Record<number, string>>
  run(call: Call): Promise<number>
  /** Undefined if the verb is not allowed in comments. */
  comment?: InComments
}

const COMMON_OPTIONS: readonly Option[] = [
  { name: 'help', short: 'h', summary: 'show help' },
  { name: 'verbose', summary: 'show the stack of an internal error' },
]

const REPOSITORY_OPTIONS: readonly Option[] = [
  { name: 'directory', short: 'C', value: 'dir', summary: 'run in this directory' },
  { name: 'remote', value: 'name|none', summary: 'the remote to use, or none to use only this repository' },
  { name: 'cache-dir', value: 'dir', summary: 'where winnow stores its own repository and working files' },
]

const CAMPAIGN: Option = {
  name: 'campaign',
  value: 'campaign',
  summary: 'the campaign, if there are several',
}
const JSON_OUTPUT: Option = { name: 'json', summary: 'print JSON' }
const DRY_RUN: Option = { name: 'dry-run', summary: 'print exactly what would be written, and write nothing' }

/** Returns undefined for a switch. */
export function getValueWord({ value, values }: Option): string | undefined {
  return value ?? values?.join('|')
}

export const GLOBAL_OPTIONS: readonly Option[] = [...COMMON_OPTIONS, ...REPOSITORY_OPTIONS]

export function listOptions({ options = [], access }: Verb): Option[] {
  const shared = { read: [JSON_OUTPUT, CAMPAIGN], write: [DRY_RUN, CAMPAIGN], apart: [] }
  return [...options, ...shared[access], ...GLOBAL_OPTIONS]
}

/** No option is ignored silently: `why` completes the sentence that begins with its name. */
export function refuseOptions(
  { given }: Pick<Call, 'given'>,
  names: readonly string[],
  why: string,
  fix = 'leave it out',
): void {
  const found = names.find(name => given.flag(name))
  if (found !== undefined) throw new UserError(`--${found} ${why}`, { fix })
}

export const COMMON_EXITS: Readonly<Record<number, string>> = {
  0: 'done',
  2: 'the spec, the repository or the arguments need a change',
  69: 'the remote failed or refused',
  70: 'an internal error, or an inconsistent ledger',
  75: 'another process was faster; nothing was written, try again',
}

/** Output of a verb. Text from branches is stripped of control characters. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** Prints one line of JSON, escaped so that a terminal cannot execute it. */
  json(value: unknown, indent?: number): void
  /**
   * Replaces the line at the bottom of a terminal; null removes it. Shows nothing in CI, pipes and files, so
   * important facts must be printed as separate lines too.
   */
  live(text: string | null): void
  /** Asks for yes or no; null if no person can answer, as in CI and pipes. */
  confirm: ((question: string, interrupt: AbortSignal) => Promise<boolean>) | null
  lines(): AsyncIterable<string>
}

export interface CommandArguments {
  positionals: readonly string[]
  command: readonly string[]
  flag(name: string): boolean
  text(name: string): string | undefined
  texts(name: string): readonly string[]
}

/** How this program was started, for commands that start it again. */
export interface Program {
  /** Command as a person types it, such as `winnow`. */
  called: string
  runtime: string
  /** Directory with package.json and action.yml: a clone or an installed package. */
  home?: string
}

export interface CommandContext {
  repositoryContext: RepositoryContext
  campaign: KnownCampaign
  campaignContext: CampaignContext
  /** Current default branch. The ledger of an earlier start may name another. */
  currentDefault: string
  /** Set only with --dry-run: records the pushes that would have been made. */
  dryRun: DryRun | null
}

export interface DryRun {
  repository: Repository
  pushes: readonly (readonly RefUpdate[])[]
  /** Files outside the repository that this machine would write for its next tick. */
  files: string[]
  printed: boolean
}

/** The comment that contained the command. Its author is the actor. */
export interface CommentSource {
  context: CommandContext
  subject: ExperimentId | null
  /** Resolves to null if winnow itself pushed the head. */
  headAuthors: (experiment: ExperimentId) => Promise<HeadPushers | null>
  at: string
}

export interface Call {
  given: CommandArguments
  terminal: Terminal
  /** Lacks the branch prefix, which is in the spec. */
  environment: Omit<Environment, 'prefix'>
  /** Aborted by the first Ctrl-C. */
  interrupt: AbortSignal
  verbs: readonly Verb[]
  program: Program
  comment?: CommentSource
  /** Campaigns that this process has read already. One without a ledger is read again: another process may start it. */
  known?: readonly KnownCampaign[]
}
