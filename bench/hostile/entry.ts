import type { HostName } from './hosts.ts'

export const FAMILIES = [
  'forge',
  'exit',
  'detect',
  'remember',
  'reach the other side',
  'gates',
  'dependencies',
  'names and text',
] as const
export type Family = (typeof FAMILIES)[number]

/** The text of a file, null to remove it, or a file of another kind: a link, a submodule, a program. */
export type FileChange = string | null | { mode: '100755' | '120000' | '160000'; text: string }

/** What an idea does to its part of the host project, and to other files. PART and BETTER stand for values. */
export interface Change {
  /** The part becomes really faster as well, so that the idea would be kept. */
  faster?: true
  /** Code before the part. */
  top?: string
  /** Code at the start of the part's function. */
  start?: string
  /** Code after the part. */
  end?: string
  /** Other files by path; a function gets the text of the base and the part's name. */
  files?: Record<string, FileChange | ((base: string, part: string) => string)>
  /** Packages that the idea declares. */
  packages?: string[]
}

export interface Attack extends Change {
  name: string
  host: HostName
  /** Further ideas that work together with it. */
  allies?: Change[]
}

/** An honest change that uses words which attacks use as well. */
export interface HonestIdea {
  name: string
  host: HostName
  before: string
  after: string
}
