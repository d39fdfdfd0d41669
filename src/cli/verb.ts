import type { Environment } from '../engine/campaign/open.ts'
import type { HeadPushers } from '../engine/controller/reviews.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { CommandContext } from './context.ts'

export interface Option {
  name: string
  short?: string
  summary: string
  /** The word for its value in help; without one, and without `values`, it is a switch. */
  value?: string
  /** All that it can be, where that is a closed list: anything else is an error that suggests. */
  values?: readonly string[]
  many?: boolean
}

export interface Argument {
  name: string
  summary: string
  required: boolean
  /** All that it can be, where that is a closed list. */
  values?: readonly string[]
  /** What it is about: in a comment on an experiment's own pull request, that experiment if none is named. */
  subject?: boolean
  /** The last one may be given more than once. */
  many?: boolean
}

/** How a verb may be typed as the first line of a comment: `/winnow <verb> …`. */
interface InComments {
  /** Which of its options; the others are about the machine of whoever types. */
  options: readonly string[]
  /** Another word for it there. */
  alias?: string
  /** It does something else there than at a machine. */
  run?(call: Call): Promise<number>
}

export type VerbGroup = 'start' | 'see' | 'steer' | 'more'

/** One verb: everything that the command line, its help and other front ends know about it. */
export interface Verb {
  name: string
  /** Where plain `winnow` lists it; `more` is left to `winnow help all`. */
  group: VerbGroup
  summary: string
  /** `read` never writes, `write` can be rehearsed with --dry-run, `apart` needs no campaign. */
  access: 'read' | 'write' | 'apart'
  arguments: readonly Argument[]
  options: readonly Option[]
  /** What has to follow `--`: a command of the person's own, of which nothing is an option of ours. */
  command?: Omit<Argument, 'required'>
  examples: readonly string[]
  /** Exit codes of its own, besides those every verb has. */
  exits: Readonly<Record<number, string>>
  run(call: Call): Promise<number>
  /** Absent: it is for the command line alone. */
  comment?: InComments
}

const EVERYWHERE: readonly Option[] = [
  { name: 'help', short: 'h', summary: 'show what a command does' },
  { name: 'verbose', summary: 'show the stack of an internal error' },
]

const REPOSITORY: readonly Option[] = [
  { name: 'directory', short: 'C', value: 'dir', summary: 'work as if started in this directory' },
  { name: 'remote', value: 'name|none', summary: 'the remote to use, or none to stay in this repository' },
  { name: 'cache-dir', value: 'dir', summary: 'where winnow keeps its own repository and work' },
]

const CAMPAIGN: Option = {
  name: 'campaign',
  value: 'campaign',
  summary: 'which campaign, where there are several',
}
const JSON_OUTPUT: Option = { name: 'json', summary: 'print JSON' }
const DRY_RUN: Option = { name: 'dry-run', summary: 'say exactly what would be written, and write nothing' }

/** The word for an option's value; undefined for a switch. */
export function getValueWord({ value, values }: Option): string | undefined {
  return value ?? values?.join('|')
}

/** What may stand before the verb's name. */
export const GLOBAL_OPTIONS: readonly Option[] = [...EVERYWHERE, ...REPOSITORY]

export function listOptions(verb: Verb): Option[] {
  switch (verb.access) {
    case 'read':
      return [...verb.options, JSON_OUTPUT, CAMPAIGN, ...GLOBAL_OPTIONS]
    case 'write':
      return [...verb.options, DRY_RUN, CAMPAIGN, ...GLOBAL_OPTIONS]
    case 'apart':
      return [...verb.options, ...GLOBAL_OPTIONS]
    default:
      return verb.access satisfies never
  }
}

export const COMMON_EXITS: Readonly<Record<number, string>> = {
  0: 'done',
  2: 'something in the spec, the repository or the arguments has to be changed',
  69: 'the remote could not be used, or refused',
  70: 'an internal error, or a ledger that contradicts itself',
  75: 'lost a race: nothing was written, try again',
}

/** Where a verb's words go. What they carry from branches is made plain before it is shown. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** Whole JSON on one line, escaped where a terminal would obey it. */
  json(value: unknown, indent?: number): void
  /**
   * One line at the bottom of a person's terminal, in place of the last one; null takes it away. Nothing at all
   * is shown in CI, in a pipe or in a file: what has to be known there is printed as a line of its own.
   */
  live(text: string | null): void
  /** Asks a person, who has to type yes; null where nobody could answer: CI, pipes. */
  confirm: ((question: string, interrupt: AbortSignal) => Promise<boolean>) | null
  /** Standard input, line by line. */
  lines(): AsyncIterable<string>
}

/** What was given on the command line, checked against the verb's own list. */
export interface CommandArguments {
  positionals: readonly string[]
  /** What follows `--`, where the verb takes a command. */
  command: readonly string[]
  flag(name: string): boolean
  text(name: string): string | undefined
  texts(name: string): readonly string[]
}

/** How this program was started, for what has to be started again. */
export interface Program {
  /** As a person types it: `winnow`, or what stands for it. */
  called: string
  /** The node that runs it. */
  runtime: string
  /** The directory that holds its package.json and action.yml: a clone, or an installed package. */
  home?: string
}

/** Where a verb was typed that was typed as a comment: its actor is who wrote that. */
export interface CommentSource {
  context: CommandContext
  /** Whose pull request it is. */
  subject: ExperimentId | null
  /** Who brought an experiment's head; null where winnow did. */
  headAuthors: (experiment: ExperimentId) => Promise<HeadPushers | null>
  /** When it was written. */
  at: string
}

/** One use of a verb: what was asked, where, and how to answer. */
export interface Call {
  given: CommandArguments
  terminal: Terminal
  /** Everything but the branch prefix, which the spec says. */
  around: Omit<Environment, 'prefix'>
  /** Aborted by the first Ctrl-C. */
  interrupt: AbortSignal
  verbs: readonly Verb[]
  program: Program
  comment?: CommentSource
}
