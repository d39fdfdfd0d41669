import type { HeadPushers } from '../engine/brought-by.ts'
import type { Environment } from '../engine/open.ts'
import type { ExperimentId } from '../model/ids.ts'
import type { CommandContext } from './at-campaign.ts'
import type { Verb } from './verb.ts'

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
  scene: CommandContext
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
